//! Pages and logs are read as builds; damage is reported, and the rest is read.

use super::seconds::unix_ns;
use super::*;
use crate::base::Job;
use crate::event::Fact;
use crate::formats::build_units::{Build, Log, Section, Unit};

const PAGE_TEXT: &str = r#"<html>
<head>
<title>Cargo Build Timings — shop 0.1.0</title>
<table class="my-table summary-table">
<tr>
<td>Targets:</td><td>shop 0.1.0 (lib)<br>shop 0.1.0 ( shop &quot;bin&quot;)</td>
</tr>
<tr>
<td>Build start:</td><td>2026-11-24T04:07:44.458156176Z</td>
</tr>
</table>
<script>
DURATION = 2;
const UNIT_DATA = [
  {
    "i": 7, "name": "a", "version": "1.0.0", "mode": "todo", "target": "", "features": ["std"],
    "start": 0.25, "duration": 1.0, "unblocked_units": [9], "unblocked_rmeta_units": [8],
    "sections": [["frontend", {"start": 0.0, "end": 0.6}], ["codegen", {"start": 0.6, "end": 1.0}]]
  },
  {
    "i": 8, "name": "b", "version": "2.0.0", "mode": "run-custom-build", "target": " build-script (run)",
    "features": [], "start": 0.85, "duration": 0.1, "unblocked_units": [], "unblocked_rmeta_units": [], "sections": null
  },
  {
    "i": 9, "name": "c", "version": "", "mode": "todo", "target": "", "features": [],
    "start": 1.3, "duration": 0.2, "rmeta_time": 0.15, "unblocked_units": [77], "unblocked_rmeta_units": [], "sections": null
  }
];
const CONCURRENCY_DATA = [
  {
    "t": 0.25, "active": 1, "waiting": 0, "inactive": 2
  },
  {
    "t": 1.6, "active": 0, "waiting": 0, "inactive": 0
  }
];
const CPU_USAGE = [
  [
    0.5,
    87.5
  ]
];
"#;

fn of_page(text: &str) -> Log {
    page::read(text.as_bytes(), &Job::default()).unwrap()
}

fn of_journal(text: &str) -> Log {
    journal::read(text.as_bytes(), &Job::default()).unwrap()
}

/// Returns name, start and end (ms) of a unit or section.
fn span(name: &[u8], begin: i64, end: Option<i64>) -> (String, i64, Option<i64>) {
    let ms = |ns: i64| ns / 1_000_000;
    let name = String::from_utf8_lossy(name).into_owned();
    (name, ms(begin), end.map(ms))
}

fn unit_span(unit: &Unit) -> (String, i64, Option<i64>) {
    let end = unit.end.map(|end| end.time);
    span(&unit.name, unit.begin.time, end)
}

fn section_span(section: &Section) -> (String, i64, Option<i64>) {
    let end = section.end.map(|end| end.time);
    span(&section.name, section.begin.time, end)
}

/// Returns the indices of both units, and the time in ms.
fn unblocks(build: &Build) -> Vec<(usize, usize, i64)> {
    let each = build.unblocks.iter();
    each.map(|it| (it.from, it.to, it.time / 1_000_000))
        .collect()
}

fn named(name: &str, begin: i64, end: i64) -> (String, i64, Option<i64>) {
    (name.to_owned(), begin, Some(end))
}

#[test]
fn units_of_the_page_have_sections_and_unblock_others() {
    let log = of_page(PAGE_TEXT);
    let [build] = log.builds.as_slice() else {
        panic!("one build");
    };
    let units: Vec<_> = build.units.iter().map(unit_span).collect();
    assert_eq!(
        units,
        [
            named("a v1.0.0", 250, 1250),
            named("b v2.0.0 build-script (run)", 850, 950),
            named("c", 1300, 1500)
        ]
    );
    let sections: Vec<_> = build.units[0].sections.iter().map(section_span).collect();
    assert_eq!(
        sections,
        [named("frontend", 250, 850), named("codegen", 850, 1250)]
    );
    let older: Vec<_> = build.units[2].sections.iter().map(section_span).collect();
    assert_eq!(
        older,
        [named("frontend", 1300, 1450), named("codegen", 1450, 1500)]
    );
    // The first unit's metadata is written after its front end; number 77 is not a unit.
    assert_eq!(unblocks(build), [(0, 2, 1250), (0, 1, 850)]);
    assert_eq!(build.units[1].category, b"run-custom-build");
    assert_eq!(build.span, (0, 1_600_000_000));
}

#[test]
fn the_page_has_counters_and_facts() {
    let log = of_page(PAGE_TEXT);
    let counters = &log.builds[0].counters;
    let names: Vec<_> = counters
        .iter()
        .map(|it| (it.name, it.samples.len()))
        .collect();
    assert_eq!(
        names,
        [
            ("units active", 2),
            ("units waiting", 2),
            ("units inactive", 2),
            ("CPU usage (%)", 1)
        ]
    );
    let (moment, value) = counters[3].samples[0];
    assert_eq!((moment.time, value), (500_000_000, 87.5));
    let targets = "shop 0.1.0 (lib), shop 0.1.0 ( shop \"bin\")".to_owned();
    assert_eq!(log.facts[0], Fact::new("targets", targets));
    assert_eq!(log.wall_clock_zero_ns, Some(1_795_493_264_458_156_176));
}

