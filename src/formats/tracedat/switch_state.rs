//! Converts sched_switch's `prev_state` to the reason why the thread stopped running. The bits differ between kernels,
//! so they are read from the flags table in the event's own print fmt.
//!
//! ```text
//! REC->prev_state & (...) ? __print_flags(..., "|", { 0x1, "S" }, { 0x2, "D" }, ...) : "R", REC->prev_state & 0x100 ? "+" : ""
//! ```

use crate::event::ThreadState;

/// The bits of Linux 4.14 and later.
const USUAL: [(u64, u8); 8] = [
    (0x01, b'S'),
    (0x02, b'D'),
    (0x04, b'T'),
    (0x08, b't'),
    (0x10, b'X'),
    (0x20, b'Z'),
    (0x40, b'P'),
    (0x80, b'I'),
];

/// The meaning of the bits of `prev_state`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateTable {
    bits: Vec<(u64, ThreadState)>,
    preempted: u64,
    /// The states of values below 256, precomputed: nearly all values are that small.
    small: [ThreadState; 256],
}

impl StateTable {
    /// Reads the table from the print fmt of sched_switch; if it contains none, uses the bits of Linux 4.14.
    #[must_use]
    pub(crate) fn new(print_fmt: &str) -> StateTable {
        let bits = bits_of(print_fmt).into_iter();
        let mut table = StateTable {
            bits: bits.map(|(bit, letter)| (bit, state_of(letter))).collect(),
            preempted: preempted_bit(print_fmt),
            small: [ThreadState::Unknown; 256],
        };
        table.small = std::array::from_fn(|value| table.look_up(value as u64));
        table
    }

    /// Returns the state for a `prev_state` of `value`.
    #[inline]
    #[must_use]
    pub(crate) fn state(&self, value: u64) -> ThreadState {
        match self.small.get(value as usize) {
            Some(state) => *state,
            None => self.look_up(value),
        }
    }

    fn look_up(&self, value: u64) -> ThreadState {
        let flags = value & self.preempted.wrapping_sub(1);
        if flags == 0 {
            return if value & self.preempted != 0 {
                ThreadState::Preempted
            } else {
                ThreadState::Runnable
            };
        }
        self.bits
            .iter()
            .find(|(bit, _)| *bit != 0 && flags & bit == *bit)
            .map_or(ThreadState::Unknown, |(_, state)| *state)
    }
}

/// The letters of thread states, by bit of `prev_state`.
#[derive(Clone, Debug)]
pub(crate) struct StateLetters {
    letters: Vec<u8>,
    /// The bit of a thread that was preempted.
    preempted: u64,
}

impl StateLetters {
    pub(crate) fn new(letters: Vec<u8>, preempted: u64) -> StateLetters {
        StateLetters { letters, preempted }
    }

    /// Appends the letters of a state, as trace-cmd's plugin writes them: without a sign for a preempted thread.
    pub(crate) fn push(&self, out: &mut Vec<u8>, state: u64) {
        let mut is_first = true;
        for (bit, &letter) in self.letters.iter().enumerate() {
            if state >> bit & 1 == 0 {
                continue;
            }
            if !is_first {
                out.push(b'|');
            }
            is_first = false;
            out.push(letter);
        }
        if is_first {
            out.push(b'R');
        }
    }

    /// Returns the letters of a state as the kernel writes them: `R+` for a preempted thread.
    #[must_use]
    pub(crate) fn text(&self, state: u64) -> String {
        let mut out = Vec::new();
        self.push(&mut out, state);
        if state & self.preempted != 0 {
            out.push(b'+');
        }
        out.into_iter().map(char::from).collect()
    }
}

/// Returns the bit of a thread that was preempted, which the kernel shows as `+`, in the print fmt of sched_switch.
#[must_use]
pub(crate) fn preempted_bit(print_fmt: &str) -> u64 {
    parse_preempted(print_fmt).unwrap_or_else(|| {
        let bits = bits_of(print_fmt);
        bits.iter().map(|(bit, _)| *bit).max().unwrap_or(0) << 1
    })
}

/// Returns the bits of states and their letters; those of Linux 4.14 if the print fmt contains none.
fn bits_of(print_fmt: &str) -> Vec<(u64, u8)> {
    let bits = parse_bits(print_fmt);
    match bits.is_empty() {
        true => USUAL.to_vec(),
        false => bits,
    }
}

fn state_of(letter: u8) -> ThreadState {
    match letter {
        b'R' => ThreadState::Runnable,
        b'S' => ThreadState::Sleeping,
        b'D' => ThreadState::Uninterruptible,
        b'T' => ThreadState::Stopped,
        b't' => ThreadState::Traced,
        b'Z' => ThreadState::Zombie,
        b'X' | b'x' => ThreadState::Dead,
        b'P' => ThreadState::Parked,
        b'I' => ThreadState::Idle,
        _ => ThreadState::Unknown,
    }
}

/// Returns the `{ number, "letter" }` pairs after `__print_flags(`.
fn parse_bits(print_fmt: &str) -> Vec<(u64, u8)> {
    let Some((_, table)) = print_fmt.split_once("__print_flags(") else {
        return Vec::new();
    };
    let mut bits = Vec::new();
    for row in table.split('{').skip(1).take(64) {
        let Some((number, rest)) = row.split_once(',') else {
            break;
        };
        let letter = rest.split('"').nth(1).and_then(|text| text.bytes().next());
        if let (Some(number), Some(letter)) = (parse_number(number), letter) {
            bits.push((number, letter));
        }
    }
    bits
}

/// Returns the number in `REC->prev_state & NUMBER ? "+"`; `None` if the print fmt has no such test.
fn parse_preempted(print_fmt: &str) -> Option<u64> {
    let (before, _) = print_fmt.split_once("? \"+\"")?;
    let (_, number) = before.rsplit_once("REC->prev_state &")?;
    parse_number(number).filter(|number| number.is_power_of_two())
}

fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_and_old_kernels() {
        let new = StateTable::new(
            "\"%s%s\", (REC->prev_state & ((((0x0 | 0x40) + 1) << 1) - 1)) ? \
             __print_flags(REC->prev_state & 1, \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, \
             { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, { 0x00000080, \"I\" }) : \"R\", \
             REC->prev_state & (((0x0 | 0x40) + 1) << 1) ? \"+\" : \"\"",
        );
        for (value, state) in [
            (0, ThreadState::Runnable),
            (0x100, ThreadState::Preempted),
            (1, ThreadState::Sleeping),
            (2, ThreadState::Uninterruptible),
            (0x402, ThreadState::Uninterruptible),
            (0x20, ThreadState::Zombie),
            (0x80, ThreadState::Idle),
            (0x1000, ThreadState::Runnable),
        ] {
            assert_eq!(new.state(value), state, "{value:#x}");
        }
        let old = StateTable::new(
            "REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & (1024-1), \"|\", \
             { 1, \"S\"} , { 16, \"Z\" }, { 32, \"X\" }, { 512, \"P\" }) : \"R\", \
             REC->prev_state & 1024 ? \"+\" : \"\"",
        );
        assert_eq!(old.state(16), ThreadState::Zombie);
        assert_eq!(old.state(512), ThreadState::Parked);
        assert_eq!(old.state(1024), ThreadState::Preempted);
        assert_eq!(StateTable::new("").state(0x40), ThreadState::Parked);
    }
}
