//! Every file that was opened, renamed or linked: who did it and when, what went into it, what was made from it.

use std::sync::Arc;

use egui::{RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};

use super::copied::{Copying, copy_button};
use super::files_text::{kin_text, list_text, uses_text};
use super::process_tree::select;
use crate::event::FileOp;
use crate::gui::boxes::check_box;
use crate::gui::heading::{Heading, heading_ui, title_ui, wide};
use crate::gui::pane::{Later, Pane, Scene, TraceKey, empty_ui};
use crate::gui::script::one_line;
use crate::gui::shortened::shortened;
use crate::gui::table::filtered_ui;
use crate::query::Item;
use crate::query::files::{
    FileList, FileSort, FileSummary, FileView, Kinship, More, Relative, Use, listed,
};
use crate::query::process_times::program_of;
use crate::trace::{FileId, FileUse, ProcessId};
use crate::view::{Action, ruler};

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<FilesPane>::default()
}

#[derive(Default)]
struct FilesPane {
    view: FileView,
    is_of_selected: bool,
    later: Later<(TraceKey, FileView), Answer>,
    list: Option<(TraceKey, Arc<FileList>)>,
    chosen: Option<FileId>,
    asked: Asked,
    kin: Later<(TraceKey, FileId, Kinship), Kin>,
    copying: Copying,
}

/// What is told of the chosen file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Asked {
    #[default]
    Uses,
    Kin(Kinship),
}

struct Answer {
    key: TraceKey,
    list: Arc<FileList>,
    files: Arc<[(FileId, FileSummary)]>,
}

struct Kin {
    of: (TraceKey, FileId, Kinship),
    relatives: Vec<Relative>,
    more: More,
}

const ROW_HEIGHT: f32 = 18.0;
const COLUMNS: &[Heading<FileSort>] = &[
    Heading::new("File", FileSort::Path),
    Heading::number("Read", FileSort::Reads)
        .about("How often it was opened to be read: by the selected process, if only its files are listed"),
    Heading::number("Written", FileSort::Writes)
        .about("How often it was opened to be written: by the selected process, if only its files are listed"),
    Heading::number("Renamed", FileSort::Renames)
        .about("How often it was renamed or linked: by the selected process, if only its files are listed"),
    Heading::number("Processes", FileSort::Processes).about("How many processes used it in all"),
    Heading::number("First use", FileSort::First)
        .about("When it was used first: by the selected process, if only its files are listed")
        .smallest_first(),
];

