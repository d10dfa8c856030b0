//! Opens files that are parts of one recording (one per CPU or process) as one recording, instead of joining them on an
//! axis.

use std::hash::Hash;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::detection::HEAD_BYTES;
use super::growing::whole_lines;
use super::source::{self, Source};
use super::{Growth, LoadError, LoadedTrace, Reading, load, load_opened};
use crate::base::{Job, Nanos};
use crate::formats::format::{Format, Together};
use crate::formats::{Input, compression};

/// The files of one recording, found among the files to open.
pub(crate) struct Parts {
    paths: Vec<PathBuf>,
    sources: Vec<Source>,
    together: Together,
    reading: Reading,
    begun: Instant,
}

/// Bytes of a file that are read to unpack the head of a compressed one.
const PACKED_HEAD_BYTES: u64 = 4 * HEAD_BYTES as u64;

/// What the first bytes of a file show about its recording's parts.
#[derive(Clone, Copy)]
enum Head {
    /// The file has no bytes: it may be a part of any recording.
    Empty,
    /// The file has a format whose recordings may consist of several files.
    Of(&'static Format, Together),
}

/// Returns what the first bytes of a file show; `None` if it cannot be a part of a recording.
fn head_of(path: &Path, reading: Reading) -> Option<Head> {
    // Standard input can be read only once, and folders cannot be read at all.
    if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return None;
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(PACKED_HEAD_BYTES).read_to_end(&mut head).ok()?;
    let mut head = compression::unwrapped_head(head, HEAD_BYTES);
    head.truncate(HEAD_BYTES);
    if head.is_empty() {
        return Some(Head::Empty);
    }
    let format = reading.format_of(&head).ok()?;
    Some(Head::Of(format, format.together?))
}

/// Opens all of `paths` as one recording; `None` if they are not parts of one recording.
fn find(paths: Vec<PathBuf>, together: Together, reading: Reading, job: &Job) -> Option<Parts> {
    let begun = Instant::now();
    let sources = paths
        .iter()
        .map(|path| source::read(path, reading, job).ok());
    let mut sources = sources.collect::<Option<Vec<Source>>>()?;
    for source in &mut sources {
        source.input.midnight_ns = reading.midnight_ns;
        if reading.growth == Growth::Expected {
            source.input = whole_lines(source.input.clone());
        }
    }
    let inputs: Vec<Input> = sources.iter().map(|source| source.input.clone()).collect();
    (together.are_parts)(&inputs).then_some(Parts {
        paths,
        sources,
        together,
        reading,
        begun,
    })
}

/// Files that are loaded as one trace.
pub(crate) enum Opening<'a> {
    /// A file.
    File(&'a PathBuf),
    /// Parts of one recording.
    Parts(Parts),
}

impl Opening<'_> {
    /// Loads the files as one trace.
    ///
    /// # Errors
    /// Errors if nothing in the files can be shown.
    pub(super) fn load(
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

/// What to open, and the offset that the user gave.
pub(crate) struct OpeningAt<'a> {
    pub(crate) opening: Opening<'a>,
    pub(crate) fixed: Option<Nanos>,
}

/// Groups `paths` into traces, in their order. Parts of one recording to which the user gave different offsets are
/// traces of their own.
pub(crate) fn openings<'a>(
    paths: &'a [PathBuf],
    fixed: &[Option<Nanos>],
    reading: Reading,
    job: &Job,
) -> Vec<OpeningAt<'a>> {
    let fixed_at = |at: usize| fixed.get(at).copied().flatten();
    let heads: Vec<Option<Head>> = match paths {
        [_] => vec![None],
        _ => paths.iter().map(|path| head_of(path, reading)).collect(),
    };
    // Indexed as `paths`: parts are at their first file's index, and `None` is at the indices of their other files.
    let mut found: Vec<Option<Opening<'a>>> = paths.iter().map(Opening::File).map(Some).collect();
    let mut is_part = vec![false; paths.len()];
    // All files of a format are tried as one recording first: then names need not be similar.
    for group in groups(&heads, |_| ())
        .into_iter()
        .chain(groups(&heads, |at| stem(&paths[at])))
    {
        let Group { together, members } = group;
        let is_one_place = members
            .windows(2)
            .all(|pair| fixed_at(pair[0]) == fixed_at(pair[1]));
        if members.len() < 2 || !is_one_place || members.iter().any(|&at| is_part[at]) {
            continue;
        }
        let theirs = members.iter().map(|&at| paths[at].clone()).collect();
        let Some(parts) = find(theirs, together, reading, job) else {
            continue;
        };
        for &at in &members {
            is_part[at] = true;
            found[at] = None;
        }
        found[members[0]] = Some(Opening::Parts(parts));
    }
    let found = found.into_iter().enumerate();
    found
        .filter_map(|(at, opening)| {
            Some(OpeningAt {
                opening: opening?,
                fixed: fixed_at(at),
            })
        })
        .collect()
}

/// Files that may be the parts of one recording.
struct Group {
    together: Together,
    /// Indices of paths, ascending.
    members: Vec<usize>,
}

/// Groups the files that have the same format and the same `key`, and adds the empty files with that key.
fn groups<K: Eq + Hash>(heads: &[Option<Head>], key: impl Fn(usize) -> K) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_format: FxHashMap<(&'static str, K), usize> = FxHashMap::default();
    let mut by_key: FxHashMap<K, usize> = FxHashMap::default();
    for (at, head) in heads.iter().enumerate() {
        if let Some(Head::Of(format, together)) = head {
            let group = *by_format.entry((format.name, key(at))).or_insert_with(|| {
                groups.push(Group {
                    together: *together,
                    members: Vec::new(),
                });
                groups.len() - 1
            });
            by_key.entry(key(at)).or_insert(group);
            groups[group].members.push(at);
        }
    }
    for (at, head) in heads.iter().enumerate() {
        if let (Some(Head::Empty), Some(&group)) = (head, by_key.get(&key(at))) {
            groups[group].members.push(at);
        }
    }
    for group in &mut groups {
        group.members.sort_unstable();
    }
    groups
}

/// Returns a file's folder, and its name without digits: the names of parts differ only in digits.
fn stem(path: &Path) -> (Option<&Path>, Option<String>) {
    let name = path.file_name().map(|name| {
        let name = name.to_string_lossy();
        name.chars().filter(|c| !c.is_ascii_digit()).collect()
    });
    (path.parent(), name)
}

impl Parts {
    /// Loads the files as one trace with the first one's path.
    ///
    /// # Errors
    /// Errors if nothing in the files can be shown.
    pub(super) fn load(
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
