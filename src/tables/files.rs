//! Tables of files: their uses, and the files that went into them or were made from them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::columns::{PID, PROCESS, TS, UPID, UTID};
use super::def::{Stored, renamed, same};
use super::items::{Owner, pid_of};
use super::lives::{process_cells, process_in_full, program_cell};
use super::rows::RowsOfIds;
use super::{Audience, Cell, ColumnDef, RowSource, Rows, Scope, TableDef};
use crate::assemble::file_history::{FileHistory, FileId};
use crate::base::Timestamp;
use crate::event::FileOp;
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::files::{Entry, FileList, FileSummary, ListedFile, Relative, Use};
use crate::query::process_times::program_of;

pub(super) const FILES: TableDef = TableDef {
    name: "files",
    title: "File calls",
    about: "Each call that names a file, as the program made it.",
    columns: &[
        TS,
        PID,
        PATH,
        ColumnDef::text("mode", "Mode", "How the file was opened."),
        ColumnDef::key("fd", "FD", "The descriptor."),
        ColumnDef::key("result", "Result", "What the call returned."),
        ColumnDef::text("op", "Use", "What was done."),
        OTHER_PATH,
        ColumnDef::text("flags", "Flags", "The flags of the call.").minor(),
    ],
    stored: None,
    rows: Rows::Trace(files),
};

const PATH: ColumnDef<'static> = ColumnDef::path(
    "path",
    "Path",
    "The path, resolved if the recording resolves it; else as the program gave it.",
);
const OTHER_PATH: ColumnDef<'static> = ColumnDef::path(
    "other_path",
    "Other path",
    "The second path of renames and links.",
);
const FILE: ColumnDef<'static> =
    ColumnDef::row("file", "File", "The row of the file in file_list.");

fn files(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (rows, chosen) = (&scope.loaded.trace.files.rows, scope.chosen);
    let is_chosen = |at: &usize| {
        let row = &rows[*at];
        chosen.span.contains(row.time) && chosen.has_thread(row.thread)
    };
    let ids = (0..rows.len()).filter(is_chosen).collect();
    Box::new(RowsOfIds::new(ids, (), |loaded, (), &at: &usize, cells| {
        let trace = &loaded.trace;
        let row = &trace.files.rows[at];
        let mode = match (row.op, row.flags & 3) {
            (FileOp::Open, 0) => "r".into(),
            (FileOp::Open, 1) => "w".into(),
            (FileOp::Open, _) => "rw".into(),
            _ => Cell::None,
        };
        cells.extend([
            row.time.into(),
            Owner::of(trace, row.thread).pid,
            Cell::of_text_or_none(trace, row.path),
            mode,
            (row.fd >= 0).then_some(row.fd).into(),
            row.result.into(),
            format!("{:?}", row.op).to_lowercase().into(),
            Cell::of_text_or_none(trace, row.other_path),
            row.flags.into(),
        ]);
    }))
}

/// Every use of a file by path, with the file to which the path led.
pub(super) const FILE_USES: TableDef = TableDef {
    name: "file_uses",
    title: "File uses",
    about: "Each use of a file, with the file that the path led to.",
    columns: &[
        TS,
        FILE,
        PATH,
        ColumnDef::text("use", "Use", "What was done."),
        PID,
        PROCESS,
        ColumnDef::time("done", "Done", "When the use ended.").minor(),
        OTHER_PATH,
    ],
    stored: Some(Stored {
        name: "file_use",
        more: &[UPID, UTID],
        columns: &[
            same("ts"),
            renamed("end_ts", "done"),
            renamed("file_id", "file"),
            same("path"),
            same("use"),
            same("upid"),
            same("utid"),
            same("other_path"),
        ],
    }),
    rows: Rows::Trace(file_uses),
};

/// An operation, and its file.
struct UseOf {
    entry: Entry,
    file: FileId,
}

