//! Files that are parts of one recording (one a CPU, one a process) are opened as one, not put beside each other.

use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use super::growing::whole_lines;
use super::source::{self, Source};
use super::{Growth, HEAD_BYTES, LoadError, LoadedTrace, Reading, load, load_opened};
use crate::base::{Job, Nanos};
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
        .map(|path| source::read(path, reading, job).ok())
        .collect::<Option<_>>()?;
    let mut sources = sources;
    for source in &mut sources {
        source.input.midnight_ns = reading.midnight_ns;
        if reading.growth == Growth::Expected {
            source.input = whole_lines(source.input.clone());
        }
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

/// What is opened by itself: a file, or several that are parts of one recording.
pub enum Opening<'a> {
    /// A file.
    File(&'a PathBuf),
    /// Parts of one recording.
    Parts(Parts),
}

impl Opening<'_> {
    /// Loads it.
    ///
    /// # Errors
    /// If nothing of it can be shown.
    pub fn load(
        self,
        reading: Reading,
        job: &Job,
        listener: Option<&mut dyn FnMut(LoadedTrace)>,
    ) -> Result<LoadedTrace, LoadError> {
        match self {
            Opening::File(path) => load(path, reading, job, listener),
            Opening::Parts(parts) => parts.load(job, listener),
        }
    }
}

/// What `paths` are, in their order, and where the user wants it on the axis. Parts of one recording that the user
/// puts at different places are files of their own.
pub fn openings<'a>(
    paths: &'a [PathBuf],
    fixed: &[Option<Nanos>],
    reading: Reading,
    job: &Job,
) -> Vec<(Opening<'a>, Option<Nanos>)> {
    let fixed_at = |at: usize| fixed.get(at).copied().flatten();
    let mut rest: Vec<usize> = (0..paths.len()).collect();
    let mut found = Vec::new();
    while let Some(&first) = rest.first() {
        let alike = rest
            .iter()
            .copied()
            .filter(|&at| are_alike(paths, first, at));
        // Parts need not be called alike if there is nothing else.
        let groups = [rest.clone(), alike.collect()];
        let parts = groups.into_iter().find_map(|group: Vec<usize>| {
            let is_one_place = group.iter().all(|&at| fixed_at(at) == fixed_at(first));
            if group.len() < 2 || !is_one_place {
                return None;
            }
            let theirs: Vec<PathBuf> = group
                .iter()
                .filter_map(|&at| paths.get(at))
                .cloned()
                .collect();
            Some((find(&theirs, reading, job)?, group))
        });
        match (parts, paths.get(first)) {
            (Some((parts, group)), _) => {
                found.push((Opening::Parts(parts), fixed_at(first)));
                rest.retain(|at| !group.contains(at));
            }
            (None, Some(path)) => {
                found.push((Opening::File(path), fixed_at(first)));
                rest.remove(0);
            }
            (None, None) => break,
        }
    }
    found
}

/// Whether two files have one name but for the digits in it.
fn are_alike(paths: &[PathBuf], a: usize, b: usize) -> bool {
    let stem = |at: usize| {
        let path = paths.get(at)?;
        let name = path.file_name()?.to_string_lossy();
        let name: String = name.chars().filter(|c| !c.is_ascii_digit()).collect();
        Some((path.parent()?.to_path_buf(), name))
    };
    a == b || (stem(a).is_some() && stem(a) == stem(b))
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
            &self.paths,
            self.reading,
            &self.sources,
            reader,
            self.begun,
            job,
            listener,
        )
    }
}
