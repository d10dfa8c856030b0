//! Announces dialogs, bars, fields and panes that were opened or closed.

use super::change::{Change, at_once};
use super::heard::Heard;
use crate::view::pane_kind::PaneKind;

/// Returns the words for dialogs and panes that were opened or closed.
pub(super) fn changes(before: &Heard, now: &Heard) -> Vec<Change> {
    let mut changes = Vec::new();
    for name in now
        .opened
        .iter()
        .filter(|name| !before.opened.contains(name))
    {
        changes.push(at_once(format!("{name} opened")));
    }
    for name in before
        .opened
        .iter()
        .filter(|name| !now.opened.contains(name))
    {
        changes.push(at_once(format!("{name} closed")));
    }
    match (before.panes.is_empty(), now.panes.is_empty()) {
        (false, true) => changes.push(at_once("Panes hidden")),
        (true, false) => {
            let titles: Vec<_> = now.fronts.iter().map(|pane| pane.title()).collect();
            let names = titles.join(", ");
            changes.push(at_once(format!("Panes shown: {names}")));
        }
        _ => {
            let is_new = |pane: &&PaneKind| !before.fronts.contains(pane);
            for pane in now.fronts.iter().filter(is_new) {
                changes.push(at_once(format!("Pane {} shown", pane.title())));
            }
            for pane in before.panes.iter().filter(|pane| !now.panes.contains(pane)) {
                changes.push(at_once(format!("Pane {} closed", pane.title())));
            }
        }
    }
    changes
}
