//! The ground that every other module stands on: time, dates, checked byte reading, errors with a place,
//! diagnostics, jobs that can be cancelled, rows put in order, paths, and interned strings. Knows no trace and no format.

pub mod allocator;
pub mod calendar;
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

pub use cursor::{Cursor, Endian};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use error::{Location, Problem, ReadError};
pub use job::{Cancelled, Job};
pub use strings::{StringId, Strings};
pub use time::{Nanos, TimeSpan, Timestamp};
