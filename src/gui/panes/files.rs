//! A pane about files: every file that was opened, renamed or linked, its uses, the files that went into it, and those
//! that were made from it.

use std::sync::Arc;

use egui::{RichText, Ui};

use super::process_tree::select;
use crate::assemble::file_history::FileId;
use crate::base::{Task, TaskKey, Work};
use crate::gui::boxes::check_box;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::shortened::shortened;
use crate::gui::table::{DataTable, PaneColumn, TableData, filtered_ui};
use crate::load::TraceId;
use crate::query::Item;
use crate::query::file_relatives::Relatives;
use crate::query::files::{FileList, FileView, Kinship, More, listed};
use crate::query::process_times::program_of;
use crate::tables::columns::PROCESS_IN_FULL;
use crate::tables::files::{
    FILE_LIST, OTHER_NAME, RELATIVES, UNTIL, USES_OF_FILE, UsesOfFile, file_rows, relative_rows,
};
use crate::trace::ProcessId;
use crate::view::{Action, ruler};

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<FilesPane>::default()
}

#[derive(Default)]
struct FilesPane {
    view: FileView,
    is_of_selected: bool,
    listed: Task<FileView, Answer>,
    list: Option<(TraceId, Arc<FileList>)>,
    table: DataTable,
    chosen: Option<FileId>,
    marked: Option<Marked>,
    asked: Asked,
    uses: Option<UsesTable>,
    kin: Task<(FileId, Kinship), Kin>,
    /// The table of uses or relatives on the screen.
    details: DataTable,
}

/// The file whose row is marked in the list.
struct Marked {
    data: Arc<TableData>,
    file: Option<FileId>,
}

/// The table of a file's uses, and the file list to which it belongs.
struct UsesTable {
    list: Arc<FileList>,
    file: FileId,
    data: Arc<TableData>,
}

/// The table that is shown for the chosen file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Asked {
    #[default]
    Uses,
    Kin(Kinship),
}

struct Answer {
    list: Arc<FileList>,
    /// The files, by row of the table.
    files: Vec<FileId>,
    data: Arc<TableData>,
}

struct Kin {
    kinship: Kinship,
    /// The files, by row of the table.
    files: Vec<FileId>,
    data: Arc<TableData>,
    more: More,
}

fn columns() -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&FILE_LIST, name, width);
    vec![
        of("path", 160.0).titled("File").growing(),
        of("reads", 58.0).titled("Read").about(
            "Number of opens for reading; if only the selected process's files are listed, by that process",
        ),
        of("writes", 58.0).titled("Written").about(
            "Number of opens for writing; if only the selected process's files are listed, by that process",
        ),
        of("renames", 66.0).titled("Renamed").about(
            "Number of renames and links; if only the selected process's files are listed, by that process",
        ),
        of("processes", 74.0).about("Number of processes that used it, selected or not"),
        of("first", 112.0).titled("First use").about(
            "Time of its first use; if only the selected process's files are listed, by that process",
        ),
    ]
}

fn use_columns() -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&USES_OF_FILE, name, width);
    vec![
        of("ts", 100.0),
        of("use", 84.0),
        PaneColumn::after(&USES_OF_FILE, 2, PROCESS_IN_FULL, 130.0),
        PaneColumn::after(&USES_OF_FILE, 0, UNTIL, 100.0),
        PaneColumn::after(&USES_OF_FILE, 1, OTHER_NAME, 120.0).growing(),
    ]
}

fn kin_columns() -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&RELATIVES, name, width);
    vec![
        of("steps", 44.0),
        of("path", 300.0).titled("File"),
        PaneColumn::after(&RELATIVES, 0, PROCESS_IN_FULL, 130.0).titled("Through"),
        of("later_path", 120.0).growing(),
    ]
}

