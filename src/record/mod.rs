//! Recording: an order comes in, a trace.dat goes out; meanwhile the numbers of bytes and of lost events are reported.
//!
//! ```text
//! threadline record            this process, without rights: pages, the file, COMMAND
//!     session, source, names   the process with the rights (`tracefs`), its open files; names of threads
//!     recorder, desk, watch    the plan of a recording; waiting until it is over
//!     to_file, pump            pages of a CPU from the kernel to a file without a name, by splice
//!     flight, ring             the last events in memory, written when the trigger matches
//!     trigger                  an expression that is searched for while recording
//!     output                   pages assembled to a trace.dat
//!     clean_up                 restores what a killed recording changed
//! presets, probe_group         predefined sets of events; the group of a recording's probes
//! ```

mod clean_up;
mod counts;
mod desk;
mod flight;
mod names;
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

pub use clean_up::clean_up;
pub use desk::{Ending, Flight, Plan, Recorded, Situation, Watchword};
pub use output::Target;
pub use probe_group::with_group;
pub use recorder::record;
pub use session::{Rights, drop_rights};
pub use trouble::RecordError;
