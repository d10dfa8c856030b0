//! A large FXT file.
//!
//! Eight providers of different tick rates take turns: nested durations, complete slices, instants,
//! counters, async slices, flows, context switches and wakeups, with arguments on half of the events, and
//! table entries that are overwritten all the time, as real writers do.
//!
//! With a number of kinds, events have that many pairs of category and name, all equally frequent; each provider
//! registers a string when it first needs it.

use std::io::{BufWriter, Write};

const PROVIDERS: u64 = 8;
const THREADS: u64 = 8;
const STRINGS: u64 = 1500;
const CPUS: u64 = 16;
/// Length of the bursts that providers write in turns, in ns.
const TURN_NS: u64 = 200_000;
/// The first index of the string entries of each provider that are sometimes overwritten.
const FIRST_REUSED: u64 = 1400;
/// The first index of the string entries for names and categories, in files with a number of kinds.
const FIRST_NAME: u64 = STRINGS + 1;
const FIRST_CATEGORY: u64 = 30_000;
/// The most names that a file with a number of kinds has; more kinds come from more categories.
const MOST_NAMES: u64 = 25_000;
/// The greatest number of kinds that can be requested.
const MOST_KINDS: u64 = ((1 << 15) - FIRST_CATEGORY) * MOST_NAMES;
const OUTGOING_WEIGHT: u64 = 1495;
const INCOMING_WEIGHT: u64 = 1496;

struct Provider {
    ticks_per_second: u64,
    /// The time of its last event, and the distance of its events in this turn.
    time_ns: u64,
    step_ns: u64,
    /// Open slices of each thread.
    depth: [u32; THREADS as usize],
    open_async: Vec<u64>,
    open_flows: Vec<u64>,
    /// By string entry: whether it was registered, in a file with a number of kinds.
    registered: Vec<bool>,
}

struct Generator<W> {
    out: W,
    written: u64,
    records: u64,
    random: u64,
    next_id: u64,
    running: Vec<u64>,
    /// The requested number of pairs of category and name, if any.
    kinds: Option<u64>,
}

/// The string entries of an event's category and name.
#[derive(Clone, Copy)]
struct Names {
    category: u64,
    name: u64,
}

fn string_ref(index: u64) -> u64 {
    index & 0x7fff
}

impl<W: Write> Generator<W> {
    fn record(&mut self, header: u64, rest: &[u64]) -> std::io::Result<()> {
        let words = 1 + rest.len() as u64;
        self.out.write_all(&(header | words << 4).to_le_bytes())?;
        for word in rest {
            self.out.write_all(&word.to_le_bytes())?;
        }
        self.written += words * 8;
        self.records += 1;
        Ok(())
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % below
    }

