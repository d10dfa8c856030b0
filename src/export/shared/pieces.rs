//! Encodes the pieces of an export on all cores, and writes them in their order.
//!
//! ```text
//! producer thread: pieces in order -> workers: piece to bytes -> calling thread: bytes in the order of their pieces
//! ```
//!
//! A piece is encoded into the buffer of one that was written, so that few are in memory.

use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use rustc_hash::FxHashMap;

use crate::base::Job;
use crate::export::ExportError;

/// Takes the next piece; errors if it will not be written.
pub(crate) type Give<'g, P> = dyn FnMut(P) -> Result<(), ExportError> + 'g;

/// A piece with its number, from 0.
struct Numbered<T> {
    number: usize,
    item: T,
}

/// The work of a worker: it takes a buffer first, then a piece. So the first piece that is not yet written always has a
/// buffer, and no thread waits for ever.
struct Work<P> {
    buffers: Receiver<Vec<u8>>,
    pieces: Receiver<Numbered<P>>,
}

impl<P> Work<P> {
    fn next(&self) -> Option<(Vec<u8>, Numbered<P>)> {
        Some((self.buffers.recv().ok()?, self.pieces.recv().ok()?))
    }
}

/// Encodes the pieces that `produce` makes, and passes them to `write` in the same order; `write` returns a buffer that
/// is no longer needed. `worker` makes the encoder of one worker thread. Up to `ahead` pieces may wait for a worker, or
/// as many as there are workers: more than 1 where `produce` makes many at a time. Returns the result of `produce`.
///
/// # Errors
/// The first error of `write` or `produce`; the job was cancelled; no thread could be started.
pub(crate) fn encode_in_order<P, E, W, R>(
    job: &Job,
    ahead: usize,
    produce: impl FnOnce(&mut Give<'_, P>) -> Result<R, ExportError> + Send,
    worker: impl Fn() -> W + Sync,
    mut write: impl FnMut(E) -> Result<Vec<u8>, ExportError>,
) -> Result<R, ExportError>
where
    P: Send,
    E: Send,
    R: Send,
    W: FnMut(P, Vec<u8>) -> E,
{
    let worker_count = rayon::current_num_threads().max(1);
    let (give_buffer, buffers) = channel::<Vec<u8>>();
    for _ in 0..2 * worker_count + 2 {
        let _kept = give_buffer.send(Vec::new());
    }
    let (give_piece, pieces) = sync_channel(worker_count.max(ahead));
    let work = Arc::new(Mutex::new(Work { buffers, pieces }));
    let (give_encoded, encoded) = channel();
    std::thread::scope(|scope| {
        let produce_all = move || {
            let mut number = 0;
            produce(&mut |item| {
                job.check()?;
                let piece = Numbered { number, item };
                number += 1;
                // The workers are gone because writing failed: that error is reported.
                give_piece.send(piece).map_err(|_| ExportError::Cancelled)
            })
        };
        let producer = Builder::new()
            .spawn_scoped(scope, produce_all)
            .map_err(ExportError::Io)?;
        for number in 0..worker_count {
            let (give_encoded, work, worker) = (give_encoded.clone(), Arc::clone(&work), &worker);
            let encode_all = move || {
                let mut encode = worker();
                loop {
                    let next = work.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((buffer, Numbered { number, item })) = next else {
                        return;
                    };
                    let item = encode(item, buffer);
                    if give_encoded.send(Numbered { number, item }).is_err() {
                        return;
                    }
                }
            };
            match Builder::new().spawn_scoped(scope, encode_all) {
                Ok(_) => {}
                // One worker suffices.
                Err(_) if number > 0 => break,
                Err(error) => return Err(ExportError::Io(error)),
            }
        }
        // Only the threads keep ends of these channels: when the threads end, the receivers that wait for them end as
        // well.
        drop((give_encoded, work));
        let (give_buffer, encoded) = (give_buffer, encoded);
        let mut early = FxHashMap::default();
        let mut wanted = 0;
        for Numbered { number, item } in &encoded {
            early.insert(number, item);
            while let Some(item) = early.remove(&wanted) {
                job.check()?;
                let _nobody_needs_it = give_buffer.send(write(item)?);
                wanted += 1;
            }
        }
        job.check()?;
        match producer.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(
        count: u32,
        fails_at: Option<u32>,
        job: &Job,
    ) -> (Result<u32, ExportError>, Vec<u32>) {
        let mut written = Vec::new();
        let result = encode_in_order(
            job,
            1,
            |give| {
                for number in 0..count {
                    give(number)?;
                }
                Ok(count)
            },
            || {
                |piece: u32, buffer| {
                    // Later pieces are ready first.
                    std::thread::sleep(std::time::Duration::from_micros(u64::from(7 - piece % 8)));
                    (piece, buffer)
                }
            },
            |(piece, buffer)| {
                if fails_at == Some(piece) {
                    return Err(ExportError::Nothing("full".into()));
                }
                written.push(piece);
                Ok(buffer)
            },
        );
        (result, written)
    }

    #[test]
    fn pieces_are_written_in_their_order() {
        let (result, written) = encode(1000, None, &Job::default());
        assert!(matches!(result, Ok(1000)));
        assert_eq!(written, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_failed_write_ends_all_threads() {
        let (result, written) = encode(100_000, Some(20), &Job::default());
        assert!(matches!(result, Err(ExportError::Nothing(_))));
        assert_eq!(written.len(), 20);
    }

    #[test]
    fn a_cancelled_job_ends_all_threads() {
        let job = Job::default();
        job.cancel();
        assert!(matches!(
            encode(100_000, None, &job).0,
            Err(ExportError::Cancelled)
        ));
    }
}
