//! Accessible names for parts of egui's own widgets: scroll bars, the edges of columns and panels, title bars.
//!
//! egui and egui_extras neither name these parts nor let us name them, so that a screen reader would only say
//! "unknown". They are recognised by role and shape in the finished accessibility tree of a frame; without a screen
//! reader there is no tree.
//!
//! Texts of a trace may contain NUL, but texts on D-Bus may not: the bus disconnects a program that sends NUL, and
//! screen readers then lose the window. So each NUL is replaced by a blank in the tree.

use std::collections::HashMap;

use egui::accesskit::{Action, Node, NodeId, Rect, Role};

/// Parts at most this thick count as edges, in points.
const EDGE_POINTS: f64 = 20.0;
/// Parts at most this high count as tab bars, in points.
const BAR_POINTS: f64 = 40.0;

/// Words for symbols that are the whole text of a label.
const SIGNS: &[(&str, &str)] = &[
    ("›", "then"),
    ("⚠", "Warning"),
    ("✔", "Done"),
    ("↑", "Up arrow"),
    ("↓", "Down arrow"),
    ("←", "Left arrow"),
    ("→", "Right arrow"),
    ("[", "Left bracket"),
    ("]", "Right bracket"),
    (".", "Full stop"),
    (",", "Comma"),
    ("?", "Question mark"),
    ("/", "Slash"),
];

/// Plugin that names the parts in every frame's tree.
#[derive(Debug)]
struct PartNames;

impl egui::Plugin for PartNames {
    fn debug_name(&self) -> &'static str {
        "names for screen readers"
    }

    fn output_hook(&mut self, _: &egui::Context, output: &mut egui::FullOutput) {
        if let Some(update) = &mut output.platform_output.accesskit_update {
            for (_, node) in &mut update.nodes {
                blank_nuls(node);
            }
            name_parts(&mut update.nodes);
        }
    }
}

/// Installs the naming of parts in a context.
pub(super) fn install(ctx: &egui::Context) {
    ctx.add_plugin(PartNames);
}

/// Turns NUL in the texts of a node into blanks; lengths of letters stay as they are.
fn blank_nuls(node: &mut Node) {
    if let Some(text) = blanked(node.label()) {
        node.set_label(text);
    }
    if let Some(text) = blanked(node.value()) {
        node.set_value(text);
    }
    if let Some(text) = blanked(node.description()) {
        node.set_description(text);
    }
    if let Some(text) = blanked(node.tooltip()) {
        node.set_tooltip(text);
    }
    if let Some(text) = blanked(node.placeholder()) {
        node.set_placeholder(text);
    }
    if let Some(text) = blanked(node.url()) {
        node.set_url(text);
    }
}

/// Returns a text with blanks for its NULs; `None` if it has none.
fn blanked(text: Option<&str>) -> Option<String> {
    let text = text.filter(|text| text.contains('\0'));
    text.map(|text| text.replace('\0', " "))
}

fn is_nameless(node: &Node) -> bool {
    let is_used = node.supports_action(Action::Focus) || node.supports_action(Action::Click);
    let is_part = matches!(
        node.role(),
        Role::ScrollBar | Role::Unknown | Role::GenericContainer
    );
    is_used && is_part && node.label().is_none() && node.labelled_by().is_empty()
}

/// Labels with selectable text can be focused: symbols get words, and empty labels are skipped.
fn name_sign(node: &mut Node) {
    if node.role() != Role::Label || node.label().is_some() {
        return;
    }
    let text = node.value().unwrap_or_default().trim();
    if text.is_empty() {
        node.remove_action(Action::Focus);
        node.remove_action(Action::Click);
    } else if let Some((_, words)) = SIGNS.iter().find(|(sign, _)| *sign == text) {
        node.set_value(*words);
    }
}

