//! The greatest lengths of texts, by their use in a file.

use crate::fxt::layout::MOST_RECORD_WORDS;

/// The longest text that is registered because it may be repeated; longer ones hardly ever are.
pub(crate) const MOST_REPEATED_BYTES: usize = 256;
/// The longest name inside a record, beside its 15 arguments; a longer one is registered.
pub(crate) const MOST_INLINE_BYTES: usize = 1000;
/// The longest text that can be registered: the size of its record is limited.
pub(crate) const MOST_STRING_BYTES: usize = (MOST_RECORD_WORDS - 1) * 8;
/// The longest message of a log record, whose header and time take two words.
pub(crate) const MOST_LOG_BYTES: usize = (MOST_RECORD_WORDS - 2) * 8;
