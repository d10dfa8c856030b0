//! The input of the filter: the file, the records that are kept, and the items that are written besides them.

use super::file::FxtFile;
use super::kept::Kept;
use crate::export::fxt::encode::Source;
use crate::export::fxt::items::Items;
use crate::export::fxt::names::Named;
use crate::export::fxt::records::FixedTables;

/// The input of the filter.
pub(crate) struct Input<'a, 't> {
    /// The file.
    pub file: FxtFile<'a>,
    /// The events whose records are kept.
    pub kept: &'a Kept,
    /// The items to be written besides the kept records.
    pub items: &'a Items<'a>,
    /// The input of the encoder.
    pub source: &'a Source<'a>,
    /// The fixed tables of the encoder.
    pub tables: &'t FixedTables,
    /// The processes and threads whose kernel objects are kept.
    pub named: &'a Named,
}
