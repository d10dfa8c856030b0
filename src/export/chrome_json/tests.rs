//! Tests that slices and flows which readers join by numbers and names stay joined or separate as in the trace.

use serde_json::Value as Json;

use super::super::Selection;
use super::super::fxt::records::{EventType, Head};
use super::super::fxt::tests::{complete, head, koids, written};
use super::*;
use crate::export::shared::numbers::exact_number;

fn rows(loaded: &LoadedTrace) -> Vec<Json> {
    let mut bytes = Vec::new();
    EXPORTER
        .write_to(loaded, &Selection::all(), &mut bytes, &Job::default())
        .unwrap();
    let mut json: Json = serde_json::from_slice(&bytes).unwrap();
    json["traceEvents"].as_array_mut().unwrap().clone()
}

fn of_phases<'a>(rows: &'a [Json], phases: &'a str) -> impl Iterator<Item = &'a Json> {
    rows.iter()
        .filter(move |row| phases.contains(row["ph"].as_str().unwrap()))
}

#[test]
fn times_keep_their_nanoseconds() {
    assert_eq!(micros(1_234_567), "1234.567");
    assert_eq!(micros(-5), "-0.005");
    assert_eq!(micros(1_000), "1.000");
}

#[test]
fn all_marks_of_a_flow_say_the_same_and_no_other_flow_does() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for pid in [10, 20] {
            for (start, end) in [(10, 20), (30, 40), (50, 60)] {
                let base = head(EventType::Complete, start, pid + 1);
                let thread = koids(pid, pid + 1);
                out.event(Head { thread, ..base }, &[], Some(end));
            }
        }
        let mut mark = |sort, time, pid, (category, name): (&'static str, &'static str)| {
            let (category, name) = (out.name(category), out.name(name));
            let head = Head {
                event_type: sort,
                time,
                thread: ThreadKoids {
                    process: pid,
                    thread: pid + 1,
                },
                category,
                name,
            };
            out.event(head, &[], Some(5));
        };
        // Two processes have flows of one id; the steps have another name, or none.
        for (pid, later) in [(10, 0), (20, 1_u64)] {
            mark(EventType::FlowBegin, 15 + later, pid, ("net", "send"));
            mark(EventType::FlowStep, 35 + later, pid, ("io", "handle"));
            mark(EventType::FlowEnd, 55 + later, pid, ("", ""));
        }
    });
    let rows = rows(&source);
    let key = |row: &Json| {
        let word = |name: &str| row[name].as_str().unwrap().to_owned();
        (word("id"), word("cat"), word("name"))
    };
    let mut keys: Vec<_> = of_phases(&rows, "stf")
        .map(|row| (row["pid"].as_u64().unwrap(), key(row)))
        .collect();
    assert_eq!(keys.len(), 6);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert_ne!(keys[0].1.0, keys[1].1.0, "{keys:?}");
    assert!(keys.iter().any(|(_, key)| key.0 == "0x5"), "{keys:?}");
}

#[test]
fn asyncs_of_two_processes_stay_apart_and_their_points_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let name = out.name("request");
        for (pid, later) in [(10, 0), (20, 1_u64)] {
            let mut at = |event_type, time| {
                let base = head(event_type, time + later, pid + 1);
                let thread = koids(pid, pid + 1);
                let head = Head {
                    name,
                    thread,
                    ..base
                };
                out.event(head, &[], Some(1));
            };
            at(EventType::AsyncBegin, 15);
            at(EventType::AsyncInstant, 16);
            at(EventType::AsyncEnd, 20);
        }
    });
    let rows = rows(&source);
    let mut keys: Vec<_> = of_phases(&rows, "bne")
        .map(|row| {
            assert!(row["id"].is_null(), "{row}");
            let id = row["id2"]["local"].as_str().unwrap().to_owned();
            (row["pid"].as_u64().unwrap(), id, row["cat"].to_string())
        })
        .collect();
    assert_eq!(keys.len(), 6);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 2, "{keys:?}");
}

#[test]
fn large_koids_have_numbers_of_their_own_and_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let koids = [(1 << 62) + 1, (1 << 63) + 1, (1 << 32) + 1, 1 << 32, 1_u64];
    let source = written(folder.path(), |out| {
        complete(out, "usual", (5, 6), &[]);
        for (index, &koid) in koids.iter().enumerate() {
            let time = 10 * index as u64 + 10;
            let base = head(EventType::Complete, time, koid);
            let thread = ThreadKoids::of_process(koid);
            out.event(Head { thread, ..base }, &[], Some(time + 5));
        }
    });
    let rows = rows(&source);
    let mut pids: Vec<u64> = of_phases(&rows, "X")
        .map(|row| row["pid"].as_u64().unwrap())
        .collect();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), 6);
    for koid in &koids[..4] {
        let number = exact_number(*koid);
        let says = |row: &&Json| row["args"]["tid"] == number;
        let row = of_phases(&rows, "M").find(says).unwrap();
        assert_eq!(row["args"]["name"], format!("tid {koid}"));
        assert!(pids.contains(&row["pid"].as_u64().unwrap()));
    }
}
