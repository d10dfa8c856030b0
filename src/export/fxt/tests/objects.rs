//! Tests of kernel objects and userspace objects: their names, arguments and times, in the whole trace and in parts.

use super::kept::{copy_twice, told};
use super::*;
use crate::event::Role;
use crate::event::columns::EventRow;
use crate::event::part::KernelObject;

#[test]
fn pointers_and_koids_keep_their_names_in_any_part() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        out.object(object(4, 555), b"chan", &[]);
        for thread in [11, 12] {
            out.thread_object((10, thread), b"t");
        }
        let mut object = |time, pointer, name: &'static str| {
            // Objects have the time of the last record before them that has one.
            out.event(head(EventType::Instant, time, 12), &[], None);
            out.prepare(&[]);
            let name = out.name(name);
            out.userspace_object(pointer, Ok(koids(10, 12)), name);
        };
        object(10, 0xbeef, "old");
        object(20, 0xbeef, "object");
        object(30, 0xcafe, "nobody asks");
        object(150, 0xf00d, "inside");
        let args = [
            Arg::new("o", ArgValue::Pointer(0xbeef)),
            Arg::new("i", ArgValue::Pointer(0xf00d)),
            Arg::new("ch", ArgValue::Koid(555)),
        ];
        let name = out.name("asks");
        let base = head(EventType::Instant, 200, 11);
        out.event(Head { name, ..base }, &args, None);
    });
    let asked = |loaded: &LoadedTrace| {
        let asks = told(loaded)
            .into_iter()
            .find(|text| text.starts_with(" asks ["));
        asks.unwrap()
    };
    let before = asked(&source);
    for shown in ["0xbeef (object)", "0xf00d (inside)", "555 (channel chan)"] {
        assert!(before.contains(shown), "{before}");
    }
    let (again, _) = cut(folder.path(), &source, &range(100, 300));
    assert_eq!(asked(&again), before);
    let objects = |loaded: &LoadedTrace| {
        let all = told(loaded).into_iter();
        all.filter(|text| text.starts_with("object ")).count()
    };
    assert_eq!((objects(&source), objects(&again)), (4, 2));
    // The same result if the thread that registered them is left out.
    let thread = (0..source.trace.threads.len() as u32).map(ThreadId);
    let thread = thread.filter(|&id| source.trace.thread(id).tid == 11);
    let selection = Selection {
        threads: thread.collect(),
        ..Selection::all()
    };
    let (again, _) = cut(folder.path(), &source, &selection);
    assert_eq!(asked(&again), before);
    assert_eq!(objects(&again), 2);
    let (whole, _) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(objects(&whole), 4);
}

#[test]
fn kernel_objects_keep_their_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let koid = |name: &'static str, koid| Arg::new(name, ArgValue::Koid(koid));
    let source = written(folder.path(), |out| {
        let weight = Arg::new("weight", ArgValue::Int32(7));
        out.object(object(1, 10), b"game", &[koid("job", 3)]);
        out.object(object(2, 11), b"render", &[koid("process", 10), weight]);
        out.object(
            object(4, 55),
            b"channel",
            &[koid("peer", 56), koid("process", 10)],
        );
        complete(out, "work", (5, 9), &[]);
    });
    let again = copy_twice(folder.path(), &source);
    let said = |loaded: &LoadedTrace, koid, object_type| -> Vec<String> {
        let mut objects = loaded.trace.info.objects.iter();
        let is_it =
            |object: &&KernelObject| (object.koid, object.object_type) == (koid, object_type);
        let fields = objects.find(is_it).map(|object| &object.fields);
        let names = fields.into_iter().flatten().map(|field| field.name.clone());
        names.collect()
    };
    for (koid, object_type, names) in [
        (10, 1, &["job"][..]),
        (11, 2, &["process", "weight"]),
        (55, 4, &["peer", "process"]),
    ] {
        assert_eq!(said(&source, koid, object_type), names);
        assert_eq!(said(&again, koid, object_type), names);
    }
}

#[test]
fn objects_keep_their_time_where_what_they_followed_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        out.event(head(EventType::Instant, 100, 12), &[], None);
        out.event(head(EventType::Instant, 200, 11), &[], None);
        for (pointer, name) in [(0x10, "first"), (0x20, "second")] {
            out.prepare(&[Arg::new("size", ArgValue::UInt32(64))]);
            let name = out.name(name);
            out.userspace_object(pointer, Ok(koids(10, 12)), name);
        }
        out.event(head(EventType::Instant, 300, 12), &[], None);
        // An end that matches no begin.
        out.event(head(EventType::End, 400, 11), &[], None);
        out.prepare(&[]);
        let name = out.name("third");
        out.userspace_object(0x30, Ok(koids(10, 12)), name);
        out.blob(b"attached", b"", Some(1), b"bytes");
        out.event(head(EventType::Instant, 500, 12), &[], None);
    });
    let times = |loaded: &LoadedTrace| -> Vec<(String, i64)> {
        let trace = &loaded.trace;
        let is_object =
            |row: EventRow| trace.kinds.get(row.kind.index()).unwrap().role == Role::PointerName;
        let events = (0..trace.events.len() as u32).map(|id| trace.events.get(EventId(id)));
        let objects = events.filter(|event| is_object(event.row));
        let mut rows: Vec<_> = objects
            .map(|event| {
                let name = trace.kind_name(event.row.kind).into_owned();
                (name, event.row.time.0)
            })
            .collect();
        rows.sort();
        rows
    };
    let expected = [("first", 200), ("second", 200), ("third", 400)];
    let expected = expected.map(|(name, time)| (name.to_owned(), time));
    assert_eq!(times(&source), expected);
    let (all, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(times(&all), expected);
    assert_eq!(summary.notes, Vec::<String>::new());
    let tracks = export::choices::tracks_named(&source.trace, "provider test").tracks;
    let attached = Selection {
        tracks,
        ..Selection::all()
    };
    let (blob, summary) = cut(folder.path(), &source, &attached);
    assert_eq!(blob.trace.instants.len(), 1);
    let said = "1 blob has no time of its own, and the record before it is left out: it gets the time of the record that is before it now";
    assert_eq!(summary.notes, [said]);
    let threads = source.trace.threads.iter().zip(0..);
    let selection = Selection {
        threads: threads
            .filter(|row| row.0.tid == 12)
            .map(|row| ThreadId(row.1))
            .collect(),
        ..Selection::all()
    };
    let (part, _) = cut(folder.path(), &source, &selection);
    assert_eq!(times(&part), expected);
    let (range_of_it, _) = cut(folder.path(), &source, &range(150, 450));
    assert_eq!(times(&range_of_it), expected);
    let (again, _) = cut(folder.path(), &part, &Selection::all());
    assert_eq!(times(&again), expected);
    let first = (0..again.trace.events.len() as u32).map(EventId);
    let mut first = first.filter(|&id| again.trace.events.time(id).0 == 200);
    let said = fields_of(&again, first.next().unwrap());
    assert_eq!((&*said["size"], &*said["really_at_ns"]), ("64", "200"));
}
