//! A pane that records this machine: what to record, the command line that does the same in a terminal, and Start, Stop
//! and Save as. It needs no trace. The process that records belongs to `gui/app/record`.

mod checked;
mod events;

use std::sync::Arc;

use egui::{Button, RichText, ScrollArea, TextEdit, Ui};

use self::checked::{Looked, faults_of, look, option_faults, probe_faults};
use self::events::EventFinder;
use crate::base::strings::capitalised;
use crate::base::{Task, TaskKey};
use crate::gui::boxes::{check_box, form_row};
use crate::gui::pane::{Alone, Pane, Scene};
use crate::gui::theme::Palette;
use crate::record::presets::PRESETS;
use crate::view::recording::FinishedRecording;
use crate::view::{
    Action, Effect, Purpose, RecordCommand, RecordRights, RecordSettings, RecordState,
    RecordedEvent, ruler,
};

/// Returns the pane.
pub(crate) fn make() -> Box<dyn Pane> {
    Box::<RecordPane>::default()
}

/// The width of the labels of the form, in points.
const LABEL_WIDTH: f32 = 70.0;
/// The width of short fields, in points.
const SHORT_WIDTH: f32 = 70.0;

#[derive(Default)]
struct RecordPane {
    settings: RecordSettings,
    finder: EventFinder,
    /// What the kernel offers; looked up again with the next number.
    looked: Task<u32, Arc<Looked>>,
    number: u32,
    /// What is wrong with the chosen events and their filters.
    faults: Task<Vec<RecordedEvent>, Vec<Option<String>>>,
}

impl Pane for RecordPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let alone = Alone {
            state: scene.state,
            palette: scene.palette,
        };
        self.alone_ui(ui, &alone)
    }

    fn alone_ui(&mut self, ui: &mut Ui, alone: &Alone<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let question = TaskKey::without_trace(self.number).on_thread("tracefs");
        let looked = self
            .looked
            .ask(ui.ctx(), question, |_| Ok(Arc::new(look())));
        let looked = looked.cloned();
        self.bar_ui(ui, alone, looked.as_deref(), &mut actions);
        self.command_ui(ui, looked.as_deref(), &mut actions);
        ui.separator();
        ScrollArea::vertical()
            .id_salt("settings of the recording")
            .auto_shrink([false, false])
            .show(ui, |ui| {
                if let Some(looked) = &looked {
                    self.rights_ui(ui, alone, looked);
                }
                let can_change = !alone.state.recording.is_active();
                ui.add_enabled_ui(can_change, |ui| self.form_ui(ui, alone, looked.as_deref()));
            });
        actions
    }

    fn is_waiting(&self) -> bool {
        self.looked.is_busy() || self.faults.is_busy()
    }

    fn stop(&mut self) {
        self.looked.stop();
        self.faults.stop();
    }

    fn for_next_trace(&mut self) -> Option<Box<dyn Pane>> {
        // The settings are about the machine, not about a trace.
        Some(Box::new(std::mem::take(self)))
    }
}

impl RecordPane {
    /// Draws the button for the next step, and the state of the recording.
    fn bar_ui(
        &mut self,
        ui: &mut Ui,
        alone: &Alone<'_>,
        looked: Option<&Looked>,
        actions: &mut Vec<Action>,
    ) {
        let ordered = |command| Action::Do(Effect::Record(command));
        let (weak, error) = (alone.palette.weak, alone.palette.error);
        ui.horizontal_wrapped(|ui| {
            let state = &alone.state.recording;
            match state {
                RecordState::Starting | RecordState::Running { .. } => {
                    if ui.button("Stop").clicked() {
                        actions.push(ordered(RecordCommand::Stop));
                    }
                }
                RecordState::Finishing => {
                    ui.add_enabled(false, Button::new("Stop"));
                }
                _ => {
                    let refusal = self.refusal(looked);
                    let fill = alone.palette.accent;
                    let words = RichText::new("Start")
                        .strong()
                        .color(Palette::text_on(fill));
                    let button = Button::new(words).fill(fill);
                    let button = ui.add_enabled(refusal.is_none(), button);
                    let button = button.on_disabled_hover_text(refusal.unwrap_or(""));
                    let rights = looked.map_or(RecordRights::Own, |looked| looked.rights);
                    if button.clicked() {
                        let settings = Box::new(self.settings.clone());
                        actions.push(ordered(RecordCommand::Start(settings, rights)));
                    }
                }
            }
            let has_trace = !matches!(
                state,
                RecordState::Idle | RecordState::Failed(_) | RecordState::Starting
            );
            if has_trace && !alone.state.is_recording_shown && ui.button("Show it").clicked() {
                actions.push(ordered(RecordCommand::Show));
            }
            let words = match state {
                RecordState::Idle => match self.refusal(looked) {
                    Some(words) => words.to_owned(),
                    None => String::new(),
                },
                RecordState::Starting => "Setting up the kernel".to_owned(),
                RecordState::Running { facts, shown } => {
                    let shown = shown.map_or_else(String::new, |shown| {
                        let shown = shown.0 as f64 / 1e9;
                        format!("; the timeline shows the last {shown:.0} s, the file all")
                    });
                    format!("Recording: {}{shown}", facts.words())
                }
                RecordState::Finishing => "Writing the file".to_owned(),
                RecordState::Finished(finished) => finished_words(finished),
                RecordState::Failed(words) => {
                    let words = RichText::new(format!("Not recorded: {words}"));
                    ui.label(words.color(error));
                    return;
                }
            };
            if let RecordState::Finished(finished) = state
                && finished.saved.is_none()
            {
                let button = ui.add_enabled(!finished.is_saving, Button::new("Save as…"));
                if button.clicked() {
                    actions.push(Action::Do(Effect::AskForFile(Purpose::SaveRecording)));
                }
            }
            ui.label(RichText::new(words).color(weak));
        });
    }

