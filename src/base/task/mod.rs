//! A task: work on another thread for an owner. It stores the question, its trace, the progress, and the last answer.
//!
//! ```text
//! ask(question)    starts work, unless this question is answered, under way, stopped, or has failed
//! answer(trace)    the last answer, if it is about this trace or an older generation of it
//! ```
//!
//! A new question cancels the work for the old one, and dropping a task cancels its work. If work panics, the task
//! stores the failure and does not repeat the work until another question is asked or [`Task::go_on`] is called.
//!
//! Does not define how progress is drawn; `gui/task_ui` does.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::job::{Cancelled, Job, Progress};
use super::trace_id::TraceId;

/// A callback that the worker's thread calls whenever there is an answer or partial answer, or the work has ended.
pub struct Waker(Box<dyn Fn() + Send>);

impl Waker {
    /// Returns a waker that calls `wake`.
    pub fn new(wake: impl Fn() + Send + 'static) -> Waker {
        Waker(Box::new(wake))
    }

    /// Returns a waker that does nothing, for an owner that polls.
    #[must_use]
    pub fn none() -> Waker {
        Waker::new(|| ())
    }
}

/// The thread that does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A thread of rayon's pool: for computing.
    Pool,
    /// A new thread with this name: for work that waits for disks or for the user, which must not block the pool's
    /// threads.
    Thread(&'static str),
}

/// When work starts if other work of the same task is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// At once; the other work is cancelled.
    Now,
    /// After the other work has ended, if that work is for a generation of the same trace; until then the owner must
    /// ask again. For short work that cannot be cancelled and is requested repeatedly: the owner sees each answer, and
    /// at most one thread is busy.
    AfterTheOther,
}

/// A key and the trace that it is about. Two questions are the same if both are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Subject<K> {
    trace: Option<TraceId>,
    key: K,
}

/// A question, and where and when its answer is computed.
#[derive(Clone, Debug)]
pub(crate) struct TaskKey<K> {
    subject: Subject<K>,
    place: Place,
    turn: Turn,
}

impl<K> TaskKey<K> {
    /// Returns a question about a trace, answered in the pool.
    #[must_use]
    pub(crate) fn about(trace: TraceId, key: K) -> TaskKey<K> {
        TaskKey::of(Some(trace), key)
    }

    /// Returns a question that belongs to no trace.
    #[must_use]
    pub(crate) fn without_trace(key: K) -> TaskKey<K> {
        TaskKey::of(None, key)
    }

    fn of(trace: Option<TraceId>, key: K) -> TaskKey<K> {
        TaskKey {
            subject: Subject { trace, key },
            place: Place::Pool,
            turn: Turn::Now,
        }
    }

    /// Returns the same question, answered on a new thread with this name.
    #[must_use]
    pub(crate) fn on_thread(self, name: &'static str) -> TaskKey<K> {
        let place = Place::Thread(name);
        TaskKey { place, ..self }
    }

    /// Returns the same question, answered after the running work has ended ([`Turn::AfterTheOther`]).
    #[must_use]
    pub(crate) fn in_turn(self) -> TaskKey<K> {
        let turn = Turn::AfterTheOther;
        TaskKey { turn, ..self }
    }
}

/// Why work ended without an answer although nobody cancelled it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The work panicked, with this message.
    Panicked(String),
    /// No thread could be started, for this reason.
    NoThread(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Panicked(words) => {
                write!(
                    f,
                    "the work stopped unexpectedly; please report this: {words}"
                )
            }
            Failure::NoThread(words) => write!(f, "cannot start a thread: {words}"),
        }
    }
}

/// How work ended.
enum End {
    /// The work returned its final answer.
    Answered,
    Cancelled,
    Failed(Failure),
}

struct State<T> {
    /// The newest answer that the owner has not taken yet.
    news: Option<T>,
    end: Option<End>,
}

/// The state that the worker and the owner share.
struct Shared<T> {
    state: Mutex<State<T>>,
    has_ended: Condvar,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, news: Option<T>, end: End) {
        let mut state = self.lock();
        if news.is_some() {
            state.news = news;
        }
        state.end = Some(end);
        self.has_ended.notify_all();
    }
}

