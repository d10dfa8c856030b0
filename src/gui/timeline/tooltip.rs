//! The tooltip of the block under the pointer.

use super::draw::Hit;
use super::lanes::{block_text, item_of_block};
use crate::base::{Nanos, Timestamp};
use crate::gui::pane::Scene;
use crate::gui::table::number_text;
use crate::index::lod_rows::StatePart;
use crate::query::Item;
use crate::query::item::title;
use crate::query::seen::{Length, Seen};
use crate::query::visible::{Block, ProfileNames};
use crate::query::waker::waker_of;
use crate::trace::flows::FlowPoint;
use crate::trace::{FlowId, InstantId, RunId, State, ThreadId, ThreadState, Trace};
use crate::view::rows::{LaneKind, Summarised};
use crate::view::ruler;
use rustc_hash::FxHashMap;

pub(super) fn hover_text(scene: &Scene<'_>, hit: &Hit, names: &ProfileNames) -> String {
    let trace = &scene.loaded.trace;
    let unit = scene.state.origins.unit;
    let mut text = block_text(scene, hit.lane, &hit.block);
    let block = &hit.block;
    let mut length = ruler::length_text(Nanos(block.end - block.start), unit);
    // A duration measured by the recorder wins over the drawn length.
    if let (1, Item::Slice(id)) = (block.count, hit.item)
        && let Some(ns) = trace.slices.measured(id.0 as usize)
    {
        length = ruler::length_text(Nanos(ns), unit);
    }
    if let Some(lines) = parts_text(scene, hit, names) {
        text = lines;
    } else if block.count > 1 {
        let count = ruler::grouped(i64::from(block.count));
        let busy = block.busy() * 100.0;
        text = format!("{count} items in {length}, busy {busy:.0} %");
        for line in kinds_of(scene, hit.lane, block) {
            text.push('\n');
            text.push_str(&line);
        }
    } else if !matches!(hit.lane, LaneKind::Instants(_)) {
        let words = unfinished_text(scene, hit.item).unwrap_or(length);
        text.push_str(&format!("\n{words}"));
    }
    if let Item::Sample(id, row) = hit.item {
        let value = |row: u32| {
            let track = trace.counters.tracks.get(id.0 as usize)?;
            // The row before may be the last sample of another counter.
            let is_ours = track.samples.contains(&row);
            let value = trace.counters.values.get(row as usize).copied();
            value.filter(|_| is_ours)
        };
        if let Some((now, before)) = value(row).zip(row.checked_sub(1).and_then(value)) {
            let sign = if now > before { "+" } else { "" };
            text.push_str(&format!("\nchange {sign}{}", number_text(now - before)));
        }
    }
    if let Some(thread) = hit.item.thread(trace)
        && thread != ThreadId::IDLE
        && !matches!(hit.lane, LaneKind::Runs(_))
    {
        text.push_str(&format!(
            "\n{} ({})",
            trace.thread_name(thread),
            trace.thread(thread).tid
        ));
    }
    if let Item::Run(id) = hit.item
        && block.count == 1
        && (id.0 as usize) < trace.runs.len()
    {
        let after = trace.runs.get(id).end_state;
        text.push_str(match after {
            ThreadState::Unknown => "\nrunning",
            _ => "\nrunning, then ",
        });
        if after != ThreadState::Unknown {
            text.push_str(after.word());
        }
    }
    if let Item::State(id) = hit.item
        && block.count == 1
        && (id.0 as usize) < trace.states.len()
    {
        for line in state_lines(trace, &trace.states.get(id)) {
            text.push('\n');
            text.push_str(&line);
        }
    }
    let at = ruler::full_text(
        Timestamp(block.start),
        scene.state.time_format,
        scene.state.origins,
    );
    text.push_str(&format!("\nat {at}"));
    for (name, mark) in ["A", "B"].into_iter().zip(scene.state.marks) {
        let Some(mark) = mark else { continue };
        let far = Timestamp(block.start) - mark;
        let sign = if far.0 < 0 { "−" } else { "+" };
        let length = ruler::length_text(Nanos(far.0.saturating_abs()), unit);
        text.push_str(&format!("\n{name} {sign} {length}"));
    }
    text
}

/// Returns the share of each part of a column as text, if its block stands for more than one row.
fn parts_text(scene: &Scene<'_>, hit: &Hit, names: &ProfileNames) -> Option<String> {
    let (trace, unit) = (&scene.loaded.trace, scene.state.origins.unit);
    let block = &hit.block;
    let word = |part: usize| match hit.lane {
        LaneKind::Summary(_, Summarised::States) => {
            let part = StatePart::ALL.get(part).copied()?;
            Some(part.state().word().to_owned())
        }
        LaneKind::Summary(_, Summarised::Fullness) => Some("busy".to_owned()),
        LaneKind::Profile { .. } => Some(match names.get(part).copied().flatten() {
            Some(label) => {
                let label = trace.slices.labels.get(label as usize);
                trace.text(label.unwrap_or_default().name).into_owned()
            }
            None => "others".to_owned(),
        }),
        _ => None,
    };
    word(0)?;
    let length = block.end - block.start;
    let what = match hit.lane {
        LaneKind::Profile { .. } => "innermost in",
        _ => "mean of all tracks in",
    };
    let mut lines = vec![format!(
        "{what} {}",
        ruler::length_text(Nanos(length), unit)
    )];
    let mut parts: Vec<(usize, f32)> = (0..).zip(block.times).filter(|it| it.1 > 0.0).collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (part, time) in parts {
        let share = time / length.max(1) as f32 * 100.0;
        let time = ruler::length_text(Nanos(time as i64), unit);
        lines.push(format!("{} {time}, {share:.0} %", word(part)?));
    }
    Some(lines.join("\n"))
}

