//! The state of a file of records: the table entries that it contains, and the number of records of each kind.

use std::io::Write;

use super::encode::Encoder;
use super::item::Item;
use super::records::{FixedTables, RecordCounts};
use super::registered::Registered;
use crate::export::exporter::ExportError;

/// Records that are encoded at a border are written as soon as they are longer than this, in bytes.
pub(crate) const MOST_BYTES_AT_ONCE: usize = 1 << 22;

/// The current contents of the file.
pub(crate) struct Written<'t> {
    /// The entries of the fixed tables that the file contains.
    pub registered: Registered<'t>,
    /// The number of records of each kind.
    pub counts: RecordCounts,
    /// The number of texts that were cut to fit into their record.
    pub cut_texts: u64,
}

impl<'t> Written<'t> {
    /// Returns the state of an empty file.
    pub(super) fn new(tables: &'t FixedTables) -> Written<'t> {
        Written {
            registered: Registered::new(tables),
            counts: RecordCounts::default(),
            cut_texts: 0,
        }
    }

    /// Encodes items after those that are already encoded, and writes the bytes in pieces: an item that is cut at a
    /// border may need far more bytes than its original record.
    pub(crate) fn take_items<'a>(
        &mut self,
        mut encoder: Encoder<'a, 't>,
        items: &[Item],
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        for item in items {
            encoder.item(item);
            if encoder.records.out.len() > MOST_BYTES_AT_ONCE {
                let next = Encoder::behind(&encoder);
                self.take(std::mem::replace(&mut encoder, next), out)?;
            }
        }
        self.take(encoder, out)?;
        Ok(())
    }

    /// Writes the encoded records, and returns their memory to the encoder.
    pub(super) fn take(
        &mut self,
        encoder: Encoder<'_, '_>,
        out: &mut dyn Write,
    ) -> Result<Vec<u8>, ExportError> {
        self.cut_texts += encoder.cut_texts;
        let chunk = encoder.records.finish();
        self.counts.add(&chunk.counts);
        let tables = self.registered.before(&chunk.used).finish();
        self.counts.add(&tables.counts);
        out.write_all(&tables.bytes)?;
        out.write_all(&chunk.bytes)?;
        Ok(chunk.bytes)
    }
}
