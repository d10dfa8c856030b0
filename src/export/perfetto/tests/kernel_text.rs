//! Texts of the kernel whose fields have other names or notations than the messages of Perfetto's own.

use super::super::layout::{ftrace_event, packet, track_event};
use super::kernel::{Event, events, trace_of};
use super::read::{ReadField, first, number, text};
use super::{Read, exported};
use crate::export::Selection;

/// Exports a recording with one line for each of these texts.
fn export_of(texts: &[&str]) -> Read {
    let lines = texts.iter().enumerate().map(|(at, text)| {
        let time = 100 + at;
        format!("             cat-10      [000] d..1.     1.000{time}: {text}\n")
    });
    exported(&trace_of(&lines.collect::<String>()), &Selection::all())
}

/// Exports a text; returns its message, which must have this number.
fn message(kind: u32, event: &str) -> Vec<ReadField> {
    let read = export_of(&[event]);
    let found = events(&read).remove(0);
    assert_eq!(found.kind, kind, "{event}");
    found.message
}

#[test]
fn flags_are_printed_in_hex() {
    let newtask = "task_newtask: pid=11 comm=sh clone_flags=";
    let flags = |text: &str| {
        number(
            &message(235, &format!("{newtask}{text} oom_score_adj=0")),
            3,
        )
    };
    assert_eq!(flags("1200011"), 0x120_0011);
    assert_eq!(flags("3d0f00"), 0x3d_0f00);
    // The option `fields`.
    assert_eq!(flags("0x1200011 (18874385)"), 0x120_0011);
    let deliver = "signal_deliver: sig=17 errno=0 code=1 sa_handler=5566 sa_flags=14000000";
    assert_eq!(number(&message(324, deliver), 2), 0x1400_0000);
    // One text has all digits, the next one letters: both are messages.
    let line = |flags: &str| format!("{newtask}{flags} oom_score_adj=0");
    let read = export_of(&[&line("1200011"), &line("3d0f00")]);
    assert!(events(&read).iter().all(|event| event.kind == 235));
}

#[test]
fn fields_have_other_names_in_texts() {
    let fork = message(
        239,
        "sched_process_fork: comm=a pid=1 child_comm=b child_pid=2",
    );
    assert_eq!((text(&fork, 1), number(&fork, 2)), ("a".into(), 1));
    assert_eq!((text(&fork, 3), number(&fork, 4)), ("b".into(), 2));
    let generate = "signal_generate: sig=17 errno=0 code=1 comm=sh pid=9 grp=1 res=2";
    let generate = message(325, generate);
    assert_eq!((number(&generate, 3), number(&generate, 5)), (1, 2));
    let blocked = message(18, "sched_blocked_reason: pid=9 iowait=1 caller=f+0x1/0x2");
    assert_eq!(number(&blocked, 3), 1);
    let limits = message(12, "cpu_frequency_limits: min=800000 max=2400000 cpu_id=0");
    assert_eq!(
        (number(&limits, 1), number(&limits, 2)),
        (800_000, 2_400_000)
    );
    let complete = message(117, "block_bio_complete: 8,0 R 1234 + 8 [5]");
    assert_eq!(number(&complete, 4), 5);
}

#[test]
fn words_are_numbers() {
    let entry = "irq_handler_entry: irq=1 name=i8042";
    for (word, expected) in [("handled", 1), ("unhandled", 0)] {
        let read = export_of(&[entry, &format!("irq_handler_exit: irq=1 ret={word}")]);
        let exit = &events(&read)[1];
        assert_eq!((exit.kind, number(&exit.message, 2)), (37, expected));
    }
    let read = export_of(&[
        "device_pm_callback_start: usb 1-1, parent: usb1, driver [suspend]",
        "device_pm_callback_end: usb 1-1, err=0",
    ]);
    assert_eq!(number(&events(&read)[0].message, 5), 2);
}

#[test]
fn texts_without_names_are_messages() {
    let resume = message(113, "suspend_resume: machine_suspend[3] begin");
    assert_eq!(text(&resume, 1), "machine_suspend");
    assert_eq!((number(&resume, 2), number(&resume, 3)), (3, 1));
    let source = message(404, "wakeup_source_activate: 1-1 state=0x10001");
    assert_eq!(
        (text(&source, 1), number(&source, 2)),
        ("1-1".into(), 0x10001)
    );
    assert_eq!(text(&message(123, "block_plug: [my dd]"), 1), "my dd");
    let unplug = message(133, "block_unplug: [dd] 3");
    assert_eq!((number(&unplug, 1), text(&unplug, 2)), (3, "dd".into()));
    for (number_of_kind, name) in [(132, "block_touch_buffer"), (121, "block_dirty_buffer")] {
        let buffer = message(number_of_kind, &format!("{name}: 8,1 sector=12 size=4096"));
        assert_eq!(number(&buffer, 1), 8 << 20 | 1);
        assert_eq!((number(&buffer, 2), number(&buffer, 3)), (12, 4096));
    }
    let split = message(131, "block_split: 8,0 WS 10 / 18 [dd]");
    assert_eq!((number(&split, 2), number(&split, 3)), (10, 18));
    assert_eq!(
        (text(&split, 4), text(&split, 5)),
        ("WS".into(), "dd".into())
    );
    let remap = message(120, "block_bio_remap: 8,0 R 10 + 8 <- (8,1) 2");
    assert_eq!((number(&remap, 4), number(&remap, 5)), (8 << 20 | 1, 2));
}

