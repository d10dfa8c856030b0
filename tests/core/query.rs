//! Questions about the sample traces, held against plain scans over everything.

use std::path::Path;

use threadline::base::{Job, Nanos, Task, TimeSpan, Timestamp, Waker};
use threadline::event::Value;
use threadline::formats::EventRef;
use threadline::index::Index;
use threadline::load::{LoadedTrace, Reading, open, open_bytes};
use threadline::query::Item;
use threadline::query::details::describe;
use threadline::query::expression::{Expression, Matcher, argument_names, unknown_field};
use threadline::query::latency::Among;
use threadline::query::row_place::RowPlace;
use threadline::query::search::{
    EventFilter, Place, Places, Query, SearchedTrace, filter_events, search, start_filter,
    start_search,
};
use threadline::query::visible::{counter, profile};
use threadline::trace::slices::SliceRow;
use threadline::trace::{
    CounterTrackId, CpuId, EventId, SliceId, StateId, ThreadId, Trace, TrackKind,
};

fn sample(name: &str) -> LoadedTrace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample-traces")
        .join(name);
    open(&path, &Job::default()).unwrap()
}

fn event_ref(loaded: &LoadedTrace, id: EventId) -> EventRef {
    let event = loaded.trace.events.get(id);
    EventRef {
        part: event.part,
        place: event.row.place,
        time: event.row.time,
        kind: event.row.kind,
        thread: event.row.thread,
    }
}

fn matching(loaded: &LoadedTrace, text: &str) -> Vec<u32> {
    let expression = Expression::parse(text).unwrap();
    let matcher = Matcher::new(&expression, &loaded.trace, loaded.reader.as_ref()).unwrap();
    let mut probe = matcher.probe();
    let events = 0..loaded.trace.events.len() as u32;
    events
        .filter(|id| probe.is_match(Item::Event(EventId(*id))))
        .collect()
}

/// The same, decided on each event decoded in full.
fn scanned(
    loaded: &LoadedTrace,
    holds: impl Fn(&threadline::event::EventDetail) -> bool,
) -> Vec<u32> {
    let events = 0..loaded.trace.events.len() as u32;
    events
        .filter(|id| {
            holds(&describe(
                &loaded.trace,
                loaded.reader.as_ref(),
                EventId(*id),
            ))
        })
        .collect()
}

fn number(detail: &threadline::event::EventDetail, name: &str) -> Option<i64> {
    let field = detail.fields.iter().find(|field| field.name == name)?;
    match field.value {
        Value::Int(value) => Some(value),
        Value::UInt(value) => i64::try_from(value).ok(),
        _ => None,
    }
}

#[test]
fn single_fields_and_texts_are_those_of_the_whole_event() {
    for name in [
        "sched-irq-syscalls.dat",
        "kprobe-hackbench.dat",
        "block-ext4.dat",
        "sched-irq.ftrace",
    ] {
        let loaded = sample(name);
        let reader = loaded.reader.as_ref();
        for id in (0..loaded.trace.events.len() as u32).step_by(7) {
            let event = event_ref(&loaded, EventId(id));
            let detail = reader.describe(event);
            for field in &detail.fields {
                assert_eq!(
                    reader.value(event, &field.name).as_ref(),
                    Some(&field.value),
                    "{name} {id}"
                );
            }
            assert_eq!(reader.value(event, "no such field"), None);
            if let Some(names) = reader.field_names(event.kind) {
                let fields: Vec<&str> = detail.fields.iter().map(|field| &*field.name).collect();
                assert_eq!(names, fields, "{name} {id}");
            }
            if detail.stack.is_empty() {
                let mut text = Vec::new();
                reader.push_line(event, &mut text);
                assert_eq!(String::from_utf8_lossy(&text), detail.line(), "{name} {id}");
            }
        }
    }
}

