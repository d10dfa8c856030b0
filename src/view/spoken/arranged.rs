//! Announces changes to tracks: folded, pinned, hidden, renamed, grouped, sorted.

use super::change::{Change, at_once, at_rest};
use super::heard::Heard;
use super::items::{fold_word, title_words};
use crate::view::rows::RowKey;
use crate::view::{ViewState, ruler};

/// Returns the words for changes to the tracks.
pub(super) fn changes(before: &Heard, now: &Heard, state: &ViewState) -> Vec<Change> {
    let mut changes = Vec::new();
    let (old, new) = (&before.layout, &now.layout);
    let titled = |key: RowKey| title_words(state, key);
    let shown = ruler::counted(state.rows.all().len(), "track is", "tracks are");
    if old.folds != new.folds {
        changes.push(at_once(folded(before, now, state)));
    }
    let pinned = Keys {
        was: &old.pinned,
        is: &new.pinned,
    };
    each(&mut changes, pinned, "Pinned", &titled);
    each(&mut changes, pinned.reversed(), "No longer pinned", &titled);
    let hidden = |layout: &crate::view::Layout| layout.hidden.iter().copied().collect::<Vec<_>>();
    let (was, is) = (hidden(old), hidden(new));
    let hidden = Keys { was: &was, is: &is };
    each(&mut changes, hidden, "Hidden", &titled);
    each(&mut changes, hidden.reversed(), "Shown again", &titled);
    for (key, name) in &new.names {
        if old.names.get(key) != Some(name) {
            changes.push(at_once(format!("Track renamed to {name}")));
        }
    }
    for (key, percent) in &new.heights {
        if old.heights.get(key) != Some(percent) {
            changes.push(at_rest(format!("Height of {} {percent} %", titled(*key))));
        }
    }
    if old.group_by != new.group_by {
        changes.push(at_once(format!(
            "Tracks grouped by: {}",
            new.group_by.word()
        )));
    }
    if old.sort_by != new.sort_by {
        changes.push(at_once(format!("Tracks sorted by: {}", new.sort_by.word())));
    }
    if old.order != new.order {
        changes.push(at_once("Track moved"));
    }
    if old.groups != new.groups {
        let groups = ruler::counted(new.groups.len(), "group of your own", "groups of your own");
        changes.push(at_once(groups));
    }
    if old.plots != new.plots {
        changes.push(at_once(ruler::counted(new.plots.len(), "plot", "plots")));
    }
    if before.filter != now.filter {
        changes.push(at_rest(match now.filter.trim() {
            "" => format!("Filter cleared, {shown} shown"),
            text => format!("Filter {text}, {shown} shown"),
        }));
    }
    if before.is_only_active != now.is_only_active {
        changes.push(at_once(match now.is_only_active {
            true => format!("Only active tracks: {shown} shown"),
            false => format!("All tracks: {shown} shown"),
        }));
    }
    changes
}

/// The rows of a list, before and after a change.
#[derive(Clone, Copy)]
struct Keys<'a> {
    was: &'a [RowKey],
    is: &'a [RowKey],
}

impl Keys<'_> {
    fn reversed(self) -> Self {
        Keys {
            was: self.is,
            is: self.was,
        }
    }
}

/// Adds the words for the keys of `is` that are not in `was`; several at once are only counted.
fn each(
    changes: &mut Vec<Change>,
    Keys { was, is }: Keys<'_>,
    word: &str,
    titled: &dyn Fn(RowKey) -> String,
) {
    let new: Vec<RowKey> = is
        .iter()
        .copied()
        .filter(|key| !was.contains(key))
        .collect();
    match new.as_slice() {
        [] => {}
        [key] => changes.push(at_once(format!("{word}: {}", titled(*key)))),
        many => {
            let count = ruler::counted(many.len(), "track", "tracks");
            changes.push(at_once(format!("{word}: {count}")));
        }
    }
}

fn folded(before: &Heard, now: &Heard, state: &ViewState) -> String {
    let (old, new) = (&before.layout.folds, &now.layout.folds);
    let is_other = |key: &&RowKey| old.get(key) != new.get(key);
    let mut keys: Vec<RowKey> = new.keys().filter(is_other).copied().collect();
    keys.extend(old.keys().filter(|key| !new.contains_key(key)));
    let shown = ruler::counted(state.rows.all().len(), "track is", "tracks are");
    match keys.as_slice() {
        [key] => {
            let fold = state
                .rows
                .of_key(*key)
                .map_or("", |row| fold_word(row.fold));
            let title = title_words(state, *key);
            format!("{title} {fold}, {shown} shown")
        }
        keys => {
            let count = ruler::counted(keys.len(), "group", "groups");
            format!("{count} folded or unfolded, {shown} shown")
        }
    }
}