fn file_uses(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let history = FileHistory::new(trace);
    let rows = (0_u32..).zip(&trace.files.rows).zip(&history.of_row);
    let rows = rows.filter_map(|((index, row), file)| {
        let is_chosen = chosen.span.contains(row.time) && chosen.has_thread(row.thread);
        let (file, entry) = (file.filter(|_| is_chosen)?, Entry::Row(index));
        Some((row.time, UseOf { entry, file }))
    });
    let heirs = (0_u32..).zip(&history.heirs).filter_map(|(index, heir)| {
        let is_chosen = chosen.span.contains(heir.from) && chosen.has_process(heir.process);
        let file = history.file_of(heir.row).filter(|_| is_chosen)?;
        let entry = Entry::Heir(index);
        Some((heir.from, UseOf { entry, file }))
    });
    let mut uses: Vec<(Timestamp, UseOf)> = rows.chain(heirs).collect();
    uses.sort_by_key(|(time, _)| *time);
    let ids = uses.into_iter().map(|(_, id)| id).collect();
    Box::new(RowsOfIds::new(
        ids,
        history,
        |loaded, history, id: &UseOf, cells| {
            let trace = &loaded.trace;
            let Some(it) = id.entry.operation(trace, history) else {
                return;
            };
            let row = &trace.files.rows[it.row as usize];
            let [pid, process] = process_cells(trace, it.process);
            let other = (row.op != FileOp::Open).then_some(row.other_path);
            // Of a child that inherited the file, only the process is known.
            let thread = match id.entry {
                Entry::Row(_) => row.thread,
                Entry::Heir(_) => None,
            };
            cells.extend([
                it.time.into(),
                id.file.0.into(),
                Cell::of_string(trace, row.path),
                it.word.into(),
                pid,
                process,
                it.until.into(),
                other.map_or(Cell::None, |path| Cell::of_string(trace, path)),
                it.process.map(|process| process.0).into(),
                thread.map(|thread| thread.0).into(),
            ]);
        },
    ))
}

/// Every file with a summary of its uses.
pub(crate) const FILE_LIST: TableDef = TableDef {
    name: "file_list",
    title: "Files",
    about: "Each file with a summary of its uses.",
    columns: &[
        ColumnDef::row("file", "File", "The row of the file."),
        ColumnDef::path("path", "Path", "Its last path."),
        ColumnDef::count(
            "reads",
            "Reads",
            "How often it was opened to read, or inherited by a process that read it.",
        ),
        ColumnDef::count(
            "writes",
            "Writes",
            "How often it was opened to write, or inherited by a process that wrote it.",
        ),
        ColumnDef::count("renames", "Renames", "How often it was renamed."),
        ColumnDef::count("processes", "Processes", "How many processes used it."),
        ColumnDef::time("first", "First", "When it was used first."),
        ColumnDef::time("last", "Last", "When it was used last."),
        ColumnDef::count("names", "Names", "How many paths it had.").minor(),
        ColumnDef::flag("gone", "Gone", "Whether it was removed."),
    ],
    stored: None,
    rows: Rows::Trace(file_list),
};

fn file_list(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let list = FileList::new(trace, scope.job).unwrap_or_default();
    let summaries = (0..).map(FileId).zip(list.summaries.iter().copied());
    let summaries = summaries.map(|(file, summary)| ListedFile { file, summary });
    let mut files: Vec<ListedFile> = summaries
        .filter(|it| {
            let mut rows = list.rows_of(it.file).iter();
            let mut heirs = list.heirs_of(it.file);
            rows.any(|&row| {
                let row = &trace.files.rows[row as usize];
                chosen.span.contains(row.time) && chosen.has_thread(row.thread)
            }) || heirs
                .any(|heir| chosen.span.contains(heir.from) && chosen.has_process(heir.process))
        })
        .collect();
    if scope.audience == Audience::Person {
        let uses = |file: &FileSummary| u64::from(file.reads) + u64::from(file.writes);
        files.sort_by_key(|it| std::cmp::Reverse(uses(&it.summary)));
    }
    Box::new(file_rows(files, Arc::new(list)))
}

