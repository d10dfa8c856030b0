//! Extensions of FXT that only files of this program contain: the names of arguments, events and artificial koids, and
//! their values. See docs/fxt.md. Other readers show the arguments like any others.

use super::layout::kernel_object::NO_TYPE;
use crate::event::{ForkSort, OWN_WRITER, SEEN_UNTIL};

/// The start of the name of this program's provider.
pub(crate) const OWN_PROVIDER: &str = OWN_WRITER;
/// The name of the provider of records that this program adds to the kept records of an FXT file: among slices that
/// start at the same time, the order in the whole file defines how they nest, whichever provider wrote them.
pub(crate) const OWN_BORDERS: &str = "threadline (among kept records)";
/// The argument of a flow event with the name of the slice to which it belongs, or null.
pub(crate) const REALLY_IN: &str = "really_in";
/// The argument with the start of that slice, in ns on the trace's clock.
pub(crate) const REALLY_IN_FROM: &str = "really_in_from_ns";
/// The argument of a slice or switch whose end was not recorded.
pub(crate) const END_NOT_SEEN: &str = "end_not_seen";
/// The kernel object (of no type) that states facts about the whole recording.
pub(crate) const RECORDING: u64 = MACHINE;

/// The argument of [`RECORDING`]: the highest count in artificial koids for reused numbers.
pub(crate) const REUSED_NUMBERS: &str = "reused_numbers";

/// The argument of a switch whose outgoing thread was not seen on the CPU before it.
pub(crate) const OUTGOING_NOT_SEEN: &str = "outgoing_not_seen";

/// The argument of a switch: how long the outgoing thread's state lasted at most, in ns.
pub(crate) const LONGEST: &str = "lasts_at_most_ns";

/// Argument of switches and wakeups, if true: switches are missing during the state that begins, where no loss was
/// recorded.
pub(crate) const MISSES_SWITCHES: &str = "misses_switches";
/// The argument of a wakeup by an interrupt, and of an event on a CPU's thread: the thread that ran there then.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// The argument of an instant, and in JSON of a state: the number of the CPU on which its event was recorded.
pub(crate) const ON_CPU: &str = "on_cpu";

/// The argument in JSON of an event on the track of a CPU: the CPU's number.
pub(crate) const CPU_TRACK: &str = "cpu_track";

/// The argument of an asynchronous event that a thread of another process recorded: that thread.
pub(crate) const RECORDED_BY: &str = "recorded_by";
/// The argument with the process of that thread: threads of two processes may have one koid.
pub(crate) const RECORDED_BY_PROCESS: &str = "recorded_by_process";

/// The names of the arguments of kernel objects that describe a life.
pub(crate) const LIFE_ARGUMENTS: [&str; 12] = [
    SEEN_UNTIL,
    "started_ns",
    "ended_ns",
    "made",
    "parent",
    "exit_status",
    "exit_signal",
    "exec_ns",
    "program",
    "command",
    "directory",
    "interpreter",
];

/// The category of events that this program's exporter adds.
pub(crate) const OWN_CATEGORY: &str = "threadline";
/// The name of the event that describes a loss.
pub(crate) const LOST_EVENTS: &str = "lost events";
/// The argument of the event of a loss with the number of lost events.
pub(crate) const LOST_COUNT: &str = "lost_events";
/// The argument of the event of a loss with the time in ns of the last event before the loss.
pub(crate) const LOST_FROM: &str = "from_ns";
/// The argument of the event of a loss with the time in ns of the first event after the loss.
pub(crate) const LOST_UNTIL: &str = "until_ns";
/// The argument of a CPU's thread with the number of its events that the recorder counted as overwritten.
pub(crate) const OVERWRITTEN: &str = "overwritten_events";
/// The argument of a CPU's thread with the number of its events that the recorder counted as dropped.
pub(crate) const DROPPED: &str = "dropped_events";
/// The artificial koid of CPU 0's thread and process; those of the other CPUs follow.
pub(crate) const FIRST_CPU: u64 = 1 << 63 | 0x7c00_0000;
/// The artificial koid of the thread and process of events that belong to no CPU and no thread.
pub(crate) const MACHINE: u64 = FIRST_CPU - 1;

/// Returns the artificial koid of a CPU.
#[must_use]
pub(crate) fn koid_of_cpu(number: u16) -> u64 {
    FIRST_CPU + u64::from(number)
}