/// Returns who woke a thread, and what is unknown about its state.
fn state_lines(trace: &Trace, state: &State) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(waker) = waker_of(trace, state) {
        lines.push(format!("woken by {}", waker.text(trace)));
    }
    if state.state == ThreadState::Unknown && state.notes.is_woken() {
        lines.push("what it did after it was woken was not recorded".to_owned());
    } else if state.notes.spans_loss() {
        lines.push("events were lost meanwhile".to_owned());
    }
    lines
}

/// Returns the known part of the duration of an item whose end was not seen; `None` for everything else.
fn unfinished_text(scene: &Scene<'_>, item: Item) -> Option<String> {
    let trace = &scene.loaded.trace;
    let may_be_open = match item {
        Item::Slice(id) => trace.slices.is_unfinished(id.0 as usize),
        Item::Run(id) => trace.run_end(&trace.runs.get(id)).is_none(),
        Item::State(id) => trace.state_end(&trace.states.get(id)).is_none(),
        Item::Process(_) | Item::Thread(_) => true,
        _ => false,
    };
    if !may_be_open {
        return None;
    }
    let length = match item.duration(trace, &Seen::new(trace))? {
        Length::Known(_) => return None,
        Length::AtLeast(least) => ruler::length_text(Nanos(least), scene.state.origins.unit),
    };
    Some(format!("unfinished, at least {length}"))
}

/// Limit of a block's items that are counted by kind, and limit of the kinds that are listed.
const MOST_COUNTED: u32 = 50_000;
const MOST_NAMED: usize = 4;

/// Returns the kinds of a block's items with the largest total time (for points: the largest count), each with its
/// count and total time.
fn kinds_of(scene: &Scene<'_>, lane: LaneKind, block: &Block) -> Vec<String> {
    let trace = &scene.loaded.trace;
    let name = |label: u32| {
        let one = Block {
            count: 1,
            label,
            ..*block
        };
        block_text(scene, lane, &one)
    };
    if block.count > MOST_COUNTED {
        return vec![format!("mostly {}", name(block.label))];
    }
    let seen = Seen::new(trace);
    let of = |id: u32| -> Option<(u32, Length)> {
        let at = id as usize;
        let label = match lane {
            LaneKind::Slices(_) => trace.slices.label_ids.get(at)?,
            LaneKind::Runs(_) if at < trace.runs.len() => trace.runs.get(RunId(id)).thread.0,
            LaneKind::States(_) => *trace.states.states.get(at)? as u32,
            LaneKind::Instants(_) if at < trace.instants.len() => {
                let event = trace.instants.event(InstantId(id));
                let kind = trace.events.get(event).row.kind.0;
                return Some((kind, Length::Known(0)));
            }
            _ => return None,
        };
        let one = Block {
            first: id,
            ..*block
        };
        Some((
            label,
            item_of_block(scene, lane, &one).duration(trace, &seen)?,
        ))
    };
    let mut kinds: FxHashMap<u32, (i64, u32, u32)> = FxHashMap::default();
    for (label, length) in (block.first..block.first.saturating_add(block.count)).filter_map(of) {
        let kind = kinds.entry(label).or_default();
        kind.0 = kind.0.saturating_add(length.certain().max(0));
        kind.1 += 1;
        kind.2 += u32::from(length.known().is_none());
    }
    let mut kinds: Vec<(u32, (i64, u32, u32))> = kinds.into_iter().collect();
    kinds.sort_by_key(|(label, sums)| (std::cmp::Reverse(*sums), *label));
    let mut lines: Vec<String> = kinds
        .iter()
        .take(MOST_NAMED)
        .map(|(label, (length, count, unfinished))| {
            let count = ruler::grouped(i64::from(*count));
            let name = name(*label);
            if *length == 0 {
                return format!("{name} × {count}");
            }
            let length = ruler::length_text(Nanos(*length), scene.state.origins.unit);
            match unfinished {
                0 => format!("{name} × {count}, {length}"),
                _ => format!("{name} × {count}, unfinished, at least {length}"),
            }
        })
        .collect();
    if kinds.len() > MOST_NAMED {
        let more = ruler::grouped((kinds.len() - MOST_NAMED) as i64);
        lines.push(format!("and {more} more"));
    }
    lines
}

/// Returns the tooltip of an arrow.
pub(super) fn flow_text(scene: &Scene<'_>, id: FlowId) -> String {
    let trace = &scene.loaded.trace;
    let Some(flow) = trace.flows.rows.get(id.0 as usize) else {
        return String::new();
    };
    let end = |point: &FlowPoint| match point.slice {
        Some(slice) => title(trace, Item::Slice(slice)),
        None => trace.thread_name(point.thread).into_owned(),
    };
    let length = ruler::length_text(flow.to.time - flow.from.time, scene.state.origins.unit);
    let name = title(trace, Item::Flow(id));
    format!("{name}\n{} → {}\n{length}", end(&flow.from), end(&flow.to))
}