#[test]
fn a_damaged_unit_is_left_out_and_a_page_without_units_refused() {
    let damaged = PAGE_TEXT.replace("\"i\": 8,", "\"i\": @,");
    let log = of_page(&damaged);
    let units: Vec<_> = log.builds[0].units.iter().map(unit_span).collect();
    assert_eq!(
        units,
        [named("a v1.0.0", 250, 1250), named("c", 1300, 1500)]
    );
    assert_eq!(log.diagnostics.count_of("bad_unit"), 1);
    let cut = &PAGE_TEXT[..PAGE_TEXT.find("\"version\": \"2").unwrap()];
    let log = of_page(cut);
    assert_eq!(log.builds[0].units.len(), 1);
    assert_eq!(log.diagnostics.count_of("bad_unit"), 1);
    let without = PAGE_TEXT.replace("UNIT_DATA", "OTHER");
    assert!(page::read(without.as_bytes(), &Job::default()).is_err());
}

#[test]
fn details_are_the_members_of_the_unit() {
    let log = of_page(PAGE_TEXT);
    let fields = fields(PAGE_TEXT.as_bytes(), log.builds[0].units[1].begin.place);
    let value = |name: &str| {
        let field = fields.iter().find(|field| field.name == name);
        field.map(|field| field.value.to_string())
    };
    assert_eq!(value("name").as_deref(), Some("b"));
    assert_eq!(value("start").as_deref(), Some("0.85"));
    assert_eq!(value("sections").as_deref(), Some("null"));
    assert!(super::fields(PAGE_TEXT.as_bytes(), 1 << 40).is_empty());
}

const LOG_TEXT: &str = r##"{"run_id":"x","timestamp":"2026-11-24T04:09:29.288565456Z","reason":"build-started","command":["cargo","build"],"cwd":"/src/shop","jobs":2}
{"run_id":"x","timestamp":"2026-11-24T04:09:30.000000000Z","reason":"unit-registered","package_id":"registry+https://example.com/index#anyhow@1.0.104","target":{"name":"anyhow","kind":"lib"},"mode":"build","index":0,"dependencies":[1]}
{"run_id":"x","timestamp":"2026-11-24T04:09:30.000000000Z","reason":"unit-registered","package_id":"path+file:///src/shop#0.1.0","target":{"name":"shop","kind":"bin"},"mode":"test","index":1}
{"run_id":"x","timestamp":"2026-11-24T04:09:30.000000000Z","reason":"unit-registered","package_id":"path+file:///src/shop#0.1.0","target":{"name":"build-script-build","kind":"build-script"},"mode":"run-custom-build","index":2}
{"run_id":"x","timestamp":"2026-11-24T04:09:30.500000001Z","reason":"unit-started","index":0,"elapsed":0.5}
{"run_id":"x","timestamp":"2026-11-24T04:09:30.600000000Z","reason":"unit-rmeta-finished","index":0,"elapsed":0.600000123,"unblocked":[1]}
not json
{"run_id":"x","timestamp":"2026-11-24T04:09:30.700000000Z","reason":"unit-started","index":1,"elapsed":0.7}
{"run_id":"x","timestamp":"2026-11-24T04:09:30.710000000Z","reason":"unit-section-started","index":1,"elapsed":0.71,"section":"codegen"}
{"run_id":"x","timestamp":"2026-11-24T04:09:30.720000000Z","reason":"unit-section-finished","index":1,"elapsed":0.72,"section":"codegen"}
{"run_id":"x","timestamp":"2026-11-24T04:09:31.000000000Z","reason":"unit-finished","index":0,"elapsed":1.0}
"##;

#[test]
fn the_log_has_units_with_ns_and_those_that_never_ended() {
    let log = of_journal(LOG_TEXT);
    let build = &log.builds[0];
    let units: Vec<_> = build.units.iter().map(unit_span).collect();
    let open = "shop v0.1.0 bin \"shop\" (test)".to_owned();
    assert_eq!(
        units,
        [named("anyhow v1.0.104", 500, 1000), (open, 700, None)]
    );
    assert_eq!(build.unblocks[0].time, 600_000_123);
    assert_eq!(unblocks(build), [(0, 1, 600)]);
    let sections: Vec<_> = build.units[1].sections.iter().map(section_span).collect();
    assert_eq!(
        sections,
        [named("frontend", 700, 710), named("codegen", 710, 720)]
    );
    assert_eq!(build.arguments, [b"cargo".to_vec(), b"build".to_vec()]);
    assert_eq!(build.directory, b"/src/shop");
    assert_eq!(log.wall_clock_zero_ns, Some(1_795_493_370_000_000_001));
    assert_eq!(log.diagnostics.count_of("bad_line"), 1);
    let fresh = Fact::new("units that were not built", "1 (fresh, or never started)");
    assert!(log.facts.contains(&fresh));
}

#[test]
fn both_forms_are_known_by_their_heads() {
    for (head, known) in [
        (PAGE_TEXT, true),
        (LOG_TEXT, true),
        ("<html><title>Cargo Build Timings", true),
        ("<html><title>Other page</title>", false),
        ("{\"traceEvents\":[]}", false),
        ("{\"run_id\":\"x\",\"other\":1}", false),
        ("", false),
    ] {
        assert_eq!(sniff(head.as_bytes()) == Sniff::Yes, known, "{head}");
    }
}

#[test]
fn dates_have_ns() {
    assert_eq!(unix_ns("1970-01-02T00:00:01.5Z"), Some(86_401_500_000_000));
    assert_eq!(unix_ns("1970-01-01T00:01:01Z"), Some(61_000_000_000));
    for bad in [
        "",
        "1970-01-02",
        "1970-01-02T00:00:Z",
        "1970-01-02T24:00:01.5Z",
        "1970-01-02T00:00:01.5+01:00",
        "1970-13-02T00:00:01.5Z",
        "1970-01-02T00:00:01.0123456789Z",
    ] {
        assert_eq!(unix_ns(bad), None, "{bad}");
    }
}