impl Pane for FilesPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        if trace.files.rows.is_empty() {
            let words = if scene.loaded.is_complete {
                "This trace contains no use of files. etrace and strace recordings do."
            } else {
                "Files appear once the file is read."
            };
            empty_ui(ui, scene, words);
            return actions;
        }
        let key = scene.loaded.id;
        let selected = match scene.state.selected {
            Some(Item::Process(id)) => Some(id),
            Some(item) => item
                .thread(trace)
                .and_then(|thread| trace.thread(thread).process),
            None => None,
        };
        self.view.process = selected.filter(|_| self.is_of_selected);
        let (loaded, view) = (scene.loaded.clone(), self.view.clone());
        let known = self.list.clone().filter(|list| list.0 == key);
        let work = move |work: &Work<Answer>| {
            let list = match known {
                Some((_, list)) => list,
                None => Arc::new(FileList::new(&loaded.trace, work)?),
            };
            work.check()?;
            let files = listed(&loaded.trace, &list, &view);
            Ok(Answer {
                files: files.iter().map(|it| it.file).collect(),
                data: Arc::new(TableData::new(columns(), file_rows(files, list.clone()))),
                list,
            })
        };
        let question = TaskKey::about(key, self.view.clone()).in_turn();
        self.listed.ask(ui.ctx(), question, work);
        let Some(answer) = self.listed.exact(key) else {
            self.listed.ui(ui, scene.palette);
            return actions;
        };
        if self.list.as_ref().is_none_or(|list| list.0 != key) {
            self.list = Some((key, Arc::clone(&answer.list)));
            self.chosen = None;
        }
        let list = Arc::clone(&answer.list);
        let count = answer.files.len();
        ui.horizontal(|ui| {
            let edit = egui::TextEdit::singleline(&mut self.view.filter)
                .hint_text("Filter: part of a path")
                .desired_width(260.0);
            ui.add(edit).widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Filter files")
            });
            check_box(ui, &mut self.is_of_selected, "Of the selected process");
            let all = ruler::counted(list.summaries.len(), "file", "files");
            let mut words = format!("{} of {all}", ruler::grouped(count as i64));
            if let Some(process) = self.view.process {
                let process = process_text(scene, Some(process));
                words.push_str(&format!(", as {process} used them"));
            } else if self.is_of_selected {
                words.push_str(", of all processes: none is selected");
            }
            self.table
                .copy_button_ui(ui, scene, &answer.data, &mut actions);
            ui.label(RichText::new(words).color(scene.palette.weak));
        });
        if let Some(file) = self.chosen {
            let width = (ui.available_width() * 0.5).max(240.0);
            let panel = egui::Panel::right("file uses").resizable(true);
            panel.default_size(width).show(ui, |ui| {
                let next = match self.asked {
                    Asked::Uses => {
                        let uses = match self.uses.take() {
                            Some(uses) if uses.file == file && Arc::ptr_eq(&uses.list, &list) => {
                                uses
                            }
                            _ => uses_of(&list, file),
                        };
                        let data = uses.data.clone();
                        self.uses = Some(uses);
                        let (asked, table) = (&mut self.asked, &mut self.details);
                        ui.horizontal(|ui| {
                            table.tools_ui(ui, scene, &data, &mut actions);
                            name_ui(ui, scene, &list, file);
                        });
                        choice_ui(ui, asked);
                        let none = |_: &mut Ui, _: usize, _: &mut Vec<Action>| {};
                        let name = "file uses";
                        let answer = table.ui(ui, scene, name, &data, &mut actions, none);
                        let item = |row| data.rows.item(scene.loaded, row);
                        actions.extend(answer.clicked.and_then(item).map(Action::Reveal));
                        None
                    }
                    Asked::Kin(kinship) => {
                        self.ask_kin(ui, scene, &list, file, kinship);
                        match self.kin.part_of(key, &(file, kinship)) {
                            Some(kin) => {
                                let (asked, table) = (&mut self.asked, &mut self.details);
                                ui.horizontal(|ui| {
                                    table.tools_ui(ui, scene, &kin.data, &mut actions);
                                    name_ui(ui, scene, &list, file);
                                });
                                choice_ui(ui, asked);
                                kin_ui(ui, scene, kin, table, &mut actions)
                            }
                            None => {
                                name_ui(ui, scene, &list, file);
                                choice_ui(ui, &mut self.asked);
                                self.kin.ui(ui, scene.palette);
                                None
                            }
                        }
                    }
                };
                self.chosen = next.or(self.chosen);
            });
        }
        if count == 0 {
            let all = ruler::counted(list.summaries.len(), "file", "files");
            let words = match (self.view.filter.trim().is_empty(), self.is_of_selected) {
                (false, true) => format!("The filter and the choice of a process hide {all}."),
                (false, false) => format!("The filter hides {all}."),
                (true, _) => "The selected process used no file.".to_owned(),
            };
            match self.view.filter.trim().is_empty() {
                true => drop(ui.label(RichText::new(words).color(scene.palette.weak))),
                false if filtered_ui(ui, scene, &words) => self.view.filter.clear(),
                false => {}
            }
            return actions;
        }
        let Some(answer) = self.listed.exact(key) else {
            return actions;
        };
        let is_known = self.marked.as_ref().is_some_and(|marked| {
            Arc::ptr_eq(&marked.data, &answer.data) && marked.file == self.chosen
        });
        if !is_known {
            // The row is searched once: there may be millions of files.
            let row = |file: FileId| answer.files.iter().position(|it| *it == file);
            self.table.detail(self.chosen.and_then(row));
            self.marked = Some(Marked {
                data: answer.data.clone(),
                file: self.chosen,
            });
        }
        let none = |_: &mut Ui, _: usize, _: &mut Vec<Action>| {};
        let table = &mut self.table;
        let clicked = table.ui(ui, scene, "files", &answer.data, &mut actions, none);
        let clicked = clicked.clicked.and_then(|row| answer.files.get(row));
        self.chosen = clicked.copied().or(self.chosen);
        actions
    }

    fn is_waiting(&self) -> bool {
        self.listed.is_busy()
            || self.kin.is_busy()
            || self.table.is_waiting()
            || self.details.is_waiting()
    }

    fn stop(&mut self) {
        self.listed.stop();
        self.kin.stop();
        self.table.stop();
        self.details.stop();
    }
}