    fn text_words(text: &str) -> Vec<u64> {
        let bytes = text.as_bytes().chunks(8);
        bytes
            .map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            })
            .collect()
    }

    fn string(&mut self, index: u64, text: &str) -> std::io::Result<()> {
        let header = 2 | index << 16 | (text.len() as u64) << 32;
        self.record(header, &Self::text_words(text))
    }

    fn announce(&mut self, id: u64, provider: &Provider) -> std::io::Result<()> {
        let name = format!("provider{id}");
        let header = 1 << 16 | id << 20 | (name.len() as u64) << 52;
        self.record(header, &Self::text_words(&name))?;
        self.record(1, &[provider.ticks_per_second])?;
        for index in 1..=STRINGS {
            self.string(index, &format!("Component{}::Operation{index}", index % 60))?;
        }
        self.string(OUTGOING_WEIGHT, "outgoing_weight")?;
        self.string(INCOMING_WEIGHT, "incoming_weight")?;
        let process = 1000 + id * 100;
        let named = |object_type: u64, args: u64, length: usize| {
            7 | object_type << 16 | (0x8000 | length as u64) << 24 | args << 40
        };
        let mut object = vec![process];
        let text = format!("process{id}");
        object.extend(Self::text_words(&text));
        self.record(named(1, 0, text.len()), &object)?;
        for thread in 1..=THREADS {
            self.record(3 | thread << 16, &[process, process + thread])?;
            let text = format!("worker{thread}");
            let mut object = vec![process + thread];
            object.extend(Self::text_words(&text));
            object.extend([8 | 3 << 4 | 0x8007 << 16]);
            object.extend(Self::text_words("process"));
            object.push(process);
            self.record(named(2, 1, text.len()), &object)?;
        }
        Ok(())
    }

    /// Returns the names of an event. Most events of a program are of few kinds, unless a number of kinds was
    /// requested.
    fn names(&mut self, provider: &mut Provider) -> std::io::Result<Names> {
        let Some(kinds) = self.kinds else {
            let hot = if self.random(5) == 0 { STRINGS } else { 150 };
            let name = 1 + self.random(hot);
            let category = 1 + name % 12;
            return Ok(Names { category, name });
        };
        let kind = self.random(kinds);
        let (group, number) = (kind / MOST_NAMES, kind % MOST_NAMES);
        let names = Names {
            category: FIRST_CATEGORY + group,
            name: FIRST_NAME + number,
        };
        for (index, text) in [
            (names.category, format!("group{group}")),
            (
                names.name,
                format!("Component{}::Call{number}", number % 60),
            ),
        ] {
            if !std::mem::replace(&mut provider.registered[index as usize], true) {
                self.string(index, &text)?;
            }
        }
        Ok(names)
    }

    /// Writes one event of the provider.
    fn event(&mut self, id: u64, provider: &mut Provider) -> std::io::Result<()> {
        provider.time_ns += self.random(2 * provider.step_ns);
        let ticks = u128::from(provider.time_ns) * u128::from(provider.ticks_per_second);
        let ticks = (ticks / 1_000_000_000) as u64;
        let thread = 1 + self.random(THREADS);
        let choice = self.random(1000);
        let Names { category, name } = self.names(provider)?;
        let depth = &mut provider.depth[(thread - 1) as usize];
        let mut words = vec![ticks];
        let mut args = 0;
        if self.random(2) == 0 {
            words.push(1 | 1 << 4 | (name % 90 + 1) << 16 | self.random(1 << 31) << 32);
            args += 1;
        }
        if self.random(2) == 0 {
            words.extend([4 | 2 << 4 | (name % 80 + 5) << 16, self.random(1 << 50)]);
            args += 1;
        }
        if self.random(2) == 0 {
            let text = self.random(STRINGS);
            words.push(6 | 1 << 4 | (name % 70 + 9) << 16 | text << 32);
            args += 1;
        }
        if self.random(3) == 0 {
            words.extend([7 | 2 << 4 | (name % 60 + 3) << 16, self.random(1 << 46)]);
            args += 1;
        }
        let header = |event_type: u64, args: u64| {
            let refs = string_ref(category) << 32 | string_ref(name) << 48;
            4 | event_type << 16 | args << 20 | thread << 24 | refs
        };
        match choice {
            0..=479 if *depth > 0 && (choice.is_multiple_of(2) || *depth > 40) => {
                *depth -= 1;
                self.record(header(3, 0), &words[..1])
            }
            0..=479 => {
                *depth += 1;
                self.record(header(2, args), &words)
            }
            480..=609 => {
                words.push(ticks + self.random(500));
                self.record(header(4, args), &words)
            }
            610..=669 => self.record(header(0, args), &words),
            670..=709 => {
                let value = self.random(1 << 40);
                let name = (name % 40 + 1) << 48;
                let words = [ticks, 3 | 2 << 4 | 7 << 16, value, 0];
                self.record(
                    4 | 1 << 16 | 1 << 20 | thread << 24 | 1 << 32 | name,
                    &words,
                )
            }
            710..=759 => {
                let (event_type, operation) = match provider.open_async.pop() {
                    Some(open) if choice.is_multiple_of(2) || provider.open_async.len() > 20 => {
                        (7, open)
                    }
                    open => {
                        provider.open_async.extend(open);
                        self.next_id += 1;
                        provider.open_async.push(self.next_id);
                        (5, self.next_id)
                    }
                };
                words.push(operation);
                self.record(header(event_type, args), &words)
            }
            760..=779 => {
                let (event_type, flow) = match provider.open_flows.pop() {
                    Some(open) if choice.is_multiple_of(2) || provider.open_flows.len() > 20 => {
                        (10, open)
                    }
                    open => {
                        provider.open_flows.extend(open);
                        self.next_id += 1;
                        provider.open_flows.push(self.next_id);
                        (8, self.next_id)
                    }
                };
                words.push(flow);
                self.record(header(event_type, args), &words)
            }
            780..=869 => {
                let cpu = self.random(CPUS);
                let incoming = 1000 + id * 100 + thread;
                let outgoing = std::mem::replace(&mut self.running[cpu as usize], incoming);
                let state = 1 + self.random(3);
                let idle = self.random(4) == 0;
                let weight = if idle { 1 << 31 } else { 3122 };
                let words = [
                    ticks,
                    outgoing,
                    incoming,
                    1 | 1 << 4 | OUTGOING_WEIGHT << 16 | 3122 << 32,
                    1 | 1 << 4 | INCOMING_WEIGHT << 16 | weight << 32,
                ];
                self.record(8 | 2 << 16 | cpu << 20 | state << 36 | 1 << 60, &words)
            }
            870..=929 => {
                let (cpu, woken) = (self.random(CPUS), 1000 + id * 100 + thread);
                let words = [ticks, woken];
                self.record(8 | cpu << 20 | 2 << 60, &words)
            }
            _ => {
                let index = FIRST_REUSED + self.random(STRINGS - FIRST_REUSED - 10);
                let number = self.random(300);
                self.string(index, &format!("Temporary::Name{number}"))
            }
        }
    }
}

