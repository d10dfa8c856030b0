//! A pane with the totals of the selected area: slices, CPU use, states, events, counters.
//!
//! During a drag the totals follow it by a bounded number of rows for each frame; once the drag rests a task computes
//! them exactly.

pub(crate) mod area;
pub(crate) mod rows;

use std::sync::Arc;

use egui::{RichText, Ui};

use self::area::{
    ShownArea, counted, event_area_of, kinds_of, shown_kind, summed_area_of, summed_words, sums_ui,
};
use crate::base::{Cancelled, Job, Task, TaskKey, TimeSpan};
use crate::event::SliceKind;
use crate::gui::keys::key_of;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::table::{DataTable, TableData};
use crate::load::{LoadedTrace, TraceId};
use crate::query::Item;
use crate::query::area::counters::counters;
use crate::query::area::events::event_counts;
use crate::query::area::{Area, Group, GroupBy, Lane, Lanes, LiveArea, What, groups};
use crate::query::expression::equals;
use crate::tables::Cell;
use crate::trace::{CpuId, ThreadId, Trace, TrackId};
use crate::view::{Action, Effect};

/// The most rows that are added or removed in a frame during a drag.
const BUDGET: usize = 40_000;

/// Returns the pane.
pub(crate) fn make() -> Box<dyn Pane> {
    Box::<SelectionPane>::default()
}

/// The kind of totals.
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
                "The runs on the CPUs are not known here. Record sched_switch events, and select tracks of CPUs or threads."
            }
            Shown::States => {
                "The states of threads are not known here. Record sched_switch events, and select tracks of threads or CPUs."
            }
            Shown::Events => {
                "No events here. Events belong to threads and CPUs: select their tracks, or a longer range."
            }
            Shown::Counters => {
                "No counters here. Drag over a counter's track in the timeline, or select a range of all tracks in the ruler."
            }
        }
    }
}

/// Whether the user is dragging the selection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Dragged,
    Rests,
}

type Key = (Area, Shown, GroupBy);

/// Tables, one for each kind of slices or one for everything, and a description of the area.
#[derive(Clone, Default)]
struct Drawn {
    kinds: Vec<SliceKind>,
    tables: Arc<[Arc<TableData>]>,
    about: String,
}

impl Drawn {
    fn of_groups(
        loaded: &LoadedTrace,
        groups: &[Group],
        what: What,
        by: GroupBy,
        area: &Area,
    ) -> Drawn {
        let kinds = kinds_of(groups);
        let table = |groups: &[Group]| {
            let table = rows::of_groups(&loaded.trace, groups, what, by, area);
            Arc::new(table.about(loaded.id))
        };
        let of_kind = |kind: &SliceKind| {
            let groups = groups.iter().filter(|group| group.key.kind == Some(*kind));
            table(&groups.copied().collect::<Vec<Group>>())
        };
        let tables = match kinds.is_empty() {
            true => [table(groups)].into(),
            false => kinds.iter().map(of_kind).collect(),
        };
        Drawn {
            kinds,
            tables,
            about: String::new(),
        }
    }

    fn of_table(table: TableData, trace: TraceId) -> Drawn {
        Drawn {
            tables: [Arc::new(table.about(trace))].into(),
            ..Drawn::default()
        }
    }

    fn with(self, about: String) -> Drawn {
        Drawn { about, ..self }
    }

    /// Returns the table of a kind of slices; the only table if there are no kinds.
    fn table(&self, kind: Option<SliceKind>) -> Arc<TableData> {
        let at = match self.kinds.is_empty() {
            true => Some(0),
            false => self.kinds.iter().position(|it| Some(*it) == kind),
        };
        let table = at.and_then(|at| self.tables.get(at));
        table.cloned().unwrap_or_default()
    }
}

#[derive(Default)]
struct SelectionPane {
    shown: Shown,
    /// Whether the user chose `shown`; if not it follows the area.
    is_chosen: bool,
    /// The kind of totals that the area's content suggests.
    suggested: Task<Area, Shown>,
    by: Option<GroupBy>,
    exact: Task<Key, Drawn>,
    live: Option<(TraceId, Key, LiveArea)>,
    /// The tables that are shown, and their trace.
    drawn: Option<(TraceId, Drawn)>,
    table: DataTable,
}

