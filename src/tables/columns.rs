//! The description of a table's column: its name in files, its title for people, its unit, its kind.
//!
//! The name is a contract that scripts rely on; title, unit and kind decide how a person sees the cells.

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDef<'a> {
    /// The name in TSV, CSV and JSON.
    pub name: &'a str,
    /// The heading for people.
    pub title: &'a str,
    /// The unit of the column's numbers.
    pub unit: Unit,
    /// The kind of the cells.
    pub kind: ColumnKind,
    /// One sentence that explains the cells.
    pub about: &'a str,
    /// How soon the column is left out if space is short.
    pub weight: Weight,
}

/// The unit of a column's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No unit: texts, identifiers, plain counts.
    None,
    /// Nanoseconds, or ticks of the trace's clock if that clock does not count seconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Occurrences per second.
    PerSecond,
    /// Percent of the whole.
    Percent,
    /// A change relative to the value before; infinite if that value was zero, or if the new value is zero.
    Change,
}

/// The kind of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// A path, whose end is more important than its beginning.
    Path,
    /// A number that is a name only, such as a pid.
    Key,
    /// The number of a row in a table of the trace.
    Row,
    /// A number that is a name only and may need all 64 bits, such as the id of a flow.
    Code,
    /// A count.
    Count,
    /// Any number.
    Number,
    /// A point in time on the trace's own clock.
    Time,
    /// A duration.
    Duration,
    /// 1 for yes, 0 for no.
    Flag,
}

/// How soon a column is left out if space is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Last: the column identifies the rows, or they are sorted by it.
    Key,
    /// Late: the column contains the main values of the table.
    Main,
    /// Early: the column is for scripts and special questions.
    Minor,
}

