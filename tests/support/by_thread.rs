//! A reader of FXT that reads only scheduling records and ends runs by thread, as Perfetto's reader does. It shares no
//! code with the program.

use std::collections::HashMap;

/// A run: start, length (none if it stays open), CPU and thread.
pub type ThreadRun = (i64, Option<i64>, u64, u64);

const IDLE: i32 = i32::MIN;

struct Switch {
    time: i64,
    cpu: u64,
    outgoing: (u64, i32),
    incoming: (u64, i32),
}

enum Scheduling {
    Switch(Switch),
    Wakeup(i64, u64),
}

/// Returns the runs of a file with one tick per nanosecond, sorted.
pub fn runs_by_thread(bytes: &[u8]) -> Vec<ThreadRun> {
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect();
    let mut records = scheduling_records(&words, bytes);
    records.sort_by_key(|record| match record {
        Scheduling::Switch(switch) => switch.time,
        Scheduling::Wakeup(time, _) => *time,
    });
    let mut runs: Vec<ThreadRun> = Vec::new();
    let mut open: HashMap<u64, usize> = HashMap::new();
    let mut last: HashMap<u64, i64> = HashMap::new();
    for record in records {
        let switch = match record {
            Scheduling::Switch(switch) => switch,
            Scheduling::Wakeup(time, thread) => {
                last.insert(thread, time);
                continue;
            }
        };
        let (out, incoming) = (switch.outgoing, switch.incoming);
        if out.1 != IDLE {
            let since = last.insert(out.0, switch.time).unwrap_or(0);
            if let Some(run) = open.remove(&out.0) {
                runs[run].1 = Some(switch.time - since);
            }
        }
        if incoming.1 != IDLE {
            last.insert(incoming.0, switch.time);
            open.insert(incoming.0, runs.len());
            runs.push((switch.time, None, switch.cpu, incoming.0));
        }
    }
    runs.sort_unstable();
    runs
}

fn scheduling_records(words: &[u64], bytes: &[u8]) -> Vec<Scheduling> {
    let mut strings: HashMap<(u64, u64), Vec<u8>> = HashMap::new();
    let mut provider = 0;
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&header) = words.get(at) {
        let size = match header & 15 {
            15 => header >> 4 & 0xffff_ffff,
            _ => header >> 4 & 0xfff,
        };
        match header & 15 {
            0 if matches!(header >> 16 & 15, 1 | 2) => provider = header >> 20 & 0xffff_ffff,
            2 => {
                let length = (header >> 32 & 0x7fff) as usize;
                let text = bytes[at * 8 + 8..at * 8 + 8 + length].to_vec();
                strings.insert((provider, header >> 16 & 0x7fff), text);
            }
            8 => {
                let weight = |name: &str| {
                    let mut next = at + 4;
                    for _ in 0..header >> 16 & 15 {
                        let argument = words[next];
                        let index = argument >> 16 & 0xffff;
                        let text = strings.get(&(provider, index));
                        if argument & 15 == 1 && text.is_some_and(|text| text == name.as_bytes()) {
                            return (argument >> 32) as u32 as i32;
                        }
                        next += (argument >> 4 & 0xfff) as usize;
                    }
                    0
                };
                let time = words[at + 1] as i64;
                match header >> 60 {
                    1 => found.push(Scheduling::Switch(Switch {
                        time,
                        cpu: header >> 20 & 0xffff,
                        outgoing: (words[at + 2], weight("outgoing_weight")),
                        incoming: (words[at + 3], weight("incoming_weight")),
                    })),
                    2 => found.push(Scheduling::Wakeup(time, words[at + 2])),
                    _ => {}
                }
            }
            _ => {}
        }
        at += (size as usize).max(1);
    }
    found
}