impl Pane for FilesPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        if trace.files.rows.is_empty() {
            let words = if scene.loaded.is_complete {
                "This trace says nothing of files. etrace and strace recordings do."
            } else {
                "Files come when the trace is read."
            };
            empty_ui(ui, scene, words);
            return actions;
        }
        self.copying.poll(&mut actions);
        let key = TraceKey::of(scene.loaded);
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
        let work = move || {
            let list = known.map_or_else(|| Arc::new(FileList::new(&loaded.trace)), |it| it.1);
            let files = listed(&loaded.trace, &list, &view);
            let files = files.into();
            Answer { key, list, files }
        };
        let asked = (key, self.view.clone());
        let Some(answer) = self.later.ask(ui.ctx(), asked, work) else {
            ui.spinner();
            return actions;
        };
        if answer.key != key {
            ui.spinner();
            return actions;
        }
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
            }
            if copy_button(ui) {
                let (loaded, of, files) = (
                    scene.loaded.clone(),
                    Arc::clone(&list),
                    answer.files.clone(),
                );
                self.copying.start(ui.ctx(), move |job| {
                    list_text(&loaded.trace, &of, &files, job)
                });
            }
            ui.label(RichText::new(words).color(scene.palette.weak));
        });
        if let Some(file) = self.chosen {
            let width = (ui.available_width() * 0.5).max(240.0);
            egui::Panel::right("file uses")
                .resizable(true)
                .default_size(width)
                .show(ui, |ui| {
                    let wants_copy = chosen_ui(ui, scene, &list, file, &mut self.asked);
                    match self.asked {
                        Asked::Uses => {
                            if wants_copy {
                                let (loaded, of) = (scene.loaded.clone(), Arc::clone(&list));
                                self.copying.start(ui.ctx(), move |job| {
                                    uses_text(&loaded.trace, &of, file, job)
                                });
                            }
                            uses_ui(ui, scene, &list, file, &mut actions);
                        }
                        Asked::Kin(kinship) => {
                            let (loaded, worker) = (scene.loaded.clone(), Arc::clone(&list));
                            let of = (key, file, kinship);
                            let work = move || {
                                let trace = &loaded.trace;
                                let (relatives, more) = worker.relatives(trace, file, kinship);
                                Kin {
                                    of,
                                    relatives,
                                    more,
                                }
                            };
                            match self.kin.ask(ui.ctx(), of, work).filter(|kin| kin.of == of) {
                                Some(kin) => {
                                    if wants_copy {
                                        let (loaded, relatives, of) = (
                                            scene.loaded.clone(),
                                            kin.relatives.clone(),
                                            Arc::clone(&list),
                                        );
                                        self.copying.start(ui.ctx(), move |_| {
                                            Ok(kin_text(&loaded.trace, &of, &relatives))
                                        });
                                    }
                                    let next = kin_ui(ui, scene, &list, kin, &mut actions);
                                    self.chosen = next.or(self.chosen);
                                }
                                None => drop(ui.spinner()),
                            }
                        }
                    }
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
        let files = &answer.files;
        let (mut sort, mut order) = (self.view.sort, self.view.order);
        let mut clicked = None;
        let chosen = self.chosen;
        wide(ui, "file list", 560.0, |ui| {
            TableBuilder::new(ui)
                .min_scrolled_height(0.0)
                .id_salt("files")
                .striped(true)
                .resizable(true)
                .auto_shrink([false, false])
                .sense(Sense::click())
                .cell_layout(egui::Layout::left_to_right(egui::Align::Center))
                .column(Column::remainder().at_least(160.0).clip(true))
                .columns(Column::initial(58.0).at_least(40.0).clip(true), 3)
                .column(Column::initial(74.0).at_least(40.0).clip(true))
                .column(Column::initial(112.0).at_least(50.0).clip(true))
                .header(20.0, |mut header| {
                    heading_ui(&mut header, COLUMNS, &mut sort, &mut order);
                })
                .body(|body| {
                    body.rows(ROW_HEIGHT, files.len(), |mut row| {
                        let Some(&(file, summary)) = files.get(row.index()) else {
                            return;
                        };
                        row.set_selected(chosen == Some(file));
                        row.col(|ui| path_ui(ui, &trace.text(list.history.name(file))));
                        for count in [
                            summary.reads,
                            summary.writes,
                            summary.renames,
                            summary.processes,
                        ] {
                            let text = match count {
                                0 => String::new(),
                                count => ruler::grouped(i64::from(count)),
                            };
                            row.col(|ui| number_ui(ui, text));
                        }
                        row.col(|ui| number_ui(ui, time_text(scene, summary.first)));
                        if row.response().clicked() {
                            clicked = Some(file);
                        }
                    });
                });
        });
        (self.view.sort, self.view.order) = (sort, order);
        self.chosen = clicked.or(self.chosen);
        actions
    }

    fn is_waiting(&self) -> bool {
        self.later.is_waiting() || self.kin.is_waiting() || self.copying.is_waiting()
    }

    fn stop(&mut self) {
        self.copying.stop();
    }
}

fn time_text(scene: &Scene<'_>, time: crate::base::Timestamp) -> String {
    ruler::full_text(time, scene.state.time_format, scene.state.origins)
}

fn text_ui(ui: &mut Ui, text: impl AsRef<str>) {
    let text = RichText::new(shortened(text.as_ref())).size(12.0);
    let text = one_line(ui, text);
    ui.add(egui::Label::new(text).selectable(false).truncate());
}

fn number_ui(ui: &mut Ui, text: String) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        text_ui(ui, text);
    });
}

/// A path: where it does not fit, its end is seen.
fn path_ui(ui: &mut Ui, path: &str) {
    let room = (ui.available_width() / 6.6).max(8.0) as usize;
    let length = path.chars().count();
    if length <= room {
        return text_ui(ui, path);
    }
    let end: String = path.chars().skip(length - room + 1).collect();
    let text = one_line(ui, RichText::new(format!("…{end}")).size(12.0));
    ui.add(egui::Label::new(text).selectable(false).truncate())
        .on_hover_text(shortened(path));
}