impl<'a> ColumnDef<'a> {
    const fn new(
        name: &'a str,
        title: &'a str,
        unit: Unit,
        kind: ColumnKind,
        about: &'a str,
    ) -> ColumnDef<'a> {
        ColumnDef {
            name,
            title,
            unit,
            kind,
            about,
            weight: Weight::Main,
        }
    }

    /// Returns a column of texts.
    #[must_use]
    pub const fn text(name: &'a str, title: &'a str, about: &'a str) -> ColumnDef<'a> {
        ColumnDef::new(name, title, Unit::None, ColumnKind::Text, about)
    }

    /// Returns a column of paths.
    #[must_use]
    pub const fn path(name: &'a str, title: &'a str, about: &'a str) -> ColumnDef<'a> {
        ColumnDef::new(name, title, Unit::None, ColumnKind::Path, about)
    }

    /// Returns a column of numbers that are names.
    #[must_use]
    pub(crate) const fn key(name: &'a str, title: &'a str, about: &'a str) -> ColumnDef<'a> {
        ColumnDef::new(name, title, Unit::None, ColumnKind::Key, about)
    }

    /// Returns a column of numbers of rows of the trace.
    #[must_use]
    pub(crate) const fn row(name: &'a str, title: &'a str, about: &'a str) -> ColumnDef<'a> {
        ColumnDef::new(name, title, Unit::None, ColumnKind::Row, about).minor()
    }

    /// Returns a column of numbers that are names and may need 64 bits.
    #[must_use]
    pub(crate) const fn code(name: &'a str, title: &'a str, about: &'a str) -> ColumnDef<'a> {
        ColumnDef::new(name, title, Unit::None, ColumnKind::Code, about)
    }

    /// Returns a column of counts.
    #[must_use]
    pub const fn count(name: &'a str, title: &'a str, about: &'a str) -> ColumnDef<'a> {
        ColumnDef::new(name, title, Unit::None, ColumnKind::Count, about)
    }

    /// Returns a column of any numbers.
    #[must_use]
    pub const fn number(
        name: &'a str,
        title: &'a str,
        unit: Unit,
        about: &'a str,
    ) -> ColumnDef<'a> {
        ColumnDef::new(name, title, unit, ColumnKind::Number, about)
    }

    /// Returns a column of points in time.
    #[must_use]
    pub const fn time(name: &'a str, title: &'a str, about: &'a str) -> ColumnDef<'a> {
        ColumnDef::new(name, title, Unit::Nanoseconds, ColumnKind::Time, about)
    }

    /// Returns a column of durations.
    #[must_use]
    pub const fn duration(name: &'a str, title: &'a str, about: &'a str) -> ColumnDef<'a> {
        ColumnDef::new(name, title, Unit::Nanoseconds, ColumnKind::Duration, about)
    }

    /// Returns a column of answers, 1 for yes or 0 for no.
    #[must_use]
    pub(crate) const fn flag(name: &'a str, title: &'a str, about: &'a str) -> ColumnDef<'a> {
        ColumnDef::new(name, title, Unit::None, ColumnKind::Flag, about).minor()
    }

    /// Returns the column as one that is left out last.
    #[must_use]
    pub(crate) const fn kept(mut self) -> ColumnDef<'a> {
        self.weight = Weight::Key;
        self
    }

    /// Returns the column with other words about its values.
    #[must_use]
    pub(crate) const fn about(mut self, about: &'a str) -> ColumnDef<'a> {
        self.about = about;
        self
    }

    /// Returns the column as one that is left out early.
    #[must_use]
    pub(crate) const fn minor(mut self) -> ColumnDef<'a> {
        self.weight = Weight::Minor;
        self
    }
}

/// The start of a slice or the time of an event.
pub(crate) const TS: ColumnDef<'static> =
    ColumnDef::time("ts", "Time", "When it begins or happens.");
/// The duration of a row.
pub(crate) const DUR: ColumnDef<'static> = ColumnDef::duration(
    "dur",
    "Duration",
    "How long it lasts; none if it did not end.",
);
/// The name of a row.
pub(crate) const NAME: ColumnDef<'static> = ColumnDef::text("name", "Name", "Its name.");
/// The category of a row.
pub(crate) const CATEGORY: ColumnDef<'static> =
    ColumnDef::text("category", "Category", "Its category or event system.").minor();
/// The number of the row's process.
pub(crate) const PID: ColumnDef<'static> = ColumnDef::key("pid", "PID", "The process's number.");
/// The number of the row's thread.
pub(crate) const TID: ColumnDef<'static> = ColumnDef::key("tid", "TID", "The thread's number.");
/// The number of the row's CPU.
pub(crate) const CPU: ColumnDef<'static> = ColumnDef::key("cpu", "CPU", "The number of the CPU.");
/// The name of the row's thread.
pub(crate) const THREAD: ColumnDef<'static> =
    ColumnDef::text("thread", "Thread", "The thread's name.");
/// The name of the row's process.
pub(crate) const PROCESS: ColumnDef<'static> =
    ColumnDef::text("process", "Process", "The process's name.");
/// For panes only: the thread's name and number.
pub(crate) const THREAD_IN_FULL: ColumnDef<'static> =
    ColumnDef::text("thread_in_full", "Thread", "The thread's name and number");
/// For panes only: the process's program and number.
pub(crate) const PROCESS_IN_FULL: ColumnDef<'static> = ColumnDef::text(
    "process_in_full",
    "Process",
    "The process's program and number",
);
/// The number of the row in the trace's table.
pub(crate) const ID: ColumnDef<'static> = ColumnDef::row("id", "Row", "Its row in this trace.");
/// The number of slices that never ended.
pub(crate) const UNFINISHED: ColumnDef<'static> = ColumnDef::count(
    "unfinished",
    "Unfinished",
    "How many have no recorded end or duration.",
)
.minor();
/// The least total duration of unfinished slices.
pub(crate) const AT_LEAST: ColumnDef<'static> = ColumnDef::duration(
    "at_least",
    "At least",
    "The least total duration of unfinished items.",
)
.minor();
/// In data sets: the row of the thread.
pub(crate) const UTID: ColumnDef<'static> = ColumnDef::row(
    "utid",
    "Thread row",
    "The row of the thread in threads; none for an idle CPU.",
);
/// In data sets: the row of the process.
pub(super) const UPID: ColumnDef<'static> = ColumnDef::row(
    "upid",
    "Process row",
    "The row of the process in processes.",
);
/// In data sets: the event whose fields are in the table of arguments.
pub(super) const ARG_SET: ColumnDef<'static> = ColumnDef::row(
    "arg_set_id",
    "Fields",
    "The row of the event whose fields are in args.",
);
/// The wall-clock time of the row.
pub(crate) const WALL_CLOCK: ColumnDef<'static> =
    ColumnDef::text("wall_clock", "Wall clock", "The time of the wall clock.");
