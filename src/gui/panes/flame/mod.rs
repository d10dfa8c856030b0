//! A pane with a flame graph of the selected area: nested slices, or the recorded call stacks, merged by their paths;
//! and tables of the same data as call tree, callers or names.

mod paint;
mod tree;

use std::sync::Arc;

use egui::{RichText, Ui};

use self::tree::{by_name, call_tree, first_view, tree_ui};
use crate::base::{Task, TaskKey};
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::panes::selection::area::{ShownArea, area_of, unfinished_words, words};
use crate::gui::table::{DataTable, TableData};
use crate::query::area::Area;
use crate::query::expression::equals;
use crate::query::flame::{Flame, Roots, of_slices, of_stacks};
use crate::tables::Cell;
use crate::tables::flames::Size;
use crate::view::{Action, Effect};

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<FlamePane>::default()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Of {
    #[default]
    Slices,
    Tracks,
    Stacks,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shown {
    #[default]
    Graph,
    TopDown,
    BottomUp,
    Names,
}

/// A graph with its description and tables.
struct Found {
    top_down: Arc<Flame>,
    bottom_up: Arc<Flame>,
    /// The call tree, and the callers.
    trees: [Arc<TableData>; 2],
    names: Arc<TableData>,
    /// A description of the area.
    about: String,
    /// The number of unfinished slices, and their least total duration in ns.
    unfinished: u64,
    unfinished_ns: i128,
}

#[derive(Default)]
struct FlamePane {
    of: Of,
    shown: Shown,
    found: Task<(Area, Of), Arc<Found>>,
    /// The node that takes the whole width.
    top: u32,
    /// The graph to which `top` belongs.
    top_of: Option<Arc<Found>>,
    find: String,
    trees: [DataTable; 2],
    table: DataTable,
}

impl Pane for FlamePane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let ShownArea { area, from } = area_of(scene.state, &scene.loaded.trace);
        let is_dragged = scene.state.range.is_some() && ui.input(|input| input.pointer.any_down());
        let id = scene.loaded.id;
        if is_dragged && self.found.answer(id).is_some() {
            self.found.poll();
        } else {
            let question = TaskKey::about(id, (area.clone(), self.of));
            let (loaded, of, asked) = (scene.loaded.clone(), self.of, area.clone());
            let about = words(scene, &area, from);
            self.found.ask(ui.ctx(), question, move |job| {
                let (trace, reader) = (&loaded.trace, loaded.reader.as_ref());
                let top_down = match of {
                    Of::Slices => of_slices(trace, &asked, Roots::Merged, job)?,
                    Of::Tracks => of_slices(trace, &asked, Roots::Tracks, job)?,
                    Of::Stacks => of_stacks(trace, reader, &asked, job)?,
                };
                let nodes = || top_down.nodes.iter();
                let unfinished = nodes().map(|node| node.unfinished).sum();
                let unfinished_ns = nodes().map(|node| i128::from(node.unfinished_ns)).sum();
                let bottom_up = Arc::new(top_down.bottom_up());
                let top_down = Arc::new(top_down);
                let trees = [(&top_down, Size::Total), (&bottom_up, Size::Own)];
                Ok(Arc::new(Found {
                    about,
                    unfinished,
                    unfinished_ns,
                    trees: trees.map(|(flame, size)| Arc::new(call_tree(flame, size))),
                    bottom_up,
                    names: Arc::new(by_name(&top_down)),
                    top_down,
                }))
            });
        }
        let found = self.found.answer(id).cloned();
        ui.horizontal_wrapped(|ui| {
            self.tools_ui(ui, scene, found.as_deref(), &mut actions);
            if let Some(found) = &found {
                about_ui(ui, scene, found);
            }
            self.found.ui(ui, scene.palette);
        });
        let Some(found) = found else {
            return actions;
        };
        let is_same = self
            .top_of
            .as_ref()
            .is_some_and(|of| Arc::ptr_eq(of, &found));
        if !is_same {
            // Keeps the node with the same path, if the new graph has it.
            self.top = self
                .top_of
                .as_ref()
                .map_or(0, |old| same_path(&old.top_down, self.top, &found.top_down));
            self.top_of = Some(found.clone());
            self.trees = [
                first_view(&found.top_down, Size::Total),
                first_view(&found.bottom_up, Size::Own),
            ];
        }
        if found.top_down.is_empty() {
            self.nothing_ui(ui, scene);
            return actions;
        }
        match self.shown {
            Shown::Graph => {
                let wanted = self.find.to_lowercase();
                paint::graph_ui(
                    ui,
                    scene,
                    &found.top_down,
                    &mut self.top,
                    &wanted,
                    &mut actions,
                );
            }
            Shown::TopDown | Shown::BottomUp => {
                let at = usize::from(self.shown == Shown::BottomUp);
                let name = ["call tree", "callers"][at];
                let (table, data) = (&mut self.trees[at], &found.trees[at]);
                tree_ui(ui, scene, name, table, data, &self.find, &mut actions);
            }
            Shown::Names => {
                let answer = self.table.ui(
                    ui,
                    scene,
                    "flame names",
                    &found.names,
                    &mut actions,
                    |_, _, _| {},
                );
                let name = |row| found.names.rows.cell(scene.loaded, row, 0);
                if let Some(Cell::Text(name)) = answer.clicked.map(name) {
                    actions.push(Action::Search(name_expression(&name)));
                }
            }
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.found.is_busy() || self.trees.iter().any(DataTable::is_waiting)
    }

    fn stop(&mut self) {
        self.found.stop();
        self.trees.iter_mut().for_each(DataTable::stop);
    }
}

