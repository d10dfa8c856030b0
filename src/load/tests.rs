//! A cancelled load ends at the next check, whichever stage it is in.

use std::sync::Arc;

use super::joined::join_at;
use super::placing::Placed;
use super::{LoadedTrace, Reading, open_bytes};
use crate::base::{Cancelled, Job, Nanos, Problem};
use crate::index::Index;

const SLICES: &str = r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":9},
    {"ph":"B","name":"b","pid":1,"tid":1,"ts":2},{"ph":"E","name":"b","pid":1,"tid":1,"ts":3},
    {"ph":"X","name":"c","pid":1,"tid":2,"ts":4,"dur":1},
    {"ph":"C","name":"d","pid":1,"tid":2,"ts":5,"args":{"value":1}},
    {"ph":"b","cat":"e","name":"f","id":"1","pid":1,"tid":2,"ts":6}]"#;

/// The kernel's text, which contains a line of etrace.
const KERNEL: &str = "# tracer: nop
#
            sh-10      [000] .....     1.000001: sys_enter: NR 1 (1, 2, 3, 4, 5, 6)
            sh-10      [000] .....     1.000002: sys_exit: NR 1 = 3
            sh-10      [000] .....     1.000003: tracing_mark_write: 0: 1,0,1,3! CONT getpid()
            sh-10      [000] d....     1.000004: sched_switch: prev_comm=sh prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
";

/// Runs `work` with jobs that are cancelled at each of their checks in turn; `all` is a job that `work` has completed.
fn cancel_at_each_check(all: &Job, work: impl Fn(&Job)) {
    let count = all.checks();
    assert!(count > 5, "{count} checks");
    for check in 1..=count {
        let job = Job::cancelled_at_check(check);
        work(&job);
        // No stage follows the one that was cancelled.
        assert!(check > 1 || job.checks() < count);
    }
}

fn opened(name: &str, text: &str, job: &Job) -> Result<LoadedTrace, Problem> {
    let bytes = text.as_bytes().to_vec();
    open_bytes(name, bytes, Reading::default(), job).map_err(|error| error.error.problem)
}

#[test]
fn a_load_can_be_cancelled_at_each_of_its_checks() {
    for (name, text) in [("a.json", SLICES), ("a.ftrace", KERNEL)] {
        let all = Job::default();
        opened(name, text, &all).unwrap();
        cancel_at_each_check(&all, |job| {
            let problem = opened(name, text, job).unwrap_err();
            assert_eq!(problem, Problem::Cancelled);
        });
    }
}

#[test]
fn joining_and_indexing_can_be_cancelled_at_each_of_their_checks() {
    let loaded = Arc::new(opened("a.json", SLICES, &Job::default()).unwrap());
    let members = [Arc::clone(&loaded), Arc::clone(&loaded)];
    let places = [0, 5].map(|offset| Placed::by_user(Nanos(offset)));
    let all = Job::default();
    join_at(&members, &places, &all).unwrap();
    cancel_at_each_check(&all, |job| {
        assert_eq!(join_at(&members, &places, job).err(), Some(Cancelled));
    });
    let all = Job::default();
    Index::new(&loaded.trace, &all).unwrap();
    cancel_at_each_check(&all, |job| {
        assert_eq!(Index::new(&loaded.trace, job).err(), Some(Cancelled));
    });
}
