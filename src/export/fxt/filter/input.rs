//! The input of the filter: the file, the records that are kept, and the items that are written besides them.

use super::super::encode::Source;
use super::super::items::Items;
use super::super::names::Named;
use super::super::records::FixedTables;
use super::kept::Kept;
use crate::formats::fxt::FxtSource;

/// The input of the filter.
pub struct Input<'a, 't> {
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// The records of the file, for the encoder.
    pub fxt: FxtSource<'a>,
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
