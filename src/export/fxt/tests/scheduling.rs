//! Tests of switches and wakeups that the tables of runs and states do not contain: several at one time, lost ones,
//! wakeups of threads that are ready already.

use super::*;

fn threads(out: &mut Records<'_>) {
    out.process_object(10, b"game");
    for thread in [11, 21, 22, 23, 31] {
        out.thread_object((10, thread), format!("t{thread}").as_bytes());
    }
}

/// Writes a switch of a CPU from one thread to another; 0 is idle.
fn switch(out: &mut Records<'_>, (time, cpu): (u64, u16), outgoing: u64, incoming: u64, state: u8) {
    let side = |koid, weight| match koid {
        0 => Side::Idle,
        koid => Side::Thread { koid, weight },
    };
    let (outgoing, incoming) = (side(outgoing, 5), side(incoming, 6));
    out.context_switch((time, cpu), outgoing, (state, ""), incoming, None);
}

/// Returns time and fields of all scheduling records.
fn records(loaded: &LoadedTrace) -> Vec<String> {
    let trace = &loaded.trace;
    let events = (0..trace.events.len() as u32).map(EventId);
    let told = events.filter_map(|id| {
        let detail = loaded.reader.describe(trace.events.get(id).into());
        let fields = detail.fields.iter();
        let fields: Vec<String> = fields
            .map(|field| format!("{}: {} = {}", field.name, field.type_name, field.value))
            .collect();
        let time = trace.events.time(id).0;
        (detail.category == "scheduling").then(|| format!("{time} {} {fields:?}", detail.name))
    });
    told.collect()
}

fn keeps(fill: impl FnOnce(&mut Records<'_>)) -> LoadedTrace {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        threads(out);
        fill(out);
        out.event(head(EventType::Instant, 5000, 22), &[], None);
    });
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    // The copy contains an end for each run whose end no switch names; the record of that end has an argument that says
    // so.
    let mut kept = records(&again);
    kept.retain(|record| !record.contains("end_not_seen"));
    assert_eq!(kept, records(&source));
    assert_eq!(states(&again), states(&source));
    // If a thread or a CPU is left out the records are made from the tables.
    let thread = |id: &ThreadId| source.trace.thread(*id).tid != 11;
    let threads = (0..source.trace.threads.len() as u32).map(ThreadId);
    let others = Selection {
        threads: threads.filter(thread).collect(),
        ..Selection::all()
    };
    let of_others = |loaded: &LoadedTrace| -> Vec<_> {
        let mut states = states(loaded);
        states.retain(|state| state.0 != 11);
        states
    };
    let (part, _) = cut(folder.path(), &source, &others);
    assert_eq!(of_others(&part), of_others(&source));
    again
}

#[test]
fn a_thread_that_migrates_within_a_tick_goes_on_running() {
    keeps(|out| {
        switch(out, (1000, 0), 0, 31, 1);
        switch(out, (1000, 1), 0, 11, 1);
        switch(out, (2000, 0), 31, 0, 1);
        switch(out, (2000, 1), 11, 31, 3);
        switch(out, (2000, 0), 0, 21, 1);
        switch(out, (3000, 1), 31, 11, 3);
        switch(out, (4000, 0), 21, 0, 3);
        switch(out, (4000, 1), 11, 0, 3);
    });
}

#[test]
fn switches_of_one_time_stay_the_records_that_they_were() {
    keeps(|out| {
        switch(out, (1000, 0), 0, 22, 1);
        switch(out, (2000, 0), 22, 0, 3);
        switch(out, (2000, 0), 0, 23, 1);
    });
    keeps(|out| {
        switch(out, (1000, 0), 0, 22, 1);
        switch(out, (1000, 0), 22, 0, 3);
    });
    keeps(|out| {
        switch(out, (1000, 0), 0, 22, 1);
        switch(out, (2000, 0), 22, 0, 3);
        out.prepare(&[Arg::new("weight", ArgValue::Int32(99))]);
        out.prepared_wakeup(on_cpu(2000, 0), 22, None);
    });
}

#[test]
fn a_thread_that_is_switched_off_where_switches_were_lost_is_said() {
    keeps(|out| {
        switch(out, (1000, 1), 0, 22, 1);
        switch(out, (2000, 1), 21, 22, 3);
        switch(out, (3000, 1), 22, 0, 3);
        switch(out, (5000, 1), 0, 31, 1);
    });
}

#[test]
fn wakeups_of_threads_that_are_up_keep_their_wakers() {
    let again = keeps(|out| {
        switch(out, (10, 0), 0, 22, 1);
        // In the other events its number belongs to a thread of another process.
        let base = head(EventType::Instant, 12, 22);
        let thread = koids(77, 22);
        out.event(Head { thread, ..base }, &[], None);
        out.wakeup(15, 0, 22, None);
        out.wakeup(16, 0, 22, Some(22));
        out.wakeup(17, 3, 23, Some(0));
        out.wakeup(18, 70, 23, Some(22));
        switch(out, (19, 0), 22, 0, 3);
    });
    // An export of one process has the wakeups as well.
    let folder = tempfile::tempdir().unwrap();
    let threads = (0..again.trace.threads.len() as u32).map(ThreadId);
    let process = |id: &ThreadId| {
        let process = again.trace.thread(*id).process;
        process.is_some_and(|process| again.trace.processes[process.0 as usize].pid == 10)
    };
    let one = Selection {
        threads: threads.filter(process).collect(),
        ..Selection::all()
    };
    let (part, _) = cut(folder.path(), &again, &one);
    let wakeups = |loaded: &LoadedTrace| -> Vec<String> {
        let mut records = records(loaded);
        records.retain(|record| record.contains("wakeup"));
        records
    };
    assert_eq!(wakeups(&part), wakeups(&again));
    assert!(
        again
            .trace
            .threads
            .iter()
            .all(|thread| thread.tid < 1 << 63)
    );
}

