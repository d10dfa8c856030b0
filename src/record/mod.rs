//! Recording: an order in, a trace.dat out, and meanwhile the number of bytes and of lost events.
//!
//! ```text
//! threadline record            this process: pages, the file, COMMAND; without rights
//!     session, source, names   the process with the rights (`tracefs`), its open files; names of threads
//!     recorder, desk, watch    what a recording is; waiting until it is over
//!     to_file, pump            pages of a CPU from the kernel to a file without a name, by splice
//!     flight, ring             the last stretch in memory, written when something happens
//!     trigger                  an expression that is looked for meanwhile
//!     output                   pages put together as a trace.dat
//!     clean_up                 what a killed recording left
//! presets, probe_group         ready sets of events; the group of a recording's probes
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
