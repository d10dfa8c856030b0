//! Spoken announcements of changes: one live region, filled with the words for what changed.
//!
//! At the end of a frame the view is compared with the last announced one. Without a screen reader, nothing is compared
//! or put into words.

use super::search_bar::SearchWords;
use crate::load::TraceId;
use crate::trace::Trace;
use crate::view::spoken::{Change, Heard, Pace, changes, leading_words, unchanged_words};
use crate::view::{Action, ViewState};

/// Words about continuous changes are spoken after this many seconds without a change.
pub(super) const REST: f64 = 0.3;

/// The state outside the view whose changes are announced.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Around {
    /// The visible trace.
    pub(super) trace: Option<TraceId>,
    /// The words for the trace once it is complete.
    pub(super) loaded: Option<String>,
    /// The name of the file that is being loaded.
    pub(super) loading: Option<String>,
    /// Number of notices so far, and the last one.
    pub(super) notice: (u64, Option<String>),
    /// Last message of the status bar.
    pub(super) status: Option<String>,
    /// Outcome of the search.
    pub(super) search: Option<SearchWords>,
    /// Outcome of the export.
    pub(super) export: Option<String>,
}

impl Around {
    /// Returns the words for everything that changed since `before`.
    fn changes(&self, before: &Around) -> Vec<Change> {
        let mut words: Vec<(Pace, String)> = Vec::new();
        let new = |is: &Option<String>, was: &Option<String>| is.clone().filter(|_| is != was);
        if self.notice.0 != before.notice.0 {
            words.extend(self.notice.1.clone().map(|it| (Pace::AtOnce, it)));
        }
        if let Some(name) = new(&self.loading, &before.loading) {
            words.push((Pace::AtOnce, format!("Loading {name}")));
        }
        if let Some(facts) = new(&self.loaded, &before.loaded) {
            words.push((Pace::AtOnce, facts));
        }
        if self.trace.is_none() && before.trace.is_some() {
            words.push((Pace::AtOnce, "Trace closed".to_owned()));
        }
        if let Some(status) = new(&self.status, &before.status) {
            words.push((Pace::AtOnce, status));
        }
        if let Some(export) = new(&self.export, &before.export) {
            words.push((Pace::AtOnce, export));
        }
        // Selecting another item turns "match 3 of 40" into "40 matches": not announced, the count is known.
        let is_match = |search: &Option<SearchWords>| matches!(search, Some(SearchWords::Match(_)));
        let is_news = is_match(&self.search) || !is_match(&before.search);
        let is_other = self.search != before.search;
        if let Some(search) = self.search.as_ref().filter(|_| is_other && is_news) {
            words.push((Pace::AtRest, search.text().to_owned()));
        }
        let change = |(pace, words)| Change { pace, words };
        words.into_iter().map(change).collect()
    }
}

/// State of the announcements: the last announced view and the words to speak.
#[derive(Debug, Default)]
pub(super) struct Announcer {
    /// Whether a screen reader was active in the last frame.
    pub(super) is_heard: bool,
    /// The view announced last.
    announced: Option<(Heard, Around)>,
    /// The view of the last frame.
    last: Option<(Heard, Around)>,
    /// Time of its last change, in seconds.
    changed_at: f64,
    /// Time of the last announcement, in seconds.
    said_at: f64,
    pub(super) words: String,
    /// Words for the last action: `leading` is spoken before its changes, `unchanged` if the action changed nothing.
    leading: Option<&'static str>,
    unchanged: Option<&'static str>,
}

/// Whether words are waiting to be spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Words,
    Nothing,
}

impl Announcer {
    /// Records an action that is about to be carried out.
    pub(super) fn applies(&mut self, action: &Action, state: &ViewState) {
        if !self.is_heard {
            return;
        }
        let (leading, unchanged) = (leading_words(action), unchanged_words(action, state));
        if leading.is_some() || unchanged.is_some() {
            (self.leading, self.unchanged) = (leading, unchanged);
        }
    }

