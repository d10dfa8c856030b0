//! The kernel's counts for each CPU at the end of a recording: the texts of `per_cpu/cpuN/stats` in CPUSTAT options.
//!
//! ```text
//! CPU: 1
//! entries: 9423
//! overrun: 0                 events that were overwritten before they were read
//! commit overrun: 0          events that found no room because of a nested event
//! dropped events: 0          events that found no room in a full buffer
//! ```

use crate::event::CpuLoss;

/// Returns the number of lost events of each CPU whose statistics report losses.
pub(crate) fn losses(texts: &[String]) -> Vec<CpuLoss> {
    let mut losses: Vec<CpuLoss> = Vec::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let Ok(value) = value.trim().parse::<u64>() else {
            continue;
        };
        let counts = match name.trim() {
            "CPU" => {
                losses.push(CpuLoss {
                    cpu: u32::try_from(value).unwrap_or(u32::MAX),
                    overwritten: 0,
                    dropped: 0,
                });
                continue;
            }
            "overrun" | "commit overrun" => losses.last_mut().map(|it| &mut it.overwritten),
            "dropped events" => losses.last_mut().map(|it| &mut it.dropped),
            _ => None,
        };
        if let Some(count) = counts {
            *count = count.saturating_add(value);
        }
    }
    losses.retain(|loss| loss.total() > 0);
    losses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_was_lost_is_counted() {
        let texts = [
            "CPU: 0\nentries: 5\noverrun: 7\ncommit overrun: 2\noldest event ts:  1.5\ndropped events: 0\n",
            "CPU: 1\noverrun: 0\ndropped events: 0\n",
            "\nBuffer: irqs\n\n",
            "CPU: 1\noverrun: 0\ndropped events: 9\n",
        ];
        let found = losses(&texts.map(str::to_owned));
        let shown: Vec<_> = found
            .iter()
            .map(|it| (it.cpu, it.overwritten, it.dropped))
            .collect();
        assert_eq!(shown, [(0, 9, 0), (1, 0, 9)]);
    }
}
