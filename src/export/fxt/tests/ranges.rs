//! Tests of a small trace with every kind of row, cut to a range.

use super::*;

#[test]
fn what_crosses_the_border_is_cut_there_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let (cut, _) = cut(folder.path(), &source, &range(300, 700));
    let expected: Vec<(String, u64, i64, i64)> = [
        ("inner", 11, 300, 700),
        ("job", 12, 600, 700),
        ("outer", 11, 300, 700),
        ("request", 11, 300, 700),
    ]
    .map(|(name, thread, start, end)| (name.to_owned(), thread, start, end))
    .to_vec();
    assert_eq!(drawn(&cut), expected);
    assert_eq!(unfinished(&cut).len(), 4);
    let outer = arguments(&cut, "outer");
    assert_eq!(outer["really_began_ns"], "0");
    assert_eq!(outer["really_ended_ns"], "1000");
    assert_eq!(outer["value"], "1");
    let job = arguments(&cut, "job");
    assert!(!job.contains_key("really_began_ns"));
    assert_eq!(job["really_ended_ns"], "800");

    let trace = &cut.trace;
    assert_eq!(trace.counters.times, vec![300, 400]);
    assert_eq!(trace.counters.values, vec![1.0, 7.0]);
    assert_eq!(trace.runs.starts, vec![300, 500]);
    assert_eq!(trace.runs.ends, vec![500, 700]);
    assert_eq!(trace.runs.priorities, vec![5, 6]);
    assert_eq!(
        trace.runs.end_states[0],
        crate::event::ThreadState::Uninterruptible
    );
    assert_eq!(trace.runs.end_states[1], crate::event::ThreadState::Unknown);
    let flows: Vec<(i64, i64)> = trace
        .flows
        .rows
        .iter()
        .map(|flow| (flow.from.time.0, flow.to.time.0))
        .collect();
    assert_eq!(flows, vec![(300, 650), (650, 699)]);
    // The flow continues to a slice that is not in the range.
    let [_, last] = trace.flows.rows.as_slice() else {
        panic!("{flows:?}");
    };
    assert_eq!(last.to.slice, None);
    let said = fields_of(&cut, last.to.event);
    assert_eq!(
        (&*said["really_in"], &*said["really_at_ns"]),
        ("late", "850")
    );
    assert_eq!(trace.logs.rows.len(), 1);
    assert_eq!(trace.processes.len(), 1);
    assert!(
        trace
            .diagnostics
            .rows()
            .iter()
            .all(|row| row.severity == crate::base::Severity::Info)
    );
}

#[test]
fn slices_that_overlap_do_not_lie_in_each_other_where_both_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for (name, span) in [
            ("around", (5, 120)),
            ("first", (10, 60)),
            ("inside", (20, 60)),
            ("second", (40, 90)),
            ("third", (45, 100)),
            ("short", (50, 55)),
            ("last", (130, 140)),
        ] {
            complete(out, name, span, &[]);
        }
    });
    let shape = |loaded: &LoadedTrace| -> Vec<(String, u32, Option<String>)> {
        let trace = &loaded.trace;
        let name = |id| trace.text(trace.slices.label(id).name).into_owned();
        let mut rows: Vec<_> = (0..trace.slices.len() as u32)
            .map(|row| trace.slices.get(SliceId(row)))
            .map(|slice| {
                let row = trace.slices.row_of(slice.id).row;
                (name(slice.id), row, slice.parent.map(name))
            })
            .collect();
        rows.sort();
        rows.retain(|row| row.0 != "last");
        rows
    };
    let (again, _) = cut(folder.path(), &source, &range(0, 58));
    assert_eq!(shape(&again), shape(&source));
    let row = |name: &str, start, end| (name.to_owned(), 11, start, end);
    let expected = [
        row("around", 5, 58),
        row("first", 10, 56),
        row("inside", 20, 56),
        row("second", 40, 57),
        row("short", 50, 55),
        row("third", 45, 58),
    ];
    assert_eq!(drawn(&again), expected);
    // `short` and `last` end in the range.
    assert_eq!(unfinished(&again).len(), 5);
    assert_eq!(arguments(&again, "first")["really_ended_ns"], "60");
    // Also if all of them began before the range.
    let parents = |loaded: &LoadedTrace| -> Vec<_> {
        let shape = shape(loaded).into_iter().filter(|row| row.0 != "short");
        shape.map(|row| (row.0, row.2)).collect()
    };
    let (again, _) = cut(folder.path(), &source, &range(50, 58));
    assert_eq!(parents(&again), parents(&source));
}

#[test]
fn who_waits_at_the_start_waits_in_the_range() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let side = |koid| Side::Thread { koid, weight: 5 };
        out.context_switch((100, 0), Side::Idle, (1, ""), side(7), None);
        out.context_switch((200, 0), side(7), (3, ""), side(8), None);
        out.context_switch((300, 0), side(8), (3, "D"), side(9), None);
        out.context_switch((900, 0), side(9), (1, ""), side(7), None);
    });
    let span = TimeSpan::new(Timestamp(400), Timestamp(950));
    let (again, _) = cut(folder.path(), &source, &Selection::range(span));
    let told = states(&again);
    for (tid, state, until) in [
        (7, ThreadState::Sleeping, 900),
        (8, ThreadState::Uninterruptible, i64::MAX),
        (9, ThreadState::Running, 900),
    ] {
        assert!(told.contains(&(tid, state, 400, until)), "{told:?}");
    }
    assert_eq!(again.trace.runs.len(), 2);
    assert!(again.trace.diagnostics.rows().is_empty());
}

#[test]
fn a_thread_is_taken_off_a_cpu_where_it_was_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let side = |koid| Side::Thread { koid, weight: 5 };
        out.context_switch((40, 0), Side::Idle, (1, ""), side(2), None);
        out.context_switch((60, 1), side(2), (3, ""), side(3), None);
    });
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    assert!(states(&source).contains(&(2, ThreadState::Sleeping, 60, i64::MAX)));
    assert_eq!(states(&again), states(&source));
}
