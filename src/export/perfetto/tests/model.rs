//! Traces that are no kernel's: tracks, slices, arrows, counters, interned names.

use std::collections::BTreeMap;

use super::super::layout::{annotation, interned, packet, track, track_event};
use super::super::sequences::SEQUENCES;
use super::read::{ReadField, fields_of, first, number, text};
use super::{Read, exported, opened};
use crate::base::{TimeSpan, Timestamp};
use crate::export::Selection;
use crate::query::Item;
use crate::query::details::details;
use crate::trace::SliceId;

/// A track event with its ids resolved.
#[derive(Debug, PartialEq)]
struct Event {
    time: u64,
    kind: u64,
    track: u64,
    name: String,
    args: Vec<(String, String)>,
}

fn entries(tables: &mut BTreeMap<(u32, u64), String>, data: &[ReadField]) {
    for entry in data {
        let fields = fields_of(entry.bytes());
        let key = (entry.field, number(&fields, interned::ENTRY_ID));
        let name = text(&fields, interned::ENTRY_NAME);
        assert!(
            tables.insert(key, name).is_none(),
            "{key:?} has two meanings"
        );
    }
}

/// Returns all track events, with their ids resolved as a reader does.
fn events(read: &Read) -> Vec<Event> {
    let mut of_sequences: BTreeMap<u64, BTreeMap<(u32, u64), String>> = BTreeMap::new();
    let mut events = Vec::new();
    for (packet, event) in read.messages(packet::TRACK_EVENT) {
        let tables = of_sequences.entry(number(packet, packet::SEQUENCE));
        let tables = tables.or_default();
        let flags = first(packet, packet::SEQUENCE_FLAGS).map_or(0, ReadField::number);
        if flags & packet::STATE_CLEARED != 0 {
            tables.clear();
        }
        if let Some(data) = first(packet, packet::INTERNED_DATA) {
            entries(tables, &fields_of(data.bytes()));
        }
        let resolve = |table: u32, id: u64| tables[&(table, id)].clone();
        let name = first(&event, track_event::NAME_ID);
        let annotations = event
            .iter()
            .filter(|it| it.field == track_event::ANNOTATIONS);
        let args = annotations.map(|it| {
            let fields = fields_of(it.bytes());
            let name = resolve(
                interned::ANNOTATION_NAMES,
                number(&fields, annotation::NAME_ID),
            );
            let value = match first(&fields, annotation::TEXT_ID) {
                Some(id) => resolve(interned::STRING_VALUES, id.number()),
                None => match first(&fields, annotation::TEXT) {
                    Some(_) => text(&fields, annotation::TEXT),
                    None => fields[1].number().to_string(),
                },
            };
            (name, value)
        });
        events.push(Event {
            time: number(packet, packet::TIMESTAMP),
            kind: number(&event, track_event::TYPE),
            track: number(&event, track_event::TRACK),
            name: name.map_or_else(String::new, |name| {
                resolve(interned::EVENT_NAMES, name.number())
            }),
            args: args.collect(),
        });
    }
    events
}

fn marks(events: &[Event]) -> Vec<(u64, u64, &str)> {
    events
        .iter()
        .map(|event| (event.time, event.kind, event.name.as_str()))
        .collect()
}

const BEGIN: u64 = track_event::SLICE_BEGIN;
const END: u64 = track_event::SLICE_END;

#[test]
fn slices_nest_and_an_unfinished_one_has_no_end() {
    let text = r#"[
        {"ph":"X","name":"outer","pid":1,"tid":2,"ts":10,"dur":10},
        {"ph":"X","name":"inner","pid":1,"tid":2,"ts":12.001,"dur":3},
        {"ph":"X","name":"next","pid":1,"tid":2,"ts":20,"dur":0},
        {"ph":"B","name":"open","pid":1,"tid":2,"ts":30}]"#;
    let read = exported(&opened("a.json", text), &Selection::all());
    let events = events(&read);
    let expected = [
        (10_000, BEGIN, "outer"),
        (12_001, BEGIN, "inner"),
        (15_001, END, ""),
        (20_000, END, ""),
        (20_000, BEGIN, "next"),
        (20_000, END, ""),
        (30_000, BEGIN, "open"),
    ];
    assert_eq!(marks(&events), expected);
    let tracks = read.messages(packet::TRACK_DESCRIPTOR);
    assert_eq!(tracks.len(), 1);
    let thread = fields_of(first(&tracks[0].1, track::THREAD).unwrap().bytes());
    assert_eq!(number(&thread, track::THREAD_PID), 1);
    assert_eq!(number(&thread, track::THREAD_TID), 2);
}