/// Returns rows of [`FILE_LIST`].
pub(crate) fn file_rows(files: Vec<ListedFile>, list: Arc<FileList>) -> impl RowSource {
    RowsOfIds::new(files, list, |loaded, list, file: &ListedFile, cells| {
        let trace = &loaded.trace;
        let ListedFile { file: id, summary } = file;
        let file = &list.history.files[id.0 as usize];
        cells.extend([
            id.0.into(),
            Cell::of_string(trace, list.history.name(*id)),
            summary.reads.into(),
            summary.writes.into(),
            summary.renames.into(),
            summary.processes.into(),
            summary.first.into(),
            summary.last.into(),
            (file.names.len() as u32).into(),
            u32::from(file.is_gone).into(),
        ]);
    })
}

/// Pairs of processes: one read a file that the other had written.
pub(super) const FILE_DEPENDENCIES: TableDef = TableDef {
    name: "file_dependencies",
    title: "File dependencies",
    about: "Pairs of processes: one read what the other had written.",
    columns: &[
        ColumnDef::time("read", "Read", "When it was read."),
        FILE,
        ColumnDef::path("path", "Path", "The path that was read."),
        ColumnDef::key("reader_pid", "Reader PID", "The process that read it."),
        ColumnDef::text("reader", "Reader", "The program that read it."),
        ColumnDef::key(
            "writer_pid",
            "Writer PID",
            "The process that had written it.",
        ),
        ColumnDef::text("writer", "Writer", "The program that had written it."),
        ColumnDef::time("written", "Written", "When it had been written."),
    ],
    stored: Some(Stored {
        name: "file_dependency",
        more: &[
            ColumnDef::row(
                "reader_upid",
                "Reader row",
                "The row of the process that read it.",
            ),
            ColumnDef::row(
                "writer_upid",
                "Writer row",
                "The row of the process that had written it.",
            ),
        ],
        columns: &[
            renamed("ts", "read"),
            renamed("file_id", "file"),
            same("path"),
            same("reader_upid"),
            same("reader"),
            same("writer_upid"),
            same("writer"),
            renamed("written_ts", "written"),
        ],
    }),
    rows: Rows::Trace(file_dependencies),
};

fn file_dependencies(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let history = FileHistory::new(trace);
    let is_chosen = |at: &usize| {
        let row = &history.dependencies[*at];
        chosen.span.contains(row.to.time) && chosen.has_process(row.reader)
    };
    let ids = (0..history.dependencies.len()).filter(is_chosen).collect();
    Box::new(RowsOfIds::new(
        ids,
        history,
        |loaded, history, &at: &usize, cells| {
            let trace = &loaded.trace;
            let row = &history.dependencies[at];
            let path = trace.files.rows[row.read as usize].path;
            cells.extend([
                row.to.time.into(),
                row.file.0.into(),
                Cell::of_string(trace, path),
                pid_of(trace, row.reader),
                program_cell(trace, row.reader),
                pid_of(trace, row.writer),
                program_cell(trace, row.writer),
                row.from.time.into(),
                row.reader.0.into(),
                row.writer.0.into(),
            ]);
        },
    ))
}

/// The uses of one file.
pub(crate) const USES_OF_FILE: TableDef = TableDef {
    name: "uses_of_file",
    title: "Uses of one file",
    about: "Who used a file, when, and by which path.",
    columns: &[
        TS,
        ColumnDef::text("use", "Use", "What was done."),
        PID,
        PROCESS,
        PATH,
        OTHER_PATH,
    ],
    stored: None,
    rows: Rows::Answer("file PATH FILE"),
};

/// For panes only: the end of a use.
pub(crate) const UNTIL: ColumnDef<'static> =
    ColumnDef::time("done", "Until", "When the file was closed");
/// For panes only: the file's name at the time of the use, if it differs from the current one; or the second name of a
/// rename or link.
pub(crate) const OTHER_NAME: ColumnDef<'static> = ColumnDef::path(
    "other_name",
    "Other name",
    "The file's name then, or the other name of a rename or link",
);