#[test]
fn expressions_find_what_a_scan_finds() {
    let loaded = sample("sched-irq-syscalls.dat");
    type Holds = fn(&threadline::event::EventDetail) -> bool;
    let cases: &[(&str, Holds)] = &[
        (r#"name ~ "sched.*""#, |it| it.name.contains("sched")),
        ("sched_switch: next_prio < 100", |it| {
            it.name == "sched_switch" && number(it, "next_prio").is_some_and(|it| it < 100)
        }),
        ("prev_prio >= 120 && cpu == 1", |it| {
            it.cpu == Some(1) && number(it, "prev_prio").is_some_and(|it| it >= 120)
        }),
        ("prev_prio != 120", |it| {
            number(it, "prev_prio").is_some_and(|it| it != 120)
        }),
        ("category == irq && !(name == softirq_raise)", |it| {
            it.category == "irq" && it.name != "softirq_raise"
        }),
        ("next_comm ~ \"^sw\"", |it| {
            it.fields
                .iter()
                .any(|field| field.name == "next_comm" && field.text().starts_with("sw"))
        }),
        ("SWAPPER", |it| {
            let line = format!("{}: {}", it.name, it.line());
            format!("{line} {}", it.category)
                .to_lowercase()
                .contains("swapper")
        }),
        ("text ~ \"next_pid=1[0-9]*\"", |it| {
            it.line().contains("next_pid=1")
        }),
    ];
    for (text, holds) in cases {
        let found = matching(&loaded, text);
        assert_eq!(found, scanned(&loaded, holds), "{text}");
        println!("{text}: {}", found.len());
    }
    assert!(!matching(&loaded, "prev_prio >= 0").is_empty());
}

#[test]
fn slices_states_and_threads_can_be_asked_too() {
    let loaded = sample("sched-irq-syscalls.dat");
    let trace = &loaded.trace;
    let expression = Expression::parse("dur > 100us && depth == 0 && ts >= 0ns").unwrap();
    let matcher = Matcher::new(&expression, trace, loaded.reader.as_ref()).unwrap();
    let mut found = 0;
    for id in 0..trace.slices.len() as u32 {
        let item = Item::Slice(SliceId(id));
        let length = item.span(trace).unwrap().duration().0;
        let is_meant = length > 100_000 && trace.slices.depth(SliceId(id)) == 0;
        assert_eq!(matcher.is_match(item), is_meant);
        found += u32::from(is_meant);
    }
    assert!(found > 0);
    let expression = Expression::parse("state == runnable && dur > 10us").unwrap();
    let matcher = Matcher::new(&expression, trace, loaded.reader.as_ref()).unwrap();
    let mut found = 0;
    for id in 0..trace.states.len() as u32 {
        let item = Item::State(StateId(id));
        let is_meant = trace.states.states[id as usize].word() == "runnable"
            && item.span(trace).unwrap().duration().0 > 10_000;
        assert_eq!(matcher.is_match(item), is_meant);
        found += u32::from(is_meant);
    }
    assert!(found > 0);
}

#[test]
fn a_search_finds_each_thing_once_in_time_order() {
    let loaded = sample("sched-irq-syscalls.dat");
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let find = |text: &str, places: &[Place]| {
        let mut query = Query::new(Expression::parse(text).unwrap());
        if !places.is_empty() {
            query.places = Places::of(places);
        }
        search(trace, reader, &query, &Job::default(), &mut |_| {}).unwrap()
    };
    for text in [
        "sched",
        "cpu == 1",
        "dur > 10us",
        "/swapper.[01]/",
        "prev_prio < 200",
    ] {
        let found = find(text, &[Place::Events]);
        let ids = matching(&loaded, text);
        assert_eq!(found.total(), ids.len() as u64, "{text}");
        assert!(found.is_complete && found.lists_all());
        assert!(found.hits.is_sorted_by_key(|hit| hit.time), "{text}");
        let mut listed: Vec<u32> = found
            .hits
            .iter()
            .map(|hit| match hit.item {
                Item::Event(id) => id.0,
                other => panic!("{other:?}"),
            })
            .collect();
        listed.sort_unstable();
        assert_eq!(listed, ids, "{text}");
        for id in 0..trace.events.len() as u32 {
            assert_eq!(
                found.has(Item::Event(EventId(id))),
                ids.binary_search(&id).is_ok()
            );
        }
        let density = found.density(trace.span, 100);
        assert_eq!(
            density.iter().map(|&n| u64::from(n)).sum::<u64>(),
            found.total()
        );
    }
    // A call's slice stands for its two events; everything else is listed by itself.
    let found = find("rcu", &[]);
    let slices = found
        .hits
        .iter()
        .filter(|hit| matches!(hit.item, Item::Slice(_)))
        .count();
    let events = found.counts[Place::Events as usize];
    let all = find("rcu", &[Place::Events]).total();
    assert!(
        slices > 0 && events + 2 * slices as u64 >= all && events < all,
        "{slices} {events} {all}"
    );
    for hit in &found.hits {
        assert_eq!(hit.item.span(trace).map(|span| span.start), Some(hit.time));
        assert!(found.position(hit.time, hit.item).is_some());
    }
}

#[test]
fn a_limit_keeps_the_earliest_and_counts_all() {
    let loaded = sample("sched-irq-syscalls.dat");
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let mut query = Query::new(Expression::parse("sched").unwrap());
    let whole = search(trace, reader, &query, &Job::default(), &mut |_| {}).unwrap();
    query.limit = 10;
    let some = search(trace, reader, &query, &Job::default(), &mut |_| {}).unwrap();
    assert_eq!((some.total(), some.hits.len()), (whole.total(), 10));
    assert!(!some.lists_all());
    assert_eq!(some.hits[..], whole.hits[..10]);
    let sums: u32 = some.density(trace.span, 64).iter().sum();
    assert_eq!(u64::from(sums), whole.total());
    query.span = TimeSpan::new(whole.hits[20].time, whole.hits[30].time);
    let part = search(trace, reader, &query, &Job::default(), &mut |_| {}).unwrap();
    assert!(part.total() < whole.total() && part.total() >= 10);
    let job = Job::default();
    job.cancel();
    let none = search(trace, reader, &query, &job, &mut |_| {}).unwrap();
    assert!(!none.is_complete);
}

fn searched(loaded: &LoadedTrace) -> SearchedTrace {
    SearchedTrace {
        id: loaded.id,
        trace: loaded.trace.clone(),
        reader: loaded.reader.clone(),
    }
}

#[test]
fn a_search_in_the_background_ends_and_says_so() {
    let loaded = sample("sched-irq-syscalls.dat");
    let query = Query::new(Expression::parse("sched").unwrap());
    let (sender, woken) = std::sync::mpsc::channel();
    let wake = Waker::new(move || sender.send(()).unwrap_or(()));
    let mut task = Task::default();
    start_search(&mut task, wake, searched(&loaded), query).unwrap();
    while woken
        .recv_timeout(std::time::Duration::from_secs(60))
        .is_ok()
    {}
    assert!(!task.is_busy());
    let progress = task.progress();
    assert_eq!(progress.done, progress.total.unwrap_or(0));
    task.poll();
    let found = task.answer(loaded.id).unwrap();
    assert!(found.is_complete && found.total() > 0);
    let wrong = Query::new(Expression::parse("no_such_field == 1").unwrap());
    assert!(start_search(&mut task, Waker::none(), searched(&loaded), wrong).is_err());
}

#[test]
fn a_filter_lists_its_events_in_the_order_of_time() {
    let loaded = sample("sched-irq-syscalls.dat");
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    for text in [
        "sched",
        "cpu == 1 && sched_switch: prev_prio == 120",
        "no such text at all",
    ] {
        let expression = Expression::parse(text).unwrap();
        let always = TimeSpan::ALL;
        let mut steps = 0;
        let filter = EventFilter {
            expression: Some(expression.clone()),
            among: Among::All,
            span: always,
        };
        let found =
            filter_events(trace, reader, &filter, &Job::default(), &mut |_| steps += 1).unwrap();
        let matcher = Matcher::new(&expression, trace, reader).unwrap();
        let plain: Vec<EventId> = trace
            .events
            .from_time(Timestamp::MIN)
            .filter(|id| matcher.is_match(Item::Event(*id)))
            .collect();
        assert!(found.is_complete && steps > 0);
        assert_eq!(found.len(), plain.len(), "{text}");
        assert_eq!(found.iter_from(0).collect::<Vec<_>>(), plain, "{text}");
        for (at, id) in plain.iter().enumerate().step_by(37) {
            assert_eq!(found.get(at), Some(*id));
            let rank = found.rank(trace, trace.events.time(*id));
            assert!(rank <= at);
            assert_eq!(trace.events.time(plain[rank]), trace.events.time(*id));
        }
        assert_eq!(found.get(plain.len()), None);
        assert_eq!(found.rank(trace, Timestamp::MAX), plain.len());
    }
    let expression = Expression::parse("sched").unwrap();
    let (sender, woken) = std::sync::mpsc::channel();
    let wake = Waker::new(move || sender.send(()).unwrap_or(()));
    let filter = EventFilter {
        expression: Some(expression),
        among: Among::All,
        span: TimeSpan::ALL,
    };
    let mut task = Task::default();
    start_filter(&mut task, wake, searched(&loaded), 1, filter).unwrap();
    while woken
        .recv_timeout(std::time::Duration::from_secs(60))
        .is_ok()
    {}
    task.poll();
    let events = task.answer(loaded.id).unwrap();
    assert!(events.is_complete && !events.is_empty());
}

#[test]
fn events_of_chosen_threads_and_cpus_are_listed_with_and_without_a_filter() {
    let mut listed = 0;
    for name in ["sched-irq-syscalls.dat", "sched-irq.ftrace", "compress.fxt"] {
        let loaded = sample(name);
        let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
        let busy = (1..trace.threads.len() as u32).map(ThreadId);
        let busy = busy.max_by_key(|id| trace.runs.of(*id).len()).unwrap();
        let (start, quarter) = (trace.span.start, Nanos(trace.span.duration().0 / 4));
        let span = TimeSpan::new(start + quarter, trace.span.end - quarter);
        let cpu = trace.runs.cpu_at(busy, span.start).unwrap_or(CpuId(0));
        let sched = Expression::parse("sched").unwrap();
        for among in [
            Among::AnyOf(vec![busy], vec![]),
            Among::AnyOf(vec![], vec![cpu]),
            Among::AnyOf(vec![busy], vec![cpu]),
            Among::AllOf(vec![busy], vec![cpu]),
        ] {
            for expression in [None, Some(&sched)] {
                let filter = EventFilter {
                    expression: expression.cloned(),
                    among: among.clone(),
                    span,
                };
                let job = Job::default();
                let found = filter_events(trace, reader, &filter, &job, &mut |_| ()).unwrap();
                let matcher = expression.map(|it| Matcher::new(it, trace, reader).unwrap());
                let plain: Vec<EventId> = trace
                    .events
                    .from_time(span.start)
                    .take_while(|id| trace.events.time(*id) < span.end)
                    .filter(|id| among.has(trace.events.thread(*id), trace.cpu_of(*id)))
                    .filter(|id| {
                        let matcher = matcher.as_ref();
                        matcher.is_none_or(|it| it.is_match(Item::Event(*id)))
                    })
                    .collect();
                assert!(found.is_complete);
                listed += plain.len();
                let found: Vec<EventId> = found.iter_from(0).collect();
                assert_eq!(found, plain, "{name} {among:?} {expression:?}");
            }
        }
    }
    assert!(listed > 1000, "{listed}");
}

#[test]
fn events_of_several_files_are_found_where_they_lie_on_the_axis() {
    let names = ["sched-irq-syscalls.dat", "kprobe-hackbench.dat"];
    let paths = names.map(|name| {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("sample-traces")
            .join(name)
    });
    let joined =
        threadline::load::together::open_together(&paths, &[], &[], &Job::default(), None).unwrap();
    let (trace, reader) = (joined.trace.as_ref(), joined.reader.as_ref());
    let expression = Expression::parse("name == \"sched_switch\"").unwrap();
    let matcher = Matcher::new(&expression, trace, reader).unwrap();
    let (start, half) = (trace.span.start, Nanos(trace.span.duration().0 / 2));
    let mut counts = Vec::new();
    for span in [
        TimeSpan::ALL,
        TimeSpan::new(start, start + half),
        TimeSpan::new(start + half, trace.span.end),
    ] {
        let filter = EventFilter {
            expression: Some(expression.clone()),
            among: Among::All,
            span,
        };
        let found = filter_events(trace, reader, &filter, &Job::default(), &mut |_| ());
        let found: Vec<EventId> = found.unwrap().iter_from(0).collect();
        let plain: Vec<EventId> = trace
            .events
            .from_time(span.start)
            .take_while(|id| trace.events.time(*id) < span.end)
            .filter(|id| matcher.is_match(Item::Event(*id)))
            .collect();
        assert_eq!(found, plain, "{span:?}");
        counts.push(found.len());
    }
    let alone: usize = names
        .iter()
        .map(|name| {
            let loaded = sample(name);
            let trace = loaded.trace.as_ref();
            let matcher = Matcher::new(&expression, trace, loaded.reader.as_ref()).unwrap();
            let events = trace.events.from_time(Timestamp::MIN);
            events
                .filter(|id| matcher.is_match(Item::Event(*id)))
                .count()
        })
        .sum();
    assert!(counts[0] == alone && alone > 100, "{counts:?} {alone}");
}

#[test]
fn a_field_that_no_event_has_is_an_error_at_its_place() {
    let loaded = sample("sched-irq-syscalls.dat");
    let expression = Expression::parse("cpu == 0 && prev_proi < 5").unwrap();
    let error = Matcher::new(&expression, &loaded.trace, loaded.reader.as_ref()).unwrap_err();
    assert_eq!((error.at, error.length), (12, 9));
    let names = argument_names(&loaded.trace, loaded.reader.as_ref());
    assert!(names.is_sorted() && names.iter().any(|name| name == "prev_prio"));
    assert!(
        argument_names(
            &sample("sched-irq.ftrace").trace,
            sample("sched-irq.ftrace").reader.as_ref()
        )
        .is_empty()
    );
}

#[test]
fn a_counters_steps_say_what_holds_after_samples_that_share_a_pixel() {
    let loaded = sample("compress.fxt");
    let (trace, index) = (&loaded.trace, &loaded.index);
    let (times, values) = (&trace.counters.times, &trace.counters.values);
    let (mut steps, mut shared) = (Vec::new(), 0);
    for (number, track) in trace.counters.tracks.iter().enumerate() {
        let id = CounterTrackId(number as u32);
        counter(trace, index, id, trace.span, 300, &mut steps);
        let all: u32 = steps.iter().map(|step| step.count).sum();
        assert_eq!(all, track.samples.len() as u32);
        for step in &steps {
            let last = (step.first + step.count - 1) as usize;
            assert_eq!((step.settled, step.last), (times[last], values[last]));
            assert!(step.start <= step.settled && step.settled <= step.end);
            // A bar from the smallest to the largest value is no wider than a pixel.
            let pixel = trace.span.duration().0 / 300;
            assert!(step.settled - step.start <= pixel);
            shared += u32::from(step.count > 1 && step.end - step.settled > 10 * pixel);
        }
    }
    assert!(shared > 0, "the sample has bursts before long holds");
}

#[test]
fn times_of_any_form_are_compared_and_fields_are_not_taken_for_texts() {
    let loaded = sample("sched-irq.ftrace");
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let count = |text: &str| {
        let query = Query::new(Expression::parse(text).unwrap());
        search(trace, reader, &query, &Job::default(), &mut |_| {}).map(|found| found.total())
    };
    let middle = trace.span.start.0 + trace.span.duration().0 / 2;
    let by_number = count(&format!("ts > {middle}")).unwrap();
    assert!(by_number > 0);
    assert_eq!(count(&format!("ts > @{middle}")).unwrap(), by_number);
    // Here only events tell which fields there are.
    let text = "prev_prio == next_prio";
    assert_eq!(count(text).unwrap(), 0);
    let error = unknown_field(&Expression::parse(text).unwrap(), trace, reader).unwrap();
    assert!(error.to_string().contains("is a field, too"), "{error}");
    assert_eq!(count("prev_comm == \"next_comm\"").unwrap(), 0);
    let loaded = sample("sched-irq-syscalls.dat");
    let expression = Expression::parse("sched_switch: prev_prio == next_prio").unwrap();
    let error = Matcher::new(&expression, &loaded.trace, loaded.reader.as_ref());
    assert!(error.is_err_and(|error| error.to_string().contains("is a field, too")));
}

/// Rows of the tables in data sets lead to the items that they are about.
#[test]
fn rows_of_tables_lead_to_their_items() {
    let switches = sample("sched-irq-syscalls.dat").trace;
    let counters = sample("compress.fxt").trace;
    assert!(switches.states.len() > 100 && counters.counters.times.len() > 10);
    rows_lead_to_items(&switches);
    rows_lead_to_items(&counters);
}

fn rows_lead_to_items(trace: &Trace) {
    let nowhere = RowPlace {
        time: Timestamp(0),
        length: None,
        id: None,
        track: None,
        thread: None,
    };
    let place = |item: Item, id: Option<u32>| {
        let span = item.span(trace).unwrap();
        RowPlace {
            time: span.start,
            length: Some(span.duration()),
            id,
            ..nowhere
        }
    };
    for row in &trace.slices.rows {
        for id in row.slices.clone() {
            let item = Item::Slice(SliceId(id));
            let track = Some(row.track.0);
            let with_id = RowPlace {
                track,
                ..place(item, Some(id))
            };
            assert_eq!(with_id.item(trace), Some(item));
            // Without the number, slices that begin together and are as long are the same.
            let without = RowPlace {
                id: None,
                ..with_id
            };
            let found = without.item(trace).unwrap();
            assert_eq!(found.span(trace), item.span(trace));
        }
    }
    let states = (0..trace.states.len() as u32).map(StateId);
    for id in states {
        let thread = Some(trace.states.get(id).thread);
        let item = Item::State(id);
        let without = RowPlace {
            thread,
            ..place(item, None)
        };
        let found = without.item(trace).unwrap();
        assert_eq!(found.span(trace), item.span(trace));
        assert_eq!(found.thread(trace), thread);
    }
    for track in (0..trace.counters.tracks.len() as u32).map(CounterTrackId) {
        let samples = trace.counters.tracks[track.0 as usize].samples.clone();
        for row in samples {
            let number = Some(trace.tracks.len() as u32 + track.0);
            let item = Item::Sample(track, row);
            let place = RowPlace {
                track: number,
                ..place(item, Some(row))
            };
            assert_eq!(place.item(trace), Some(item));
        }
    }
    // Nothing begins there.
    let between = RowPlace {
        time: trace.span.end + Nanos(1),
        id: Some(1),
        ..nowhere
    };
    assert_eq!(between.item(trace), None);
}

/// Returns the share of each name in the profile of the rows of a thread's slices, `first` and below, of the whole trace.
fn profile_shares(loaded: &LoadedTrace, tid: u64, first: usize, pixels: u32) -> Vec<(String, f32)> {
    let trace = loaded.trace.as_ref();
    let index = Index::new(trace, &Job::default()).unwrap();
    let is_ours = |row: &SliceRow| {
        let kind = trace.tracks[row.track.0 as usize].kind;
        matches!(kind, TrackKind::Thread(id) if trace.thread(id).tid == tid)
    };
    let rows = (0..)
        .zip(&trace.slices.rows)
        .filter(|(_, row)| is_ours(row));
    let rows: Vec<u32> = rows.map(|(at, _)| at).skip(first).collect();
    let rows = rows[0]..rows[rows.len() - 1] + 1;
    let mut blocks = Vec::new();
    let names = profile(trace, &index, rows, trace.span, pixels, &mut blocks);
    let all: f32 = blocks.iter().flat_map(|block| block.times).sum();
    let share = |part: usize| blocks.iter().map(|block| block.times[part]).sum::<f32>() / all;
    let named = names.iter().enumerate().map(|(part, label)| {
        let name = label.map_or("others".to_owned(), |label| {
            trace
                .text(trace.slices.labels.get(label as usize).unwrap().name)
                .into_owned()
        });
        (name, share(part))
    });
    named.filter(|(_, share)| *share > 0.0).collect()
}

#[test]
fn a_profile_shows_the_names_that_were_innermost() {
    let mut events = Vec::new();
    let mut add = |tid: u32, name: &str, from: u32, length: u32| {
        events.push(format!(
            r#"{{"ph":"X","pid":1,"tid":{tid},"name":"{name}","ts":{from},"dur":{length}}}"#
        ));
    };
    for tid in [1, 2] {
        add(tid, "outer", 0, 4_000_000);
    }
    for at in (0..4_000_000).step_by(1_000) {
        // `mid` is covered by what it calls.
        add(1, "mid", at, 1_000);
        for (name, from, length) in [("f", 0, 400), ("g", 400, 350), ("h", 750, 250)] {
            add(1, name, at + from, length);
        }
        // `a` is covered by `c`; `b` calls nothing.
        for (name, from, length) in [("a", 0, 600), ("c", 0, 600), ("b", 600, 400)] {
            add(2, name, at + from, length);
        }
    }
    let text = format!("[{}]", events.join(","));
    let opened = open_bytes(
        "profile.json",
        text.into(),
        Reading::default(),
        &Job::default(),
    );
    let loaded = opened.unwrap();
    // From afar the sums are those of the pyramid, near by those of the slices.
    for pixels in [40, 1_000, 100_000] {
        for (tid, wanted) in [
            (1, &[("f", 0.4), ("g", 0.35), ("h", 0.25)][..]),
            (2, &[("c", 0.6), ("b", 0.4)]),
        ] {
            let shares = profile_shares(&loaded, tid, 1, pixels);
            assert_eq!(shares.len(), wanted.len(), "{pixels} {shares:?}");
            for ((name, share), (wanted_name, wanted)) in shares.iter().zip(wanted) {
                assert_eq!(name, wanted_name, "{shares:?}");
                assert!((share - wanted).abs() < 0.002, "{pixels} {shares:?}");
            }
        }
    }
}