#[test]
fn crossing_slices_are_on_a_child_of_their_track() {
    let text = r#"[
        {"ph":"X","name":"first","pid":1,"tid":2,"ts":10,"dur":10},
        {"ph":"X","name":"crosses","pid":1,"tid":2,"ts":15,"dur":10}]"#;
    let read = exported(&opened("a.json", text), &Selection::all());
    let events = events(&read);
    let begins: Vec<_> = events.iter().filter(|event| event.kind == BEGIN).collect();
    assert_ne!(begins[0].track, begins[1].track);
    let tracks = read.messages(packet::TRACK_DESCRIPTOR);
    let child = tracks
        .iter()
        .find(|it| number(&it.1, track::UUID) == begins[1].track);
    assert_eq!(number(&child.unwrap().1, track::PARENT), begins[0].track);
}

#[test]
fn texts_that_come_again_are_interned_once_in_a_sequence() {
    let mut text = String::from("[");
    for at in 0..40_000 {
        text.push_str(&format!(
            r#"{{"ph":"X","name":"work","pid":1,"tid":2,"ts":{at},"dur":0.5,"args":{{"file":"/tmp/{}.c","n":{at}}}}},"#,
            at % 7,
        ));
    }
    text.push_str(r#"{"ph":"i","name":"last","pid":1,"tid":2,"ts":40001,"s":"t"}]"#);
    let read = exported(&opened("a.json", &text), &Selection::all());
    let events = events(&read);
    let begins: Vec<_> = events.iter().filter(|event| event.kind == BEGIN).collect();
    assert_eq!(begins.len(), 40_000);
    for (at, begin) in begins.iter().enumerate() {
        let file = format!("/tmp/{}.c", at % 7);
        let expected = [("file".to_owned(), file), ("n".to_owned(), at.to_string())];
        assert_eq!(begin.args, expected);
    }
    let cleared = read.messages(packet::TRACK_EVENT);
    let cleared = cleared.iter().filter(|(packet, _)| {
        let flags = first(packet, packet::SEQUENCE_FLAGS);
        flags.is_some_and(|flags| flags.number() & packet::STATE_CLEARED != 0)
    });
    assert_eq!(cleared.count(), SEQUENCES);
    let all = read.messages(packet::TRACK_EVENT);
    let sequence = |at: usize| number(all[at].0, packet::SEQUENCE);
    let changes = (1..all.len()).filter(|&at| sequence(at) != sequence(at - 1));
    assert!(changes.count() > SEQUENCES);
}

#[test]
fn an_arrow_goes_from_the_begin_of_its_slice_to_a_later_one() {
    let text = r#"[
        {"ph":"X","name":"late","pid":1,"tid":3,"ts":5,"dur":50},
        {"ph":"X","name":"from","pid":1,"tid":2,"ts":10,"dur":10},
        {"ph":"X","name":"to","pid":1,"tid":3,"ts":30,"dur":10},
        {"ph":"s","name":"f","cat":"f","id":7,"pid":1,"tid":2,"ts":15},
        {"ph":"f","name":"f","cat":"f","id":7,"pid":1,"tid":3,"ts":31,"bp":"e"},
        {"ph":"s","name":"g","cat":"f","id":8,"pid":1,"tid":2,"ts":16},
        {"ph":"f","name":"g","cat":"f","id":8,"pid":1,"tid":3,"ts":50,"bp":"e"}]"#;
    let read = exported(&opened("a.json", text), &Selection::all());
    let ends = |field: u32| -> Vec<(u64, u64, u64)> {
        let messages = read.messages(packet::TRACK_EVENT);
        let found = messages.iter().flat_map(|(packet, event)| {
            let time = number(packet, packet::TIMESTAMP);
            let kind = number(event, track_event::TYPE);
            let flows = event.iter().filter(|it| it.field == field);
            flows
                .map(|it| (it.number(), time, kind))
                .collect::<Vec<_>>()
        });
        let mut found: Vec<_> = found.collect();
        found.sort_unstable();
        found
    };
    let from = ends(track_event::FLOW_IDS);
    assert_eq!(from, [(1, 10_000, BEGIN), (2, 10_000, BEGIN)]);
    // The second one points into a slice that began before its start: to the end of that slice.
    let to = ends(track_event::TERMINATING_FLOW_IDS);
    assert_eq!(to, [(1, 30_000, BEGIN), (2, 55_000, END)]);
    assert_eq!(read.summary.count_of("arrows"), 2);
}

