//! Questions about a trace: the contents of a row at a zoom level, the details of an item, the origin of a process, the
//! sums over a range. Answers are plain lists, without pixels, colours or a window.

pub mod area;
pub(crate) mod blobs;
pub mod build_chain;
pub(crate) mod call_totals;
pub mod compare;
pub mod compiler_costs;
pub mod compiler_totals;
pub mod cpu_use;
pub mod details;
pub(crate) mod distribution;
pub mod durations;
pub(crate) mod event_cpus;
pub mod expression;
pub mod family;
pub(crate) mod file_relatives;
pub mod files;
pub mod flame;
pub mod gaps;
pub mod item;
pub(crate) mod job_slots;
pub mod jobs;
pub mod latency;
pub(crate) mod on_cpus;
pub mod plots;
pub mod probes;
pub mod process_times;
pub(crate) mod process_tree;
pub mod programs;
pub mod row_place;
pub mod search;
pub mod seen;
pub(crate) mod selection;
pub mod slice_kinds;
pub mod slot_estimate;
pub mod visible;
pub(crate) mod waker;
pub mod wakeup_chain;
pub(crate) mod whole_samples;

pub use item::Item;
