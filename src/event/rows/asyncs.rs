//! Operations that belong to no thread: asynchronous slices, and bios and requests of the block layer.

use crate::base::{Maybe, StringId};
use crate::event::kernel::RequestOp;
use crate::event::{ProcessKey, SliceKind, ThreadKey};

/// One event of an asynchronous slice. Each (scope, group, id) has its own track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncMark {
    /// The event.
    pub event: u32,
    /// Begin, instant or end.
    pub op: AsyncOp,
    /// The scope in which `id` is unique.
    pub scope: AsyncScope,
    /// The file's id of the operation.
    pub id: u64,
    /// Name of the slice; an end with an empty name closes the innermost open slice.
    pub name: StringId,
    /// The slice's category.
    pub category: StringId,
    /// What the slice is about.
    pub kind: SliceKind,
    /// Name of the group of tracks that the slice belongs to, e.g. `block requests`; empty: that of the
    /// outermost slice.
    pub group: StringId,
}

/// What an [`AsyncMark`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsyncOp {
    /// The operation begins.
    Begin,
    /// Something happened in it.
    Instant,
    /// The operation ends.
    End,
    /// The operation ended earlier, but its end was not recorded. Ignored if none is open.
    Over,
}

/// The scope in which an id is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsyncScope {
    /// The whole trace.
    Global,
    /// The whole trace; a slice is drawn in the process of the outermost begin around it. The process of the event.
    Shared(ProcessKey),
    /// A process named by the file.
    Process(ProcessKey),
    /// The process of a thread; if the thread is not known, the process of the idle thread.
    ProcessOf(Maybe<ThreadKey>),
}

/// An event of a bio or request of the block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// The event.
    pub event: u32,
    /// What happened.
    pub op: RequestOp,
    /// Number of the device.
    pub device: u64,
    /// Its first sector.
    pub sector: u64,
    /// Number of sectors; for a split: the first sector of the rest.
    pub count: u64,
    /// The operation's letters (`WS`).
    pub name: StringId,
}
