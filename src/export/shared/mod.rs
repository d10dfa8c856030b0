//! What file formats that number threads, flows and asynchronous operations share: numbers of processes and threads
//! (`koids`), marks of arrows (`flow_marks`), ids of asynchronous slices (`async_ids`), names of counters, losses, and
//! the arguments of events.

pub mod arguments;
pub(crate) mod async_ids;
pub(crate) mod counter_names;
pub(crate) mod flow_marks;
pub(crate) mod koids;
mod lone_flows;
pub(crate) mod losses;

/// A thread in the output: the koid of its process, then its own.
pub(crate) type ThreadKoids = (u64, u64);
