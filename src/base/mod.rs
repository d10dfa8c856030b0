//! The lowest layer, which every other module uses: time, dates, checked byte reading, errors with a place,
//! diagnostics, cancellable jobs, background tasks, trace ids, the memory limit, files that appear when complete,
//! sorting, comparisons, paths, interned strings, lists of names in short, fingerprints, and visible control characters. Independent of traces and formats.

/// Panics in development builds and fuzz targets if a condition does not hold. (`debug_assert!` comes with checks of each
/// slice access in the standard library, which tests do not have.)
macro_rules! dev_assert {
    ($($condition:tt)*) => {
        if cfg!(any(development, debug_assertions)) {
            assert!($($condition)*);
        }
    };
}

pub mod allocator;
pub mod atomic_file;
pub(crate) mod budget;
pub(crate) mod by_string;
pub(crate) mod byte_order;
pub(crate) mod calendar;
pub mod column;
pub(crate) mod comparison;
pub(crate) mod cpu_list;
pub(crate) mod cursor;
pub(crate) mod decimal_seconds;
pub(crate) mod diagnostic;
pub(crate) mod error;
pub(crate) mod error_numbers;
pub(crate) mod fingerprint;
pub(crate) mod job;
pub(crate) mod leading;
pub mod lines;
pub(crate) mod maybe;
pub(crate) mod numbered;
pub(crate) mod order;
pub(crate) mod paths;
pub(crate) mod patterns;
pub mod row_values;
pub(crate) mod signals;
pub mod streaks;
pub mod strings;
pub(crate) mod system;
pub(crate) mod task;
pub mod time;
pub(crate) mod time_order;
pub(crate) mod trace_id;
pub(crate) mod user_folder;
pub(crate) mod visible;

pub(crate) use dev_assert;

pub use byte_order::{Big, ByteOrder, Endian, Little};
pub use comparison::Comparison;
pub(crate) use cpu_list::CpuList;
pub(crate) use cursor::Cursor;
pub use diagnostic::Severity;
pub(crate) use diagnostic::{Diagnostic, Diagnostics};
pub use error::Location;
pub(crate) use error::{Problem, ReadError};
pub(crate) use job::Cancelled;
pub use job::{Job, Progress};
pub(crate) use leading::Leading;
pub use maybe::Maybe;
pub use row_values::RowValues;
pub use strings::StringId;
pub(crate) use strings::Strings;
pub use task::{Task, Waker};
pub(crate) use task::{TaskKey, Work};
pub use time::{Nanos, TimeSpan, Timestamp};
pub(crate) use trace_id::TraceId;
