use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;

/// Returns the ids of a trace and of its next generation.
fn generations() -> (TraceId, TraceId) {
    let trace = TraceId::new();
    (trace, trace.next_generation())
}

/// Returns work that ends with the value that the channel delivers.
fn sent<T: Send + 'static>(from: Receiver<T>) -> impl FnOnce(&Work<T>) -> Result<T, Cancelled> {
    move |_| from.recv().map_err(|_closed| Cancelled)
}

/// Returns work that reports when it has started, and ends when it is cancelled.
fn endless<T>(begun: Sender<Job>) -> impl FnOnce(&Work<T>) -> Result<T, Cancelled> {
    move |work| {
        begun.send(Job::clone(work)).unwrap();
        while !work.is_cancelled() {
            std::thread::yield_now();
        }
        Err(Cancelled)
    }
}

fn on_thread<K>(trace: TraceId, key: K) -> TaskKey<K> {
    TaskKey::about(trace, key).on_thread("test")
}

#[test]
fn an_answer_is_never_shown_for_another_trace() {
    let (trace, other) = (TraceId::new(), TraceId::new());
    let mut task: Task<u32, &str> = Task::default();
    task.ask(Waker::none(), on_thread(trace, 5), |_| {
        Ok("slice 5 of the first")
    });
    task.wait();
    assert_eq!(task.answer(trace), Some(&"slice 5 of the first"));
    assert_eq!(task.answer(other), None);
    let (give, take) = channel();
    let shown = task.ask(Waker::none(), on_thread(other, 5), sent(take));
    assert_eq!(shown, None);
    give.send("slice 5 of the second").unwrap();
    task.wait();
    assert_eq!(task.answer(other), Some(&"slice 5 of the second"));
    assert!(task.is_of(other, &5) && !task.is_of(trace, &5));
    assert_eq!(task.answer(trace), None);
}

#[test]
fn an_older_generation_is_shown_until_the_new_answer_is_there() {
    let (trace, grown) = generations();
    let mut task: Task<u32, &str> = Task::default();
    task.ask(Waker::none(), on_thread(trace, 1), |_| Ok("half"));
    task.wait();
    let (give, take) = channel();
    let shown = task.ask(Waker::none(), on_thread(grown, 1), sent(take));
    assert_eq!(shown, Some(&"half"));
    assert!(task.is_busy() && !task.is_of(grown, &1) && task.is_of(trace, &1));
    give.send("whole").unwrap();
    task.wait();
    assert_eq!(task.answer(grown), Some(&"whole"));
    assert!(task.is_of(grown, &1));
}

#[test]
fn a_new_question_ends_the_old_one_and_the_same_question_does_not() {
    let trace = TraceId::new();
    let mut task: Task<u32, u32> = Task::default();
    let (begun, begins) = channel();
    task.ask(Waker::none(), on_thread(trace, 1), endless(begun.clone()));
    let first = begins.recv().unwrap();
    task.ask(Waker::none(), on_thread(trace, 1), |_| {
        panic!("asked twice")
    });
    assert!(task.is_busy() && !first.is_cancelled());
    task.ask(Waker::none(), on_thread(trace, 2), |_| Ok(2));
    assert!(first.is_cancelled());
    task.wait();
    assert_eq!(task.answered(trace), Some(&2));
    task.ask(Waker::none(), on_thread(trace, 2), |_| {
        panic!("the answer is known")
    });
    assert!(!task.is_busy() && task.failure().is_none());
    task.ask(Waker::none(), on_thread(trace, 3), endless(begun));
    let last = begins.recv().unwrap();
    drop(task);
    assert!(last.is_cancelled());
}

#[test]
fn a_question_in_turn_waits_for_its_own_trace_alone() {
    let (trace, grown) = generations();
    let mut task: Task<u32, u32> = Task::default();
    let (give, take) = channel();
    task.ask(Waker::none(), on_thread(trace, 1).in_turn(), sent(take));
    task.ask(Waker::none(), on_thread(grown, 2).in_turn(), |_| Ok(2));
    give.send(1).unwrap();
    task.wait();
    assert_eq!(task.answer(grown), Some(&1));
    task.ask(Waker::none(), on_thread(grown, 2).in_turn(), |_| Ok(2));
    task.wait();
    assert_eq!(task.answer(grown), Some(&2));
    let (begun, begins) = channel();
    task.ask(Waker::none(), on_thread(grown, 3).in_turn(), endless(begun));
    let old = begins.recv().unwrap();
    let other = TraceId::new();
    task.ask(Waker::none(), on_thread(other, 3).in_turn(), |_| Ok(33));
    assert!(old.is_cancelled());
    task.wait();
    assert_eq!(task.answer(other), Some(&33));
}

