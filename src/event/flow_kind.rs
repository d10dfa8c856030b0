//! Kinds of flows: the meaning of an arrow.
//!
//! `assemble` sets the kind of the arrows that it creates. Our own exports imply the kind by the flow's name
//! ([`FlowKind::implied`]), and write it as an argument ([`FLOW_KIND`]) if the name implies another kind.

use bytemuck::{CheckedBitPattern, NoUninit};
use serde::{Deserialize, Serialize};

/// The argument with [`FlowKind::word`] in our own exports.
pub(crate) const FLOW_KIND: &str = "flow_kind";

/// What an arrow means.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    CheckedBitPattern,
    NoUninit,
)]
#[repr(u8)]
pub enum FlowKind {
    /// A flow that the recorded program itself recorded.
    #[default]
    Stated,
    /// From a fork to the first event of the child.
    Fork,
    /// From the process that wrote a file to one that read it.
    File,
    /// From the process that wrote a file to one that renamed it.
    Rename,
    /// From the process that wrote a file to one that linked it.
    Link,
    /// From a writer of a pipe to its reader.
    Pipe,
    /// From a unit of a build to one that could start after it, as the build tool recorded.
    Unblocks,
}

impl FlowKind {
    /// All kinds.
    const ALL: [FlowKind; 7] = [
        FlowKind::Stated,
        FlowKind::Fork,
        FlowKind::File,
        FlowKind::Rename,
        FlowKind::Link,
        FlowKind::Pipe,
        FlowKind::Unblocks,
    ];

    /// Returns the word for the kind in exports; also the name of the arrows that `assemble` creates.
    #[must_use]
    pub(crate) const fn word(self) -> &'static str {
        match self {
            FlowKind::Stated => "stated",
            FlowKind::Fork => "fork",
            FlowKind::File => "file",
            FlowKind::Rename => "rename",
            FlowKind::Link => "link",
            FlowKind::Pipe => "pipe",
            FlowKind::Unblocks => "unblocks",
        }
    }

    /// Returns the kind with a word from [`FlowKind::word`].
    #[must_use]
    pub(crate) fn of_word(word: &[u8]) -> Option<FlowKind> {
        let mut all = FlowKind::ALL.into_iter();
        all.find(|kind| kind.word().as_bytes() == word)
    }

    /// Returns the kind that a flow's name implies in our own exports: `assemble` names arrows by their kind.
    #[must_use]
    pub(crate) fn implied(name: &[u8]) -> FlowKind {
        FlowKind::of_word(name).unwrap_or_default()
    }
}