#[test]
fn work_items_are_slices_of_the_reader_alone() {
    let work = "work struct 00000000f2b0a0c1";
    let read = export_of(&[
        "workqueue_queue_work: work struct=00000000f2b0a0c1 function=vmstat_update workqueue=mm req_cpu=8192 cpu=0",
        &format!("workqueue_activate_work: {work}"),
        &format!("workqueue_activate_work: {work} function=vmstat_update"),
        &format!("workqueue_execute_start: {work}: function vmstat_update"),
        &format!("workqueue_execute_end: {work}: function vmstat_update"),
    ]);
    let events = events(&read);
    let kinds: Vec<u32> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [59, 56, 56, 58, 57]);
    let work = |event: &Event| number(&event.message, 1);
    assert!(events.iter().all(|event| work(event) == 0xf2b0_a0c1));
    let function = |event: &Event| first(&event.message, 2).map(ReadField::number);
    assert_eq!(function(&events[2]), function(&events[3]));
    assert!(function(&events[3]).is_some_and(|function| function != 0));
    assert!(read.messages(packet::TRACK_EVENT).is_empty());
}

#[test]
fn marks_of_programs_are_slices_and_counters_of_the_reader_alone() {
    let read = export_of(&[
        "tracing_mark_write: hello a=1 b=2",
        "tracing_mark_write: B|10|draw: x=1",
        "tracing_mark_write: C|10|mem|42",
        "tracing_mark_write: E|10",
        "print: tracing_mark_write: B|10|again",
        "print: tracing_mark_write: E",
    ]);
    let events = events(&read);
    let texts: Vec<String> = events
        .iter()
        .inspect(|event| assert_eq!(event.kind, 3))
        .map(|event| text(&event.message, 2))
        .collect();
    let expected = [
        "hello a=1 b=2",
        "B|10|draw: x=1",
        "C|10|mem|42",
        "E|10",
        "B|10|again",
        "E",
    ];
    assert_eq!(texts, expected);
    let written = read.messages(packet::TRACK_EVENT);
    let kinds = written
        .iter()
        .map(|(_, event)| number(event, track_event::TYPE));
    assert_eq!(kinds.collect::<Vec<_>>(), [0_u64; 0]);
}

/// The start or the end of an accounted request.
fn io(end: &str, sector: u32) -> String {
    format!("block_io_{end}: 8,0 WS 4096 () {sector} + 8 be,0,4 [my dd]")
}

#[test]
fn accounted_requests_are_slices_of_the_reader_alone() {
    let read = export_of(&[
        &io("start", 1234),
        &io("done", 1234),
        &io("start", 8),
        &io("done", 8),
    ]);
    let events = events(&read);
    let kinds: Vec<u32> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [546, 547, 546, 547]);
    assert_eq!(number(&events[0].message, 2), 1234);
    assert_eq!(text(&events[0].message, 7), "my dd");
    assert!(read.messages(packet::TRACK_EVENT).is_empty());
}

#[test]
fn accounted_requests_that_overlap_are_our_slices() {
    let read = export_of(&[
        &io("start", 1234),
        &io("start", 8),
        &io("done", 1234),
        &io("done", 8),
    ]);
    let is_described = |event: &Event| event.kind >= ftrace_event::FIRST_DESCRIBED;
    assert!(events(&read).iter().all(is_described));
    // Two begins and two ends.
    assert_eq!(read.messages(packet::TRACK_EVENT).len(), 4);
}

#[test]
fn a_text_in_an_unknown_form_is_described() {
    let read = export_of(&["suspend_resume: hello"]);
    assert!(events(&read)[0].kind >= ftrace_event::FIRST_DESCRIBED);
}

#[test]
fn thread_states_that_are_printed_as_numbers_have_the_assumed_ones() {
    let read = export_of(&[
        "sched_switch: prev_comm=a prev_pid=0xa (10) prev_prio=0x78 (120) prev_state=0x100 (256) next_comm=b next_pid=0xb (11) next_prio=0x78 (120)",
    ]);
    assert_eq!(number(&events(&read)[0].message, 4), 2048);
}