/// Rows of [`USES_OF_FILE`], followed by cells of [`UNTIL`], [`OTHER_NAME`] and
/// [`PROCESS_IN_FULL`](super::columns::PROCESS_IN_FULL); the item of each is the event that used the file.
pub(crate) struct UsesOfFile {
    pub list: Arc<FileList>,
    pub file: FileId,
}

impl UsesOfFile {
    fn use_at(&self, loaded: &LoadedTrace, at: usize) -> Option<Use> {
        self.list.use_at(&loaded.trace, self.file, at)
    }
}

impl RowSource for UsesOfFile {
    fn len(&self) -> usize {
        self.list.use_count(self.file)
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        let trace = &loaded.trace;
        let Some(it) = self.use_at(loaded, at) else {
            return;
        };
        let Some(row) = trace.files.rows.get(it.row as usize) else {
            return;
        };
        let process = it
            .process
            .filter(|id| (id.0 as usize) < trace.processes.len());
        let other_name = match row.op {
            FileOp::Open => {
                Some(row.path).filter(|path| *path != self.list.history.name(self.file))
            }
            _ => Some(row.other_path),
        };
        cells.extend([
            it.time.into(),
            it.word.into(),
            process.map_or(Cell::None, |id| pid_of(trace, id)),
            it.process.map(|id| program_of(trace, id)).into(),
            Cell::of_string(trace, row.path),
            Cell::of_string(trace, row.other_path),
            it.until.into(),
            other_name.map(|path| Cell::of_string(trace, path)).into(),
            it.process
                .map_or_else(|| "unknown".into(), |id| process_in_full(trace, id)),
        ]);
    }

    fn item(&self, loaded: &LoadedTrace, at: usize) -> Option<Item> {
        let it = self.use_at(loaded, at)?;
        let row = loaded.trace.files.rows.get(it.row as usize)?;
        Some(Item::Event(row.event))
    }
}

/// The files that went into a file, or were made from it.
pub(crate) const RELATIVES: TableDef = TableDef {
    name: "file_relatives",
    title: "Relatives of one file",
    about: "What went into a file, or was made from it, step by step.",
    columns: &[
        ColumnDef::count(
            "steps",
            "Steps",
            "How many processes are between the two files.",
        ),
        ColumnDef::path("path", "Path", "The path of the relative."),
        ColumnDef::key(
            "through_pid",
            "PID",
            "The process between this file and the next.",
        ),
        ColumnDef::text(
            "through",
            "Through",
            "The program between this file and the next.",
        ),
        ColumnDef::path("towards", "Towards", "The next file on the way."),
        ColumnDef::path(
            "later_path",
            "Later path",
            "Its last path, if it was renamed.",
        )
        .minor(),
    ],
    stored: None,
    rows: Rows::Answer("file PATH FILE --went-into|--made-from"),
};

/// Returns rows of [`RELATIVES`], followed by a cell of [`PROCESS_IN_FULL`](super::columns::PROCESS_IN_FULL); the item
/// of each is the process between the two files.
pub(crate) fn relative_rows(relatives: Vec<Relative>, list: Arc<FileList>) -> impl RowSource {
    let known: FxHashMap<FileId, Relative> = relatives.iter().map(|it| (it.file, *it)).collect();
    let rows = RowsOfIds::new(
        relatives,
        (list, known),
        |loaded, (list, known), relative: &Relative, cells| {
            let trace = &loaded.trace;
            let towards = match known.get(&relative.towards) {
                Some(nearer) => nearer.name(trace),
                None => list.history.name(relative.towards),
            };
            let later = relative.later_name(trace, list);
            cells.extend([
                relative.steps.into(),
                Cell::of_string(trace, relative.name(trace)),
                pid_of(trace, relative.through),
                program_of(trace, relative.through).into(),
                Cell::of_string(trace, towards),
                later.map_or(Cell::None, |it| Cell::of_string(trace, it)),
                process_in_full(trace, relative.through),
            ]);
        },
    );
    rows.about(|_, relative| Some(Item::Process(relative.through)))
}
