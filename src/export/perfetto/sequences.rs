//! The sequences of track events: names and texts keep their numbers from one piece of a sequence to its next one.
//!
//! ```text
//! piece:     0  1  2  3  4  5  6  7  8 ...
//! sequence:  a  b  c  d  a  b  c  d  a ...
//! ```
//!
//! Pieces take turns, so that several can be encoded at a time and the file does not depend on the number of cores. A
//! reader keeps the numbers of a sequence apart for each machine.

use std::sync::{Condvar, Mutex, PoisonError};

use super::interner::Interner;
use super::sources::Machine;

/// The number of sequences.
pub(super) const SEQUENCES: usize = 4;

/// The texts that packets of a sequence refer to by number, by machine.
#[derive(Default)]
pub(super) struct Numbers(Vec<(Machine, Interner)>);

impl Numbers {
    /// Forgets numbers that take too much memory, before the next piece.
    pub(crate) fn start_piece(&mut self) {
        for (_, interner) in &mut self.0 {
            interner.start_piece();
        }
    }

    /// Returns the numbers for a machine.
    #[inline]
    pub(super) fn of(&mut self, machine: Machine) -> &mut Interner {
        let at = match self.0.iter().position(|(own, _)| *own == machine) {
            Some(at) => at,
            None => {
                self.0.push((machine, Interner::default()));
                self.0.len() - 1
            }
        };
        &mut self.0[at].1
    }
}

#[derive(Default)]
struct Turn {
    /// The number of pieces that were encoded.
    piece_count: usize,
    numbers: Numbers,
}

#[derive(Default)]
struct Sequence {
    turn: Mutex<Turn>,
    next: Condvar,
}

/// The state of all sequences.
#[derive(Default)]
pub(super) struct Sequences([Sequence; SEQUENCES]);

impl Sequences {
    /// Calls `encode` with the index of the sequence of a piece, and its numbers, after all pieces before it. Pieces must
    /// be taken in order.
    pub(super) fn with<R>(&self, piece: usize, encode: impl FnOnce(usize, &mut Numbers) -> R) -> R {
        let index = piece % SEQUENCES;
        let Sequence { turn, next } = &self.0[index];
        let is_early = |turn: &mut Turn| turn.piece_count < piece / SEQUENCES;
        let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = next.wait_while(turn, is_early);
        let mut turn = turn.unwrap_or_else(PoisonError::into_inner);
        // Before `encode`, so that the thread with the next piece continues even if this thread panics.
        turn.piece_count += 1;
        let result = encode(index, &mut turn.numbers);
        drop(turn);
        next.notify_all();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_sequence_take_turns() {
        let sequences = Sequences::default();
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for piece in (0..3 * SEQUENCES).rev() {
                let (sequences, order) = (&sequences, &order);
                scope.spawn(move || {
                    sequences.with(piece, |index, _| {
                        assert_eq!(index, piece % SEQUENCES);
                        order.lock().unwrap().push(piece);
                    });
                });
            }
        });
        let order = order.into_inner().unwrap();
        for index in 0..SEQUENCES {
            let own = order.iter().filter(|&&piece| piece % SEQUENCES == index);
            assert!(own.is_sorted(), "{order:?}");
        }
        assert_eq!(order.len(), 3 * SEQUENCES);
    }
}
