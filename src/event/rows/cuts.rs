//! Items that an export cut at the border of its time range, or at the end of one of several joined files.

/// A slice, run or state of which the file contains only a part: it lasted at least as long as the part, and its real
/// duration is unknown. Only files of our own exporters contain such items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The event at which the item begins or ends.
    pub event: u32,
    /// Whether the item begins or ends with the event.
    pub side: CutSide,
}

/// Which items an event of a [`Cut`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CutSide {
    /// The items that begin with the event: a slice, a run, a thread state.
    Begin,
    /// The run and the running state of the event's thread that end at the event.
    End,
}

/// The argument with the real start, in ns, of an item that a range cuts at its start.
pub(crate) const REALLY_BEGAN: &str = "really_began_ns";
/// The argument with the real end, in ns, of an item that a range cuts at its end.
pub(crate) const REALLY_ENDED: &str = "really_ended_ns";
/// The argument of an item that was still open at the end of its file, and is cut there or at the range's end.
pub(crate) const NEVER_ENDED: &str = "never_ended";
/// The name of the last moment of a recording, in ns: unfinished items lasted at least until then. In FXT also of a
/// thread that was last seen earlier, because its file ended earlier.
pub(crate) const SEEN_UNTIL: &str = "seen_until_ns";

/// The start of the writer's name in files of this program's exporters.
pub(crate) const OWN_WRITER: &str = "threadline";
