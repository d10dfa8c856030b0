//! Events of the osnoise and timerlat tracers that contain the start and the duration of noise.

use super::pairs::SOFTIRQ_NAMES;

/// An event of the osnoise system: something used a CPU for `duration` ns from `start`, by the kernel's local clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noise {
    /// The event's name, which is the category of its slices.
    pub event: &'static str,
    /// The slice's name if no field contains it.
    pub name: &'static str,
    /// The field with the slice's name; empty: the name comes from `number` or `name`.
    pub text: &'static str,
    /// The field with a number that follows the name after a colon; empty: none.
    pub number: &'static str,
    /// Names for the values of `number`, indexed by the value.
    pub words: &'static [&'static str],
}

impl Noise {
    /// Returns the slice's name, as the kernel prints it before `start`.
    #[must_use]
    pub(crate) fn name(&self, text: Option<&str>, number: Option<i64>) -> String {
        let word = || {
            let word = self.words.get(usize::try_from(number?).ok()?);
            word.copied()
        };
        let name = text.or_else(word).unwrap_or(self.name);
        match number {
            Some(number) => format!("{name}:{number}"),
            None => name.to_owned(),
        }
    }
}

/// Events that contain the start and the duration of noise.
const NOISES: &[Noise] = &[
    Noise {
        event: "thread_noise",
        name: "thread",
        text: "comm",
        number: "pid",
        words: &[],
    },
    Noise {
        event: "irq_noise",
        name: "irq",
        text: "desc",
        number: "vector",
        words: &[],
    },
    Noise {
        event: "softirq_noise",
        name: "softirq",
        text: "",
        number: "vector",
        words: SOFTIRQ_NAMES,
    },
    Noise {
        event: "nmi_noise",
        name: "NMI",
        text: "",
        number: "",
        words: &[],
    },
];

/// Returns the row of [`NOISES`] for `system:event`.
#[must_use]
pub(crate) fn find_noise(system: &str, event: &str) -> Option<&'static Noise> {
    let mut rows = NOISES.iter();
    rows.find(|row| system == "osnoise" && row.event == event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_softirq_number_becomes_its_name() {
        let softirq = find_noise("osnoise", "softirq_noise").unwrap();
        assert_eq!(softirq.name(None, Some(3)), "NET_RX:3");
    }
}
