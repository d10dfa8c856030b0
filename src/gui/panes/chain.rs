//! A pane that explains why a thread waited: the chain of wakeups until it ran again, as a table and as a path on the
//! timeline.

use std::sync::Arc;

use egui::{RichText, Ui};

use crate::base::{Task, TaskKey, Timestamp};
use crate::gui::boxes::check_box;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::table::{DataTable, PaneColumn, TableData};
use crate::gui::tint::Tint;
use crate::load::TraceId;
use crate::query::Item;
use crate::query::wakeup_chain::{Chain, ChainEnd, Hop, chain, chain_at, longest_wait};
use crate::tables::waits::{BEHIND, HOPS, WHO, hop_rows};
use crate::trace::{SliceId, StateId, ThreadId, ThreadState, Trace};
use crate::view::{Action, ruler};

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<ChainPane>::default()
}

/// The wait for which the chain is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wait {
    State(StateId),
    Before(ThreadId, Timestamp),
}

type Answer = Option<(Chain, Arc<TableData>)>;

#[derive(Default)]
struct ChainPane {
    found: Task<Wait, Answer>,
    wait: Option<(TraceId, Wait)>,
    /// The wait whose path was passed to the timeline.
    drawn: Option<(TraceId, Wait)>,
    is_path_hidden: bool,
    table: DataTable,
}

impl Pane for ChainPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = scene.loaded.id;
        if self.wait.is_some_and(|(of, _)| of != trace) {
            self.wait = None;
            self.found.clear();
        }
        match wait_of(scene) {
            Sought::Wait(wait) if !self.has(scene, wait) => {
                self.wait = Some((trace, wait));
            }
            Sought::None(words) if !self.is_in_chain(scene) => {
                self.wait = None;
                empty_ui(ui, scene, &words);
                return actions;
            }
            _ => {}
        }
        let Some(key) = self.wait else {
            nothing_ui(ui, scene);
            return actions;
        };
        let loaded = scene.loaded.clone();
        let question = TaskKey::about(trace, key.1);
        self.found.ask(ui.ctx(), question, move |_| {
            let trace = &loaded.trace;
            let found = match key.1 {
                Wait::State(id) => chain(trace, id),
                Wait::Before(thread, time) => chain_at(trace, thread, time),
            };
            Ok(found.map(|chain| {
                let table = Arc::new(table_of(trace, &chain));
                (chain, table)
            }))
        });
        let Some(answer) = self.found.answer(trace) else {
            self.found.ui(ui, scene.palette);
            return actions;
        };
        let Some((chain, table)) = answer else {
            nothing_ui(ui, scene);
            return actions;
        };
        let path = if self.is_path_hidden {
            Vec::new()
        } else {
            chain.path()
        };
        // The path is passed to the timeline once for each wait, not in every frame.
        if self.found.is_of(trace, &key.1) && self.drawn != Some(key) {
            self.drawn = Some(key);
            actions.push(Action::ShowPath(path.clone()));
        }
        let (chain, table) = (chain.clone(), table.clone());
        ui.horizontal_wrapped(|ui| {
            let unit = scene.state.origins.unit;
            let words = format!(
                "{} waited {}",
                scene.loaded.trace.thread_name(chain.thread),
                ruler::length_text(chain.wait.duration(), unit)
            );
            ui.label(RichText::new(words).strong());
            if ui.button("Show the wait").clicked() {
                actions.push(Action::SelectRange(chain.wait));
                actions.push(Action::Focus);
            }
            let mut is_shown = !self.is_path_hidden;
            if check_box(ui, &mut is_shown, "Path on the timeline").changed() {
                self.is_path_hidden = !is_shown;
                let path = if is_shown { chain.path() } else { Vec::new() };
                actions.push(Action::ShowPath(path));
            }
            self.table.tools_ui(ui, scene, &table, &mut actions);
            ui.label(RichText::new(end_words(chain.end)).color(scene.palette.weak));
        });
        let trace = &scene.loaded.trace;
        let answer = self.table.ui(
            ui,
            scene,
            "chain",
            &table,
            &mut actions,
            |ui, row, actions| {
                let Some(hop) = chain.hops.get(row) else {
                    return;
                };
                if ui.button("Show it").clicked() {
                    actions.push(Action::Reveal(hop.item));
                    ui.close();
                }
                if ui.button("Select its time").clicked() {
                    actions.push(Action::SelectRange(hop.span));
                    ui.close();
                }
                if let Some(rival) = hop.rival {
                    let words = format!("Show {}", trace.thread_name(rival));
                    if ui.button(words).clicked() {
                        actions.push(Action::Reveal(Item::Thread(rival)));
                        ui.close();
                    }
                }
            },
        );
        let item = |row| table.rows.item(scene.loaded, row);
        actions.extend(answer.clicked.and_then(item).map(Action::Reveal));
        actions
    }

    fn is_waiting(&self) -> bool {
        self.found.is_busy()
    }

    fn stop(&mut self) {
        self.found.stop();
    }
}

