//! Exports of only some threads, processes, tracks, counters or CPUs.

use super::*;
use crate::trace::CpuId;

#[test]
fn only_what_was_chosen_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let worker = source
        .trace
        .threads
        .iter()
        .position(|thread| thread.tid == 12)
        .unwrap();
    let selection = Selection {
        threads: vec![ThreadId(worker as u32)],
        ..Selection::all()
    };
    let (cut, summary) = cut(folder.path(), &source, &selection);
    assert_eq!(slices(&cut), vec![("job".to_owned(), 12, 600, 800)]);
    assert_eq!(cut.trace.runs.starts, vec![500]);
    // The switch from another thread is one of idle, and an argument names that thread.
    assert_eq!(summary.count_of("context switches"), 1);
    let said = fields_of(&cut, cut.trace.runs.event(0).unwrap());
    assert_eq!(said["really_outgoing"], "11");
    assert_eq!(said["outgoing"], "0");
    assert_eq!(cut.trace.counters.times, Vec::<i64>::new());
    assert_eq!(summary.count_of("slices"), 1);
    assert_eq!(summary.count_of("threads"), 1);
}

#[test]
fn only_the_tracks_and_counters_that_were_chosen_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let named = export::choices::tracks_named(&source.trace, "request");
    let (tracks, counters) = (named.tracks, named.counters);
    assert_eq!((tracks.len(), counters.len()), (1, 0));
    let selection = Selection {
        tracks,
        ..Selection::all()
    };
    let (one, summary) = cut(folder.path(), &source, &selection);
    assert_eq!(slices(&one), vec![("request".to_owned(), 11, 50, 950)]);
    assert_eq!(summary.count_of("counter samples"), 0);
    let named = export::choices::tracks_named(&source.trace, "load");
    let (tracks, counters) = (named.tracks, named.counters);
    let selection = Selection {
        tracks,
        counters,
        ..Selection::all()
    };
    let (one, _) = cut(folder.path(), &source, &selection);
    assert_eq!(one.trace.counters.values, vec![1.0, 7.0]);
    assert!(slices(&one).is_empty());
    assert_eq!(one.trace.text(one.trace.processes[0].name), "game");
    let names: Vec<String> = export::choices::choices(&source.trace)
        .into_iter()
        .map(|row| row.name)
        .collect();
    for name in ["game", "t11", "request", "load:value"] {
        assert!(
            names.iter().any(|other| other == name),
            "{name} in {names:?}"
        );
    }
}

/// Returns a trace in which threads 11 and 12 of process 10 do the same things one after the other, each on its CPU.
fn twins(folder: &Path) -> LoadedTrace {
    written(folder, |out| {
        let side = |koid| Side::Thread { koid, weight: 5 };
        for (thread, at) in [(11, 0), (12, 1000)] {
            let mut event = |event_type, time, name: &str, args: &[Arg<'_>], word| {
                let name = out.name(name);
                let base = head(event_type, at + time, thread);
                out.event(Head { name, ..base }, args, word);
            };
            let value = [Arg::new("value", ArgValue::Int64(thread as i64))];
            event(EventType::AsyncBegin, 110, "request", &[], Some(thread));
            event(EventType::AsyncInstant, 120, "sent", &[], Some(thread));
            event(EventType::Counter, 130, "load", &value, Some(0));
            event(EventType::Complete, 140, "job", &[], Some(at + 400));
            event(EventType::Instant, 150, "point", &[], None);
            event(EventType::AsyncEnd, 190, "request", &[], Some(thread));
            let cpu = (thread - 11) as u16;
            out.context_switch((at + 100, cpu), Side::Idle, (1, ""), side(thread), None);
            out.context_switch((at + 200, cpu), side(thread), (1, ""), Side::Idle, None);
            out.log(at + 160, koids(10, thread), b"said");
        }
        // Thread 11 continues on the other CPU.
        out.context_switch((300, 1), Side::Idle, (1, ""), side(11), None);
        out.context_switch((500, 1), side(11), (3, ""), Side::Idle, None);
    })
}

/// Returns the numbers of async slices, instants (including logs), samples, slices, logs and runs.
fn counts(loaded: &LoadedTrace) -> [usize; 6] {
    let trace = &loaded.trace;
    let slices = |is_wanted: &dyn Fn(&str) -> bool| {
        let names = slices(loaded);
        names.iter().filter(|row| is_wanted(&row.0)).count()
    };
    [
        slices(&|name| name == "request"),
        trace.instants.len(),
        trace.counters.times.len(),
        slices(&|name| name == "job"),
        trace.logs.rows.len(),
        trace.runs.len(),
    ]
}