/// Writes a file of about `size` bytes, with this number of kinds (`None`: a usual number); returns the number of its
/// records.
pub fn write_trace(path: &str, size: u64, seed: u64, kinds: Option<u64>) -> std::io::Result<u64> {
    if kinds.is_some_and(|kinds| !(1..=MOST_KINDS).contains(&kinds)) {
        let words = format!("1 to {MOST_KINDS} kinds can be made");
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, words));
    }
    let mut generator = Generator {
        out: BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?),
        written: 0,
        records: 0,
        random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        next_id: 0,
        running: vec![1101; CPUS as usize],
        kinds,
    };
    generator.record(0x0016_5478_4604_0000, &[])?;
    let mut providers: Vec<Provider> = (0..PROVIDERS)
        .map(|number| Provider {
            ticks_per_second: [1_000_000_000, 24_000_000, 2_099_636_833][number as usize % 3],
            time_ns: 0,
            step_ns: 1,
            depth: [0; THREADS as usize],
            open_async: Vec::new(),
            open_flows: Vec::new(),
            registered: vec![false; 1 << 15],
        })
        .collect();
    for (number, provider) in providers.iter().enumerate() {
        generator.announce(number as u64 + 1, provider)?;
    }
    let mut turn = 5000_u64;
    while generator.written < size {
        turn += 1;
        for (number, provider) in providers.iter_mut().enumerate() {
            let id = number as u64 + 1;
            generator.record(2 << 16 | id << 20, &[])?;
            let burst = 200 + generator.random(800);
            // All bursts of a turn cover the same time.
            provider.time_ns = turn * TURN_NS;
            provider.step_ns = TURN_NS / burst;
            for _ in 0..burst {
                generator.event(id, provider)?;
            }
        }
    }
    generator.out.flush()?;
    Ok(generator.records)
}