impl FlamePane {
    fn tools_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        found: Option<&Found>,
        actions: &mut Vec<Action>,
    ) {
        for (shown, word, about) in [
            (
                Shown::Graph,
                "Graph",
                "The width is the time; what is called is below its caller",
            ),
            (Shown::TopDown, "Top-down", "The call tree as a table"),
            (
                Shown::BottomUp,
                "Bottom-up",
                "What takes time of its own, with its callers",
            ),
            (Shown::Names, "Names", "Totals by name"),
        ] {
            let button = egui::Button::selectable(self.shown == shown, word);
            if ui.add(button).on_hover_text(about).clicked() {
                self.shown = shown;
            }
        }
        ui.separator();
        for (of, word, about) in [
            (Of::Slices, "slices", "Nested slices of all tracks together"),
            (
                Of::Tracks,
                "by track",
                "Nested slices, each track by itself",
            ),
            (Of::Stacks, "stacks", "Call stacks that were recorded"),
        ] {
            let button = egui::Button::selectable(self.of == of, word);
            if ui.add(button).on_hover_text(about).clicked() {
                self.of = of;
            }
        }
        ui.separator();
        if self.shown == Shown::Names {
            let none = Arc::new(TableData::default());
            let names = found.map_or(&none, |found| &found.names);
            self.table.tools_ui(ui, scene, names, actions);
        } else {
            let field = egui::TextEdit::singleline(&mut self.find)
                .hint_text("Highlight")
                .desired_width(110.0);
            let response = ui.add(field);
            response.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Highlight names")
            });
            if let Some(found) = found
                && ui
                    .button("Copy")
                    .on_hover_text("Copy as folded stacks: path, total")
                    .clicked()
            {
                actions.push(Action::Do(Effect::Copy(folded(&found.top_down))));
            }
        }
        if self.top != 0 && ui.button("Whole graph").clicked() {
            self.top = 0;
        }
        if let Some(found) = found
            && found.top_down.left_out > 0
        {
            let words = format!(
                "{} entries did not fit into the tree: their time counts as their callers' own",
                found.top_down.left_out
            );
            ui.label(RichText::new(words).color(scene.palette.weak));
        }
    }

    fn nothing_ui(&self, ui: &mut Ui, scene: &Scene<'_>) {
        let words = match self.of {
            Of::Slices | Of::Tracks => {
                "No nested slices here. Select another range or other tracks, or try the recorded stacks."
            }
            Of::Stacks => {
                "No call stacks were recorded here. trace-cmd records them with -T, function graphs nest as slices."
            }
        };
        empty_ui(ui, scene, words);
    }
}

/// Draws what the graph contains.
fn about_ui(ui: &mut Ui, scene: &Scene<'_>, found: &Found) {
    let weak = |text: String| RichText::new(text).color(scene.palette.weak);
    if found.unfinished == 0 {
        ui.label(weak(found.about.clone()));
        return;
    }
    let unfinished = unfinished_words(
        scene.state.origins.unit,
        found.unfinished,
        found.unfinished_ns,
    );
    ui.label(weak(format!("{}. {unfinished}", found.about)))
        .on_hover_text(
            "Unfinished slices count in the totals with their least duration: such a total is a minimum (≥)",
        );
}

/// Returns the filter expression for the slices of a name.
fn name_expression(name: &str) -> String {
    format!("{} && dur >= 0ns", equals("name", name))
}

/// Returns the node of `new` with the same path of names; the root if there is none.
fn same_path(old: &Flame, node: u32, new: &Flame) -> u32 {
    let mut at = 0_u32;
    for name in old.path(node) {
        let children = new
            .nodes
            .get(at as usize)
            .map_or(&[][..], |node| &node.children);
        match children.iter().find(|child| new.name(**child) == name) {
            Some(child) => at = *child,
            None => return 0,
        }
    }
    at
}

/// Returns the graph as folded stacks, a line for each.
fn folded(flame: &Flame) -> String {
    flame.folded().map(|line| line + "\n").collect()
}
