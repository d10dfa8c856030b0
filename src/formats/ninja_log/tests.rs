//! Lines are read as runs and targets.

use super::runs::{Line, read, version};
use super::*;
use crate::base::Job;
use crate::formats::build_units::Build;

fn builds(text: &str) -> Vec<Build> {
    read(text.as_bytes(), &Job::default()).unwrap().builds
}

/// Returns name, start and end (ms) of each target of each run.
fn targets(text: &str) -> Vec<Vec<(String, i64, i64)>> {
    let target = |unit: &crate::formats::build_units::Unit| {
        let name = String::from_utf8_lossy(&unit.name).into_owned();
        let ms = |ns: i64| ns / 1_000_000;
        (name, ms(unit.begin.time), ms(unit.end.unwrap().time))
    };
    let builds = builds(text);
    let each = builds.iter();
    each.map(|build| build.units.iter().map(target).collect())
        .collect()
}

fn named(list: &[(&str, i64, i64)]) -> Vec<(String, i64, i64)> {
    let own = |&(name, start, end): &(&str, i64, i64)| (name.to_owned(), start, end);
    list.iter().map(own).collect()
}

#[test]
fn lines_have_five_columns() {
    let line = Line::parse(b"1\t178\t1795492286155843978\tout/a b.o\t7a3bead2356cd1e5").unwrap();
    assert_eq!((line.start_ms, line.end_ms), (1, 178));
    assert_eq!(line.output, b"out/a b.o");
    assert_eq!(
        Line::parse(b"1\t2\t0\tout\twith tab\tff").unwrap().output,
        b"out\twith tab"
    );
    for bad in [
        "",
        "1\t2\t0\tout",
        "1\t2\t0\t\tff",
        "2\t1\t0\tout\tff",
        "1\t2\t0\tout\tcommand line",
        "1\t2\t0\tout\t",
        "x\t2\t0\tout\tff",
        "99999999999999999999\t2\t0\tout\tff",
    ] {
        assert_eq!(Line::parse(bad.as_bytes()), None, "{bad}");
    }
}

#[test]
fn outputs_of_one_command_are_one_target() {
    let text = "# ninja log v5\n0\t5\t0\ta.h\tff\n0\t5\t0\ta.c\tff\n0\t5\t0\tb.o\tee\n";
    assert_eq!(
        targets(text),
        [named(&[("a.h + 1 more", 0, 5), ("b.o", 0, 5)])]
    );
    let place = builds(text)[0].units[0].begin.place;
    let outputs = &fields(text.as_bytes(), place)[0];
    assert_eq!(outputs.value.to_string(), "{a.h, a.c}");
    assert_eq!(fields(text.as_bytes(), 9999), []);
}

#[test]
fn a_line_that_ended_earlier_starts_another_run() {
    let text = "# ninja log v5\n0\t50\t0\ta.o\t1\n50\t70\t0\tapp\t2\n1\t30\t0\ta.o\t1\n";
    let [first, second] = targets(text).try_into().unwrap();
    assert_eq!(first, named(&[("a.o", 0, 50), ("app", 50, 70)]));
    assert_eq!(second, named(&[("a.o", 71, 100)]));
    let spans: Vec<_> = builds(text).iter().map(|build| build.span).collect();
    assert_eq!(spans, [(0, 70_000_000), (70_000_000, 100_000_000)]);
}

/// ninja started at 1795493386275 ms; the second run 10 s later.
const REWRITTEN: &str = "# ninja log v7\n\
    1571\t2173\t1795493387845000000\tmain.o\t1\n\
    0\t241\t1795493386273000000\ta.o\t2\n\
    241\t567\t1795493386520000000\td.o\t3\n\
    2173\t2458\t1795493388448000000\tapp\t4\n\
    14\t290\t1795493386289000000\tb.o\t5\n\
    5\t300\t1795493396280000000\tlate.o\t6\n";

#[test]
fn lines_of_a_rewritten_log_are_grouped_by_the_start_of_ninja() {
    let [first, second] = targets(REWRITTEN).try_into().unwrap();
    assert_eq!(
        first,
        named(&[
            ("a.o", 0, 241),
            ("b.o", 14, 290),
            ("d.o", 241, 567),
            ("main.o", 1571, 2173),
            ("app", 2173, 2458)
        ])
    );
    assert_eq!(second, named(&[("late.o", 2463, 2758)]));
}

#[test]
fn modification_times_show_when_ninja_started() {
    let start = |text: &str| {
        read(text.as_bytes(), &Job::default())
            .unwrap()
            .wall_clock_zero_ns
    };
    let outputs = "# ninja log v5\n\
        1\t178\t1795492286155843978\ta.o\t1\n3\t584\t1795492286569396110\tc.o\t2\n1230\t1318\t1795492287326356890\tapp\t3\n";
    assert_eq!(start(outputs), Some(1795492286008356890));
    let starts = outputs.replace("v5", "v6");
    assert_eq!(start(&starts), Some(1795492286154843978));
    let none = "# ninja log v5\n0\t5\t0\ta\tff\n";
    assert_eq!(start(none), None);
}

#[test]
fn other_versions_are_refused() {
    for (text, is_known) in [
        ("# ninja log v5\n", true),
        ("# ninja log v7\r\n", true),
        ("# ninja log v4\n", false),
        ("# ninja log v50\n", false),
        ("# ninja log v\n", false),
    ] {
        assert_eq!(version(text.as_bytes()).is_ok(), is_known, "{text}");
    }
    assert_eq!(sniff(b"# ninja log v4\n"), Sniff::Yes);
    assert_eq!(sniff(b"# ninja lo"), Sniff::No);
}