impl Pane for SelectionPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        let ShownArea { area, from } = summed_area_of(scene.state, trace);
        self.fit(ui.ctx(), scene.loaded, &area);
        let area = match self.shown {
            Shown::Events => event_area_of(scene.state, trace),
            _ => area,
        };
        let grouping = self.grouping();
        let about = summed_words(scene, &area, from);
        let key = (area, self.shown, grouping);
        let is_down = ui.input(|input| input.pointer.any_down());
        let pace = if is_down && scene.state.range.is_some() {
            Pace::Dragged
        } else {
            Pace::Rests
        };
        let drawn = self.data(ui.ctx(), scene, &key, about, pace);
        let kind = shown_kind(scene, &drawn.kinds).filter(|_| self.shown == Shown::Slices);
        let (data, about) = (drawn.table(kind), &drawn.about);
        ui.horizontal_wrapped(|ui| {
            for (shown, word, about) in Shown::ALL {
                let is_on = self.shown == shown;
                let button = egui::Button::selectable(is_on, word);
                if ui.add(button).on_hover_text(about).clicked() {
                    (self.shown, self.is_chosen) = (shown, true);
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
            sums_ui(ui, scene, &drawn.kinds, kind, &mut actions);
            self.table.tools_ui(ui, scene, &data, &mut actions);
            let words = RichText::new(about).color(scene.palette.weak);
            let hint = format!(
                "Drag over tracks or in the ruler to select an area; {} selects a track",
                key_of("Select the whole track; again: all tracks")
            );
            let counted = counted(&key.0).filter(|_| self.shown == Shown::Slices);
            let hint = counted.map_or(hint.clone(), |counted| format!("{counted}\n{hint}"));
            ui.add(egui::Label::new(words).extend()).on_hover_text(hint);
            self.exact.ui(ui, scene.palette);
        });
        if data.rows.is_empty() {
            if !self.is_waiting() {
                let words = match drawn.kinds.is_empty() {
                    true => self.shown.nothing(),
                    false => "No slices of this kind here. Choose another kind above.",
                };
                empty_ui(ui, scene, words);
                // A CPU's own slices are interrupts only: show the threads that ran there.
                if self.shown == Shown::Slices && !trace.runs.is_empty() {
                    ui.add_space(4.0);
                    if ui.button("Show the CPU use").clicked() {
                        (self.shown, self.is_chosen) = (Shown::CpuUse, true);
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
                menu_ui(ui, scene, &data, row, shown, actions);
            },
        );
        let item = |row| self.table.item(scene, &data, row);
        if let Some(item) = answer.clicked.and_then(item) {
            actions.push(Action::Select(item));
            let row = scene.state.outline.key_of(trace, item);
            actions.extend(row.map(Action::RevealRow));
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.exact.is_busy() || self.is_fitting()
    }

    fn stop(&mut self) {
        self.suggested.stop();
        self.exact.stop();
    }
}

impl SelectionPane {
    /// Chooses the kind of totals by the area's content, until the user chooses one.
    fn fit(&mut self, ctx: &egui::Context, loaded: &LoadedTrace, area: &Area) {
        if self.is_chosen {
            return;
        }
        let (index, asked) = (loaded.clone(), area.clone());
        // In turn: a drag asks in each frame, and each answer is better than the one before it.
        let question = TaskKey::about(loaded.id, area.clone()).in_turn();
        self.suggested.ask(ctx, question, move |job| {
            first_shown(&index.trace, &asked, job)
        });
        if let Some(suggested) = self.suggested.answer(loaded.id) {
            self.shown = *suggested;
        }
    }

    /// Returns whether the kind of totals may change when the suggestion for the area is known.
    fn is_fitting(&self) -> bool {
        !self.is_chosen && self.suggested.is_pending()
    }

    fn grouping(&self) -> GroupBy {
        let groupings = self.shown.groupings();
        let chosen = groupings.iter().find(|(by, _)| Some(*by) == self.by);
        chosen
            .or(groupings.first())
            .map_or(GroupBy::Name, |(by, _)| *by)
    }

    /// Returns the table for `key`, or the best one that is ready, with its description.
    fn data(
        &mut self,
        ctx: &egui::Context,
        scene: &Scene<'_>,
        key: &Key,
        about: String,
        pace: Pace,
    ) -> Drawn {
        let index = scene.loaded.clone();
        let (area, shown, by) = key.clone();
        let id = scene.loaded.id;
        let what = shown.what();
        let live = what.filter(|what| LiveArea::can_follow(&area.lanes, *what));
        if pace == Pace::Dragged && live.is_none() && self.exact.is_busy() {
            // A new request would cancel the running one, and a drag makes a request in each frame.
            self.exact.poll();
            self.drawn_from_exact(id);
        } else if pace == Pace::Dragged
            && let Some(what) = live
        {
            if let Some(drawn) = self.live_data(scene.loaded, key, what) {
                self.drawn = Some((id, drawn.with(about)));
            } else {
                ctx.request_repaint();
            }
        } else if !self.is_fitting() {
            self.live = None;
            let (asked, its_words) = (area.clone(), about.clone());
            let question = TaskKey::about(id, key.clone());
            self.exact.ask(ctx, question, move |job| {
                let trace = &index.trace;
                let drawn = match (what, shown) {
                    (Some(what), _) => {
                        let groups = groups(trace, &asked, what, by, job)?;
                        Drawn::of_groups(&index, &groups, what, by, &asked)
                    }
                    (None, Shown::Events) => {
                        let groups = event_counts(trace, &asked, by, job)?;
                        Drawn::of_table(rows::of_events(trace, &groups, by, asked.span), index.id)
                    }
                    (None, _) => Drawn::of_table(
                        rows::of_counters(trace, &counters(trace, &asked)),
                        index.id,
                    ),
                };
                Ok(drawn.with(its_words))
            });
            match self.exact.answer(id) {
                Some(drawn) if self.exact.is_of(id, key) => {
                    self.drawn = Some((id, drawn.clone().with(about)));
                }
                _ if pace == Pace::Dragged => self.drawn_from_exact(id),
                _ => {}
            }
        }
        let drawn = self.drawn.as_ref();
        let drawn = drawn.filter(|(of, _)| of.shares_lineage(id));
        drawn.map(|(_, drawn)| drawn.clone()).unwrap_or_default()
    }

    /// Shows the last answer, with its description.
    fn drawn_from_exact(&mut self, id: TraceId) {
        if let Some(answer) = self.exact.answer(id) {
            self.drawn = Some((id, answer.clone()));
        }
    }

    /// Returns the totals during a drag, if they have caught up with it.
    fn live_data(&mut self, loaded: &LoadedTrace, key: &Key, what: What) -> Option<Drawn> {
        let (id, trace) = (loaded.id, &loaded.trace);
        let (area, shown, by) = key;
        let is_same = self.live.as_ref().is_some_and(|(of, (old, what, how), _)| {
            *of == id && old.lanes == area.lanes && what == shown && how == by
        });
        if !is_same {
            let live = LiveArea::new(trace.clone(), area, what, *by);
            self.live = Some((id, key.clone(), live));
        }
        let (_, _, live) = self.live.as_mut()?;
        if !live.follow(area.span, BUDGET) {
            return None;
        }
        let groups = live.groups();
        Some(Drawn::of_groups(loaded, &groups, what, *by, area))
    }
}

/// Returns the totals that are shown first for an area: slices if its tracks contain some in its span, otherwise another
/// kind that occurs there.
fn first_shown(trace: &Trace, area: &Area, job: &Job) -> Result<Shown, Cancelled> {
    let lanes = match &area.lanes {
        Lanes::Of(lanes) => lanes.as_slice(),
        Lanes::All | Lanes::Both { .. } => return first_of_all(trace, area.span, job),
    };
    let mut kinds: Vec<Shown> = Vec::new();
    for lane in lanes {
        job.check()?;
        let kind = match *lane {
            Lane::Track(id) => has_slices(trace, id, area.span).then_some(Shown::Slices),
            Lane::States(id) => has_states(trace, id, area.span).then_some(Shown::States),
            Lane::Runs(id) => has_runs(trace, id, area.span).then_some(Shown::CpuUse),
            Lane::OnCpu(_) | Lane::AsyncOf(_) => None,
            Lane::Counter(_) => Some(Shown::Counters),
        };
        kinds.extend(kind.filter(|kind| !kinds.contains(kind)));
    }
    // A CPU's own slices are its interrupts: the threads that ran there come first.
    let order = [Shown::CpuUse, Shown::Slices, Shown::States, Shown::Counters];
    let is_of_cpus = |shown: Shown| shown != Shown::CpuUse || !kinds.contains(&Shown::States);
    let first = order
        .into_iter()
        .find(|shown| kinds.contains(shown) && is_of_cpus(*shown));
    Ok(first.unwrap_or(Shown::Events))
}

/// Returns the totals that are shown first for all tracks.
fn first_of_all(trace: &Trace, span: TimeSpan, job: &Job) -> Result<Shown, Cancelled> {
    for row in trace.slices.rows.iter() {
        job.check()?;
        if !trace.slices.overlapping(row, span).is_empty() {
            return Ok(Shown::Slices);
        }
    }
    for id in (0..trace.threads.len() as u32).map(ThreadId) {
        job.check()?;
        if has_states(trace, id, span) {
            return Ok(Shown::States);
        }
    }
    let mut cpus = (0..trace.cpus.len() as u32).map(CpuId);
    Ok(match cpus.any(|id| has_runs(trace, id, span)) {
        true => Shown::CpuUse,
        false => Shown::Events,
    })
}

/// Returns whether any slice of a track overlaps a span.
fn has_slices(trace: &Trace, id: TrackId, span: TimeSpan) -> bool {
    let track = trace.tracks.get(id.0 as usize);
    let rows = track.map_or(&[][..], |track| trace.slices.rows_of(track));
    let mut rows = rows.iter();
    rows.any(|row| !trace.slices.overlapping(row, span).is_empty())
}

/// Returns whether any state of a thread overlaps a span.
fn has_states(trace: &Trace, id: ThreadId, span: TimeSpan) -> bool {
    let states = trace.states.of(id);
    !trace.states.overlapping(states, span).is_empty()
}

/// Returns whether any run on a CPU overlaps a span.
fn has_runs(trace: &Trace, id: CpuId, span: TimeSpan) -> bool {
    let runs = trace.runs.on(id);
    !trace.runs.overlapping(runs, span).is_empty()
}

fn menu_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    data: &TableData,
    row: usize,
    of: Shown,
    actions: &mut Vec<Action>,
) {
    let trace = &scene.loaded.trace;
    let name = match data.rows.cell(scene.loaded, row, 0) {
        Cell::Text(text) => text.into_string(),
        _ => String::new(),
    };
    let mut entry = |ui: &mut Ui, words: &str, action: Action| {
        if ui.button(words).clicked() {
            actions.push(action);
            ui.close();
        }
    };
    match data.item(scene.loaded, row) {
        Some(item @ Item::Slice(id)) => {
            entry(ui, "Show the longest", Action::Reveal(item));
            if let Some(thread) = Item::Slice(id).thread(trace) {
                let words = format!("Only tracks like {}", trace.thread_name(thread));
                entry(
                    ui,
                    &words,
                    Action::Filter(trace.thread_name(thread).into_owned()),
                );
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
        // The events of one name.
        None if of == Shown::Events => {
            let expression = equals("name", &name);
            entry(ui, "Mark all in the timeline", Action::Search(expression));
        }
        None => {}
    }
    entry(ui, "Copy the name", Action::Do(Effect::Copy(name)));
}