#[test]
fn counters_are_whole_numbers_or_doubles() {
    let text = r#"[
        {"ph":"C","name":"heap","pid":1,"ts":1,"args":{"kB":5}},
        {"ph":"C","name":"heap","pid":1,"ts":2,"args":{"kB":-7.5}},
        {"ph":"C","name":"heap","pid":1,"ts":3,"args":{"kB":9007199254740993}}]"#;
    let loaded = opened("a.json", text);
    let values = |selection: &Selection| -> Vec<(u64, Option<i64>, Option<f64>)> {
        let read = exported(&loaded, selection);
        let messages = read.messages(packet::TRACK_EVENT);
        let values = messages.iter().map(|(packet, event)| {
            let whole = first(event, track_event::COUNTER_VALUE);
            let double = first(event, track_event::DOUBLE_COUNTER_VALUE);
            (
                number(packet, packet::TIMESTAMP),
                whole.map(|it| it.number().cast_signed()),
                double.map(|it| f64::from_bits(it.number())),
            )
        });
        values.collect()
    };
    let expected = [
        (1_000, Some(5), None),
        (2_000, None, Some(-7.5)),
        (3_000, Some(9_007_199_254_740_993), None),
    ];
    assert_eq!(values(&Selection::all()), expected);
    // A range starts with the value that is valid there.
    let range = TimeSpan::new(Timestamp(2_500), Timestamp(2_600));
    assert_eq!(
        values(&Selection::range(range)),
        [(2_500, None, Some(-7.5))]
    );
}

#[test]
fn asynchronous_slices_share_a_track_unless_they_overlap() {
    let text = r#"[
        {"ph":"b","cat":"io","name":"read","id":"1","pid":1,"tid":2,"ts":1},
        {"ph":"b","cat":"io","name":"read","id":"2","pid":1,"tid":2,"ts":2},
        {"ph":"e","cat":"io","name":"read","id":"1","pid":1,"tid":2,"ts":3},
        {"ph":"e","cat":"io","name":"read","id":"2","pid":1,"tid":2,"ts":4},
        {"ph":"b","cat":"io","name":"read","id":"3","pid":1,"tid":2,"ts":5},
        {"ph":"e","cat":"io","name":"read","id":"3","pid":1,"tid":2,"ts":6}]"#;
    let read = exported(&opened("a.json", text), &Selection::all());
    let events = events(&read);
    let begins: Vec<_> = events.iter().filter(|event| event.kind == BEGIN).collect();
    assert_eq!(begins.len(), 3);
    assert_ne!(begins[0].track, begins[1].track);
    assert_eq!(begins[0].track, begins[2].track);
    // Each track has ends for its begins.
    let mut open: BTreeMap<u64, u32> = BTreeMap::new();
    for event in &events {
        let count = open.entry(event.track).or_default();
        match event.kind {
            BEGIN => *count += 1,
            END => *count = count.checked_sub(1).unwrap(),
            _ => {}
        }
    }
    assert!(open.values().all(|&count| count == 0), "{open:?}");
}

#[test]
fn arguments_that_are_called_like_fields_of_the_kernel_are_kept() {
    let text = r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2,
        "args":{"common_x":5,"common_flags":6,"instance":"main","__probe_ip":"7"}}]"#;
    let loaded = opened("a.json", text);
    let event = loaded.trace.slices.get(SliceId(0)).begin;
    let shown = details(&loaded.trace, loaded.reader.as_ref(), Item::Event(event));
    let fields = shown.sections.last().unwrap().rows.iter();
    let names: Vec<_> = fields.map(|row| row.name.as_str()).collect();
    let own = ["common_x", "common_flags", "instance", "__probe_ip"];
    assert_eq!(names, own);
    let read = exported(&loaded, &Selection::all());
    let events = events(&read);
    let begin = events.iter().find(|event| event.kind == BEGIN).unwrap();
    let names: Vec<_> = begin.args.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, own);
}
