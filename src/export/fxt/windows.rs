//! Encodes windows of items, on all cores.

use std::io::Write;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::encode::{Encoder, Source};
use super::item::Window;
use super::items::Items;
use super::records::FixedTables;
use super::written::Written;
use crate::base::Job;
use crate::export::exporter::ExportError;

/// Encodes windows on all cores while earlier windows are written, in their order. A window is encoded into the buffer
/// of a written one, so that few are in memory.
pub(crate) fn write_windows(
    source: &Source<'_>,
    items: &Items<'_>,
    tables: &FixedTables,
    written: &mut Written<'_>,
    out: &mut dyn Write,
    job: &Job,
) -> Result<(), ExportError> {
    let worker_count = rayon::current_num_threads().max(1);
    let (give, take) = channel::<Vec<u8>>();
    for _ in 0..2 * worker_count + 2 {
        let _kept = give.send(Vec::new());
    }
    // A buffer is taken before a number: so the lowest unwritten window always has a buffer, and no thread waits for
    // ever.
    let next = Mutex::new((take, 0_usize));
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for _ in 0..worker_count {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                let mut window = Window::default();
                loop {
                    let (buffer, number) = {
                        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                        if next.1 >= items.cuts.len() || job.is_cancelled() {
                            return;
                        }
                        // The writer has failed and returns no more buffers.
                        let Ok(buffer) = next.0.recv() else { return };
                        next.1 += 1;
                        (buffer, next.1 - 1)
                    };
                    let encoded = match job.is_cancelled() {
                        true => EncodedWindow {
                            encoder: Encoder::new(source, tables),
                            item_count: 0,
                        },
                        false => {
                            items.fill(&mut window, number);
                            encode_window(source, tables, buffer, &window)
                        }
                    };
                    if sender.send((number, encoded)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let give = give;
        let mut early = FxHashMap::default();
        let mut wanted = 0;
        for (number, window) in &receiver {
            early.insert(number, window);
            while let Some(window) = early.remove(&wanted) {
                job.check()?;
                let EncodedWindow {
                    encoder,
                    item_count,
                } = window;
                let buffer = written.take(encoder, out)?;
                let _nobody_needs_it = give.send(buffer);
                job.advance(item_count);
                wanted += 1;
            }
        }
        job.check()?;
        Ok(())
    })
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
