//! Keeps what a load made in a model file in the user's cache folder, so that the same file opens at once the next time.
//!
//! ```text
//! open: label of the files ---> model file? --- yes --> map it: tables and pyramids are there, events are decoded on demand
//!                                   '---------- no ---> load; if that took long: keep
//! ```
//!
//! The label of a model file contains everything on which the model depends: the identity, size, times and samples of
//! each file, the options of the reader, and the source text of the program ([`CONTENTS`]). So a changed file or another
//! program finds no model file. A damaged one is removed and made again.
//!
//! Tests, fuzzing and `dataset add` never call [`enable`], so they neither read nor write model files.

pub(crate) mod file;
mod folder;
mod reopened;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

use super::guard::GuardedMap;
use super::loaded::LoadedTrace;
use super::reading::{Growth, Reading};
use super::source::Source;
use crate::base::column::Column;
use crate::base::fingerprint::Fingerprint;
use crate::base::user_folder::cache_folder;
use crate::formats::AnyStream;
use crate::formats::stream::KeptFacts;
use crate::index::Index;
use crate::trace::Trace;
use file::Label;
pub(crate) use folder::{Folder, ModelFile};
pub(super) use reopened::{Reopened, Taking};

/// The version of the values in a model file: a fingerprint of the program's source, because any change of it may change
/// what is read, and how it is laid out.
const CONTENTS: &str = env!("THREADLINE_CONTENTS");
/// A load that took less time is done again; the environment variable `THREADLINE_KEEP_FROM_MS` overrides it.
const KEPT_FROM: Duration = Duration::from_secs(1);

/// When model files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writing {
    /// When [`write_pending`] is called: a command writes its output first.
    Later,
    /// At once, on a thread of their own.
    InBackground,
}

struct Store {
    folder: Folder,
    kept_from: Duration,
    writing: Writing,
    pending: Mutex<Vec<Pending>>,
}

/// A trace that is to be kept.
struct Pending {
    label: Label,
    trace: Arc<Trace>,
    index: Arc<Index>,
    part_count: u32,
    stream: Arc<dyn AnyStream>,
    /// The memory of the reader: what it knows may be kept, too.
    reader_bytes: u64,
}

static STORE: OnceLock<Store> = OnceLock::new();

/// Makes all later loads of this process use model files in `folder`.
pub(crate) fn enable(folder: Folder, writing: Writing) {
    let from = std::env::var("THREADLINE_KEEP_FROM_MS").ok();
    let from = from.and_then(|text| text.parse().ok());
    if cfg!(development) && from.is_none() {
        // Tests run development builds: they neither read nor write files of the user, unless they set the variable.
        return;
    }
    let _was_enabled = STORE.set(Store {
        folder,
        kept_from: from.map_or(KEPT_FROM, Duration::from_millis),
        writing,
        pending: Mutex::default(),
    });
}

/// What was found in a model file.
pub(super) struct Model {
    pub trace: Trace,
    pub index: Index,
    pub part_count: u32,
    /// With which events can be decoded.
    pub facts: KeptFacts,
}

/// What a model file contains.
#[derive(Deserialize)]
struct Stored {
    trace: Trace,
    index: Index,
    part_count: u32,
    /// What [`AnyStream::facts`] returned.
    facts: Column<u8>,
}

/// The same as [`Stored`], for writing.
#[derive(Serialize)]
struct StoredRef<'a> {
    trace: &'a Trace,
    index: &'a Index,
    part_count: u32,
    #[serde(serialize_with = "facts_of")]
    facts: &'a dyn AnyStream,
}

fn facts_of<S: Serializer>(stream: &&dyn AnyStream, serializer: S) -> Result<S::Ok, S::Error> {
    let facts = stream.facts();
    let facts = facts.ok_or_else(|| S::Error::custom("the parts were not read"))?;
    Column::from(facts).serialize(serializer)
}

/// Returns the label of the model of these files; `None` if model files are not used, or not for such files: streams,
/// and files that grow or contain several recordings.
pub(super) fn label(sources: &[Source], paths: &[PathBuf], reading: Reading) -> Option<Label> {
    STORE.get()?;
    if reading.growth == Growth::Expected || sources.is_empty() {
        return None;
    }
    let mut print = Fingerprint::default();
    print.add_text(reading.format.unwrap_or_default());
    print.add_text(&format!("{:?}", reading.midnight_ns));
    for (source, path) in sources.iter().zip(paths) {
        if !source.inside.is_empty() || source.stopped.is_some() {
            return None;
        }
        // The name may contain facts: the pid of `strace -ff`.
        print.add_text(&path.file_name()?.to_string_lossy());
        source.snapshot?.add_to(&mut print)?;
    }
    let first = print.clone().finish();
    print.add_text("second half");
    let contents = u64::from_str_radix(CONTENTS, 16).ok()?;
    let key = [first, print.finish()];
    Some(Label { contents, key })
}

