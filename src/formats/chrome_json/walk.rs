//! Walks a file from event to event, in one of three forms:
//!
//! ```text
//! {"traceEvents": [ event , event ] , "stackFrames": { id: frame } , "samples": [ .. ] , member : value }
//! [ event , event ]                   the closing bracket may be missing
//! event event event                   one after the other, or one per line
//! ```
//!
//! After text that is not JSON, the walk continues behind the item that it is in, if the item's brackets match, otherwise
//! at the next position that looks like the start of an event: see `damage`. A file is also cut at such positions:
//! inside a string, the quotes after the brace would be escaped by backslashes. A cut is checked after both sides were
//! read.

use super::damage::{Damage, Next, is_start, starts};
use super::event::RawEvent;
use super::scan::{Quoted, Scan};

/// Behind an error outside of events, the next event is searched from this number of bytes before it: it may have started
/// before an unclosed string was detected.
const LOOK_BACK: usize = 256;

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An object with members, one of which is the array of events.
    Object,
    /// An array of events, or events one after the other.
    Events,
}

/// The list of the file that a walk is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// Before the first bracket, or after the last one.
    File,
    /// The members of the object.
    Members,
    /// The array of events, or a sequence of them.
    Events,
    /// The array `samples`.
    Samples,
    /// The object `stackFrames`.
    Frames,
}

/// An item that a walk finds. Places are byte offsets in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'a> {
    /// An event; its members are in [`Walk::event`].
    Event { at: usize },
    /// A sample of a stack; its members are in [`Walk::event`].
    Sample { at: usize },
    /// A stack frame: the place of its object, and its id.
    Frame { at: usize, id: Quoted<'a> },
    /// Another member of the object.
    Member { at: usize, key: Quoted<'a> },
    /// An element that is not an object.
    Stray { at: usize },
    /// The text at `at` is not JSON, or not in its place; the walk continues at `resumed`, which may be the end of the file.
    Broken { at: usize, resumed: usize },
}

/// A walk over a file, or over a part of it.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    scan: Scan<'a>,
    form: Form,
    within: Within,
    /// The end of the walk: items that start at this offset or later are not returned.
    until: usize,
    /// Whether the object of the file has ended.
    is_over: bool,
    /// The place of the last event that was read.
    last: Option<usize>,
    damage: Damage,
    /// The members of the last event or sample.
    pub(super) event: RawEvent<'a>,
}

/// A position in the file at which a walk can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Border {
    /// Byte offset.
    pub(super) at: usize,
    /// The list that it is in.
    pub(super) within: Within,
}

impl<'a> Walk<'a> {
    /// Returns a walk from a border up to the offset `until`.
    pub(super) fn new(bytes: &'a [u8], form: Form, from: Border, until: usize) -> Walk<'a> {
        Walk {
            bytes,
            scan: Scan::new(bytes, from.at),
            form,
            within: from.within,
            until,
            is_over: false,
            last: None,
            damage: Damage::default(),
            event: RawEvent::default(),
        }
    }

    /// States that the text ends where the file does.
    pub(super) fn of_whole_file(mut self) -> Walk<'a> {
        self.damage.is_whole = true;
        self
    }

    /// Skips white space and commas, and returns the current position.
    pub(super) fn border(&mut self) -> Border {
        let _ = self.scan.next_after_commas();
        Border {
            at: self.scan.at,
            within: self.within,
        }
    }

