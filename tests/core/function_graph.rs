//! What the function graph tracer records in forms that few recordings have: its texts in every layout that its options
//! make (columns for times, threads and flags, marks of overhead, arguments, return values and addresses, durations
//! with few digits, and none at all), and the events of newer kernels on several clocks.
//! Layouts: `print_graph_*` in the kernel's `kernel/trace/trace_functions_graph.c`, `Documentation/trace/ftrace.rst`.

use crate::files::Files;
use threadline::base::Job;
use threadline::event::Value;
use threadline::load::open;
use threadline::query::details::describe;
use threadline::trace::EventId;

/// Name, begin, duration, depth and thread of the slices of a text.
type Row = (String, i64, Option<i64>, i64, Option<i64>);

fn rows(text: &str) -> Vec<Row> {
    let files = Files::new(&[("graph.txt", text)]);
    let rows = files.table(&["slices", "graph.txt"]);
    let rows = rows.iter().map(|row| {
        let number = |name: &str| row[name].as_i64();
        (
            row["name"].as_str().unwrap().to_owned(),
            number("ts").unwrap(),
            number("dur"),
            number("depth").unwrap(),
            number("tid"),
        )
    });
    rows.collect()
}

fn row(name: &str, begin: i64, duration: i64, depth: i64, tid: i64) -> Row {
    let tid = (tid >= 0).then_some(tid);
    (name.to_owned(), begin, Some(duration), depth, tid)
}

const ARGUMENTS: &str = "\
# tracer: function_graph
#
#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
#      |          |     |    |           |   |                     |   |   |   |
  360.774528 |   1)    sh-4802    |               |  vfs_read(file=0xffff888101234500, buf=0x7ffd, count=4096) { /* <-ksys_read+0x6a/0xe0 */
  360.774529 |   1)    sh-4802    |   0.541 us    |    rw_verify_area(read_write=0, ppos=(STRUCT)[0x1, 0x2]); /* <-vfs_read+0x8e/0x370 ret=0x0 */
  360.774530 |   1)    sh-4802    |               |    slow [ext4]() {
  360.774531 |   1)    sh-4802    | * 12345.67 us |      inner.constprop.0();
  361.999999 |   1)    sh-4802    | $ 1225469 us  |    } /* slow [ext4] ret=-22 */
  361.999999 |   1)    sh-4802    | $ 1225471 us  |  } /* vfs_read ret=0x1000 */
";

#[test]
fn arguments_return_values_and_callers_are_no_names() {
    let second = 1_000_000_000;
    let expected = [
        row(
            "vfs_read",
            360 * second + 774_528_000,
            1_225_471_000,
            0,
            4802,
        ),
        row("rw_verify_area", 360 * second + 774_529_000, 541, 1, 4802),
        row("slow", 360 * second + 774_530_000, 1_225_469_000, 1, 4802),
        row(
            "inner.constprop.0",
            360 * second + 774_531_000,
            12_345_670,
            2,
            4802,
        ),
    ];
    assert_eq!(rows(ARGUMENTS), expected);
}

#[test]
fn the_depth_that_trace_cmd_prints_is_no_part_of_a_step() {
    let plain = "\
cpus=2
          mix.sh-329   [001]    65.939114: funcgraph_entry:      ! 121.067 us |  mutex_unlock();
          mix.sh-329   [001]    65.956995: funcgraph_entry:                   |  vfs_read() {
          mix.sh-329   [001]    65.957014: funcgraph_entry:        2.129 us   |    __rcu_read_lock();
          mix.sh-329   [001]    65.957025: funcgraph_exit:       + 12.551 us  |  }
";
    let expected = rows(plain);
    let names: Vec<&str> = expected.iter().map(|row| row.0.as_str()).collect();
    assert_eq!(names, ["mutex_unlock", "vfs_read", "__rcu_read_lock"]);
    let with_depth = plain.replace(";\n", "; (1)\n").replace("{\n", "{ (0)\n");
    assert_eq!(rows(&with_depth.replace("}\n", "} (0)\n")), expected);
}

#[test]
fn details_say_what_returned_and_how_exact_a_duration_is() {
    let files = Files::new(&[("graph.txt", ARGUMENTS)]);
    let loaded = open(&files.0.path().join("graph.txt"), &Job::default()).unwrap();
    let shown = |event: u32, name: &str| {
        let detail = describe(&loaded.trace, loaded.reader.as_ref(), EventId(event));
        let field = detail.fields.iter().find(|field| field.name == name);
        field.map(|field| field.shown.clone())
    };
    for (event, duration, returned) in [
        (0, None, None),
        (1, Some("541 ns"), Some("0x0")),
        (
            3,
            Some("12.345 ms (text: 12345.67 us, cut by less than 10 ns)"),
            None,
        ),
        (
            4,
            Some("1.225 s (text: 1225469 us, cut by less than 1 µs)"),
            Some("-22"),
        ),
        (
            5,
            Some("1.225 s (text: 1225471 us, cut by less than 1 µs)"),
            Some("0x1000"),
        ),
    ] {
        let found = (shown(event, "duration"), shown(event, "retval"));
        let wanted = (duration.map(str::to_owned), returned.map(str::to_owned));
        assert_eq!(found, wanted, "event {event}");
    }
}