/// The worker's side of a task: its job, and where to publish partial answers.
pub(crate) struct Work<T> {
    job: Job,
    shared: Arc<Shared<T>>,
    waker: Waker,
}

impl<T> Work<T> {
    /// Publishes a partial answer; it replaces one that the owner has not taken yet.
    pub(crate) fn publish(&self, so_far: T) {
        self.shared.lock().news = Some(so_far);
        (self.waker.0)();
    }

    /// Runs the work and stores how it ended, also if it panics.
    fn run(self, work: impl FnOnce(&Work<T>) -> Result<T, Cancelled>) {
        let (news, end) = match catch_unwind(AssertUnwindSafe(|| work(&self))) {
            Ok(Ok(answer)) => (Some(answer), End::Answered),
            Ok(Err(Cancelled)) => (None, End::Cancelled),
            Err(panic) => (
                None,
                End::Failed(Failure::Panicked(words_of(panic.as_ref()))),
            ),
        };
        self.shared.end(news, end);
        (self.waker.0)();
    }
}

impl<T> Deref for Work<T> {
    type Target = Job;

    fn deref(&self) -> &Job {
        &self.job
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let words = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    words.unwrap_or("no reason given").to_owned()
}

struct Pending<K, T> {
    subject: Arc<Subject<K>>,
    job: Job,
    shared: Arc<Shared<T>>,
    began: Instant,
}

impl<K, T> Pending<K, T> {
    fn has_ended(&self) -> bool {
        self.shared.lock().end.is_some()
    }
}

struct Answer<K, T> {
    subject: Arc<Subject<K>>,
    value: T,
    /// Whether the same question may start work again: the answer is partial, or [`Task::go_on`] was called.
    is_partial: bool,
}

/// Why asking the same question again does not restart the work.
enum Halt {
    /// The user stopped the work.
    Stopped,
    Failed(Failure),
}

/// A question, the work for its answer, and the last answer. `K` is the key of a question, `()` where there is only one.
pub struct Task<K, T> {
    pending: Option<Pending<K, T>>,
    answer: Option<Answer<K, T>>,
    halted: Option<(Arc<Subject<K>>, Halt)>,
}

impl<K, T> Default for Task<K, T> {
    fn default() -> Task<K, T> {
        Task {
            pending: None,
            answer: None,
            halted: None,
        }
    }
}

impl<K, T> fmt::Debug for Task<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("is_busy", &self.is_busy())
            .field("has_answer", &self.answer.is_some())
            .finish_non_exhaustive()
    }
}

impl<K, T> Drop for Task<K, T> {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl<K, T> Task<K, T> {
    /// Returns the last answer, if it is about `trace` or an older generation of it: for answers without ids, and for
    /// those that state which generation their ids are of, as tables of panes do.
    #[must_use]
    pub fn answer(&self, trace: TraceId) -> Option<&T> {
        self.about(Some(trace)).map(|answer| &answer.value)
    }

    /// Returns the last answer, if it is about exactly this generation of a trace: for answers that contain ids, which
    /// differ in older generations.
    #[must_use]
    pub(crate) fn exact(&self, trace: TraceId) -> Option<&T> {
        let answer = self.answer.as_ref();
        let answer = answer.filter(|answer| answer.subject.trace == Some(trace));
        answer.map(|answer| &answer.value)
    }

    /// Returns the key of the last answer, if [`Task::answer`] returns that answer.
    #[must_use]
    pub(crate) fn answered(&self, trace: TraceId) -> Option<&K> {
        self.about(Some(trace)).map(|answer| &answer.subject.key)
    }

    fn about(&self, trace: Option<TraceId>) -> Option<&Answer<K, T>> {
        let answer = self.answer.as_ref();
        answer.filter(|answer| may_stand_for(answer.subject.trace, trace))
    }

    /// Returns whether there is an answer, about any trace.
    #[must_use]
    pub(crate) fn has_answer(&self) -> bool {
        self.answer.is_some()
    }

    /// Returns whether work is running: `false` as soon as it has ended, even if the answer was not taken yet.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.pending.as_ref().is_some_and(|it| !it.has_ended())
    }

    /// Returns whether work is running, or has ended and [`Task::poll`] was not called since.
    #[must_use]
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Returns how much of the pending work is done.
    #[must_use]
    pub fn progress(&self) -> Progress {
        (self.pending.as_ref()).map_or(Progress::default(), |it| it.job.progress())
    }

