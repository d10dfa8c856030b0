//! Metadata events: names of processes and threads, and facts about the file.

use super::emit::Emitter;
use super::event::RawEvent;
use super::numbers::{whole, whole_of_any};
use super::people::{About, Ident, MetadataEvent, Owner, Pair};
use super::scan::{Members, Raw};

impl<'f> Emitter<'f> {
    pub(super) fn metadata(&mut self, at: usize, raw: &RawEvent<'f>) {
        let strings = &mut self.out.columns.strings;
        let process = Ident::of(raw.process, strings);
        let thread = match Ident::of(raw.thread, strings) {
            Ident::None => process,
            thread => thread,
        };
        let args = raw.args.nested();
        let argument = |wanted: &[u8]| {
            let mut members = Members::of(args);
            let found = members.find(|(key, _)| key.bytes == wanted);
            found.map_or(Raw::None, |(_, value)| value)
        };
        let is_ours = self.source.is_ours;
        let own = |word: &[u8]| match is_ours {
            true => whole(argument(word).bytes()),
            false => None,
        };
        let cpu = || own(b"cpu").and_then(|number| u16::try_from(number).ok());
        let stands_for = match is_ours {
            true => argument(b"stands_for"),
            false => Raw::None,
        };
        let fact = match (raw.name.bytes(), stands_for.bytes()) {
            (b"process_name", b"cpu") => About::Owner(cpu().map_or(Owner::Machine, Owner::Cpu)),
            (b"process_name", b"machine") => About::Owner(Owner::Machine),
            (b"thread_name", b"cpu" | b"runs" | b"machine") => About::StandsFor(Ident::None),
            (b"thread_name", [_, ..]) => {
                About::StandsFor(Ident::of(stands_for, &mut self.out.columns.strings))
            }
            (b"process_name", _) => About::ProcessName(self.name(argument(b"name")), own(b"pid")),
            (b"thread_name", _) => About::ThreadName(self.name(argument(b"name")), own(b"tid")),
            (b"process_labels", _) => About::Labels(self.name(argument(b"labels"))),
            (b"process_sort_index", _) => match rank(argument(b"sort_index")) {
                Some(rank) => About::ProcessRank(rank),
                None => About::Other(self.name(raw.name)),
            },
            (b"thread_sort_index", _) => match rank(argument(b"sort_index")) {
                Some(rank) => About::ThreadRank(rank),
                None => About::Other(self.name(raw.name)),
            },
            (b"num_cpus", _) => {
                let count = whole_of_any(argument(b"number").bytes()).unwrap_or(0);
                About::Cpus(u32::try_from(count).unwrap_or(u32::MAX))
            }
            _ => About::Other(self.name(raw.name)),
        };
        self.out.metadata.push(MetadataEvent {
            at: at as u64,
            pair: Pair { process, thread },
            fact,
        });
    }
}

/// Returns a sort index, which may be negative.
fn rank(value: Raw<'_>) -> Option<i64> {
    let (digits, is_negative) = match value.bytes() {
        [b'-', digits @ ..] => (digits, true),
        digits => (digits, false),
    };
    let rank = i64::try_from(whole_of_any(digits)?).ok()?;
    Some(if is_negative { -rank } else { rank })
}
