//! Compilers' traces of themselves among several files: which process of which other file wrote each of them.
//!
//! The process is found by the path of the file; else by its name, as a recording may have been copied from elsewhere
//! together with the traces; else, if nobody was seen to write it, by the output that a compiler was told to name it
//! after. Where several processes come into question, the compiler's own number decides.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::LoadedTrace;
use crate::base::strings::base_name;
use crate::base::{StringId, Timestamp};
use crate::event::FileOp;
use crate::trace::files::Access;
use crate::trace::{FileUse, Process, ProcessId, Trace};

/// The process that wrote a compiler's trace of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Writer {
    /// Index of the trace that has the process.
    pub(super) trace: usize,
    /// The process.
    pub(super) process: ProcessId,
}

impl Writer {
    /// Returns when the process began to run its last program, or was first seen.
    pub(super) fn start(self, trace: &Trace) -> Option<Timestamp> {
        let process = trace.processes.get(self.process.0 as usize)?;
        let image = process.images.last().map(|image| image.start);
        let main = process.main_thread.map(|id| trace.thread(id).seen.first);
        image.or(process.start).or(main)
    }

    /// Returns the process in words: its name and number.
    pub(super) fn words(self, trace: &Trace) -> String {
        let process = trace.processes.get(self.process.0 as usize);
        process.map_or_else(String::new, |process| {
            format!("{} ({})", trace.text(process.name), process.pid)
        })
    }
}

/// A compiler's trace of itself.
struct Wanted {
    index: usize,
    path: Vec<u8>,
    /// The numbers of the processes in it.
    pids: Vec<u64>,
    /// The last that wrote to the path.
    exact: Option<Writer>,
    /// Those that wrote files of the same name.
    alike: Vec<Writer>,
    /// Those that were told to.
    told: Vec<Writer>,
}

impl Wanted {
    fn of(index: usize, loaded: &LoadedTrace) -> Option<Wanted> {
        let trace = loaded.trace.as_ref();
        if !trace.files.rows.is_empty() || !trace.has_compilations() {
            return None;
        }
        let path = loaded.paths().into_iter().next()?;
        let path = std::path::absolute(&path).unwrap_or(path);
        Some(Wanted {
            index,
            path: path.as_os_str().as_encoded_bytes().to_vec(),
            pids: trace.processes.iter().map(|it| it.pid).collect(),
            exact: None,
            alike: Vec::new(),
            told: Vec::new(),
        })
    }

    fn writer(&self, traces: &[Arc<LoadedTrace>]) -> Option<Writer> {
        if self.exact.is_some() {
            return self.exact;
        }
        let has_number = |writer: &Writer| {
            let process = process_of(&traces[writer.trace].trace, writer.process);
            process.is_some_and(|process| self.pids.contains(&process.pid))
        };
        let lists = [&self.alike, &self.told];
        let candidates = lists.into_iter().find(|list| !list.is_empty())?;
        let with_number = candidates.iter().copied().filter(has_number);
        only(with_number).or_else(|| only(candidates.iter().copied()))
    }
}

/// Returns the one that all are.
fn only(mut all: impl Iterator<Item = Writer>) -> Option<Writer> {
    let first = all.next()?;
    all.all(|it| it == first).then_some(first)
}

fn process_of(trace: &Trace, id: ProcessId) -> Option<&Process> {
    trace.processes.get(id.0 as usize)
}

/// Returns, for each trace, the process that wrote it, if it is a compiler's trace of itself and the process is in
/// another one.
pub(super) fn writers(traces: &[Arc<LoadedTrace>]) -> Vec<Option<Writer>> {
    let mut writers = vec![None; traces.len()];
    let wanted = traces.iter().enumerate();
    let mut wanted: Vec<Wanted> = wanted
        .filter_map(|(index, loaded)| Wanted::of(index, loaded))
        .collect();
    if wanted.is_empty() {
        return writers;
    }
    let mut by_name: FxHashMap<Vec<u8>, Vec<usize>> = FxHashMap::default();
    for (at, one) in wanted.iter().enumerate() {
        by_name
            .entry(base_name(&one.path).to_vec())
            .or_default()
            .push(at);
    }
    for (index, loaded) in traces.iter().enumerate() {
        let trace = loaded.trace.as_ref();
        for row in &trace.files.rows {
            let path = trace.strings.bytes(row.path);
            let Some(alike) = by_name.get(base_name(path)).filter(|_| writes(row)) else {
                continue;
            };
            let Some(process) = trace.thread(row.thread).process else {
                continue;
            };
            let writer = Writer {
                trace: index,
                process,
            };
            for &at in alike {
                let one = &mut wanted[at];
                if one.path == path {
                    one.exact = Some(writer);
                }
                if one.alike.last() != Some(&writer) {
                    one.alike.push(writer);
                }
            }
        }
    }
    for (index, loaded) in traces.iter().enumerate() {
        let trace = loaded.trace.as_ref();
        for (process, row) in (0..).map(ProcessId).zip(trace.processes.iter()) {
            for name in told_names(trace, row) {
                let writer = Writer {
                    trace: index,
                    process,
                };
                for &at in by_name.get(&name).into_iter().flatten() {
                    wanted[at].told.push(writer);
                }
            }
        }
    }
    for one in &wanted {
        writers[one.index] = one.writer(traces);
    }
    writers
}

/// Returns the names of the traces that a process was told to write: its output's name, or its source's, with another
/// ending.
fn told_names(trace: &Trace, process: &Process) -> Vec<Vec<u8>> {
    const OPTION: &[u8] = b"-ftime-trace";
    let of_image = |arguments: &[StringId]| {
        let arguments = || arguments.iter().map(|&id| trace.strings.bytes(id));
        let named = arguments().find_map(|argument| match argument.strip_prefix(OPTION)? {
            [] => Some(&[][..]),
            [b'=', path @ ..] => Some(base_name(path)),
            _ => None,
        });
        match named? {
            [] => {}
            named => return Some(named.to_vec()),
        }
        let mut behind = arguments()
            .skip_while(|&argument| argument != b"-o")
            .skip(1);
        let is_source = |argument: &&[u8]| {
            let endings = [&b".c"[..], b".cc", b".cpp", b".cxx", b".C", b".m", b".mm"];
            endings.iter().any(|ending| argument.ends_with(ending))
        };
        let output = behind.next().or_else(|| arguments().find(is_source))?;
        let name = base_name(output);
        let stem = memchr::memrchr(b'.', name).map_or(name, |dot| &name[..dot]);
        Some([stem, b".json"].concat())
    };
    let images = process.images.iter();
    images
        .filter_map(|image| of_image(&image.arguments))
        .collect()
}

fn writes(row: &FileUse) -> bool {
    row.result >= 0 && row.op == FileOp::Open && Access::of_flags(row.flags).writes
}
