//! Tests of bytes that belong to no thread, and of values of counters.

use super::*;
use crate::event::FieldRole;

#[test]
fn payloads_of_any_size_are_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let payload: Vec<u8> = (0..1_000_000_u32).map(|i| (i % 251) as u8).collect();
    let source = written(folder.path(), |out| {
        let name = out.name("dump");
        let place = Head {
            name,
            ..head(EventType::Instant, 5, 100)
        };
        out.large_event(place, &[], &payload);
        out.blob(b"small", b"", Some(3), &payload[..20_000]);
        out.blob(b"large", b"files", None, &payload[..100_000]);
    });
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    let sizes = |loaded: &LoadedTrace| {
        let (trace, reader) = (&loaded.trace, loaded.reader.as_ref());
        let mut found: Vec<(String, usize)> = crate::query::blobs::blobs(trace, reader)
            .into_iter()
            .map(|blob| {
                let bytes = crate::query::blobs::payload(trace, reader, blob.event).unwrap();
                assert!(payload.starts_with(&bytes), "{}", blob.name);
                (blob.name, bytes.len())
            })
            .collect();
        found.sort();
        found
    };
    let expected = [("dump", 1_000_000), ("large", 100_000), ("small", 20_000)];
    assert_eq!(
        sizes(&source),
        expected.map(|(name, size)| (name.to_owned(), size))
    );
    assert_eq!(sizes(&again), sizes(&source));
}

#[test]
fn blobs_keep_sort_name_and_category_however_small() {
    let folder = tempfile::tempdir().unwrap();
    let mut expected = Vec::new();
    let source = written(folder.path(), |out| {
        let payload = [7_u8; 40_000];
        for (size, blob_type) in [(1, 1), (511, 2), (512, 3), (513, 1), (32_000, 2)] {
            out.blob(
                format!("blob {size}").as_bytes(),
                b"",
                Some(blob_type),
                &payload[..size],
            );
            expected.push((format!("blob {size}"), "blob".to_owned(), size));
        }
        out.blob(b"attached", b"files", None, &payload[..100]);
        expected.push(("attached".to_owned(), "files".to_owned(), 100));
        let name = out.name("dump");
        let place = Head {
            name,
            ..head(EventType::Instant, 5, 100)
        };
        let size = [Arg::new("size", ArgValue::Int32(3))];
        out.large_event(place, &size, &payload[..100]);
    });
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    let all = |loaded: &LoadedTrace| {
        let found = crate::query::blobs::blobs(&loaded.trace, loaded.reader.as_ref());
        let facts = |blob: crate::query::blobs::Blob| {
            (blob.name, blob.category, blob.sort, blob.size_bytes)
        };
        found.into_iter().map(facts).collect::<Vec<_>>()
    };
    assert_eq!(all(&again), all(&source));
    for (name, category, size) in expected {
        let is_it = |blob: &(String, String, String, u64)| {
            (&blob.0, &blob.1, blob.3) == (&name, &category, size as u64)
        };
        assert!(all(&again).iter().any(is_it), "{name}");
    }
}

#[test]
fn counters_keep_name_category_id_and_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for (time, most) in [(5, u64::MAX), (8, (1 << 53) + 1)] {
            let base = head(EventType::Counter, time, 100);
            let (category, name) = (out.name("memory"), out.name("A::B"));
            let args = [
                Arg::new("v", ArgValue::UInt64(most)),
                Arg::new("is_full", ArgValue::Bool(true)),
                Arg::new("w", ArgValue::UInt32(4_000_000_000)),
            ];
            let place = Head {
                category,
                name,
                ..base
            };
            out.event(place, &args, Some(7));
        }
    });
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(summary.count_of("counter samples"), 2);
    let all = |loaded: &LoadedTrace| {
        let ids = 0..loaded.trace.events.len() as u32;
        let described = ids.map(|id| {
            let event = EventRef::from(loaded.trace.events.get(EventId(id)));
            let detail = loaded.reader.describe(event);
            (event.time, detail.category, detail.name, detail.fields)
        });
        described.collect::<Vec<_>>()
    };
    assert_eq!(all(&again), all(&source));
    // A range that starts between the events: each value is an event of its own, under the same name.
    for (from, count) in [(5, 2), (6, 3)] {
        let span = TimeSpan::new(Timestamp(from), Timestamp(9));
        let (again, summary) = cut(folder.path(), &source, &Selection::range(span));
        assert_eq!(summary.count_of("counter samples"), count);
        let names = |loaded: &LoadedTrace| {
            let tracks = loaded.trace.counters.tracks.iter();
            let mut names: Vec<String> = tracks
                .map(|track| loaded.trace.text(track.name).into_owned())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(&again), ["A::B:v:7", "A::B:w:7"]);
    }
}

#[test]
fn an_argument_that_a_record_holds_stays_one() {
    let folder = tempfile::tempdir().unwrap();
    // Header, time, name and the argument's header take the other words; with them no second argument fits.
    let most = (4095 - 2 - 2 - 1) * 8;
    let source = written(folder.path(), |out| {
        let blob = Arg::new("blob", ArgValue::Blob(vec![7; most].into()));
        let name = out.name("big");
        let base = head(EventType::Instant, 5, 11);
        out.event(Head { name, ..base }, &[blob], None);
    });
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(summary.notes, Vec::<String>::new());
    assert_eq!(again.trace.events.len(), 1);
    let mut fields = Vec::new();
    let event = again.trace.events.get(EventId(0));
    again.reader.fields_into(event.into(), &mut fields);
    assert_eq!(
        fields[0].value,
        crate::event::ValueRef::Bytes(vec![7; most].into())
    );
}

#[test]
fn an_argument_may_have_the_name_of_a_payload() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let args = [
            Arg::new("payload", ArgValue::Blob(vec![1, 2].into())),
            Arg::new("type", ArgValue::UInt64(3)),
            Arg::new("id", ArgValue::Int32(4)),
        ];
        let name = out.name("dump");
        let base = head(EventType::Instant, 5, 100);
        out.large_event(Head { name, ..base }, &args, &[7; 100]);
    });
    let reader = source.reader.as_ref();
    let mut fields = Vec::new();
    let event = source.trace.events.get(EventId(0));
    reader.fields_into(event.into(), &mut fields);
    let roles: Vec<_> = fields.iter().map(|it| (&*it.name, it.role)).collect();
    let expected = [
        ("payload", FieldRole::BlobArgument),
        ("type", FieldRole::Argument),
        ("id", FieldRole::Argument32),
        ("size", FieldRole::PayloadSize),
        ("payload", FieldRole::Payload),
    ];
    assert_eq!(roles, expected);
    let attached = crate::export::shared::arguments::blob_of(&fields).unwrap();
    assert_eq!(*attached.payload, [7; 100]);
    assert_eq!(attached.blob_type, None);
    let blobs = crate::query::blobs::blobs(&source.trace, reader);
    assert_eq!(blobs[0].sort, "large");
}