/// The chosen file's names, and what is to be told of it; whether that is to be copied.
fn chosen_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    list: &FileList,
    file: FileId,
    asked: &mut Asked,
) -> bool {
    let trace = &scene.loaded.trace;
    let Some(entry) = list.history.files.get(file.0 as usize) else {
        return false;
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
    ui.horizontal(|ui| {
        for (value, word) in [
            (Asked::Uses, "Uses"),
            (Asked::Kin(Kinship::WentInto), "What went into it"),
            (Asked::Kin(Kinship::MadeFrom), "What was made from it"),
        ] {
            ui.selectable_value(asked, value, word);
        }
        copy_button(ui)
    })
    .inner
}

fn process_text(scene: &Scene<'_>, id: Option<ProcessId>) -> String {
    let trace = &scene.loaded.trace;
    let Some(id) = id else {
        return "unknown".to_owned();
    };
    let pid = trace.processes.get(id.0 as usize).map_or(0, |it| it.pid);
    format!("{} ({pid})", program_of(trace, id))
}

/// When a use was over, and under which name it was where that is not the file's present one; or the other name of
/// a rename or link.
fn until_text(scene: &Scene<'_>, list: &FileList, file: FileId, it: &Use, row: &FileUse) -> String {
    let trace = &scene.loaded.trace;
    if row.op != FileOp::Open {
        return trace.text(row.other_path).into_owned();
    }
    let until = it.until.map(|time| time_text(scene, time));
    let name = (row.path != list.history.name(file)).then(|| trace.text(row.path));
    let name = name.map(|name| format!("as {name}"));
    let words: Vec<String> = until.into_iter().chain(name).collect();
    words.join("  ")
}

/// Who used the file, when, and for what.
fn uses_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    list: &FileList,
    file: FileId,
    actions: &mut Vec<Action>,
) {
    let trace = &scene.loaded.trace;
    TableBuilder::new(ui)
        .min_scrolled_height(0.0)
        .id_salt("file uses")
        .striped(true)
        .resizable(true)
        .auto_shrink([false, false])
        .sense(Sense::click())
        .cell_layout(egui::Layout::left_to_right(egui::Align::Center))
        .column(Column::initial(100.0).at_least(50.0).clip(true))
        .column(Column::initial(84.0).at_least(50.0).clip(true))
        .column(Column::initial(130.0).at_least(60.0).clip(true))
        .column(Column::remainder().clip(true))
        .header(20.0, |mut header| {
            for (title, align) in [
                ("Time", egui::Align::Max),
                ("Use", egui::Align::Min),
                ("Process", egui::Align::Min),
                ("Until, or other name", egui::Align::Min),
            ] {
                header.col(|ui| title_ui(ui, title, align));
            }
        })
        .body(|body| {
            body.rows(ROW_HEIGHT, list.use_count(file), |mut row| {
                let Some(it) = list.use_at(trace, file, row.index()) else {
                    return;
                };
                let Some(entry) = trace.files.rows.get(it.row as usize) else {
                    return;
                };
                row.col(|ui| number_ui(ui, time_text(scene, it.time)));
                row.col(|ui| text_ui(ui, it.word));
                row.col(|ui| text_ui(ui, process_text(scene, it.process)));
                row.col(|ui| {
                    text_ui(ui, until_text(scene, list, file, &it, entry));
                });
                let response = row.response();
                if response.clicked() {
                    actions.push(Action::Reveal(Item::Event(entry.event)));
                }
                response.on_hover_text("Click to go to it in the timeline");
            });
        });
}

/// The relatives of a file; the one that was clicked.
fn kin_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    list: &FileList,
    kin: &Kin,
    actions: &mut Vec<Action>,
) -> Option<FileId> {
    let trace = &scene.loaded.trace;
    if kin.relatives.is_empty() {
        let words = match kin.of.2 {
            Kinship::WentInto => "Nobody wrote it in this trace.",
            Kinship::MadeFrom => "Nobody who read it wrote anything.",
        };
        ui.label(RichText::new(words).color(scene.palette.weak));
        return None;
    }
    if kin.more == More::ThereIs {
        let words = format!(
            "The first {} of more.",
            ruler::grouped(kin.relatives.len() as i64)
        );
        ui.label(RichText::new(words).color(scene.palette.error));
    }
    let mut clicked = None;
    TableBuilder::new(ui)
        .min_scrolled_height(0.0)
        .id_salt("file kin")
        .striped(true)
        .resizable(true)
        .auto_shrink([false, false])
        .sense(Sense::click())
        .cell_layout(egui::Layout::left_to_right(egui::Align::Center))
        .column(Column::initial(44.0).at_least(30.0).clip(true))
        .column(Column::initial(300.0).at_least(100.0).clip(true))
        .column(Column::remainder().clip(true))
        .header(20.0, |mut header| {
            for title in ["Steps", "File", "Through"] {
                header.col(|ui| drop(ui.label(RichText::new(title).strong())));
            }
        })
        .body(|body| {
            body.rows(ROW_HEIGHT, kin.relatives.len(), |mut row| {
                let Some(relative) = kin.relatives.get(row.index()) else {
                    return;
                };
                row.col(|ui| text_ui(ui, relative.steps.to_string()));
                row.col(|ui| {
                    let name = trace.text(relative.name(trace));
                    match relative.later_name(trace, list) {
                        Some(later) => path_ui(ui, &format!("{name}, later {}", trace.text(later))),
                        None => path_ui(ui, &name),
                    }
                });
                row.col(|ui| {
                    let text = process_text(scene, Some(relative.through));
                    if ui.link(RichText::new(text).size(12.0)).clicked() {
                        select(trace, relative.through, actions);
                    }
                });
                if row.response().clicked() {
                    clicked = Some(relative.file);
                }
            });
        });
    clicked
}
