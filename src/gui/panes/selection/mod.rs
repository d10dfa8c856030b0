//! What the selected area adds up to: slices, CPU use, states, events, counters; follows the drag.
//!
//! While the drag goes on the sums follow it a bounded number of rows a frame; once it rests they are worked
//! out exactly in the background.

pub mod area;
pub mod rows;

use std::sync::Arc;

use egui::{RichText, Ui};

use self::area::{area_of, counted, words};
use crate::gui::asked::Asked;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::table::{DataTable, TableData, TableRow};
use crate::query::Item;
use crate::query::area::counters::counters;
use crate::query::area::events::event_counts;
use crate::query::area::{Area, GroupBy, LiveArea, What, groups};
use crate::trace::Trace;
use crate::view::Action;
use crate::view::rows::RowKey;

/// Rows taken in or put out in a frame while a drag goes on.
const BUDGET: usize = 40_000;

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<SelectionPane>::default()
}

/// What is added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shown {
    #[default]
    Slices,
    CpuUse,
    States,
    Events,
    Counters,
}

impl Shown {
    const ALL: [(Shown, &str, &str); 5] = [
        (Shown::Slices, "Slices", "Durations, each slice whole"),
        (
            Shown::CpuUse,
            "CPU use",
            "Who ran on which CPU, and for how long",
        ),
        (Shown::States, "Thread states", "What threads were doing"),
        (
            Shown::Events,
            "Events",
            "How many raw events: of the selected threads, and on the selected CPUs",
        ),
        (Shown::Counters, "Counters", "Values of counters"),
    ];

    fn what(self) -> Option<What> {
        match self {
            Shown::Slices => Some(What::Slices),
            Shown::CpuUse => Some(What::Runs),
            Shown::States => Some(What::States),
            Shown::Events | Shown::Counters => None,
        }
    }

    fn groupings(self) -> &'static [(GroupBy, &'static str)] {
        match self {
            Shown::Slices | Shown::Events => &[
                (GroupBy::Name, "name"),
                (GroupBy::Thread, "thread"),
                (GroupBy::Process, "process"),
                (GroupBy::Cpu, "CPU"),
            ],
            Shown::CpuUse => &[
                (GroupBy::Thread, "thread"),
                (GroupBy::Process, "process"),
                (GroupBy::Cpu, "CPU"),
            ],
            Shown::States => &[
                (GroupBy::Name, "state"),
                (GroupBy::Thread, "thread"),
                (GroupBy::Process, "process"),
                (GroupBy::Cpu, "CPU"),
            ],
            Shown::Counters => &[],
        }
    }

    fn nothing(self) -> &'static str {
        match self {
            Shown::Slices => "No slices here. Drag over other tracks or times in the timeline.",
            Shown::CpuUse => {
                "Nothing is known here of who ran on the CPUs. That takes sched_switch events, and tracks of CPUs in the selection."
            }
            Shown::States => {
                "Nothing is known here of what threads were doing. That takes sched_switch events, and tracks of threads in the selection."
            }
            Shown::Events => {
                "No events here. Events are of threads and CPUs: select their tracks, or a longer range."
            }
            Shown::Counters => {
                "No counters here. Drag over a counter's track in the timeline, or select a range of all tracks in the ruler."
            }
        }
    }
}

/// Whether the selection is under the hand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Dragged,
    Rests,
}

type Key = (u32, Area, Shown, GroupBy);

#[derive(Default)]
struct SelectionPane {
    shown: Shown,
    by: Option<GroupBy>,
    /// The table, and what it is of in words.
    exact: Asked<Key, (Arc<TableData>, String)>,
    live: Option<(Key, LiveArea)>,
    /// The table, and what it is of in words.
    drawn: Option<(Arc<TableData>, String)>,
    table: DataTable,
}

