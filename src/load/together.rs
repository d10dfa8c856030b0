//! Loads several files on one axis: loads each file separately, then joins their tables.
//!
//! The members are kept: if an offset changes, they are joined again but not read again.

use std::path::PathBuf;
use std::sync::Arc;

use super::beside::Beside;
use super::definitions::{Separated, attach, take_out};
pub use super::joined::join_at;
use super::parts::{Opening, OpeningAt, openings};
use super::placing::place;
use super::{LoadError, LoadedTrace, Reading};
use crate::base::{Cancelled, Job, Nanos, Problem, ReadError};
use crate::probes::ProbeSet;
use crate::trace::Source;
use crate::trace::sources::PlacedBy;

/// Opens `paths` on one axis, after the traces that are `already` loaded. `fixed` has the offsets that the user gave
/// the loaded traces, then the files. `listener` is called whenever there is more to show; the last trace is also
/// returned. A file that cannot be opened is left out and named in [`LoadedTrace::left_out`].
///
/// # Errors
/// If nothing can be shown, or the job was cancelled.
pub fn open_together(
    paths: &[PathBuf],
    already: &[Arc<LoadedTrace>],
    fixed: &[Option<Nanos>],
    job: &Job,
    listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    open_as(paths, Reading::default(), already, fixed, job, listener)
}

/// Opens `paths` as [`open_together`] does, with settings for reading them.
///
/// # Errors
/// As [`open_together`].
pub fn open_as(
    paths: &[PathBuf],
    reading: Reading,
    already: &[Arc<LoadedTrace>],
    fixed: &[Option<Nanos>],
    job: &Job,
    mut listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    let Separated { traces, probes } = take_out(paths);
    let (paths, probes) = match probes {
        Some(set) if !(traces.is_empty() && already.is_empty()) => {
            (traces.as_slice(), Some(Arc::new(set)))
        }
        _ => (paths, None),
    };
    let their_fixed = fixed.get(already.len()..).unwrap_or_default();
    let openings = openings(paths, their_fixed, reading, job);
    let is_alone = already.is_empty() && probes.is_none() && openings.len() == 1;
    if is_alone && openings.iter().all(|it| it.fixed.is_none()) {
        let only = openings.into_iter().next().ok_or_else(nothing_named)?;
        return load_alone(only.opening, reading, job, listener);
    }
    let mut members = already.to_vec();
    let mut places: Vec<Option<Nanos>> = fixed.to_vec();
    places.resize(already.len(), None);
    let mut left_out: Vec<LoadError> = Vec::new();
    for OpeningAt { opening, fixed } in openings {
        // Generations of the first file are shown while it is read; each other file is shown when it is complete.
        let mut show_part = |loaded: LoadedTrace| {
            if let Some(publish) = listener.as_mut() {
                publish(LoadedTrace {
                    is_complete: false,
                    ..loaded
                });
            }
        };
        let parts: Option<&mut dyn FnMut(LoadedTrace)> = match members.is_empty() {
            true => Some(&mut show_part),
            false => None,
        };
        match opening.load(reading, job, parts) {
            Ok(loaded) => {
                let theirs = members_of(&Arc::new(loaded)).traces;
                places.resize(places.len() + theirs.len(), fixed);
                members.extend(theirs);
            }
            Err(error) if job.is_cancelled() => return Err(error),
            Err(error) => left_out.push(error),
        }
    }
    if members.is_empty() {
        return Err(left_out.into_iter().next().unwrap_or_else(nothing_named));
    }
    let beside = Beside::find(&members, already.len(), reading, job)?;
    let found = beside.open(&mut members, reading, job)?;
    members.extend(found);
    if let Some(set) = probes {
        attach_to_all(&mut members, &set);
    }
    let joined = LoadedTrace {
        left_out,
        ..join_all(&members, &places, job)?
    };
    if let Some(publish) = listener {
        publish(joined.clone());
    }
    Ok(joined)
}