fn name_parts(nodes: &mut [(NodeId, Node)]) {
    for (_, node) in nodes.iter_mut() {
        name_sign(node);
    }
    let nameless: Vec<usize> = (0..nodes.len())
        .filter(|&at| nodes.get(at).is_some_and(|(_, node)| is_nameless(node)))
        .collect();
    if nameless.is_empty() {
        return;
    }
    let headings = headings(nodes);
    let tabs: Vec<Rect> = nodes
        .iter()
        .filter_map(|(_, node)| tab_place(node))
        .collect();
    let parents = parents(nodes);
    for at in nameless {
        let window = window_above(nodes, &parents, at);
        let Some((_, node)) = nodes.get_mut(at) else {
            continue;
        };
        let bounds = node.bounds().filter(|rect| rect.area().is_finite());
        let Some(bounds) = bounds else {
            // A part without a place in this frame cannot be navigated to.
            node.remove_action(Action::Focus);
            node.remove_action(Action::Click);
            continue;
        };
        let is_upright = bounds.height() > bounds.width();
        let is_edge = bounds.width().min(bounds.height()) <= EDGE_POINTS;
        if node.role() == Role::ScrollBar {
            node.set_label(match is_upright {
                true => "Scroll up and down",
                false => "Scroll sideways",
            });
        } else if let Some(window) = window {
            node.set_label(format!("Move or resize {window}"));
        } else if is_edge && is_upright {
            node.set_role(Role::Splitter);
            node.set_label(match heading_before(&headings, bounds) {
                Some(title) => format!("Width of column {title}"),
                None => "Width of the part before".to_owned(),
            });
        } else if is_edge {
            node.set_role(Role::Splitter);
            node.set_label("Height of the part above");
        } else if bounds.height() <= BAR_POINTS && tabs.iter().any(|tab| holds(bounds, *tab)) {
            node.set_label("Bar of tabs");
        }
    }
}

/// Returns the rectangle of a toggle button; tabs are such buttons.
fn tab_place(node: &Node) -> Option<Rect> {
    let is_tab = node.role() == Role::Button && node.toggled().is_some();
    node.bounds().filter(|_| is_tab)
}

fn holds(bar: Rect, tab: Rect) -> bool {
    bar.y0 <= tab.y0 + 1.0 && bar.y1 >= tab.y1 - 1.0 && bar.x0 <= tab.x0 + 1.0 && tab.x0 < bar.x1
}

/// A possible heading of a column.
struct Heading {
    rect: Rect,
    text: String,
}

fn headings(nodes: &[(NodeId, Node)]) -> Vec<Heading> {
    let found = nodes.iter().filter_map(|(_, node)| {
        let text = match node.role() {
            Role::ColumnHeader => node.label()?.trim_start_matches("Sort by "),
            Role::Label => node.value()?,
            _ => return None,
        };
        Some(Heading {
            rect: node.bounds()?,
            text: text.to_owned(),
        })
    });
    found.collect()
}

/// Returns the heading of the column whose right edge is `edge`.
fn heading_before(headings: &[Heading], edge: Rect) -> Option<String> {
    let middle = (edge.x0 + edge.x1) / 2.0;
    let is_beside = |rect: &Rect| {
        let y = (rect.y0 + rect.y1) / 2.0;
        y >= edge.y0 && y <= edge.y0 + 26.0 && rect.x0 < middle
    };
    let before = headings.iter().filter(|heading| is_beside(&heading.rect));
    let nearest = before.max_by(|a, b| a.rect.x0.total_cmp(&b.rect.x0))?;
    Some(nearest.text.clone())
}

fn parents(nodes: &[(NodeId, Node)]) -> HashMap<NodeId, usize> {
    let of = |(at, (_, node)): (usize, &(NodeId, Node))| {
        let children: Vec<NodeId> = node.children().to_vec();
        children.into_iter().map(move |child| (child, at))
    };
    nodes.iter().enumerate().flat_map(of).collect()
}

/// Returns the title of the egui window that contains a node.
fn window_above(
    nodes: &[(NodeId, Node)],
    parents: &HashMap<NodeId, usize>,
    at: usize,
) -> Option<String> {
    let mut id = nodes.get(at)?.0;
    while let Some((above, node)) = parents.get(&id).and_then(|&at| nodes.get(at)) {
        if node.role() == Role::Window {
            return Some(node.label()?.to_owned());
        }
        id = *above;
    }
    None
}
