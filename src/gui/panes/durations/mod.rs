//! Slices of the selected area (else of the visible span) added up by name; of one name a histogram of which
//! a range is dragged out: those slices are listed, and marked in the timeline.

mod one_name;

use std::sync::Arc;

use egui::{RichText, Ui};

use self::one_name::OneName;
use crate::base::StringId;
use crate::gui::asked::Asked;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::panes::selection::area::{From as AreaFrom, area_of, counted, words};
use crate::gui::panes::selection::rows;
use crate::gui::table::{DataTable, TableData};
use crate::query::Item;
use crate::query::area::{Area, Group, GroupBy, What, groups};
use crate::view::{Action, ruler};

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<DurationsPane>::default()
}

type Found = (Vec<Group>, Arc<TableData>);

#[derive(Default)]
struct DurationsPane {
    asked: Asked<(u32, Area, AreaFrom), Arc<Found>>,
    table: DataTable,
    name: Option<(StringId, StringId)>,
    generation: u32,
    one: OneName,
}

impl Pane for DurationsPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        if self.generation != scene.loaded.generation {
            // Names are numbered anew.
            self.generation = scene.loaded.generation;
            self.name = None;
        }
        let (area, from) = area_of(scene.state, trace);
        let is_dragged = scene.state.range.is_some() && ui.input(|input| input.pointer.any_down());
        if !is_dragged || self.asked.answer().is_none() {
            let (loaded, asked) = (scene.loaded.clone(), area.clone());
            let key = (loaded.generation, area.clone(), from);
            self.asked.ask(ui.ctx(), key, move |job| {
                let trace = &loaded.trace;
                let groups = groups(trace, &asked, What::Slices, GroupBy::Name, job)?;
                let table =
                    rows::of_groups(trace, &groups, What::Slices, GroupBy::Name, asked.span);
                Ok(Arc::new((groups, Arc::new(table))))
            });
        } else {
            self.asked.poll();
        }
        let Some(found) = self.asked.answer().cloned() else {
            self.asked.ui(ui, scene.palette);
            return actions;
        };
        let (groups, table) = (&found.0, &found.1);
        ui.horizontal_wrapped(|ui| {
            self.table.tools_ui(ui, scene, table, &mut actions);
            let names = ruler::counted(table.rows.len(), "name", "names");
            let shown = self
                .asked
                .answered()
                .map_or((&area, from), |it| (&it.1, it.2));
            let names = format!("{names}. {}", words(scene, shown.0, shown.1));
            let names = RichText::new(names).color(scene.palette.weak);
            let label = ui.add(egui::Label::new(names).extend());
            if let Some(counted) = counted(shown.0) {
                label.on_hover_text(counted);
            }
            self.asked.ui(ui, scene.palette);
        });
        if groups.is_empty() {
            let words = if trace.slices.is_empty() {
                "This trace has no slices: nothing in it begins and ends. Look at the events, or at the thread states under Selection."
            } else {
                "No slices here. Zoom out, or select another range or other tracks."
            };
            empty_ui(ui, scene, words);
            return actions;
        }
        // One name is always shown: the first, until another is chosen.
        let shown = self.name.or_else(|| groups.first()?.key.name);
        if let Some((name, category)) = shown {
            table.companion(ui, "one name").show(ui, |ui| {
                // Else the panel would be as narrow as what it shows at first.
                ui.set_min_size(ui.available_size());
                self.one.ui(ui, scene, &area, name, category, &mut actions);
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
                let group = groups.get(row);
                let longest = group.and_then(|group| group.longest);
                if let Some(longest) = longest
                    && ui.button("Show the longest").clicked()
                {
                    actions.push(Action::Reveal(Item::Slice(longest)));
                    ui.close();
                }
                if let Some((name, _)) = group.and_then(|group| group.key.name)
                    && ui.button("Mark all in the timeline").clicked()
                {
                    actions.push(Action::Search(one_name::expression(trace, name, None)));
                    ui.close();
                }
            },
        );
        if let Some(group) = answer.clicked.and_then(|row| groups.get(row)) {
            self.name = group.key.name;
            actions.extend(group.longest.map(|id| Action::Select(Item::Slice(id))));
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.asked.is_waiting() || self.one.is_waiting()
    }

    fn stop(&mut self) {
        self.asked.stop();
        self.one.stop();
    }
}