impl FilesPane {
    fn ask_kin(
        &mut self,
        ui: &Ui,
        scene: &Scene<'_>,
        list: &Arc<FileList>,
        file: FileId,
        kinship: Kinship,
    ) {
        let (loaded, list) = (scene.loaded.clone(), Arc::clone(list));
        let question = TaskKey::about(loaded.id, (file, kinship)).in_turn();
        self.kin.ask(ui.ctx(), question, move |work| {
            let Relatives { files, more } = list.relatives(&loaded.trace, file, kinship, work)?;
            let relatives = files;
            let files = relatives.iter().map(|it| it.file).collect();
            let rows = relative_rows(relatives, list);
            Ok(Kin {
                kinship,
                files,
                data: Arc::new(TableData::new(kin_columns(), rows)),
                more,
            })
        });
    }
}

fn uses_of(list: &Arc<FileList>, file: FileId) -> UsesTable {
    let rows = UsesOfFile {
        list: list.clone(),
        file,
    };
    UsesTable {
        list: list.clone(),
        file,
        data: Arc::new(TableData::new(use_columns(), rows)),
    }
}

/// Draws the names of the chosen file.
fn name_ui(ui: &mut Ui, scene: &Scene<'_>, list: &FileList, file: FileId) {
    let trace = &scene.loaded.trace;
    let Some(entry) = list.history.files.get(file.0 as usize) else {
        return;
    };
    let name = trace.text(list.history.name(file));
    let name = shortened(&name);
    ui.add(egui::Label::new(RichText::new(&*name).strong()).truncate())
        .on_hover_text(&*name);
    let gone = entry
        .is_gone
        .then(|| "deleted, or another file's name later".to_owned());
    let before: Vec<_> = (entry.names.iter().rev().skip(1).take(8))
        .map(|&name| shortened(&trace.text(name)).into_owned())
        .collect();
    let also = (!before.is_empty()).then(|| format!("also: {}", before.join(", ")));
    let words: Vec<String> = gone.into_iter().chain(also).collect();
    if !words.is_empty() {
        let words = words.join("; ");
        ui.add(
            egui::Label::new(RichText::new(&words).size(12.0).color(scene.palette.weak)).truncate(),
        )
        .on_hover_text(words);
    }
}

/// Draws the choice between the tables about a file.
fn choice_ui(ui: &mut Ui, asked: &mut Asked) {
    ui.horizontal_wrapped(|ui| {
        for (value, word) in [
            (Asked::Uses, "Uses"),
            (Asked::Kin(Kinship::WentInto), "What went into it"),
            (Asked::Kin(Kinship::MadeFrom), "What was made from it"),
        ] {
            ui.selectable_value(asked, value, word);
        }
    });
}

fn process_text(scene: &Scene<'_>, id: Option<ProcessId>) -> String {
    let trace = &scene.loaded.trace;
    let Some(id) = id else {
        return "unknown".to_owned();
    };
    let pid = trace.processes.get(id.0 as usize).map_or(0, |it| it.pid);
    format!("{} ({pid})", program_of(trace, id))
}

/// Draws the relatives of a file; returns the one that was clicked.
fn kin_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    kin: &Kin,
    table: &mut DataTable,
    actions: &mut Vec<Action>,
) -> Option<FileId> {
    if kin.files.is_empty() {
        let words = match kin.kinship {
            Kinship::WentInto => "No process in this trace wrote it.",
            Kinship::MadeFrom => "No process that read it wrote anything.",
        };
        ui.label(RichText::new(words).color(scene.palette.weak));
        return None;
    }
    if kin.more == More::ThereIs {
        let words = format!(
            "Only the first {} are listed.",
            ruler::grouped(kin.files.len() as i64)
        );
        ui.label(RichText::new(words).color(scene.palette.error));
    }
    let data = &kin.data;
    let answer = table.ui(ui, scene, "file kin", data, actions, |ui, row, actions| {
        let item = data.rows.item(scene.loaded, row);
        if let Some(Item::Process(id)) = item
            && ui.button("Show the process").clicked()
        {
            select(&scene.loaded.trace, id, actions);
            ui.close();
        }
    });
    kin.files.get(answer.clicked?).copied()
}