    /// Returns the next item; `None` at the end of the walk or of the file.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Found<'a>> {
        loop {
            let Some(byte) = self.scan.next_after_commas() else {
                return self.swallowed();
            };
            let at = self.scan.at;
            if at >= self.until {
                return None;
            }
            let found = match (self.within, byte) {
                (Within::Events, b'{') => {
                    self.last = Some(at);
                    if let Some(event) = self.damage.suspected(self.bytes, at) {
                        return Some(self.go_on(event, event));
                    }
                    let read = self.event.read_again(&mut self.scan);
                    read.map(|()| Found::Event { at })
                }
                (Within::Samples, b'{') => {
                    let read = self.event.read_again(&mut self.scan);
                    read.map(|()| Found::Sample { at })
                }
                (Within::Events | Within::Samples, b']') => {
                    self.scan.at += 1;
                    self.within = match self.form {
                        Form::Object => Within::Members,
                        Form::Events => Within::File,
                    };
                    continue;
                }
                (Within::Frames, b'}') => {
                    self.scan.at += 1;
                    self.within = Within::Members;
                    continue;
                }
                (Within::Members, b'}') => {
                    self.scan.at += 1;
                    self.is_over = true;
                    self.within = Within::File;
                    continue;
                }
                (Within::Members | Within::Frames, b'"') => match self.member() {
                    Some(None) => continue,
                    Some(Some(found)) => Some(found),
                    None => None,
                },
                (Within::File, b'{')
                    if self.form == Form::Object && !self.is_event_behind_all() =>
                {
                    self.scan.at += 1;
                    self.within = Within::Members;
                    continue;
                }
                (Within::File, b'[') => {
                    self.scan.at += 1;
                    self.within = Within::Events;
                    continue;
                }
                (Within::File, b'{') => {
                    self.within = Within::Events;
                    continue;
                }
                (Within::Events, b'[') if self.form == Form::Events => {
                    // A second array follows the first one, whose closing bracket is missing.
                    self.scan.at += 1;
                    continue;
                }
                (Within::Events | Within::Samples, _) => {
                    self.scan.value().map(|_| Found::Stray { at })
                }
                _ => None,
            };
            return Some(found.unwrap_or_else(|| self.resume(at)));
        }
    }

    /// Reads a member; returns `Some(None)` if the walk has entered its list.
    fn member(&mut self) -> Option<Option<Found<'a>>> {
        let key = self.scan.string()?;
        self.scan.expect(b':')?;
        let byte = self.scan.next()?;
        let at = self.scan.at;
        if self.within == Within::Frames {
            self.scan.value()?;
            return Some(Some(Found::Frame { at, id: key }));
        }
        let list = match (key.bytes, byte) {
            (b"traceEvents", b'[') => Some(Within::Events),
            (b"samples", b'[') => Some(Within::Samples),
            (b"stackFrames", b'{') => Some(Within::Frames),
            _ => None,
        };
        if let Some(list) = list {
            self.scan.at += 1;
            self.within = list;
            return Some(None);
        }
        self.scan.value()?;
        Some(Some(Found::Member { at, key }))
    }

    /// Returns whether the next object is an event after the end of the file's object.
    fn is_event_behind_all(&self) -> bool {
        let event = || RawEvent::read(&mut self.scan.clone());
        self.is_over && event().is_some_and(|event| event.phase != 0)
    }

    /// Returns the place of an error inside the last item, if it was read nevertheless.
    #[inline]
    pub(super) fn fault(&mut self) -> Option<usize> {
        self.scan.fault.take()
    }

    /// Continues after the text at `start`, which is not JSON.
    #[cold]
    fn resume(&mut self, start: usize) -> Found<'a> {
        self.scan.fault = None;
        let failed = self.scan.at.max(start);
        let is_listed = matches!(self.within, Within::Events | Within::Samples);
        let next = match self.bytes.get(start) {
            Some(b'{' | b'[') if is_listed => self.damage.after_item(self.bytes, start),
            // The list of events had ended too early.
            Some(b'{') if is_start(self.bytes, start) => Next::Event(start),
            _ => {
                let from = failed.saturating_sub(LOOK_BACK).max(start + 1);
                Next::Event(self.damage.next_event(self.bytes, from))
            }
        };
        match next {
            Next::Behind(end) => {
                self.scan.at = end;
                Found::Broken {
                    at: failed,
                    resumed: end,
                }
            }
            // An end that is missing was missing before this event.
            Next::Event(next) if failed == self.bytes.len() => self.go_on(next, next),
            Next::Event(next) => self.go_on(failed, next),
        }
    }

    /// Continues at an event after an error at `at`.
    fn go_on(&mut self, at: usize, event: usize) -> Found<'a> {
        self.scan.at = event;
        self.within = Within::Events;
        Found::Broken { at, resumed: event }
    }

    /// Returns to the first event inside the last one, if the file ends in its list of events: the last event has all that
    /// follow it in an array whose end is missing.
    #[cold]
    fn swallowed(&mut self) -> Option<Found<'a>> {
        if !self.damage.is_whole || (self.form, self.within) != (Form::Object, Within::Events) {
            return None;
        }
        let event = self.damage.event_inside(self.bytes, self.last?)?;
        Some(self.go_on(event, event))
    }
}