impl Pane for SelectionPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        let (area, from) = area_of(scene.state, trace);
        let grouping = self.grouping();
        let about = words(scene, &area, from);
        let key = (scene.loaded.generation, area, self.shown, grouping);
        let is_down = ui.input(|input| input.pointer.any_down());
        let pace = if is_down && scene.state.range.is_some() {
            Pace::Dragged
        } else {
            Pace::Rests
        };
        let (data, about) = self.data(ui.ctx(), scene, (&key, about), pace);
        ui.horizontal_wrapped(|ui| {
            for (shown, word, about) in Shown::ALL {
                let is_on = self.shown == shown;
                let button = egui::Button::selectable(is_on, word);
                if ui.add(button).on_hover_text(about).clicked() {
                    self.shown = shown;
                }
            }
            let groupings = self.shown.groupings();
            if !groupings.is_empty() {
                ui.separator();
                ui.label(RichText::new("by").color(scene.palette.weak));
                for (by, word) in groupings {
                    let button = egui::Button::selectable(grouping == *by, *word);
                    if ui.add(button).clicked() {
                        self.by = Some(*by);
                    }
                }
            }
            ui.separator();
            self.table.tools_ui(ui, scene, &data, &mut actions);
            let words = RichText::new(about).color(scene.palette.weak);
            let hint = "Drag over tracks or in the ruler to select an area; Ctrl+A selects a track";
            let counted = counted(&key.1).filter(|_| self.shown == Shown::Slices);
            let hint = counted.map_or(hint.to_owned(), |counted| format!("{counted}\n{hint}"));
            ui.add(egui::Label::new(words).extend()).on_hover_text(hint);
            self.exact.ui(ui, scene.palette);
        });
        if data.rows.is_empty() {
            if !self.exact.is_waiting() {
                empty_ui(ui, scene, self.shown.nothing());
                // CPUs have no slices but those of interrupts: what is meant is who ran there.
                if self.shown == Shown::Slices && !trace.runs.is_empty() {
                    ui.add_space(4.0);
                    if ui.button("Show the CPU use").clicked() {
                        self.shown = Shown::CpuUse;
                    }
                }
            }
            return actions;
        }
        let shown = self.shown;
        let answer = self.table.ui(
            ui,
            scene,
            "selection",
            &data,
            &mut actions,
            |ui, row, actions| {
                if let Some(row) = data.rows.get(row) {
                    menu_ui(ui, trace, row, shown, actions);
                }
            },
        );
        if let Some(row) = answer.clicked.and_then(|row| data.rows.get(row)) {
            actions.extend(row.item.map(Action::Select));
            actions.extend(row.item.and_then(|item| row_action(trace, item)));
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.exact.is_waiting()
    }

    fn stop(&mut self) {
        self.exact.stop();
    }
}

impl SelectionPane {
    fn grouping(&self) -> GroupBy {
        let groupings = self.shown.groupings();
        let chosen = groupings.iter().find(|(by, _)| Some(*by) == self.by);
        chosen
            .or(groupings.first())
            .map_or(GroupBy::Name, |(by, _)| *by)
    }

    /// The table for `key`, or the nearest there is to it; and what that is of.
    fn data(
        &mut self,
        ctx: &egui::Context,
        scene: &Scene<'_>,
        (key, about): (&Key, String),
        pace: Pace,
    ) -> (Arc<TableData>, String) {
        let (trace, index) = (scene.loaded.trace.clone(), scene.loaded.clone());
        let (_, area, shown, by) = key.clone();
        let what = shown.what();
        let live = what.filter(|what| LiveArea::can_follow(&area.lanes, *what));
        if pace == Pace::Dragged && live.is_none() && self.exact.is_waiting() {
            // A new question would end the one that is being answered, and a drag asks in each frame.
            self.exact.poll();
            self.drawn_from_exact();
        } else if pace == Pace::Dragged
            && let Some(what) = live
        {
            if let Some(table) = self.live_data(&trace, key, what) {
                self.drawn = Some((table, about));
            } else {
                ctx.request_repaint();
            }
        } else {
            self.live = None;
            let (asked, its_words) = (area.clone(), about.clone());
            self.exact.ask(ctx, key.clone(), move |job| {
                let trace = &index.trace;
                let table = match (what, shown) {
                    (Some(what), _) => {
                        let groups = groups(trace, &asked, what, by, job)?;
                        rows::of_groups(trace, &groups, what, by, asked.span)
                    }
                    (None, Shown::Events) => {
                        let groups = event_counts(trace, &asked, by, job)?;
                        rows::of_events(trace, &groups, by, asked.span)
                    }
                    (None, _) => rows::of_counters(trace, &counters(trace, &asked)),
                };
                Ok((Arc::new(table), its_words))
            });
            match self.exact.answer() {
                Some((table, _)) if self.exact.is_of(key) => {
                    self.drawn = Some((table.clone(), about));
                }
                _ if pace == Pace::Dragged => self.drawn_from_exact(),
                _ => {}
            }
        }
        self.drawn.clone().unwrap_or_default()
    }