    /// Returns why Start would do nothing; `None`: it can be pressed.
    fn refusal(&self, looked: Option<&Looked>) -> Option<&'static str> {
        let Some(looked) = looked else {
            return Some("Looking what this kernel offers");
        };
        if !looked.can_start {
            return Some("This machine cannot be recorded from here");
        }
        let is_empty = self.settings.is_empty();
        is_empty.then_some("Choose a set, an event or a probe")
    }

    /// Draws the command line.
    fn command_ui(&self, ui: &mut Ui, looked: Option<&Looked>, actions: &mut Vec<Action>) {
        let rights = looked.map_or(RecordRights::Own, |looked| looked.rights);
        let line = self.settings.command_line(rights);
        ui.horizontal(|ui| {
            let copy = ui.button("Copy").on_hover_text(
                "Copies the command line that records the same in a terminal, into trace.dat",
            );
            if copy.clicked() {
                actions.push(Action::Do(Effect::Copy(line.clone())));
            }
            let words = egui::Label::new(RichText::new(&line).monospace()).truncate();
            ui.add(words).on_hover_text(&line);
        });
    }

    /// Draws what the user lacks, and how to get it.
    fn rights_ui(&mut self, ui: &mut Ui, alone: &Alone<'_>, looked: &Looked) {
        let Err(words) = &looked.events else { return };
        ui.label(RichText::new(capitalised(words)).color(alone.palette.error));
        if let Some(note) = looked.note() {
            ui.label(RichText::new(note).color(alone.palette.weak));
        }
        if ui.button("Look again").clicked() {
            self.number += 1;
        }
        ui.add_space(6.0);
    }

    fn form_ui(&mut self, ui: &mut Ui, alone: &Alone<'_>, looked: Option<&Looked>) {
        form_row(ui, LABEL_WIDTH, "Sets", |ui, _| {
            self.sets_ui(ui, alone);
        });
        form_row(ui, LABEL_WIDTH, "Events", |ui, label| {
            let events = looked.and_then(|looked| looked.events.as_deref().ok());
            let chosen = &mut self.settings.events;
            self.finder.ui(ui, alone, events, chosen, label);
            self.chosen_ui(ui, alone);
        });
        form_row(ui, LABEL_WIDTH, "Probes", |ui, label| {
            let field = TextEdit::multiline(&mut self.settings.probes)
                .hint_text("p vfs_read count=%dx")
                .desired_rows(1)
                .desired_width(f32::INFINITY)
                .font(egui::TextStyle::Monospace);
            ui.add(field).labelled_by(label);
            for fault in probe_faults(&self.settings) {
                ui.label(RichText::new(fault).color(alone.palette.error));
            }
        });
        form_row(ui, LABEL_WIDTH, "Limits", |ui, _| self.limits_ui(ui));
        form_row(ui, LABEL_WIDTH, "Kernel", |ui, _| {
            ui.horizontal_wrapped(|ui| {
                let settings = &mut self.settings;
                field(
                    ui,
                    "Buffer for each CPU",
                    "4M",
                    &mut settings.buffer,
                    SHORT_WIDTH,
                );
                field(ui, "Clock", "local", &mut settings.clock, SHORT_WIDTH);
                check_box(ui, &mut settings.has_stacks, "Stack of each event");
            });
        });
        for fault in option_faults(&self.settings) {
            ui.label(RichText::new(fault).color(alone.palette.error));
        }
    }

    fn sets_ui(&mut self, ui: &mut Ui, alone: &Alone<'_>) {
        let columns = if ui.available_width() > 920.0 { 2 } else { 1 };
        egui::Grid::new("sets").spacing([18.0, 2.0]).show(ui, |ui| {
            for row in PRESETS.chunks(columns) {
                for preset in row {
                    ui.horizontal(|ui| {
                        let sets = &mut self.settings.sets;
                        let place = sets.iter().position(|set| set == preset.name);
                        let mut is_on = place.is_some();
                        let clicked = check_box(ui, &mut is_on, preset.name).clicked();
                        match place {
                            Some(place) if clicked => drop(sets.remove(place)),
                            None if clicked => sets.push(preset.name.to_owned()),
                            _ => {}
                        }
                        ui.label(RichText::new(preset.about).color(alone.palette.weak));
                    });
                }
                ui.end_row();
            }
        });
    }

    /// Draws the chosen events with their filters, and what is wrong with them.
    fn chosen_ui(&mut self, ui: &mut Ui, alone: &Alone<'_>) {
        if self.settings.events.is_empty() {
            return;
        }
        let question = TaskKey::without_trace(self.settings.events.clone()).on_thread("filters");
        let events = self.settings.events.clone();
        let faults = self
            .faults
            .ask(ui.ctx(), question, move |job| faults_of(&events, job));
        let faults = faults.cloned().unwrap_or_default();
        let mut removed = None;
        for (at, event) in self.settings.events.iter_mut().enumerate() {
            ui.horizontal(|ui| {
                let remove = ui.button("×").on_hover_text("Remove");
                let name = format!("Remove {}", event.pattern);
                remove.widget_info(|| {
                    egui::WidgetInfo::labeled(egui::Role::Button, true, name.clone())
                });
                if remove.clicked() {
                    removed = Some(at);
                }
                ui.label(RichText::new(&event.pattern).monospace());
                let name = format!("Filter of {}", event.pattern);
                let hint = "Filter, e.g. prev_prio < 100";
                let width = ui.available_width().min(420.0);
                named_field(ui, &name, hint, &mut event.filter, width);
            });
            if let Some(Some(fault)) = faults.get(at) {
                ui.label(RichText::new(fault).color(alone.palette.error));
            }
        }
        if let Some(at) = removed {
            self.settings.events.remove(at);
        }
    }

    fn limits_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            let settings = &mut self.settings;
            field(ui, "Stop after", "10s", &mut settings.after, SHORT_WIDTH);
            let hint = "sched_process_exit: comm == \"make\"";
            field(ui, "Stop when", hint, &mut settings.until, 230.0);
            field(ui, "Only threads", "all", &mut settings.threads, 110.0);
            let has_threads = settings.thread_words().next().is_some();
            ui.add_enabled_ui(has_threads, |ui| {
                check_box(ui, &mut settings.has_children, "and what they start");
            });
        });
    }
}

/// Draws a field with its name beside it.
fn field(ui: &mut Ui, name: &str, hint: &str, text: &mut String, width: f32) {
    ui.label(name);
    named_field(ui, name, hint, text, width);
}

/// Draws a field without a visible name; screen readers speak `name`.
fn named_field(ui: &mut Ui, name: &str, hint: &str, text: &mut String, width: f32) {
    let field = TextEdit::singleline(text)
        .hint_text(hint)
        .desired_width(width);
    let field = ui.add(field);
    field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, name));
}

fn finished_words(finished: &FinishedRecording) -> String {
    let events = ruler::counted(finished.events as usize, "event", "events");
    let facts = finished.facts.words();
    let full = match finished.is_disk_full {
        true => "; the disk was full: the recording ends there",
        false => "",
    };
    let saved = match (&finished.saved, finished.is_saving) {
        (Some(path), _) => format!("; saved in {}", path.display()),
        (None, true) => "; being saved".to_owned(),
        (None, false) => "; deleted with the window or at the next Start unless saved".to_owned(),
    };
    format!("Recorded {events} in {facts}{full}{saved}")
}
