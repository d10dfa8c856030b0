//! What is told of the block under the pointer.

use super::Hit;
use super::lanes::block_text;
use crate::base::{Nanos, Timestamp};
use crate::gui::pane::Scene;
use crate::gui::table::number_text;
use crate::query::Item;
use crate::query::item::title;
use crate::query::visible::Block;
use crate::trace::flows::FlowPoint;
use crate::trace::{FlowId, ThreadId};
use crate::view::rows::LaneKind;
use crate::view::ruler;

pub(super) fn hover_text(scene: &Scene<'_>, hit: &Hit) -> String {
    let trace = &scene.loaded.trace;
    let unit = scene.state.origins.unit;
    let mut text = block_text(scene.loaded, hit.lane, &hit.block);
    let block = &hit.block;
    let length = ruler::length_text(Nanos(block.end - block.start), unit);
    if block.count > 1 {
        text = format!(
            "{} items in {length}, busy {:.0} %\nmostly {}",
            block.count,
            block.busy * 100.0,
            block_text(scene.loaded, hit.lane, &Block { count: 1, ..*block })
        );
    } else if !matches!(hit.lane, LaneKind::Instants(_)) {
        text.push_str(&format!("\n{length}"));
    }
    if let Item::Sample(id, row) = hit.item {
        let value = |row: u32| {
            let track = trace.counters.tracks.get(id.0 as usize)?;
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
    let at = ruler::full_text(
        Timestamp(block.start),
        scene.state.time_format,
        scene.state.origins,
    );
    text.push_str(&format!("\nat {at}"));
    text
}

/// What is told of the arrow under the pointer.
pub(super) fn flow_text(scene: &Scene<'_>, id: FlowId) -> String {
    let trace = &scene.loaded.trace;
    let Some(flow) = trace.flows.rows.get(id.0 as usize) else {
        return String::new();
    };
    let end = |point: &FlowPoint| match point.slice {
        Some(slice) => title(trace, Item::Slice(slice)),
        None => trace.thread_name(point.thread),
    };
    let length = ruler::length_text(flow.to.time - flow.from.time, scene.state.origins.unit);
    let name = title(trace, Item::Flow(id));
    format!("{name}\n{} → {}\n{length}", end(&flow.from), end(&flow.to))
}
