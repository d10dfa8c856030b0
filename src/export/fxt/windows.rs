//! Encodes windows of items, on all cores.

use std::io::Write;

use super::encode::{Encoder, Source};
use super::item::Window;
use super::items::Items;
use super::records::FixedTables;
use super::written::Written;
use crate::base::Job;
use crate::export::exporter::ExportError;
use crate::export::shared::pieces::encode_in_order;

/// Encodes windows on all cores while earlier windows are written, in their order.
pub(crate) fn write_windows(
    source: &Source<'_>,
    items: &Items<'_>,
    tables: &FixedTables,
    written: &mut Written<'_>,
    out: &mut dyn Write,
    job: &Job,
) -> Result<(), ExportError> {
    encode_in_order(
        job,
        1,
        |give| (0..items.cuts.len()).try_for_each(give),
        || {
            let mut window = Window::default();
            move |number, buffer| {
                items.fill(&mut window, number);
                encode_window(source, tables, buffer, &window)
            }
        },
        |EncodedWindow {
             encoder,
             item_count,
         }| {
            let buffer = written.take(encoder, out)?;
            job.advance(item_count);
            Ok(buffer)
        },
    )
}

/// A window whose items were encoded.
struct EncodedWindow<'a, 't> {
    encoder: Encoder<'a, 't>,
    item_count: u64,
}

fn encode_window<'a, 't>(
    source: &'a Source<'a>,
    tables: &'t FixedTables,
    buffer: Vec<u8>,
    window: &Window,
) -> EncodedWindow<'a, 't> {
    let mut encoder = Encoder::with_buffer(source, tables, buffer);
    encoder.items(&window.items);
    EncodedWindow {
        encoder,
        item_count: window.items.len() as u64,
    }
}