    /// Compares the view with what was announced last. `now` is in seconds.
    pub(super) fn hear(
        &mut self,
        now: f64,
        around: Around,
        state: &ViewState,
        trace: Option<&Trace>,
    ) -> Left {
        let heard = Heard::of(state);
        let Some((before, around_before)) = &mut self.announced else {
            self.announced = Some((heard.clone(), around.clone()));
            self.last = Some((heard, around));
            return Left::Nothing;
        };
        // The first view of another trace is not a change of the view. Later changes to it are, even while the words
        // for the trace still wait to be spoken.
        let is_another = self
            .last
            .as_ref()
            .is_some_and(|(_, last)| last.trace != around.trace);
        if is_another {
            *before = heard.clone();
        }
        let mut found = around.changes(around_before);
        found.extend(changes(before, state, trace));
        let present = (heard, around);
        if self.last.as_ref() != Some(&present) {
            self.changed_at = now;
        }
        self.last = Some(present.clone());
        if found.is_empty() {
            let unchanged = self.unchanged.take();
            self.leading = None;
            self.announced = Some(present);
            if let Some(words) = unchanged {
                self.say(now, words.to_owned());
            }
            return Left::Nothing;
        }
        let is_continuous = found.iter().all(|change| change.pace == Pace::AtRest);
        // Changes right after an announcement also wait, and are announced together with those that follow.
        let waits = is_continuous || now - self.said_at < REST;
        if waits && now - self.changed_at < REST {
            return Left::Words;
        }
        let mut words: Vec<String> = found.into_iter().map(|change| change.words).collect();
        words.splice(0..0, self.leading.take().map(str::to_owned));
        self.unchanged = None;
        self.announced = Some(present);
        self.say(now, words.join(". "));
        Left::Nothing
    }

    /// Sets the announcement. A repeated one gets a trailing space: a live region announces only a name that differs.
    fn say(&mut self, now: f64, mut words: String) {
        words.push('.');
        let is_again = self.words == words;
        self.words = words;
        if is_again {
            self.words.push('\u{a0}');
        }
        self.said_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{TimeSpan, Timestamp};

    fn state(end: i64) -> ViewState {
        ViewState {
            trace_span: TimeSpan::new(Timestamp(0), Timestamp(1_000)),
            span: TimeSpan::new(Timestamp(0), Timestamp(end)),
            ..ViewState::default()
        }
    }

    /// A held key zooms in every frame: only the last view is announced.
    #[test]
    fn continuous_changes_are_said_once_they_rest() {
        let mut announcer = Announcer::default();
        let mut hear = |now: f64, end: i64| {
            let left = announcer.hear(now, Around::default(), &state(end), None);
            (left, announcer.words.clone())
        };
        assert_eq!(hear(0.0, 1_000), (Left::Nothing, String::new()));
        for frame in 1..50_i32 {
            let at = 1.0 + f64::from(frame) * 0.03;
            assert_eq!(
                hear(at, 1_000 - i64::from(frame)),
                (Left::Words, String::new())
            );
        }
        let (left, words) = hear(2.47 + REST + 0.01, 951);
        assert_eq!(left, Left::Nothing);
        assert!(words.starts_with("Visible: 951 ns, from "), "{words}");
    }

    /// The announcement of a search, an error or an opened dialog does not wait.
    #[test]
    fn a_single_change_is_said_at_once_and_repeated_words_are_said_again() {
        let mut announcer = Announcer {
            is_heard: true,
            ..Announcer::default()
        };
        let mut view = state(1_000);
        announcer.hear(0.0, Around::default(), &view, None);
        view.is_help_open = true;
        let left = announcer.hear(1.0, Around::default(), &view, None);
        assert_eq!(left, Left::Nothing);
        assert_eq!(announcer.words, "Keys and gestures opened.");
        for expected in ["Nothing to go back to.", "Nothing to go back to.\u{a0}"] {
            announcer.applies(&Action::Back, &view);
            announcer.hear(2.0, Around::default(), &view, None);
            assert_eq!(announcer.words, expected);
        }
    }

    /// A trace that opens while an announcement is fresh waits for its own; a view that changes meanwhile is announced with it.
    #[test]
    fn a_view_changed_while_a_new_trace_waits_for_its_words_is_announced() {
        let mut announcer = Announcer::default();
        let loading = Around {
            loading: Some("a.dat".to_owned()),
            ..Around::default()
        };
        let loaded = Around {
            trace: Some(TraceId::new()),
            loaded: Some("Loaded a.dat".to_owned()),
            ..Around::default()
        };
        announcer.hear(0.0, Around::default(), &ViewState::default(), None);
        announcer.hear(1.0, loading, &ViewState::default(), None);
        for (now, end) in [(1.1, 1_000), (1.2, 1_000), (1.25, 900)] {
            let left = announcer.hear(now, loaded.clone(), &state(end), None);
            assert_eq!(
                (left, announcer.words.as_str()),
                (Left::Words, "Loading a.dat.")
            );
        }
        announcer.hear(1.3 + REST, loaded, &state(900), None);
        let (loaded, view) = announcer.words.split_once(". ").unwrap_or_default();
        assert_eq!(loaded, "Loaded a.dat");
        assert!(view.starts_with("Visible: 900 ns"), "{}", announcer.words);
    }

    #[test]
    fn nothing_is_noted_while_nobody_listens() {
        let mut announcer = Announcer::default();
        announcer.applies(&Action::Back, &state(1_000));
        assert_eq!(announcer.unchanged, None);
    }
}
