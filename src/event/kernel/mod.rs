//! The tables of kernel events: which pairs become slices, and which events become counters. Readers of kernel events
//! (trace.dat, ftrace text) search their events here; `assemble` only uses families.

mod async_pairs;
mod counters;
mod label_keys;
mod noise;
mod pairs;
mod probe_groups;
mod requests;
mod systems;

pub(crate) use async_pairs::{ASYNC_PAIRS, AsyncPair, EndOfPair, find_async_pair};
pub(crate) use counters::{COUNTERS, Counter, OWN_CPU, find_counters};
pub use label_keys::ANY_KEY;
pub(crate) use label_keys::{NUMBER_ZERO, USER_MODE};
pub(crate) use noise::{Noise, find_noise};
pub(crate) use pairs::{PAIRS, Pair, PairEnd, PairName, PairOfEvent, find_pair};
pub(crate) use probe_groups::{ProbeGroup, is_probe_field};
pub use requests::RequestOp;
pub(crate) use requests::find_request;
pub(crate) use systems::{UNKNOWN_SYSTEM, is_of_cpu, is_user_mode};

/// The event of the system call that ends a whole process.
pub(crate) const EXIT_GROUP: &str = "sys_enter_exit_group";

/// Returns the exit code that a parent gets, from the argument of that call.
#[must_use]
pub(crate) fn exit_status(argument: u64) -> i32 {
    (argument & 0xff) as i32
}

/// Maximum length of a task's name, in bytes: the kernel cuts longer ones (`TASK_COMM_LEN` without the final zero).
pub(crate) const MOST_COMM: usize = 15;