    /// Returns the time at which the pending work was started.
    #[must_use]
    pub(crate) fn began(&self) -> Option<Instant> {
        self.pending.as_ref().map(|it| it.began)
    }

    /// Takes over the answer and the end that arrived since the last call.
    pub fn poll(&mut self) {
        let _has_news = self.look();
    }

    /// Takes over the answer and the end that arrived; returns whether there was either.
    fn look(&mut self) -> bool {
        let Some(pending) = &self.pending else {
            return false;
        };
        let (news, end) = {
            let mut state = pending.shared.lock();
            (state.news.take(), state.end.take())
        };
        let has_news = news.is_some() || end.is_some();
        if let Some(value) = news {
            self.answer = Some(Answer {
                subject: Arc::clone(&pending.subject),
                value,
                is_partial: !matches!(end, Some(End::Answered)),
            });
        }
        let Some(end) = end else {
            return has_news;
        };
        let subject = self.pending.take().map(|pending| pending.subject);
        if let (End::Failed(failure), Some(subject)) = (end, subject) {
            self.halted = Some((subject, Halt::Failed(failure)));
        }
        has_news
    }

    /// Removes and returns the newest answer.
    pub fn take(&mut self) -> Option<T> {
        self.poll();
        self.answer.take().map(|answer| answer.value)
    }

    /// Removes and returns the answer, or the failure, once the work has ended; `None` before.
    pub(crate) fn take_end(&mut self) -> Option<Result<T, Failure>> {
        self.poll();
        if self.is_pending() {
            return None;
        }
        let failure = self.take_failure();
        failure.map(Err).or_else(|| self.take().map(Ok))
    }

    /// Returns the failure of the last work, if it failed.
    #[must_use]
    pub(crate) fn failure(&self) -> Option<&Failure> {
        match &self.halted {
            Some((_, Halt::Failed(failure))) => Some(failure),
            _ => None,
        }
    }

    /// Removes and returns the failure of the last work.
    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        match self.halted.take() {
            Some((_, Halt::Failed(failure))) => Some(failure),
            stopped => {
                self.halted = stopped;
                None
            }
        }
    }

    /// Waits until the work has ended. Must not be called where frames are drawn or on a thread of the pool.
    pub(crate) fn wait(&mut self) {
        if let Some(pending) = &self.pending {
            let has_ended = &pending.shared.has_ended;
            let state = has_ended.wait_while(pending.shared.lock(), |state| state.end.is_none());
            drop(state.unwrap_or_else(PoisonError::into_inner));
        }
        self.poll();
    }

    /// Cancels the job, but keeps the answer that the work may still return.
    pub fn interrupt(&self) {
        if let Some(pending) = &self.pending {
            pending.job.cancel();
        }
    }

    /// Cancels the work and ignores its answer.
    pub fn cancel(&mut self) {
        self.interrupt();
        self.pending = None;
    }

    /// Cancels the work; the same question does not restart it until [`Task::go_on`] or another question.
    pub(crate) fn stop(&mut self) {
        self.interrupt();
        if let Some(pending) = self.pending.take() {
            self.halted = Some((pending.subject, Halt::Stopped));
        }
    }

    /// Returns whether the last question was stopped with [`Task::stop`].
    #[must_use]
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self.halted, Some((_, Halt::Stopped)))
    }

    /// Allows the next [`Task::ask`] to start work again for a question that was stopped, has failed or was answered.
    /// The last answer stays until there is a new one.
    pub(crate) fn go_on(&mut self) {
        self.halted = None;
        if let Some(answer) = &mut self.answer {
            answer.is_partial = true;
        }
    }

    /// Cancels the work and drops the answer and the failure.
    pub(crate) fn clear(&mut self) {
        *self = Task::default();
    }
}