/// Returns the kept model for a label, if there is one. A damaged file is removed.
pub(super) fn find(label: Label) -> Option<Model> {
    let store = STORE.get()?;
    let opened = store.folder.open(label)?;
    let map = GuardedMap::new(&opened).ok()?;
    let file = Bytes::from_owner(map);
    let stored: Option<Stored> = file::read(file.clone(), label);
    match stored {
        Some(_) => store.folder.mark_used(&opened),
        None => store.folder.remove(label),
    }
    let Stored {
        trace,
        index,
        part_count,
        facts: bytes,
    } = stored?;
    Some(Model {
        trace,
        index,
        part_count,
        facts: KeptFacts { bytes, file },
    })
}

/// Keeps a loaded trace, which was read from `stream`, if the load took long enough.
pub(super) fn keep(label: Label, loaded: &LoadedTrace, stream: &Arc<dyn AnyStream>) {
    let Some(store) = STORE.get() else { return };
    let has_changed = loaded.opened.iter().any(|file| file.change().is_some());
    if loaded.timings.full < store.kept_from || has_changed {
        return;
    }
    let pending = Pending {
        label,
        trace: Arc::clone(&loaded.trace),
        index: Arc::clone(&loaded.index),
        part_count: loaded.part_count,
        stream: Arc::clone(stream),
        reader_bytes: loaded.reader.memory_bytes(),
    };
    if store.writing == Writing::Later {
        let mut list = store.pending.lock().unwrap_or_else(PoisonError::into_inner);
        return list.push(pending);
    }
    // Without a thread the trace is loaded again the next time.
    let _thread = std::thread::Builder::new()
        .name("model file".to_owned())
        .spawn(move || store.write(&pending));
}

/// Writes the model files that were left for later.
pub(crate) fn write_pending() {
    let Some(store) = STORE.get() else { return };
    let list =
        || std::mem::take(&mut *store.pending.lock().unwrap_or_else(PoisonError::into_inner));
    for pending in list() {
        store.write(&pending);
    }
}

impl Store {
    /// Writes a model file. If that fails, for example because the disk is full, there is none.
    fn write(&self, pending: &Pending) {
        let model = StoredRef {
            trace: &pending.trace,
            index: &pending.index,
            part_count: pending.part_count,
            facts: &*pending.stream,
        };
        let tables = pending.trace.memory_bytes() + pending.index.memory_bytes();
        let needed = tables + pending.reader_bytes;
        let _none = self.folder.add(pending.label, needed, |out| {
            file::write(out, pending.label, &model)
        });
    }
}

/// Returns the folder of model files: `$XDG_CACHE_HOME/threadline/models`, else `~/.cache/...`; `None` if neither is known.
#[must_use]
pub(crate) fn default_folder() -> Option<Folder> {
    Some(Folder::new(cache_folder()?.join("models")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Job;
    use crate::load::together::open_together;

    /// Set in the child process that uses model files: they are enabled for a whole process.
    const CHILD: &str = "THREADLINE_TEST_MODEL_FILES";

    #[test]
    fn a_window_shows_a_known_trace_before_its_events_can_be_decoded() {
        if std::env::var_os(CHILD).is_none() {
            let name =
                "load::model::tests::a_window_shows_a_known_trace_before_its_events_can_be_decoded";
            let child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", name])
                .env(CHILD, "1")
                .env("THREADLINE_KEEP_FROM_MS", "0")
                .output()
                .unwrap();
            assert!(child.status.success(), "{child:?}");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        enable(Folder::new(folder.path().join("models")), Writing::Later);
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        for name in SAMPLES {
            let path = root.join(name);
            let open = |job: &Job| {
                let mut shown = Vec::new();
                let mut publish = |loaded: LoadedTrace| shown.push(loaded);
                let last = open_together(
                    std::slice::from_ref(&path),
                    &[],
                    &[],
                    job,
                    Some(&mut publish),
                );
                (shown, last.unwrap())
            };
            let (_, read) = open(&Job::default());
            write_pending();
            let job = Job::default();
            let (shown, reopened) = open(&job);
            let first = &shown[0];
            assert!(!first.is_complete && reopened.is_complete);
            assert_ne!(first.id, reopened.id);
            assert!(Arc::ptr_eq(&first.trace, &reopened.trace), "{name}");
            assert!(first.trace.memory_bytes() < read.trace.memory_bytes());
            assert_eq!(first.trace.slices.len(), read.trace.slices.len());
            assert_eq!(job.progress().done, 0, "{name} was read again");
            let events = (0..read.trace.events.len() as u32).map(crate::trace::EventId);
            let mut has_fields = false;
            for event in events.step_by(1 + read.trace.events.len() / 1000) {
                let detail = |loaded: &LoadedTrace| {
                    let event = loaded.trace.events.get(event);
                    loaded.reader.describe(event.into())
                };
                let expected = detail(&read);
                has_fields |= !expected.fields.is_empty();
                assert_eq!(detail(&reopened), expected, "{name}");
            }
            assert!(has_fields, "{name}");
        }
    }

    const SAMPLES: [&str; 8] = [
        "sample-traces/compress.fxt",
        "tests/cases/chrome_json/flow-bind-id.json",
        "sample-traces/threads-and-signals.strace",
        "sample-traces/sched-irq.ftrace",
        "sample-traces/sched-irq-syscalls.dat",
        "sample-traces/cmake-shop.ninja_log",
        "tests/golden/etrace/pipeline.etrace",
        "tests/golden/etrace/blanks.dat",
    ];
}
