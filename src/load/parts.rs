//! Files that are parts of one recording (one a CPU) are opened as one, not put beside each other.

use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use super::source::{self, Source};
use super::{HEAD_BYTES, LoadError, LoadedTrace, Reading, load_opened};
use crate::base::Job;
use crate::formats::format::Together;
use crate::formats::{Input, compression};

/// The parts of one recording, found among what is to be opened.
pub struct Parts {
    paths: Vec<PathBuf>,
    sources: Vec<Source>,
    together: Together,
    reading: Reading,
    begun: Instant,
}

/// How much of a file is read to see the head of what is packed in it.
const PACKED_HEAD_BYTES: u64 = 4 * HEAD_BYTES as u64;

/// All of `paths` as the parts of one recording, if that is what they are.
pub fn find(paths: &[PathBuf], reading: Reading, job: &Job) -> Option<Parts> {
    let begun = Instant::now();
    let mut together: Option<Together> = None;
    for path in paths {
        // Standard input can be read only once, and folders cannot be read at all.
        if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
            return None;
        }
        let mut head = Vec::new();
        let file = std::fs::File::open(path).ok()?;
        file.take(PACKED_HEAD_BYTES).read_to_end(&mut head).ok()?;
        let mut head = compression::unwrapped_head(head, HEAD_BYTES);
        head.truncate(HEAD_BYTES);
        if !head.is_empty() {
            together = Some(reading.format_of(&head).ok()?.together?);
        }
    }
    let together = together?;
    let sources: Vec<Source> = paths
        .iter()
        .map(|path| source::read(path, job).ok())
        .collect::<Option<_>>()?;
    let mut sources = sources;
    for source in &mut sources {
        source.input.midnight_ns = reading.midnight_ns;
    }
    let inputs: Vec<Input> = sources.iter().map(|source| source.input.clone()).collect();
    (together.are_parts)(&inputs).then(|| Parts {
        paths: paths.to_vec(),
        sources,
        together,
        reading,
        begun,
    })
}

impl Parts {
    /// Loads them as one trace, named after the first.
    ///
    /// # Errors
    /// If nothing of them can be shown.
    pub fn load(
        self,
        job: &Job,
        listener: Option<&mut dyn FnMut(LoadedTrace)>,
    ) -> Result<LoadedTrace, LoadError> {
        let path = self.paths.first().cloned().unwrap_or_default();
        let inputs = self
            .sources
            .iter()
            .map(|source| source.input.clone())
            .collect();
        let reader = (self.together.open)(inputs, job).map_err(|error| LoadError {
            path: path.clone(),
            error,
        })?;
        load_opened(
            &path,
            self.reading,
            &self.sources,
            reader,
            self.begun,
            job,
            listener,
        )
    }
}