#[test]
fn koid_0_stays_that() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for (process, thread) in [(0, 0), (0, 5), (7, 0), (7, 7)] {
            let base = head(EventType::Instant, 10 + process + thread, 0);
            let thread = koids(process, thread);
            out.event(Head { thread, ..base }, &[], None);
        }
    });
    let koids = |loaded: &LoadedTrace| -> Vec<(Option<u64>, u64)> {
        let trace = &loaded.trace;
        let process = |id: crate::trace::ProcessId| trace.processes[id.0 as usize].pid;
        let threads = trace.threads.iter().skip(1);
        let mut koids: Vec<_> = threads
            .map(|thread| (thread.process.map(process), thread.tid))
            .collect();
        koids.sort_unstable();
        koids
    };
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(koids(&again), koids(&source));
    assert!(summary.notes.is_empty(), "{:?}", summary.notes);
}

#[test]
fn the_first_switch_of_a_cpu_keeps_the_priority_of_who_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first.ftrace");
    let line = |time: u32, from: (&str, u32), to: (&str, u32)| {
        format!(
            "{:>16}-{:<6} [001] d..2. {time:>5}.000000: sched_switch: prev_comm={} prev_pid={} prev_prio=98 \
             prev_state=S ==> next_comm={} next_pid={} next_prio=120\n",
            from.0, from.1, from.0, from.1, to.0, to.1
        )
    };
    let (a, b, c) = (("a", 21), ("b", 22), ("c", 31));
    // The second switch of each pair has lost the switch before it.
    let text = [line(1, a, b), line(2, a, b), line(3, b, c)].concat();
    std::fs::write(&path, ["# tracer: nop\n#\n", &text].concat()).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(states(&again), states(&source));
    let said = records(&again);
    let first = said
        .iter()
        .filter(|record| record.contains("outgoing: koid = 21"));
    assert_eq!(first.clone().count(), 2, "{said:?}");
    for record in first {
        assert!(record.contains("outgoing_weight: int32 = 98"), "{said:?}");
    }
}

#[test]
fn switches_and_wakeups_of_a_part_keep_their_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let long = "l".repeat(20_000);
    let source = written(folder.path(), |out| {
        threads(out);
        let side = |koid| Side::Thread { koid, weight: 5 };
        let many: Vec<Arg<'_>> = (0..12_i64)
            .map(|number| Arg::new(format!("s{number:02}"), ArgValue::Int64(number)))
            .collect();
        let why = [
            Arg::new("why", ArgValue::text("preempt")),
            Arg::new("long", ArgValue::text(long.as_str())),
        ];
        let bytes = [
            Arg::new("why", ArgValue::text("bytes")),
            Arg::new("bytes", ArgValue::Blob(vec![7; 32_000].into())),
        ];
        out.prepare(&many);
        out.switch_with_arguments((100, 0), Side::Idle, (1, ""), side(11), None);
        out.prepare(&why);
        out.switch_with_arguments((200, 0), side(11), (3, ""), side(12), None);
        out.prepare(&many);
        out.prepared_wakeup(on_cpu(300, 0), 11, Some(12));
        out.prepare(&bytes);
        out.switch_with_arguments((400, 0), side(12), (3, ""), side(11), None);
        out.context_switch((500, 0), side(11), (3, ""), Side::Idle, None);
    });
    let selection = Selection {
        cpus: vec![crate::trace::CpuId(0)],
        ..Selection::all()
    };
    let (part, summary) = cut(folder.path(), &source, &selection);
    assert_eq!(part.trace.runs.len(), 3);
    let said = |time| {
        let trace = &part.trace;
        let mut events = (0..trace.events.len() as u32).map(EventId);
        let event = events.find(|&id| trace.events.time(id).0 == time);
        fields_of(&part, event.unwrap())
    };
    for time in [100, 300] {
        let said = said(time);
        assert_eq!(said["s07"], "7", "at {time}");
        let more: serde_json::Value = serde_json::from_str(&said["more"]).unwrap();
        let expected = serde_json::json!({"s08": 8, "s09": 9, "s10": 10, "s11": 11});
        assert_eq!(more, expected, "at {time}");
    }
    let switched = said(200);
    assert_eq!(switched["why"], "preempt");
    assert_eq!(switched["long"], long);
    let with_bytes = said(400);
    assert_eq!(with_bytes["why"], "bytes");
    let has = |words: &str| summary.notes.iter().any(|note| note.contains(words));
    assert!(has("'more'"), "{:?}", summary.notes);
}
