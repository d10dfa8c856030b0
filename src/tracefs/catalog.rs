//! The events that the kernel offers, and which of them match a pattern.

use super::folder::{Folder, Trouble};

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventName {
    /// Its system, for example `sched`.
    pub system: String,
    /// Its name, for example `sched_switch`.
    pub name: String,
}

/// The events that a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// All events of a system.
    System(String),
    /// Single events.
    Events(Vec<EventName>),
}

/// Returns all events that can be enabled, sorted.
#[must_use]
pub fn events(top: &Folder) -> Vec<EventName> {
    let files = top.event_files("enable").into_iter();
    let events = files.filter_map(|file| {
        let mut words = file.split('/').skip(1);
        let (system, name) = (words.next()?.to_owned(), words.next()?.to_owned());
        // The events of ftrace itself have formats, but tracers enable them.
        (system != "ftrace").then_some(EventName { system, name })
    });
    events.collect()
}

/// Returns the events that match a pattern: `SYSTEM`, `SYSTEM:EVENT` or `EVENT`, where `*` matches any characters.
///
/// # Errors
/// If no event matches.
pub(crate) fn resolve(top: &Folder, pattern: &str) -> Result<Meaning, Trouble> {
    let is_system = |name: &str| {
        let is_name = !name.is_empty() && !name.contains(['*', '/', ':', '.']);
        is_name && name != "ftrace" && top.has(&format!("events/{name}/enable"))
    };
    if is_system(pattern) {
        return Ok(Meaning::System(pattern.to_owned()));
    }
    let (system, name) = pattern.split_once([':', '/']).unwrap_or(("*", pattern));
    if name == "*" && is_system(system) {
        return Ok(Meaning::System(system.to_owned()));
    }
    let is_name = !name.is_empty() && !name.contains(['*', '/', '.']);
    if is_name && is_system(system) && top.has(&format!("events/{system}/{name}/enable")) {
        return Ok(Meaning::Events(vec![EventName {
            system: system.to_owned(),
            name: name.to_owned(),
        }]));
    }
    let all = events(top);
    let fits = |event: &&EventName| matches(system, &event.system) && matches(name, &event.name);
    let found: Vec<EventName> = all.iter().filter(fits).cloned().collect();
    match found.is_empty() {
        true => Err(Trouble::NoSuchEvent {
            pattern: pattern.to_owned(),
            near: near(&all, name),
        }),
        false => Ok(Meaning::Events(found)),
    }
}

/// Returns up to three events with a similar name.
fn near(all: &[EventName], name: &str) -> Vec<String> {
    let full = |event: &EventName| format!("{}:{}", event.system, event.name);
    if name.contains('*') {
        return Vec::new();
    }
    let containing = all
        .iter()
        .filter(|event| name.len() > 2 && event.name.contains(name));
    let mut near: Vec<String> = containing.map(full).collect();
    if near.is_empty() {
        let mut ranked: Vec<(usize, String)> = all
            .iter()
            .map(|event| (distance(name, &event.name), full(event)))
            .filter(|(distance, _)| *distance <= 3)
            .collect();
        ranked.sort();
        near = ranked.into_iter().map(|(_, name)| name).collect();
    }
    near.truncate(3);
    near
}

/// Returns the edit distance: how many characters must be changed, added or removed to turn one text into the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, a) in one.chars().enumerate() {
        let mut diagonal = index;
        let mut left = index + 1;
        for (column, b) in other.iter().enumerate() {
            let above = row.get(column + 1).copied().unwrap_or(usize::MAX);
            let changed = diagonal + usize::from(a != *b);
            let next = changed.min(above.saturating_add(1)).min(left + 1);
            if let Some(entry) = row.get_mut(column) {
                *entry = left;
            }
            (diagonal, left) = (above, next);
        }
        if let Some(entry) = row.last_mut() {
            *entry = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// Returns whether a text matches a pattern with `*`.
#[must_use]
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or("");
    for piece in pieces {
        match text.find(piece).and_then(|at| text.get(at + piece.len()..)) {
            Some(after) => text = after,
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, text) in [
            ("*", "x"),
            ("sched_*", "sched_switch"),
            ("*_switch", "sched_switch"),
            ("s*_*h", "sched_switch"),
            ("a", "a"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("a", "ab"),
            ("a*b", "ac"),
            ("*aa", "a"),
            ("sched_*x*", "sched_s"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn similar_names_are_near() {
        assert_eq!(distance("sched_swich", "sched_switch"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
