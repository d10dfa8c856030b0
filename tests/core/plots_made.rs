//! Plots as tables: what becomes a sample, and the trace that has them as counters.

use std::path::Path;
use std::sync::Arc;

use threadline::base::Job;
use threadline::event::Value;
use threadline::load;
use threadline::query::item::event_ref;
use threadline::query::plots::{
    MadePlot, PlotError, numbers_of, plot_of, samples_of, track_of, with_plots,
};
use threadline::trace::{CounterTrackId, EventId, Plot};

fn number(value: Option<Value>) -> Option<f64> {
    match value? {
        Value::Int(value) => Some(value as f64),
        Value::UInt(value) => Some(value as f64),
        _ => None,
    }
}

fn switches() -> load::LoadedTrace {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/sched-irq-syscalls.dat");
    load::open(&file, &Job::default()).unwrap()
}

fn plot(filter: &str, field: &str) -> Plot {
    Plot::of_events(filter, field)
}

#[test]
fn a_number_of_events_becomes_a_counter() {
    let loaded = switches();
    let (trace, reader) = (&loaded.trace, loaded.reader.as_ref());
    let wanted = plot("sched_switch", "next_pid");
    let samples = samples_of(trace, reader, &wanted, &Job::default()).unwrap();
    let is_switch = |id: &EventId| trace.kind_name(trace.events.kind(*id)) == "sched_switch";
    let all: Vec<EventId> = (0..trace.events.len() as u32)
        .map(EventId)
        .filter(is_switch)
        .collect();
    assert_eq!(samples.meant, all.len() as u64);
    assert_eq!(samples.times.len(), all.len());
    assert!(samples.times.is_sorted());
    for (at, &event) in samples.events.iter().enumerate().step_by(97) {
        let told = reader.value(event_ref(trace, EventId(event)), "next_pid");
        assert_eq!(number(told), Some(samples.values[at]));
        assert_eq!(trace.events.time(EventId(event)).0, samples.times[at]);
    }
    let names = numbers_of(trace, reader, "sched_switch", &Job::default()).unwrap();
    assert!(names.contains(&"next_pid".to_owned()));

    let few = plot("sched_switch: next_pid == 0", "next_pid");
    let few = samples_of(trace, reader, &few, &Job::default()).unwrap();
    assert!(!few.values.is_empty() && few.values.len() < samples.values.len());
    assert!(few.values.iter().all(|value| *value == 0.0));

    let before = trace.counters.tracks.len();
    let made = [MadePlot {
        plot: wanted.clone(),
        samples: Arc::new(samples),
    }];
    let made = with_plots(trace, &loaded.index, &made);
    let (with, index) = (made.trace, made.index);
    assert_eq!(with.counters.tracks.len(), before + 1);
    let id = track_of(&with, &wanted).unwrap();
    assert_eq!(plot_of(&with, id), Some(&wanted));
    assert!(before == 0 || plot_of(&with, CounterTrackId(0)).is_none());
    assert!(std::ptr::eq(
        &raw const *with.slices,
        &raw const *trace.slices
    ));
    let mut steps = Vec::new();
    threadline::query::visible::counter(&with, &index, id, with.span, 500, &mut steps);
    let seen: u32 = steps.iter().map(|step| step.count).sum();
    assert_eq!(seen as usize, all.len());
}

#[test]
fn gaps_counts_and_durations_are_plotted() {
    let loaded = switches();
    let (trace, reader) = (&loaded.trace, loaded.reader.as_ref());
    let of = |filter: &str, field: &str| {
        samples_of(trace, reader, &plot(filter, field), &Job::default()).unwrap()
    };
    let counts = of("sched_switch", "$count");
    assert_eq!(counts.values.last(), Some(&(counts.values.len() as f64)));
    let gaps = of("sched_switch", "$gap");
    assert_eq!(gaps.values.len() + 1, counts.values.len());
    let sum: f64 = gaps.values.iter().sum();
    let whole = counts.times.last().unwrap() - counts.times.first().unwrap();
    assert_eq!(sum as i64, whole);
    let long = of("dur > 10us", "$dur");
    assert!(!long.values.is_empty() && long.values.iter().all(|value| *value > 10_000.0));
    // What has no such number is no sample.
    let none = of("sched_switch", "no_such_field");
    assert!(none.times.is_empty() && none.meant > 0);
    let wrong = samples_of(trace, reader, &plot("prio <", "x"), &Job::default());
    assert!(matches!(wrong, Err(PlotError::Filter(_))));
}