#[test]
fn work_that_panics_has_ended_and_is_not_repeated_by_itself() {
    let trace = TraceId::new();
    for question in [TaskKey::about(trace, 1), on_thread(trace, 1)] {
        let mut task: Task<u32, u32> = Task::default();
        task.ask(Waker::none(), question, |_| panic!("as it is meant to"));
        task.wait();
        assert!(!task.is_busy() && !task.is_pending());
        let failure = Failure::Panicked("as it is meant to".to_owned());
        assert_eq!(task.failure(), Some(&failure));
        task.ask(Waker::none(), on_thread(trace, 1), |_| Ok(1));
        assert!(!task.is_busy());
        task.go_on();
        assert_eq!(task.failure(), None);
        task.ask(Waker::none(), on_thread(trace, 1), |_| Ok(1));
        task.wait();
        assert_eq!(task.answer(trace), Some(&1));
    }
}

#[test]
fn what_is_stopped_is_not_asked_again_until_one_goes_on() {
    let trace = TraceId::new();
    let mut task: Task<u32, u32> = Task::default();
    let (begun, begins) = channel();
    task.ask(Waker::none(), on_thread(trace, 1), endless(begun.clone()));
    task.stop();
    assert!(task.is_stopped() && !task.is_busy());
    assert!(begins.recv().unwrap().is_cancelled());
    task.ask(Waker::none(), on_thread(trace, 1), |_| Ok(1));
    assert!(!task.is_busy());
    task.go_on();
    task.ask(Waker::none(), on_thread(trace, 1), endless(begun.clone()));
    assert!(task.is_busy());
    // The failure of one question does not block another question.
    task.ask(Waker::none(), on_thread(trace, 2), endless(begun.clone()));
    task.stop();
    task.ask(Waker::none(), on_thread(trace, 3), endless(begun));
    assert!(!task.is_stopped() && task.is_busy());
}

#[test]
fn what_is_published_is_seen_before_the_end_and_stays_when_interrupted() {
    let trace = TraceId::new();
    let mut task: Task<u32, u32> = Task::default();
    let (wake, woken) = channel();
    let waker = Waker::new(move || wake.send(()).unwrap_or(()));
    task.ask(waker, on_thread(trace, 1), |work| {
        work.set_total(4);
        work.advance(1);
        work.publish(10);
        while !work.is_cancelled() {
            std::thread::yield_now();
        }
        Err(Cancelled)
    });
    woken.recv().unwrap();
    task.poll();
    assert_eq!(task.answer(trace), Some(&10));
    assert_eq!(task.part_of(trace, &1), Some(&10));
    assert!(!task.is_of(trace, &1) && task.is_busy());
    let (done, total) = (1, Some(4));
    assert_eq!(task.progress(), Progress { done, total });
    task.interrupt();
    task.wait();
    assert_eq!(task.answer(trace), Some(&10));
    assert!(!task.is_of(trace, &1) && task.failure().is_none());
    // The waker is dropped with the work.
    assert!(woken.iter().count() >= 1);
}

#[test]
fn work_without_a_trace_is_done_once_and_its_end_taken_once() {
    let mut task: Task<(), u32> = Task::default();
    let (give, take) = channel();
    task.start(Waker::none(), "test", sent(take));
    task.start(Waker::none(), "test", |_| panic!("the first is under way"));
    assert_eq!(task.take_end(), None);
    give.send(7).unwrap();
    task.wait();
    assert_eq!(task.take_end(), Some(Ok(7)));
    assert_eq!(task.take_end(), None);
    task.start(Waker::none(), "test", |_| panic!("now"));
    task.wait();
    let failure = Failure::Panicked("now".to_owned());
    assert_eq!(task.take_end(), Some(Err(failure)));
    assert_eq!(task.take_end(), None);
}
