//! Facts about the file besides events: its other members, and metadata events that contain no name.

use super::describe::{fields_into, object_at, text_of_raw};
use super::emit::PartRead;
use super::numbers::whole_of_any;
use super::people::About;
use super::scan::{Members, Raw, Scan};
use super::text::shortened;
use crate::event::part::ClockMark;
use crate::event::{CpuLoss, Fact, FieldRef, TraceInfo};

/// Maximum number of facts of each kind: of members, and of metadata events.
const MOST_FACTS: usize = 64;

/// Members that contain the wall-clock time of the trace clock's zero, with their unit in ns: PyTorch's profiler
/// and viztracer (in its `viztracer_metadata`), clang.
const CLOCK_ZEROS: [(&[u8], i64); 2] = [(b"baseTimeNanoseconds", 1), (b"beginningOfTime", 1000)];

/// The facts so far.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Facts from members of the file.
    of_members: Vec<Fact>,
    /// Facts from metadata events.
    of_events: Vec<Fact>,
    more: u64,
    cpu_count: u32,
    wall_clock_zero_ns: Option<i64>,
    clock_marks: Vec<ClockMark>,
    cpu_losses: Vec<CpuLoss>,
    /// The clock of the times, if the file names it (`metadata`, `clock-domain`).
    clock_domain: Option<Vec<u8>>,
}

/// The name of `CLOCK_MONOTONIC` among Chromium's clocks.
const MONOTONIC: &[u8] = b"LINUX_CLOCK_MONOTONIC";

impl Facts {
    /// Adds the members, clock marks and metadata events of a part.
    pub(super) fn add_part(&mut self, part: &PartRead, bytes: &[u8]) {
        let members = part.members.iter();
        for (key, place) in members.filter(|(key, _)| key != super::system_trace::KEY) {
            let at = usize::try_from(*place).unwrap_or(usize::MAX);
            let value = Scan::new(bytes, at).value().unwrap_or_default();
            self.member(key, value);
        }
        for mark in &part.clock_marks {
            ClockMark::add_to(&mark.id, mark.time_ns, &mut self.clock_marks);
        }
        self.cpu_losses.extend_from_slice(&part.cpu_losses);
        let strings = &part.columns.strings;
        for event in &part.metadata {
            match event.fact {
                About::Cpus(count) => self.cpu_count = self.cpu_count.max(count),
                About::Other(name) => {
                    let name = strings.text(name).into_owned();
                    if self.of_events.len() >= MOST_FACTS {
                        self.more += 1;
                        continue;
                    }
                    let mut fields = Vec::new();
                    fields_into(object_at(bytes, event.at), &mut fields);
                    let text = fields.into_iter().map(FieldRef::into_field);
                    let text: Vec<String> = text
                        .map(|field| format!("{}={}", field.name, field.text()))
                        .collect();
                    self.more += add(&mut self.of_events, name, &text.join(" "));
                }
                About::ProcessName(..)
                | About::ThreadName(..)
                | About::StandsFor(_)
                | About::Owner(_)
                | About::Labels(_)
                | About::ProcessRank(_)
                | About::ThreadRank(_) => {}
            }
        }
    }

    fn member(&mut self, key: &[u8], value: Raw<'_>) {
        self.clock_zero(key, value);
        let name = crate::base::strings::text_of(key).into_owned();
        match value {
            Raw::Nested(object @ [b'{', ..]) => {
                for (key, value) in Members::of(object) {
                    match &*name {
                        "metadata" if key.bytes == b"clock-domain" => {
                            self.clock_domain = Some(value.bytes().to_vec());
                        }
                        "viztracer_metadata" => self.clock_zero(key.bytes, value),
                        _ => {}
                    }
                    let name = format!("{name}.{}", super::text::shown(key));
                    self.more += add(&mut self.of_members, name, &text_of_raw(value));
                }
            }
            value => self.more += add(&mut self.of_members, name, &text_of_raw(value)),
        }
    }

    /// Adds the wall-clock time of the trace clock's zero, if the member with this key contains it.
    fn clock_zero(&mut self, key: &[u8], value: Raw<'_>) {
        let unit = CLOCK_ZEROS.iter().find(|(name, _)| *name == key);
        let number = whole_of_any(value.bytes()).and_then(|zero| i64::try_from(zero).ok());
        if let (Some((_, unit)), Some(number)) = (unit, number)
            && let Some(zero) = number.checked_mul(*unit)
        {
            self.wall_clock_zero_ns = Some(zero);
        }
    }

    /// Returns `head` with the facts about the file.
    pub(super) fn into_info(self, head: TraceInfo) -> TraceInfo {
        let mut clock_marks = self.clock_marks;
        // Chromium on Linux uses this clock, but did not always name it.
        if self.clock_domain.is_none_or(|domain| domain == MONOTONIC) {
            let id = ClockMark::MONOTONIC_ZERO.to_vec();
            clock_marks.push(ClockMark { id, time_ns: 0 });
        }
        let mut facts = head.facts;
        facts.extend(self.of_members);
        facts.extend(self.of_events);
        if self.more > 0 {
            facts.push(Fact::new("more facts", self.more.to_string()));
        }
        TraceInfo {
            facts,
            cpu_count: (self.cpu_count > 0).then_some(self.cpu_count),
            wall_clock_zero_ns: self.wall_clock_zero_ns,
            clock_marks,
            losses: self.cpu_losses,
            ..head
        }
    }
}

/// Adds a fact; returns 1 if there is no room for it, otherwise 0.
fn add(facts: &mut Vec<Fact>, name: String, text: &str) -> u64 {
    let fact = Fact::new(name, shortened(text));
    if facts.contains(&fact) {
        return 0;
    }
    if facts.len() >= MOST_FACTS {
        return 1;
    }
    facts.push(fact);
    0
}