#[test]
fn a_thread_comes_with_what_it_did_on_tracks_of_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let source = twins(folder.path());
    assert_eq!(counts(&source), [2, 6, 2, 2, 2, 3]);
    let found = source.trace.threads.iter();
    let at = found.into_iter().position(|thread| thread.tid == 12);
    let selection = Selection {
        threads: vec![ThreadId(at.unwrap() as u32)],
        ..Selection::all()
    };
    let (one, summary) = cut(folder.path(), &source, &selection);
    assert_eq!(counts(&one), [1, 3, 1, 1, 1, 1]);
    assert_eq!(one.trace.counters.values, [12.0]);
    assert_eq!(summary.count_of("threads"), 1);
    // The value in force when the range starts is the last one that the thread recorded.
    let late = Selection {
        span: range(1180, 3000).span,
        ..selection
    };
    let (one, _) = cut(folder.path(), &source, &late);
    assert_eq!(one.trace.counters.values, [12.0]);
    let first = Selection {
        threads: vec![ThreadId(1)],
        ..late
    };
    let (one, _) = cut(folder.path(), &source, &first);
    assert_eq!(one.trace.counters.values, [11.0]);
}

#[test]
fn threads_of_a_track_that_was_chosen_have_their_process() {
    let folder = tempfile::tempdir().unwrap();
    let source = twins(folder.path());
    let named = export::choices::tracks_named(&source.trace, "request");
    let (tracks, counters) = (named.tracks, named.counters);
    let selection = Selection {
        tracks,
        counters,
        ..Selection::all()
    };
    let (one, summary) = cut(folder.path(), &source, &selection);
    assert_eq!(counts(&one), [2, 2, 0, 0, 0, 0]);
    assert_eq!(summary.count_of("threads"), 2);
    let threads = one.trace.threads.iter().skip(1);
    let homes: Vec<_> = threads.map(|thread| thread.process.is_some()).collect();
    assert_eq!(homes, [true, true]);
}

#[test]
fn a_cpu_comes_with_what_ran_there() {
    let folder = tempfile::tempdir().unwrap();
    let source = twins(folder.path());
    let on = |cpu, span: TimeSpan| Selection {
        cpus: vec![CpuId(cpu)],
        span,
        ..Selection::all()
    };
    let all = Selection::all().span;
    let (zero, _) = cut(folder.path(), &source, &on(0, all));
    assert_eq!(counts(&zero), [1, 3, 2, 1, 1, 1]);
    // The job of thread 11 continued on CPU 1.
    let (one, _) = cut(folder.path(), &source, &on(1, all));
    assert_eq!(counts(&one), [1, 3, 2, 2, 1, 2]);
    let early = on(1, range(0, 250).span);
    assert_eq!(counts(&cut(folder.path(), &source, &early).0)[3], 0);
}

#[test]
fn wakeups_for_runs_on_other_cpus_are_not_of_a_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let side = Side::Thread {
            koid: 11,
            weight: 5,
        };
        out.thread_object((10, 11), b"t");
        for (cpu, start) in [(0, 100), (1, 300)] {
            out.wakeup(start - 50, cpu, 11, None);
            out.context_switch((start, cpu), Side::Idle, (1, ""), side, None);
            out.context_switch((start + 100, cpu), side, (3, ""), Side::Idle, None);
        }
    });
    let selection = Selection {
        cpus: vec![CpuId(1)],
        ..Selection::all()
    };
    let (one, summary) = cut(folder.path(), &source, &selection);
    assert_eq!(summary.count_of("wakeups"), 1);
    let expected = [
        (11, ThreadState::Runnable, 250, 300),
        (11, ThreadState::Running, 300, 400),
        (11, ThreadState::Sleeping, 400, i64::MAX),
    ];
    assert_eq!(states(&one), expected);
}

#[test]
fn tracks_come_with_their_logs_and_the_arrows_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let tracks = |names: &[&str]| Selection {
        tracks: names
            .iter()
            .flat_map(|name| export::choices::tracks_named(&source.trace, name).tracks)
            .collect(),
        ..Selection::all()
    };
    let json = |selection: &Selection| -> Vec<String> {
        let mut json = Vec::new();
        export::chrome_json::EXPORTER
            .write_to(&source, selection, &mut json, &Job::default())
            .unwrap();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let rows = json["traceEvents"].as_array().unwrap().iter();
        let mut phases: Vec<String> = rows
            .filter_map(|row| Some(row["ph"].as_str()?.to_owned()))
            .filter(|phase| ["s", "t", "f"].contains(&&**phase))
            .collect();
        phases.sort();
        phases
    };
    let both = tracks(&["t11", "t12"]);
    let (again, _) = cut(folder.path(), &source, &both);
    assert_eq!(again.trace.flows.rows.len(), 1);
    assert_eq!(again.trace.logs.rows.len(), 1);
    assert_eq!(json(&both), ["f", "s"]);
    let one = tracks(&["t11"]);
    let (again, _) = cut(folder.path(), &source, &one);
    assert_eq!(again.trace.flows.rows.len(), 0);
    assert_eq!(again.trace.logs.rows.len(), 0);
    assert!(json(&one).is_empty());
}
