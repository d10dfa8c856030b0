//! Finds the process that wrote each trace of a compiler, linker or build tool among several files; the process is in
//! another file, the recording of the build.
//!
//! The process is found by the path of the trace's file. Otherwise it is found by the file's name, because the files
//! may have been copied. If no process was seen to write a file of this name, the compiler whose options order that
//! name is found. If several processes match, the process number in the trace decides.
//!
//! The corpus contains 1 recording of a build with traces of its compiler. The files were copied: all 3 are found by
//! name.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::LoadedTrace;
use crate::base::strings::base_name;
use crate::base::{StringId, Timestamp};
use crate::event::FileOp;
use crate::trace::files::Access;
use crate::trace::{FileUse, Process, ProcessId, Trace};

/// The process that wrote a compiler's trace of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Writer {
    /// Index of the trace that contains the process.
    pub(super) trace: usize,
    /// Id of the process in that trace.
    pub(super) process: ProcessId,
}

impl Writer {
    /// Returns the process; `None` if `trace` is not the trace that contains it.
    pub(super) fn process_in(self, trace: &Trace) -> Option<&Process> {
        process_of(trace, self.process)
    }

    /// Returns the time when the process started its last program, or was first seen.
    pub(super) fn start(self, trace: &Trace) -> Option<Timestamp> {
        let process = self.process_in(trace)?;
        let image = process.images.last().map(|image| image.start);
        let main = process.main_thread.map(|id| trace.thread(id).seen.first);
        image.or(process.start).or(main)
    }

    /// Returns the process as text: its name and number.
    pub(super) fn words(self, trace: &Trace) -> String {
        let process = self.process_in(trace);
        process.map_or_else(String::new, |process| {
            format!("{} ({})", trace.text(process.name), process.pid)
        })
    }
}

/// A trace that a process of another recording may have written.
struct Wanted {
    index: usize,
    /// Whether a compiler wrote it.
    is_compiler: bool,
    path: Vec<u8>,
    /// The numbers of the processes in the trace.
    pids: Vec<u64>,
    /// The last process that wrote to the path.
    exact: Option<Writer>,
    /// The processes that wrote files with the same name.
    alike: Vec<Writer>,
    /// The processes whose options order a file with this name.
    ordered: Vec<Writer>,
}

impl Wanted {
    fn of(index: usize, loaded: &LoadedTrace) -> Option<Wanted> {
        let trace = loaded.trace.as_ref();
        let is_compiler = trace.has_compilations();
        let may_be_written = is_compiler || trace.info.may_be_self_trace;
        if !trace.files.rows.is_empty() || !may_be_written || loaded.part_name.is_some() {
            return None;
        }
        let path = match &loaded.named {
            Some(named) => named.to_vec(),
            None => {
                let path = std::path::absolute(&loaded.path).unwrap_or(loaded.path.clone());
                path.as_os_str().as_encoded_bytes().to_vec()
            }
        };
        Some(Wanted {
            index,
            is_compiler,
            path,
            pids: trace.processes.iter().map(|it| it.pid).collect(),
            exact: None,
            alike: Vec::new(),
            ordered: Vec::new(),
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
        let lists = [&self.alike, &self.ordered];
        let candidates = lists.into_iter().find(|list| !list.is_empty())?;
        let with_number = candidates.iter().copied().filter(has_number);
        // Many programs write files with the same name; a compiler's trace is named after its output, which is less
        // ambiguous.
        let child = || only(candidates.iter().filter_map(|it| self.child(*it, traces)));
        only(with_number).or_else(|| match self.is_compiler {
            true => child().or_else(|| only(candidates.iter().copied())),
            false => None,
        })
    }

    /// Returns the child of a process that has the trace's number: a compiler that its driver started, whose own options
    /// the recording does not contain.
    fn child(&self, of: Writer, traces: &[Arc<LoadedTrace>]) -> Option<Writer> {
        let processes = (0..).zip(traces[of.trace].trace.processes.iter());
        let mut children = processes.filter(|(_, row)| row.parent == Some(of.process));
        let (id, _) = children.find(|(_, row)| self.pids.contains(&row.pid))?;
        Some(Writer {
            process: ProcessId(id),
            ..of
        })
    }
}

/// Returns the only element, or the element that all are equal to; `None` if they differ.
fn only(mut all: impl Iterator<Item = Writer>) -> Option<Writer> {
    let first = all.next()?;
    all.all(|it| it == first).then_some(first)
}

fn process_of(trace: &Trace, id: ProcessId) -> Option<&Process> {
    trace.processes.get(id.0 as usize)
}

/// Returns, for each trace, the process that wrote it, if the trace may be a program's trace of itself and the process
/// is in another trace.
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
            for name in output_names(trace, row) {
                let writer = Writer {
                    trace: index,
                    process,
                };
                for &at in by_name.get(&name).into_iter().flatten() {
                    if wanted[at].is_compiler {
                        wanted[at].ordered.push(writer);
                    }
                }
            }
        }
    }
    for one in &wanted {
        writers[one.index] = one.writer(traces);
    }
    writers
}

/// Returns the names of the traces that the options of a process order: the name of its output, or of its source, with
/// another extension.
fn output_names(trace: &Trace, process: &Process) -> Vec<Vec<u8>> {
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

/// Returns whether a file was successfully opened for writing.
pub(super) fn writes(row: &FileUse) -> bool {
    row.result >= 0 && row.op == FileOp::Open && Access::of_flags(row.flags).writes
}
