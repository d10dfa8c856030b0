//! Arguments of switches and wakeups besides those that the encoder computes.

use super::args::{self, Fitted, MOST_ARG_WORDS, Room};
use super::encode::Encoder;
use super::records::{Arg, ArgValue, MOST_ARGS};

/// The most arguments of a copied scheduling record that fit besides those that the encoder adds.
const MOST_OWN_ARGS: usize = MOST_ARGS - 6;

/// Returns the value of the first argument of that name for which `of` returns one.
pub(crate) fn value_of<T>(
    args: &[Arg<'_>],
    name: &[u8],
    of: impl Fn(&ArgValue<'_>) -> Option<T>,
) -> Option<T> {
    let named = args.iter().filter(|arg| *arg.name == *name);
    named.filter_map(|arg| of(&arg.value)).next()
}

/// Returns the 32-bit value of the argument of that name.
pub(crate) fn int32_of(args: &[Arg<'_>], name: &str) -> Option<i32> {
    value_of(args, name.as_bytes(), |value| match value {
        ArgValue::Int32(value) => Some(*value),
        _ => None,
    })
}

impl<'a> Encoder<'a, '_> {
    /// Prepares arguments of a scheduling record, except those named in `others`. Arguments that do not fit into the
    /// record go into `more`; long ones are cut.
    pub(super) fn prepare_but(&mut self, args: &[Arg<'a>], others: &[&str]) {
        let is_among = |name: &[u8]| others.iter().any(|other| other.as_bytes() == name);
        let args = args.iter().filter(|arg| !is_among(&arg.name));
        let mut args: Vec<Arg<'a>> = args.cloned().collect();
        let room = Room {
            args: MOST_OWN_ARGS,
            words: MOST_ARG_WORDS,
        };
        let Fitted { is_packed, cut } = args::fit_among(&mut args, room);
        self.records.counts.packed += u64::from(is_packed);
        self.records.counts.cut_scheduling += cut.len() as u64;
        self.records.prepare(&args);
    }
}
