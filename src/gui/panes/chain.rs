//! Why a thread waited: the chain of what went on until it ran again, as a table and as a path on the timeline.

use std::sync::Arc;

use egui::{RichText, Ui};

use crate::base::Timestamp;
use crate::gui::asked::Asked;
use crate::gui::boxes::check_box;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::table::{Cell, DataTable, TableData, TableRow, column};
use crate::gui::tint::Tint;
use crate::query::Item;
use crate::query::wakeup_chain::{Chain, ChainEnd, chain, chain_at, longest_wait};
use crate::trace::{SliceId, StateId, ThreadId, ThreadState, Trace};
use crate::view::{Action, ruler};

/// The pane's name.
pub const NAME: &str = "Wakeup chain";

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<ChainPane>::default()
}

/// The wait that is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wait {
    State(StateId),
    Before(ThreadId, Timestamp),
}

type Answer = Option<(Chain, Arc<TableData>)>;

#[derive(Default)]
struct ChainPane {
    asked: Asked<(u32, Wait), Answer>,
    wait: Option<(u32, Wait)>,
    /// The chain whose path has been handed to the timeline.
    drawn: Option<(u32, Wait)>,
    is_path_hidden: bool,
    table: DataTable,
}

impl Pane for ChainPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let generation = scene.loaded.generation;
        if self.wait.is_some_and(|(of, _)| of != generation) {
            self.wait = None;
            self.asked.clear();
        }
        match wait_of(scene) {
            Sought::Wait(wait) if !self.has(scene.state.selected, wait) => {
                self.wait = Some((generation, wait));
            }
            Sought::None(words) if !self.is_in_chain(scene.state.selected) => {
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
        self.asked.ask(ui.ctx(), key, move |_| {
            let trace = &loaded.trace;
            let found = match key.1 {
                Wait::State(id) => chain(trace, id),
                Wait::Before(thread, time) => chain_at(trace, thread, time),
            };
            Ok(found.map(|chain| {
                let table = Arc::new(rows_of(trace, &chain));
                (chain, table)
            }))
        });
        let Some(answer) = self.asked.answer() else {
            self.asked.ui(ui, scene.palette);
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
        if self.asked.is_of(&key) && self.drawn != Some(key) {
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
        if let Some(row) = answer.clicked.and_then(|row| table.rows.get(row)) {
            actions.extend(row.item.map(Action::Reveal));
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.asked.is_waiting()
    }

    fn stop(&mut self) {
        self.asked.stop();
    }
}

impl ChainPane {
    /// Whether what is selected is a part of the chain that is shown: then it stays.
    fn has(&self, selected: Option<Item>, wait: Wait) -> bool {
        self.wait.map(|(_, wait)| wait) == Some(wait) || self.is_in_chain(selected)
    }

    fn is_in_chain(&self, selected: Option<Item>) -> bool {
        match self.asked.answer() {
            Some(Some((chain, _))) => chain.hops.iter().any(|hop| Some(hop.item) == selected),
            _ => false,
        }
    }
}

/// What is asked for by what is selected.
enum Sought {
    Wait(Wait),
    /// There is no wait in it; why, in words.
    None(String),
    Nothing,
}

/// The wait that is selected: a waiting state; or the one before a run or a running state; or the longest in a slice.
fn wait_of(scene: &Scene<'_>) -> Sought {
    let trace = &scene.loaded.trace;
    if let Some(Item::Slice(id)) = scene.state.selected
        && !trace.states.is_empty()
    {
        return in_slice(trace, id);
    }
    of_state(scene).map_or(Sought::Nothing, Sought::Wait)
}

/// The longest wait of a slice's thread while the slice lasts.
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
            "This trace does not say what {} waited for: no sched_switch tells of it.",
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
        "This trace does not say what threads waited for. That takes sched_switch and sched_waking events."
    } else {
        "Select a stretch in which a thread sleeps or waits (the thin row of a thread), one in which it runs, or a slice in which it waits, and press C: here comes who woke it, who woke the waker, and so on."
    };
    empty_ui(ui, scene, words);
}

fn end_words(end: ChainEnd) -> &'static str {
    match end {
        ChainEnd::Whole => "back to where the wait began",
        ChainEnd::TooLong => "the chain is longer; only its last part is shown",
        ChainEnd::Cycle => "ends where threads woke each other at the same time",
        ChainEnd::Unknown => "the trace does not say what went on before",
    }
}

fn rows_of(trace: &Trace, chain: &Chain) -> TableData {
    let columns = vec![
        column("Who", 190.0, "The thread, or the interrupt"),
        column("What", 120.0, "What it did"),
        column("Start", 130.0, "When it began"),
        column("Time", 90.0, "How long it took"),
        column("Share", 80.0, "Of the whole wait"),
        column("CPU", 50.0, "Where"),
        column(
            "Behind",
            150.0,
            "Who had the CPU for the longest time meanwhile",
        ),
        column("Woken by", 150.0, "Who ended it"),
    ];
    let thread = |id: Option<ThreadId>| match id {
        Some(ThreadId::IDLE) => Cell::Text("an interrupt".to_owned()),
        Some(id) => Cell::Text(trace.thread_title(id)),
        None => Cell::Text(String::new()),
    };
    let row = |(at, hop): (usize, &crate::query::wakeup_chain::Hop)| {
        let cpu = hop.cpu.and_then(|cpu| trace.cpus.get(cpu.0 as usize));
        let who = hop.who(trace);
        TableRow {
            item: Some(hop.item),
            tint: Some(match hop.kind.is_interrupt() {
                true => Tint::of_name(who.as_bytes()),
                false => Tint::of_thread(trace, hop.thread),
            }),
            cells: vec![
                Cell::Text(match hop.kind.is_interrupt() {
                    true => who,
                    false => trace.thread_title(hop.thread),
                }),
                Cell::Text(hop.what()),
                Cell::Time(hop.span.start),
                Cell::Length(i128::from(hop.span.duration().0)),
                Cell::Share(hop.share),
                cpu.map_or(Cell::None, |cpu| Cell::Count(u64::from(cpu.number))),
                thread(hop.rival),
                Cell::Text(chain.waker_of(trace, at).unwrap_or_default()),
            ],
        }
    };
    TableData {
        columns,
        rows: chain.hops.iter().enumerate().map(row).collect(),
    }
}
