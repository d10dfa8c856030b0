//! Recording: an order comes in, a trace.dat goes out; meanwhile the numbers of bytes and of lost events are reported.
//!
//! ```text
//! threadline record            this process, without rights: pages, the file, COMMAND
//!     session, source, names   the process with the rights (`tracefs`), its open files; names of threads
//!     recorder, desk, watch    the plan of a recording; waiting until it is over
//!     to_file, pump            pages of a CPU from the kernel to a file without a name, by splice
//!     flight, ring             the last events in memory, written when the trigger matches
//!     trigger, memory_file     an expression that is searched for while recording, in a small trace.dat in memory
//!     live                     a folder in which the recording can be read while it is made
//!     output                   pages assembled to a trace.dat
//!     clean_up                 restores what a killed recording changed
//! live_reader                  reads that folder, for the window
//! offer, kernel_filter         what the kernel offers to record; a filter is checked before the kernel does
//! presets, probe_group         predefined sets of events; the group of a recording's probes
//! ```

mod clean_up;
mod counts;
mod desk;
mod flight;
pub mod kernel_filter;
mod live;
mod live_reader;
mod memory_file;
mod names;
pub mod offer;
mod output;
pub mod presets;
mod probe_group;
mod pump;
mod recorder;
mod ring;
mod session;
mod source;
mod to_file;
mod trigger;
mod trouble;
mod watch;

pub(crate) use clean_up::clean_up;
pub use desk::{Ending, Flight, Plan, Recorded, Situation, Watchword};
pub use live::{Live, Report, last_report};
pub use live_reader::LiveReader;
pub use output::Target;
pub(crate) use probe_group::with_group;
pub use recorder::record;
pub(crate) use session::program_path;
pub use session::{Authority, Rights};
pub use trouble::RecordError;