#[test]
fn every_set_of_columns_is_read() {
    // funcgraph-proc without times: durations move a clock of each CPU.
    let text = "# tracer: function_graph
#
# CPU  TASK/PID         DURATION                  FUNCTION CALLS
# |     |    |           |   |                     |   |   |   |
 0)    sh-4802    |               |  d_free() {
 0)    sh-4802    |   0.616 us    |    call_rcu_core(a=0x1); /* = 0x0 */
 0)    sh-4802    | + 22.899 us   |  } /* d_free = 0x0 */
 0)    sh-4802    | # 1234.567 us |  g();
 1)   <idle>-0    | ! 100.616 us  |  h();
";
    let expected = [
        row("d_free", 0, 22_899, 0, 4802),
        row("call_rcu_core", 0, 616, 1, 4802),
        row("h", 0, 100_616, 0, 0),
        row("g", 22_899, 1_234_567, 0, 4802),
    ];
    assert_eq!(rows(text), expected);
    // funcgraph-abstime alone; the latency format with its flags.
    let text = "# tracer: function_graph
  360.000010 |   1)               |  a() {
  360.000011 |   1)   0.541 us    |    b();
  360.000021 |   1) + 11.000 us   |  }
";
    let expected = [
        row("a", 360_000_010_000, 11_000, 0, -1),
        row("b", 360_000_011_000, 541, 1, -1),
    ];
    assert_eq!(rows(text), expected);
    let text = "# tracer: function_graph
# function_graph latency trace v1.1.5 on 6.1.0
        4 us |   0)    sh-4802    |  d..1 |   0.541 us    |  mutex_unlock();
        5 us |   0)    sh-4802    |  d..1 |               |  a(x=1) {
        6 us |   0)    sh-4802    |  d..1 |   0.541 us    |    b();
        7 us |   0)    sh-4802    |  d..1 |   1.541 us    |  } /* a ret=0x5 */
";
    let expected = [
        row("mutex_unlock", 4000, 541, 0, 4802),
        row("a", 5000, 1541, 0, 4802),
        row("b", 6000, 541, 1, 4802),
    ];
    assert_eq!(rows(text), expected);
    // Fields, as `trace-cmd report -R` prints them of kernels with return values.
    let text = "cpus=2
              sh-4802  [001]  100.000001000: funcgraph_entry:       func=a depth=0 args=ARRAY[01, 00]
              sh-4802  [001]  100.000002000: funcgraph_entry:       func=b depth=1 retaddr=0xffffffff8112
              sh-4802  [001]  100.000003000: funcgraph_exit:        func=b retval=0x5 depth=1 overrun=0 calltime=174876ea00 rettime=174876ebf4
              sh-4802  [001]  100.000004000: funcgraph_exit:        func=a retval=0x0 depth=0 overrun=0 calltime=174876e800 rettime=174876efd0
";
    let found: Vec<_> = rows(text).into_iter().map(|row| (row.0, row.2)).collect();
    let wanted = [("a".to_owned(), Some(2000)), ("b".to_owned(), Some(500))];
    assert_eq!(found, wanted);
}

#[test]
fn clocks_of_other_units_leave_measured_durations_alone() {
    let text = "cpus=2
              sh-4802  [001]       1001: funcgraph_entry:                   |  vfs_read() {
              sh-4802  [001]       1002: funcgraph_entry:        0.541 us   |    rw_verify_area();
              sh-4802  [001]       1004: funcgraph_exit:       + 12.541 us   |  }
              sh-4802  [001]       1010: funcgraph_entry:        0.541 us   |  last();
";
    let expected = [
        row("vfs_read", 1001, 12_541, 0, 4802),
        row("rw_verify_area", 1002, 541, 1, 4802),
        row("last", 1010, 541, 0, 4802),
    ];
    assert_eq!(rows(text), expected);
    // Neither times nor durations: steps are counted, and that is no time.
    let text = "# tracer: function_graph
#
# CPU  FUNCTION CALLS
# |    |   |   |   |
 0)  d_free() {
 0)    call_rcu(a=0x1, b=0x2) {
 0)      leaf(); /* ret=0x0 */
 0)    } /* call_rcu ret=0x0 */
 0)  }