/// Loads one trace and the traces of compilers that are found beside it.
fn load_alone(
    opening: Opening<'_>,
    reading: Reading,
    job: &Job,
    mut listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    let is_shown = listener.is_some();
    // A complete trace is published later, when it is known whether there are traces beside it.
    let mut show_part = |loaded: LoadedTrace| {
        if let Some(publish) = listener.as_mut().filter(|_| !loaded.is_complete) {
            publish(loaded);
        }
    };
    let parts: Option<&mut dyn FnMut(LoadedTrace)> = match is_shown {
        true => Some(&mut show_part),
        false => None,
    };
    let loaded = Arc::new(opening.load(reading, job, parts)?);
    let Members { mut traces, .. } = members_of(&loaded);
    let beside = Beside::find(&traces, 0, reading, job)?;
    let mut last = loaded.as_ref().clone();
    if !beside.is_empty() {
        if let Some(publish) = listener.as_mut() {
            publish(LoadedTrace {
                is_complete: false,
                ..last.clone()
            });
        }
        let found = beside.open(&mut traces, reading, job)?;
        traces.extend(found);
        last = join_all(&traces, &[], job)?;
    }
    if let Some(publish) = listener {
        publish(last.clone());
    }
    Ok(last)
}

/// Joins `members` at the offsets in `fixed`, and where there is none at the offset that their contents suggest.
pub(super) fn join_all(
    members: &[Arc<LoadedTrace>],
    fixed: &[Option<Nanos>],
    job: &Job,
) -> Result<LoadedTrace, LoadError> {
    let path = || members.first().map(|first| first.path.clone());
    join_at(members, &place(members, fixed), job)
        .map_err(|Cancelled| LoadError::cancelled(path().unwrap_or_default()))
}

fn nothing_named() -> LoadError {
    let problem = Problem::Other("no file was named".to_owned());
    LoadError {
        path: PathBuf::new(),
        error: ReadError::at_byte(0, "file", problem),
    }
}

/// Attaches probe definitions to all of `members`.
pub(crate) fn attach_to_all(members: &mut [Arc<LoadedTrace>], set: &Arc<ProbeSet>) {
    for member in members {
        *member = Arc::new(attach(member, set));
    }
}

/// Traces that are shown together.
#[derive(Clone, Debug, Default)]
pub struct Members {
    /// The traces.
    pub traces: Vec<Arc<LoadedTrace>>,
    /// The offset that the user gave each.
    pub fixed: Vec<Option<Nanos>>,
}

/// Files to read.
pub(crate) struct Files {
    pub(crate) paths: Vec<PathBuf>,
    /// The offset that the user gave each.
    pub(crate) fixed: Vec<Option<Nanos>>,
}

/// Returns the members of `loaded`; `loaded` itself if it has no members.
#[must_use]
pub fn members_of(loaded: &Arc<LoadedTrace>) -> Members {
    if loaded.members.is_empty() {
        return Members {
            traces: vec![LoadedTrace::as_read(loaded)],
            fixed: vec![None],
        };
    }
    let fixed = |source: &Source| (source.placed_by == PlacedBy::User).then(|| source.offset());
    Members {
        traces: loaded.members.clone(),
        fixed: loaded.trace.sources.iter().map(fixed).collect(),
    }
}

/// Returns the files to read to load `loaded` again.
#[must_use]
pub(crate) fn files_of(loaded: &Arc<LoadedTrace>) -> Files {
    let members = members_of(loaded);
    let files = members.traces.iter().zip(members.fixed);
    let (paths, fixed) = files
        .flat_map(|(member, fixed)| {
            // Files that a recording names are found again without being listed; but the user's offset of such a file
            // must be kept.
            let paths = match fixed {
                Some(_) => member.all_paths(),
                None => member.paths(),
            };
            paths.into_iter().map(move |path| (path, fixed))
        })
        .unzip();
    Files { paths, fixed }
}