/// Returns the next offset in `from..until` at which an event almost certainly starts: the object there has a phase.
pub(super) fn likely_border(bytes: &[u8], from: usize, until: usize) -> Option<usize> {
    /// Maximum number of bytes of an event that is checked.
    const MOST_EVENT: usize = 1 << 16;
    starts(bytes, from..until).find(|&start| {
        let near = bytes.get(..bytes.len().min(start.saturating_add(MOST_EVENT)));
        let mut scan = Scan::new(near.unwrap_or(bytes), start);
        RawEvent::read(&mut scan).is_some_and(|event| event.phase != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::super::head::Head;
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let bytes = text.as_bytes();
        let form = Head::of(bytes).form;
        let within = Within::File;
        let mut walk = Walk::new(bytes, form, Border { at: 0, within }, usize::MAX);
        let mut names = Vec::new();
        while let Some(found) = walk.next() {
            names.push(match found {
                Found::Event { .. } => String::from_utf8_lossy(walk.event.name.bytes()).into(),
                Found::Sample { .. } => "sample".into(),
                Found::Frame { id, .. } => format!("frame {}", String::from_utf8_lossy(id.bytes)),
                Found::Member { key, .. } => String::from_utf8_lossy(key.bytes).into(),
                Found::Stray { .. } => "stray".into(),
                Found::Broken { at, .. } => format!("broken at {at}"),
            });
        }
        names
    }

    #[test]
    fn all_forms_are_walked() {
        let events = r#"{"ph":"i","name":"a"},{"ph":"i","name":"b"}"#;
        for text in [
            events.to_owned(),
            events.replace("},{", "}\n{"),
            format!("[{events}]"),
            format!("[{events},"),
            format!("[\n{events}\n]\n"),
            format!("{{\"traceEvents\":[{events}]}}"),
        ] {
            assert_eq!(names(&text), ["a", "b"], "{text}");
        }
        let whole = format!(
            "{{\"otherData\":{{}},\"traceEvents\":[{events}],\"stackFrames\":{{\"5\":{{\"name\":\"f\"}}}},\"samples\":[{{\"ts\":1}}],\"x\":1}}"
        );
        let expected = ["otherData", "a", "b", "frame 5", "sample", "x"];
        assert_eq!(names(&whole), expected);
    }

    #[test]
    fn the_walk_goes_on_behind_what_is_broken() {
        for (text, expected) in [
            (
                r#"[{"ph":"i","name":"a"},{"ph":"i","name":"b, {"ph":"i","name":"c"}]"#,
                vec!["a", "broken at 46", "c"],
            ),
            (
                "[{\"ph\":\"i\",\"name\":\"a\"},{\"ph\":\"i\",\"na\n{\"ph\":\"i\",\"name\":\"c\"}]",
                vec!["a", "broken at 39", "c"],
            ),
            (
                r#"[{"ph":"i","name":"a"},{"ph":"i","name":"b"#,
                vec!["a", "broken at 42"],
            ),
            (r#"[1,{"ph":"i","name":"a"}]"#, vec!["stray", "a"]),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn a_border_is_no_brace_inside_a_string_or_of_arguments() {
        let text = br#"{"ph":"i","name":",{\"ph\":1}","args":{"x":1}},{"ph":"i","name":"b"}"#;
        let second = text.iter().rposition(|&byte| byte == b'{');
        assert_eq!(likely_border(text, 1, text.len()), second);
    }
}