impl ChainPane {
    /// Returns whether the selected item is a part of the chain that is shown: then the chain stays.
    fn has(&self, scene: &Scene<'_>, wait: Wait) -> bool {
        self.wait.map(|(_, wait)| wait) == Some(wait) || self.is_in_chain(scene)
    }

    fn is_in_chain(&self, scene: &Scene<'_>) -> bool {
        let selected = scene.state.selected;
        match self.found.answer(scene.loaded.id) {
            Some(Some((chain, _))) => chain.hops.iter().any(|hop| Some(hop.item) == selected),
            _ => false,
        }
    }
}

/// The wait that belongs to the selected item.
enum Sought {
    Wait(Wait),
    /// There is no wait; the text gives the reason.
    None(String),
    Nothing,
}

/// Returns the wait of the selected item: a waiting state itself; the wait before a run or a running state; the
/// longest wait in a slice.
fn wait_of(scene: &Scene<'_>) -> Sought {
    let trace = &scene.loaded.trace;
    if let Some(Item::Slice(id)) = scene.state.selected
        && !trace.states.is_empty()
    {
        return in_slice(trace, id);
    }
    of_state(scene).map_or(Sought::Nothing, Sought::Wait)
}

/// Returns the longest wait of a slice's thread during the slice.
fn in_slice(trace: &Trace, id: SliceId) -> Sought {
    let item = Item::Slice(id);
    let (Some(span), Some(thread)) = (item.span(trace), item.thread(trace)) else {
        return Sought::None(
            "The selected slice belongs to no thread: nothing waits in it.".to_owned(),
        );
    };
    match longest_wait(trace, thread, span) {
        Some(id) => Sought::Wait(Wait::State(id)),
        None if trace.states.of(thread).is_empty() => Sought::None(format!(
            "This trace does not contain what {} waited for: there is no sched_switch of it.",
            trace.thread_name(thread)
        )),
        None => Sought::None(format!(
            "{} did not wait in the selected slice: it ran all the time.",
            trace.thread_name(thread)
        )),
    }
}

fn of_state(scene: &Scene<'_>) -> Option<Wait> {
    let trace = &scene.loaded.trace;
    match scene.state.selected? {
        Item::State(id) if (id.0 as usize) < trace.states.len() => {
            let state = trace.states.get(id);
            if state.state == ThreadState::Running {
                Some(Wait::Before(state.thread, state.start))
            } else {
                Some(Wait::State(id))
            }
        }
        Item::Run(id) if (id.0 as usize) < trace.runs.len() => {
            let run = trace.runs.get(id);
            (run.thread != ThreadId::IDLE).then_some(Wait::Before(run.thread, run.start))
        }
        _ => None,
    }
}

fn nothing_ui(ui: &mut Ui, scene: &Scene<'_>) {
    let words = if scene.loaded.trace.states.is_empty() {
        "This trace does not contain what threads waited for. Record sched_switch and sched_waking events."
    } else {
        "Select a state in which a thread sleeps or waits (the thin row of a thread), one in which it runs, or a slice in which it waits, and press C: this pane shows who woke it, who woke the waker, and so on."
    };
    empty_ui(ui, scene, words);
}

fn end_words(end: ChainEnd) -> &'static str {
    match end {
        ChainEnd::Whole => "back to where the wait began",
        ChainEnd::TooLong => "the chain is longer; only its last part is shown",
        ChainEnd::Cycle => "ends where threads woke each other at the same time",
        ChainEnd::Unknown => "the trace does not contain what happened before",
    }
}

fn table_of(trace: &Trace, chain: &Chain) -> TableData {
    let tint = |hop: &Hop| match hop.thread.filter(|_| !hop.kind.is_interrupt()) {
        None => Tint::of_name(hop.who(trace).as_bytes()),
        Some(thread) => Tint::of_thread(trace, thread),
    };
    let tints = chain.hops.iter().map(|hop| Some(tint(hop))).collect();
    let of = |name: &str, width: f32| PaneColumn::of(&HOPS, name, width);
    let columns = vec![
        PaneColumn::after(&HOPS, 0, WHO, 190.0),
        of("what", 120.0).about("What it did"),
        of("ts", 130.0).titled("Start").about("When it began"),
        of("dur", 90.0).titled("Time").about("How long it took"),
        of("share", 80.0).about("Of the whole wait"),
        of("cpu", 50.0).about("Where"),
        PaneColumn::after(&HOPS, 1, BEHIND, 150.0),
        of("waker", 150.0).titled("Woken by").about("Who ended it"),
    ];
    TableData::new(columns, hop_rows(chain.clone())).tinted(tints)
}
