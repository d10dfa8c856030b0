//! The ground that every other module stands on: time, dates, checked byte reading, errors with a place,
//! diagnostics, jobs that can be cancelled, the memory that may be used, files that appear when they are whole, rows put
//! in order, paths, interned strings, and characters made visible. Knows no trace and no format.

pub mod allocator;
pub mod atomic_file;
pub mod budget;
pub mod calendar;
pub mod cpu_list;
pub mod cursor;
pub mod diagnostic;
pub mod error;
pub mod job;
pub mod lines;
pub mod order;
pub mod paths;
pub mod signals;
pub mod strings;
pub mod time;
pub mod time_order;
pub mod visible;

pub use cpu_list::CpuList;
pub use cursor::{Cursor, Endian};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use error::{Location, Problem, ReadError};
pub use job::{Cancelled, Job};
pub use strings::{StringId, Strings};
pub use time::{Nanos, TimeSpan, Timestamp};