/// Returns the CPU that an artificial koid of this program's exporter belongs to.
#[must_use]
pub(crate) fn cpu_of_koid(koid: u64) -> Option<u16> {
    let number = koid.checked_sub(FIRST_CPU)?;
    u16::try_from(number).ok().filter(|&cpu| cpu < u16::MAX)
}

/// Returns whether a koid is the artificial one of a CPU or the machine, not of a real process or thread.
#[must_use]
pub(crate) fn is_stand_in(koid: u64) -> bool {
    koid == MACHINE || cpu_of_koid(koid).is_some()
}

/// Returns whether a kernel object of this program's exporter states facts about the whole recording.
#[must_use]
pub(crate) fn is_of_recording(object_type: u64, koid: u64) -> bool {
    object_type == NO_TYPE && koid == RECORDING
}

/// Returns the pid or tid for a koid of this program's exporter. If the system reused a number, its koid is artificial:
/// the low half contains the reused number, the high half a count from 1. Other koids are returned unchanged: those of
/// CPUs and of the machine, and those of another writer. `most` is the highest count.
#[must_use]
pub(crate) fn number_of_koid(koid: u64, most: u64) -> u64 {
    let is_counted = koid >> 63 == 1 && (1..=most).contains(&count_of_koid(koid));
    if is_counted { koid & 0xffff_ffff } else { koid }
}

/// Returns the count in an artificial koid for a reused number.
#[must_use]
pub(crate) fn count_of_koid(koid: u64) -> u64 {
    koid << 1 >> 33
}

/// Returns a program's arguments as one text; see `docs/fxt.md`.
#[must_use]
pub(crate) fn command_text<'w>(words: impl Iterator<Item = &'w [u8]>) -> Vec<u8> {
    let mut text = Vec::new();
    for (index, word) in words.enumerate() {
        if index > 0 {
            text.push(b' ');
        }
        if word.is_empty() {
            text.extend_from_slice(b"\\e");
        }
        for &byte in word {
            match byte {
                b' ' => text.extend_from_slice(b"\\ "),
                b'\n' => text.extend_from_slice(b"\\n"),
                b'\\' => text.extend_from_slice(b"\\\\"),
                byte => text.push(byte),
            }
        }
    }
    text
}

/// Returns the arguments in a text of [`command_text`]; none for an empty text.
#[must_use]
pub(crate) fn command_words(text: &[u8]) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    if text.is_empty() {
        return words;
    }
    let mut word = Vec::new();
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b' ' => words.push(std::mem::take(&mut word)),
            b'\\' => match bytes.next() {
                Some(b'n') => word.push(b'\n'),
                Some(b'e') | None => {}
                Some(&other) => word.push(other),
            },
            byte => word.push(byte),
        }
    }
    words.push(word);
    words
}

/// Returns the word for the way in which a process was created.
#[must_use]
pub(crate) fn fork_word(fork: ForkSort) -> &'static str {
    match fork {
        ForkSort::Process => "process",
        ForkSort::Sibling => "sibling",
        ForkSort::Thread => "thread",
        ForkSort::Unknown => "unknown",
    }
}

/// Returns the kind of fork of a word from [`fork_word`].
#[must_use]
pub(crate) fn fork_of_word(word: &[u8]) -> Option<ForkSort> {
    let all = [
        ForkSort::Process,
        ForkSort::Sibling,
        ForkSort::Thread,
        ForkSort::Unknown,
    ];
    all.into_iter()
        .find(|fork| fork_word(*fork).as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_up_to_the_highest_are_those_of_reused_numbers() {
        let koid = 1 << 63 | 5 << 32 | 316;
        assert_eq!((number_of_koid(koid, 5), count_of_koid(koid)), (316, 5));
        assert_eq!(number_of_koid(koid, 4), koid);
        assert_eq!(number_of_koid(316, 5), 316);
        assert_eq!(number_of_koid(1 << 63 | 316, 5), 1 << 63 | 316);
    }

    #[test]
    fn commands_are_read_as_they_were_written() {
        let words: [&[u8]; 6] = [b"sh", b"-c", b"echo a\\n b\n", b"", b"\\", b"\xff"];
        let text = command_text(words.into_iter());
        assert_eq!(text, b"sh -c echo\\ a\\\\n\\ b\\n \\e \\\\ \xff");
        assert_eq!(command_words(&text), words);
        assert_eq!(command_words(b""), Vec::<Vec<u8>>::new());
        assert_eq!(command_words(b"a\\"), [b"a"]);
    }
}
