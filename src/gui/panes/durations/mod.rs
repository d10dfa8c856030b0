//! A pane about slices of one kind in the selected area (or else in the visible span): totals by name, and a histogram
//! of one name; the slices of a range that is dragged in it are listed, and marked in the timeline.

mod one_name;

use std::sync::Arc;

use egui::{RichText, Ui};

use self::one_name::{Named, OneName, expression};
use crate::base::{StringId, Task, TaskKey};
use crate::event::SliceKind;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::panes::selection::area::{
    ShownArea, counted, kinds_of, shown_kind, summed_area_of, summed_words, sums_ui,
    unfinished_words,
};
use crate::gui::panes::selection::rows;
use crate::gui::table::{DataTable, TableData};
use crate::load::{LoadedTrace, TraceId};
use crate::query::Item;
use crate::query::area::{Area, Group, GroupBy, What, groups};
use crate::view::{Action, ruler};

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<DurationsPane>::default()
}

/// The groups of one kind of slices, and their table.
#[derive(Clone, Default)]
struct OfKind {
    groups: Arc<[Group]>,
    table: Arc<TableData>,
}

/// The groups of each kind of slices, and their tables.
struct Found {
    present: Vec<SliceKind>,
    of_kinds: Vec<OfKind>,
}

impl Found {
    fn new(loaded: &LoadedTrace, groups: &[Group], area: &Area) -> Found {
        let (trace, id) = (&loaded.trace, loaded.id);
        let present = kinds_of(groups);
        let of_kind = |kind: &SliceKind| {
            let groups = groups.iter().filter(|group| group.key.kind == Some(*kind));
            let groups: Vec<Group> = groups.copied().collect();
            let table = rows::of_groups(trace, &groups, What::Slices, GroupBy::Name, area);
            OfKind {
                groups: groups.into(),
                table: Arc::new(table.about(id)),
            }
        };
        Found {
            of_kinds: present.iter().map(of_kind).collect(),
            present,
        }
    }

    /// Returns the groups and the table of one kind; nothing if the area has no slices of the kind.
    fn of(&self, kind: Option<SliceKind>) -> OfKind {
        let at = self.present.iter().position(|it| Some(*it) == kind);
        let found = at.and_then(|at| self.of_kinds.get(at));
        found.cloned().unwrap_or_default()
    }
}

#[derive(Default)]
struct DurationsPane {
    found: Task<ShownArea, Arc<Found>>,
    table: DataTable,
    /// The chosen name and its category.
    name: Option<(StringId, StringId)>,
    /// The trace to which `name` belongs.
    trace: Option<TraceId>,
    one: OneName,
}

impl Pane for DurationsPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        if self.trace != Some(scene.loaded.id) {
            // Another trace has other name ids.
            self.trace = Some(scene.loaded.id);
            self.name = None;
        }
        let asked = summed_area_of(scene.state, trace);
        let is_dragged = scene.state.range.is_some() && ui.input(|input| input.pointer.any_down());
        let id = scene.loaded.id;
        if !is_dragged || self.found.answer(id).is_none() {
            let (loaded, area) = (scene.loaded.clone(), asked.area.clone());
            let question = TaskKey::about(id, asked.clone());
            self.found.ask(ui.ctx(), question, move |job| {
                let groups = groups(&loaded.trace, &area, What::Slices, GroupBy::Name, job)?;
                Ok(Arc::new(Found::new(&loaded, &groups, &area)))
            });
        } else {
            self.found.poll();
        }
        let Some(found) = self.found.answer(id).cloned() else {
            self.found.ui(ui, scene.palette);
            return actions;
        };
        let kind = shown_kind(scene, &found.present);
        let OfKind { groups, table } = found.of(kind);
        let table = &table;
        ui.horizontal_wrapped(|ui| {
            sums_ui(ui, scene, &found.present, kind, &mut actions);
            self.table.tools_ui(ui, scene, table, &mut actions);
            let names = ruler::counted(table.rows.len(), "name", "names");
            let shown = self.found.answered(id).unwrap_or(&asked);
            let mut names = format!("{names}. {}", summed_words(scene, &shown.area, shown.from));
            let unfinished: u64 = groups.iter().map(|group| group.unfinished).sum();
            if unfinished > 0 {
                let ns = groups.iter().map(|group| group.unfinished_ns).sum();
                names.push_str(&format!(
                    ". {}",
                    unfinished_words(scene.state.origins.unit, unfinished, ns)
                ));
            }
            let names = RichText::new(names).color(scene.palette.weak);
            let label = ui.add(egui::Label::new(names).extend());
            if let Some(counted) = counted(&shown.area) {
                label.on_hover_text(counted);
            }
            self.found.ui(ui, scene.palette);
        });
        if groups.is_empty() {
            let words = if trace.slices.is_empty() {
                "This trace has no slices: nothing in it begins and ends. Look at the events, or at the thread states under Selection."
            } else if found.present.is_empty() {
                "No slices here. Zoom out, or select another range or other tracks."
            } else {
                "No slices of this kind here. Choose another kind above, zoom out, or select another range or other tracks."
            };
            empty_ui(ui, scene, words);
            return actions;
        }
        // One name is always shown: the first, until the user chooses another.
        let is_there =
            |name: &(StringId, StringId)| groups.iter().any(|it| it.key.name == Some(*name));
        let chosen = self.name.filter(is_there);
        let shown = chosen.or_else(|| groups.first()?.key.name);
        // The ids of names are those of the generation that was summed.
        let is_stale = table.is_stale(id);
        if let Some((name, category)) = shown {
            table.companion(ui, "one name").show(ui, |ui| {
                // Without this the panel would shrink to its initial content.
                ui.set_min_size(ui.available_size());
                let of = (!is_stale).then_some(Named {
                    name,
                    category,
                    kind,
                });
                let area = Area { kind, ..asked.area };
                self.one.ui(ui, scene, &area, of, &mut actions);
            });
        }
        self.table
            .detail(groups.iter().position(|group| group.key.name == shown));
        let answer = self.table.ui(
            ui,
            scene,
            "durations",
            table,
            &mut actions,
            |ui, row, actions| {
                let group = groups.get(row).filter(|_| !is_stale);
                let longest = group.and_then(|group| group.longest);
                if let Some(longest) = longest
                    && ui.button("Show the longest").clicked()
                {
                    actions.push(Action::Reveal(Item::Slice(longest)));
                    ui.close();
                }
                if let Some((name, category)) = group.and_then(|group| group.key.name)
                    && ui.button("Mark all in the timeline").clicked()
                {
                    let of = Named {
                        name,
                        category,
                        kind,
                    };
                    actions.push(Action::Search(expression(trace, of, None)));
                    ui.close();
                }
            },
        );
        let clicked = answer.clicked.filter(|_| !is_stale);
        if let Some(group) = clicked.and_then(|row| groups.get(row)) {
            self.name = group.key.name;
            actions.extend(group.longest.map(|id| Action::Select(Item::Slice(id))));
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.found.is_busy() || self.one.is_waiting()
    }

    fn stop(&mut self) {
        self.found.stop();
        self.one.stop();
    }
}