    /// Shows the last answer, with the words for what it is of.
    fn drawn_from_exact(&mut self) {
        if let Some(answer) = self.exact.answer() {
            self.drawn = Some(answer.clone());
        }
    }

    /// The sums while a drag goes on, if they have caught up with it.
    fn live_data(&mut self, trace: &Arc<Trace>, key: &Key, what: What) -> Option<Arc<TableData>> {
        let (generation, area, shown, by) = key;
        let is_same = self.live.as_ref().is_some_and(|((of, old, what, how), _)| {
            of == generation && old.lanes == area.lanes && what == shown && how == by
        });
        if !is_same {
            let live = LiveArea::new(trace.clone(), area, what, *by);
            self.live = Some((key.clone(), live));
        }
        let (_, live) = self.live.as_mut()?;
        if !live.follow(area.span, BUDGET) {
            return None;
        }
        let groups = live.groups();
        Some(Arc::new(rows::of_groups(
            trace, &groups, what, *by, area.span,
        )))
    }
}

/// Brings the track of a thread, process or CPU into view.
fn row_action(trace: &Trace, item: Item) -> Option<Action> {
    let key = match item {
        Item::Process(id) => RowKey::Process(trace.processes.get(id.0 as usize)?.key),
        Item::Thread(id) => RowKey::Thread(trace.threads.get(id.0 as usize)?.key),
        _ => return None,
    };
    Some(Action::RevealRow(key))
}

fn menu_ui(ui: &mut Ui, trace: &Trace, row: &TableRow, of: Shown, actions: &mut Vec<Action>) {
    let name = row.cells.first().map(|cell| match cell {
        crate::gui::table::Cell::Text(text) => text.clone(),
        _ => String::new(),
    });
    let name = name.unwrap_or_default();
    let mut entry = |ui: &mut Ui, words: &str, action: Action| {
        if ui.button(words).clicked() {
            actions.push(action);
            ui.close();
        }
    };
    match row.item {
        Some(item @ Item::Slice(id)) => {
            entry(ui, "Show the longest", Action::Reveal(item));
            if let Some(thread) = Item::Slice(id).thread(trace) {
                let words = format!("Only tracks like {}", trace.thread_name(thread));
                entry(ui, &words, Action::Filter(trace.thread_name(thread)));
            }
        }
        Some(item @ (Item::Thread(_) | Item::Process(_))) => {
            entry(ui, "Show it", Action::Reveal(item));
            let plain = crate::query::item::title(trace, item);
            entry(
                ui,
                &format!("Only tracks like {plain}"),
                Action::Filter(plain),
            );
        }
        Some(item) => entry(ui, "Show it", Action::Reveal(item)),
        // Events of a name.
        None if of == Shown::Events => {
            let expression = format!("name == \"{}\"", name.replace('"', "\\\""));
            entry(ui, "Mark all in the timeline", Action::Search(expression));
        }
        None => {}
    }
    entry(ui, "Copy the name", Action::Copy(name));
}
