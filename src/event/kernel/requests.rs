//! Events of the block layer that begin and end bios and requests.

/// What an event of the block layer does to a bio or request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOp {
    /// A bio was handed to the block layer.
    Queue,
    /// A bio was split in two.
    Split,
    /// A bio that went through no request is complete.
    BioComplete,
    /// A request waits in a scheduler's queue.
    Insert,
    /// A request was handed to the driver.
    Issue,
    /// The driver gave a request back.
    Requeue,
    /// A request was merged into another one.
    Merge,
    /// A request counts as I/O from here on.
    IoStart,
    /// A request that counted as I/O is done.
    IoDone,
    /// Sectors of a request are complete, and so are the bios that they cover.
    Complete,
}

/// The events of the block layer that begin and end bios and requests: see `assemble::requests`.
const REQUEST_EVENTS: &[(&str, RequestOp)] = &[
    ("block_bio_queue", RequestOp::Queue),
    ("block_split", RequestOp::Split),
    ("block_bio_complete", RequestOp::BioComplete),
    ("block_rq_insert", RequestOp::Insert),
    ("block_rq_issue", RequestOp::Issue),
    ("block_rq_requeue", RequestOp::Requeue),
    ("block_rq_merge", RequestOp::Merge),
    ("block_io_start", RequestOp::IoStart),
    ("block_io_done", RequestOp::IoDone),
    ("block_rq_complete", RequestOp::Complete),
];

/// Returns what `system:event` means for a bio or request, if it is in [`REQUEST_EVENTS`].
#[must_use]
pub(crate) fn find_request(system: &str, event: &str) -> Option<RequestOp> {
    let rows = REQUEST_EVENTS.iter().filter(|_| system == "block");
    rows.copied().find(|row| row.0 == event).map(|row| row.1)
}