impl<K: PartialEq, T: Send + 'static> Task<K, T> {
    /// Starts `work` for the answer to `question`, unless the question is answered, running, stopped or has failed.
    /// Returns the last answer, like [`Task::answer`]. `wake` is called when there is an answer or an end.
    pub(crate) fn ask(
        &mut self,
        wake: impl Into<Waker>,
        question: TaskKey<K>,
        work: impl FnOnce(&Work<T>) -> Result<T, Cancelled> + Send + 'static,
    ) -> Option<&T> {
        let has_news = self.look();
        let trace = question.subject.trace;
        let begins = self.is_to_begin(&question);
        if has_news || begins {
            let waker = wake.into();
            if has_news {
                // Parts of the window that were drawn earlier in this frame have not seen the new answer: draw another
                // frame.
                (waker.0)();
            }
            if begins {
                if self.about(trace).is_none() {
                    // An answer about another trace is no longer useful and would only use memory.
                    self.answer = None;
                }
                self.begin(waker, question, work);
            }
        }
        self.about(trace).map(|answer| &answer.value)
    }

    /// Returns whether the last answer is the complete answer to exactly this question, not a partial one or one for an
    /// older generation of the trace.
    #[must_use]
    pub(crate) fn is_of(&self, trace: TraceId, key: &K) -> bool {
        let answer = self.to(Some(trace), key);
        answer.is_some_and(|answer| !answer.is_partial)
    }

    /// Returns the answer, complete or partial, to exactly this question.
    #[must_use]
    pub(crate) fn part_of(&self, trace: TraceId, key: &K) -> Option<&T> {
        self.to(Some(trace), key).map(|answer| &answer.value)
    }

    fn to(&self, trace: Option<TraceId>, key: &K) -> Option<&Answer<K, T>> {
        let answer = self.answer.as_ref();
        answer.filter(|it| it.subject.trace == trace && it.subject.key == *key)
    }

    /// Returns whether work starts for `question`, and cancels the work that it replaces.
    fn is_to_begin(&mut self, question: &TaskKey<K>) -> bool {
        let asked = &question.subject;
        if let Some(pending) = &self.pending {
            if *pending.subject == *asked {
                return false;
            }
            // The running work is not replaced: the owner asks again in a later frame.
            if question.turn == Turn::AfterTheOther
                && may_stand_for(pending.subject.trace, asked.trace)
            {
                return false;
            }
        }
        let mut halted = self.halted.iter();
        if halted.any(|(subject, _)| **subject == *asked) {
            return false;
        }
        self.halted = None;
        self.cancel();
        let known = self.to(asked.trace, &asked.key);
        known.is_none_or(|answer| answer.is_partial)
    }

    fn begin(
        &mut self,
        waker: Waker,
        question: TaskKey<K>,
        work: impl FnOnce(&Work<T>) -> Result<T, Cancelled> + Send + 'static,
    ) {
        let state = State {
            news: None,
            end: None,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            has_ended: Condvar::new(),
        });
        let pending = Pending {
            subject: Arc::new(question.subject),
            job: Job::default(),
            shared: Arc::clone(&shared),
            began: Instant::now(),
        };
        let handle = Work {
            job: pending.job.clone(),
            shared: Arc::clone(&shared),
            waker,
        };
        self.pending = Some(pending);
        match question.place {
            Place::Pool => rayon::spawn(move || handle.run(work)),
            Place::Thread(name) => {
                let thread = std::thread::Builder::new().name(name.to_owned());
                if let Err(error) = thread.spawn(move || handle.run(work)) {
                    let failure = Failure::NoThread(error.to_string());
                    shared.end(None, End::Failed(failure));
                    self.poll();
                }
            }
        }
    }
}

impl<T: Send + 'static> Task<(), T> {
    /// Starts `work` on a new thread, unless work of this task is pending. [`Task::take_end`] returns its result.
    pub(crate) fn start(
        &mut self,
        wake: impl Into<Waker>,
        thread: &'static str,
        work: impl FnOnce(&Work<T>) -> Result<T, Cancelled> + Send + 'static,
    ) {
        self.poll();
        if self.is_pending() {
            return;
        }
        self.clear();
        let question = TaskKey::without_trace(()).on_thread(thread);
        self.begin(wake.into(), question, work);
    }
}

/// Returns whether an answer about one trace may be shown for another: they are the same or share a lineage, or both
/// are `None`.
fn may_stand_for(answered: Option<TraceId>, asked: Option<TraceId>) -> bool {
    match (answered, asked) {
        (Some(answered), Some(asked)) => answered.shares_lineage(asked),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
