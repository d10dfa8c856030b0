//! An item, a track and a span as one sentence each, for screen readers.

use crate::base::{TimeSpan, Timestamp};
use crate::query::Item;
use crate::query::item::{cpu_number, title, type_word};
use crate::query::seen::{Length, Seen};
use crate::trace::Trace;
use crate::view::rows::{Fold, RowKey};
use crate::view::{ViewState, locate, ruler};

/// Returns a time as the ruler writes it.
pub(super) fn time_words(state: &ViewState, time: Timestamp) -> String {
    ruler::full_text(time, state.time_format, state.origins)
}

/// Returns the length and both ends of a span.
pub(super) fn span_words(state: &ViewState, span: TimeSpan) -> String {
    format!(
        "{}, from {} to {}",
        ruler::length_text(span.duration(), state.origins.unit),
        time_words(state, span.start),
        time_words(state, span.end)
    )
}

/// Returns how long an item took; empty if it takes no time.
#[must_use]
pub(crate) fn length_words(state: &ViewState, trace: &Trace, seen: &Seen, item: Item) -> String {
    let text = |nanos| ruler::length_text(crate::base::Nanos(nanos), state.origins.unit);
    match item {
        Item::Instant(_) | Item::Event(_) => String::new(),
        _ => match item.duration(trace, seen) {
            Some(Length::Known(nanos)) => text(nanos),
            Some(Length::AtLeast(nanos)) => format!("at least {}", text(nanos)),
            None => String::new(),
        },
    }
}

/// Returns an item's kind and name, its duration, its owner, and its position on its lane: `slice read, 1.5 ms, thread
/// bash (42), depth 2, 3 of 10, at 0.000120000 s`.
#[must_use]
pub(crate) fn item_words(state: &ViewState, trace: &Trace, item: Item) -> String {
    let name = match item {
        Item::Process(id) if (id.0 as usize) >= trace.processes.len() => String::new(),
        item => title(trace, item),
    };
    let mut parts = vec![format!("{} {name}", type_word(item)).trim_end().to_owned()];
    parts.push(length_words(state, trace, &Seen::new(trace), item));
    let is_thread = matches!(item, Item::Thread(_) | Item::Run(_));
    if let Some(thread) = item.thread(trace).filter(|_| !is_thread) {
        parts.push(format!("thread {}", trace.thread_title(thread)));
    }
    if let (Item::Run(_) | Item::Gap(_), Some(cpu)) = (item, cpu_number(trace, item)) {
        parts.push(format!("CPU {cpu}"));
    }
    if let Item::Slice(id) = item
        && (id.0 as usize) < trace.slices.len()
        && trace.slices.depth(id) > 0
    {
        parts.push(format!("depth {}", trace.slices.depth(id)));
    }
    if let Some(place) = locate::place_on_lane(trace, item) {
        parts.push(format!(
            "{} of {}",
            ruler::grouped(i64::from(place.number)),
            ruler::grouped(i64::from(place.count))
        ));
    }
    if let Some(span) = locate::span_of(trace, item) {
        parts.push(format!("at {}", time_words(state, span.start)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Returns a track's title, including a part of its note if the row shows one there.
pub(super) fn title_words(state: &ViewState, key: RowKey) -> String {
    let row = state.rows.of_key(key).map(|row| row.title.to_string());
    let title = row.or_else(|| Some(state.outline.node(key)?.title.to_string()));
    title.unwrap_or_else(|| "a track".to_owned())
}

/// Returns a track's title, note, whether it is expanded, and its place among the tracks that are shown.
pub(super) fn row_words(state: &ViewState, key: RowKey) -> String {
    let mut parts = vec![format!("Track {}", title_words(state, key))];
    let rows = state.rows.all();
    let at = rows.iter().position(|row| row.key == key);
    if let Some((at, row)) = at.and_then(|at| Some((at, rows.get(at)?))) {
        parts.push(row.note.to_string());
        parts.push(fold_word(row.fold).to_owned());
        parts.push(format!("{} of {}", at + 1, rows.len()));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Returns the word for a row's state; empty if it cannot be folded.
pub(super) fn fold_word(fold: Fold) -> &'static str {
    match fold {
        Fold::None => "",
        Fold::Open => "expanded",
        Fold::Closed => "collapsed",
    }
}