";
    let expected = [
        row("d_free", 1, 4, 0, -1),
        row("call_rcu", 2, 2, 1, -1),
        row("leaf", 3, 0, 2, -1),
    ];
    assert_eq!(rows(text), expected);
    let files = Files::new(&[("graph.txt", text)]);
    let told = files.text(&["info", "graph.txt"]);
    assert!(told.contains("the text has no times"), "{told}");
}

/// The file's BTF names the parameters of `vfs_read` and the values of `enum deepness`, the type of `depth` here.
#[test]
fn details_name_arguments_and_enums_by_the_kernels_types() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/tracedat");
    let path = std::path::Path::new(folder).join("graph-arguments-btf.dat.zst");
    let loaded = threadline::load::open(&path, &threadline::base::Job::default()).unwrap();
    let trace = &loaded.trace;
    let read = (0..trace.slices.len() as u32).map(threadline::trace::SliceId);
    let texts = read.map(|id| {
        let item = threadline::query::Item::Slice(id);
        threadline::query::details::details(trace, loaded.reader.as_ref(), item).text()
    });
    let texts: Vec<String> = texts.collect();
    let named = texts.iter().find(|text| text.contains("vfs_read")).unwrap();
    let arguments = "(file=0xffff888101234500, buf=0x7ffd, count=0x1000, pos=0x0)";
    assert!(named.contains(arguments), "{named}");
    assert!(named.contains("TOP_LEVEL"), "{named}");
}

/// Name, duration and depth of the slices of a recording; a call lies in the one around it.
fn calls_of(case: &str) -> Vec<(String, Option<i64>, i64)> {
    let path = format!("{}/tests/cases/tracedat/{case}", env!("CARGO_MANIFEST_DIR"));
    let files = Files::new(&[]);
    let rows = files.table(&["slices", &path]);
    let number = |row: &serde_json::Value, name: &str| row[name].as_i64();
    let mut calls: Vec<_> = rows
        .iter()
        .map(|row| {
            let name = row["name"].as_str().unwrap().to_owned();
            (name, number(row, "dur"), number(row, "depth").unwrap())
        })
        .collect();
    calls.sort();
    calls
}

#[test]
fn newer_kernels_record_arguments_return_addresses_and_values() {
    let call = |name: &str, duration: i64, depth| (name.to_owned(), Some(duration), depth);
    let inner = call("rw_verify_area", 100, 1);
    let of_kernel = [
        inner.clone(),
        call("schedule_timeout", 6600, 1),
        call("vfs_read", 8000, 0),
    ];
    assert_eq!(calls_of("graph-arguments.dat.zst"), of_kernel);
    // On a clock that stands still meanwhile, and that does not begin with the local one.
    assert_eq!(calls_of("graph-mono.dat.zst"), of_kernel);
    // nosleep-time: what the calls slept is not in their durations, but they lie around what they called.
    let awake = [
        inner.clone(),
        call("schedule_timeout", 1600, 1),
        call("vfs_read", 3000, 0),
    ];
    assert_eq!(calls_of("graph-nosleep-time.dat.zst"), awake);
    // Times that count events: durations are ns all the same; a return without its entry is drawn as a point.
    let mut counted = vec![call("rw_verify_area", 100, 0)];
    counted.extend(of_kernel);
    assert_eq!(calls_of("graph-counter.dat.zst"), counted);
    // `uptime` counts ticks: steps without a unit, too.
    assert_eq!(calls_of("graph-uptime.dat.zst"), counted);
    let ticks = format!(
        "{}/tests/cases/tracedat/graph-uptime.dat.zst",
        env!("CARGO_MANIFEST_DIR")
    );
    let info = Files::new(&[]).text(&["info", &ticks]);
    assert!(
        info.contains("7 steps (from 100 to 107)") && info.contains("uptime"),
        "{info}"
    );
    let path = "tests/cases/tracedat/graph-counter.dat.zst";
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    let files = Files::new(&[]);
    let rows = files.table(&["slices", &path]);
    assert!(
        rows.iter().all(|row| row["ts"].as_i64().unwrap() >= 100),
        "{rows:?}"
    );
    // Details have the return value.
    let loaded = open(std::path::Path::new(&path), &Job::default()).unwrap();
    let last = EventId(loaded.trace.events.len() as u32 - 1);
    let detail = describe(&loaded.trace, loaded.reader.as_ref(), last);
    let returned = detail.fields.iter().find(|it| it.name == "retval").unwrap();
    assert_eq!(returned.value, Value::UInt(4096));
}
