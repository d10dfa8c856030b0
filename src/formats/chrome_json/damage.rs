//! Finds where reading continues behind text that is not JSON.
//!
//! ```text
//! {"ph":"X" "args":{"l":[{"ph":"i"}]}},{ next       the brackets of the item match: behind its end
//! {"ph":"X","args":{"k":1 ,{ next },{ next          a bracket or a quote is missing: at the next start of an event
//! ```
//!
//! An event starts at a brace and a quoted word, after a comma, a bracket, a brace or the start of a line. Such a brace may
//! also be inside the damaged item (`"l":[{"ph":"i"}]`): it is skipped if the item's brackets match soon after it. A quote
//! too few or too many makes strings of what is between strings: a brace inside such a string starts the next event. An
//! array whose end is missing (`"stack":["a",{ next },{ next }`) contains all events that follow, up to the end of the
//! file: only there can that be seen.

use std::ops::Range;

use super::scan::{Inside, Scan};

/// Maximum number of bytes of an item behind the next start of an event in it.
const MOST_BEHIND: usize = 1 << 10;

/// Where the next event starts: found once for all damaged items before it.
#[derive(Debug, Default)]
pub(super) struct Damage {
    /// Whether the text ends where the file does.
    pub(super) is_whole: bool,
    /// The range that was searched, and the start at its end.
    searched: Range<usize>,
    found: usize,
    /// Up to here, an event that is long and contains others is taken for one with an array whose end is missing.
    suspected: usize,
}

/// Where reading continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Behind the damaged item.
    Behind(usize),
    /// At this start of an event, or the end of the text.
    Event(usize),
}

impl Damage {
    /// Returns where reading continues after the damaged item at `start`, which begins with a bracket.
    pub(super) fn after_item(&mut self, bytes: &[u8], start: usize) -> Next {
        let mut scan = Scan::new(bytes, start);
        let mut inside = Inside::default();
        if scan.item(&mut inside).is_some() {
            return Next::Behind(scan.at);
        }
        let fault = scan.at;
        if fault == bytes.len()
            && inside.string.is_none()
            && self.is_whole
            && let Some(event) = self.event_inside(bytes, start)
        {
            return Next::Event(event);
        }
        let from = inside.string.map_or(fault, |string| string + 1);
        let next = self.next_event(bytes, from.max(start + 1));
        if next < fault {
            // A quote is missing before this event.
            return Next::Event(next);
        }
        let mut end = scan;
        if end.close(&mut inside.clone(), next).is_some() {
            return Next::Behind(end.at);
        }
        // The start is inside the item, or a bracket or quote is missing before it.
        let mut end = scan;
        if end
            .close(&mut inside, next.saturating_add(MOST_BEHIND))
            .is_some()
        {
            let end_at = end.at;
            let follows = matches!(end.next(), None | Some(b',' | b']' | b'}' | b'{'));
            if follows && !is_in_string(bytes, fault, next) {
                return Next::Behind(end_at);
            }
        }
        Next::Event(next)
    }

    /// Returns the first event inside the one at `start`, which ends where the text does.
    pub(super) fn event_inside(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        let event = starts(bytes, start + 1..bytes.len()).find(|&at| has_phase(bytes, at))?;
        self.suspected = bytes.len();
        Some(event)
    }

    /// Returns the first event inside the one at `start`, if that is suspected to have swallowed it.
    #[inline]
    pub(super) fn suspected(&self, bytes: &[u8], start: usize) -> Option<usize> {
        match start < self.suspected {
            true => self.swallowed(bytes, start),
            false => None,
        }
    }

    #[cold]
    fn swallowed(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let near = bytes.get(..start.saturating_add(MOST_BEHIND))?;
        let mut scan = Scan::new(near, start);
        if scan.item(&mut Inside::default()).is_some() || scan.at != near.len() {
            return None;
        }
        starts(near, start + 1..near.len()).find(|&at| has_phase(near, at))
    }

    /// Returns the first offset from `from` on that looks like the start of an event; the end of the text if there is none.
    pub(super) fn next_event(&mut self, bytes: &[u8], from: usize) -> usize {
        if !self.searched.contains(&from) {
            let next = starts(bytes, from..bytes.len()).next();
            self.found = next.unwrap_or(bytes.len());
            self.searched = from..self.found.saturating_add(1);
        }
        self.found
    }
}

/// Returns whether the object at `at` has a phase, before any value that is an object or array.
fn has_phase(bytes: &[u8], at: usize) -> bool {
    let mut scan = Scan::new(bytes, at + 1);
    let mut is_phase = || -> Option<bool> {
        loop {
            scan.next_after_commas()?;
            let key = scan.string()?;
            scan.expect(b':')?;
            match scan.next()? {
                _ if key.bytes == b"ph" => return Some(true),
                b'{' | b'[' => return Some(false),
                _ => scan.value()?,
            };
        }
    };
    is_phase() == Some(true)
}

/// Returns whether `place` is inside a string, if no string is open at `from`.
fn is_in_string(bytes: &[u8], from: usize, place: usize) -> bool {
    let mut scan = Scan::new(bytes, from);
    while scan.at < place {
        match scan.peek() {
            Some(b'"') => {
                if scan.string().is_none() || scan.at > place {
                    return true;
                }
            }
            Some(_) => scan.at += 1,
            None => return false,
        }
    }
    false
}

/// Returns the offsets in `range` at which the text looks like the start of an event.
pub(super) fn starts(bytes: &[u8], range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
    let from = range.start;
    let text = bytes.get(from..range.end.min(bytes.len()));
    let braces = memchr::memchr_iter(b'{', text.unwrap_or(&[])).map(move |at| from + at);
    braces.filter(|&at| is_start(bytes, at))
}

/// Returns whether the brace at `at` looks like the start of an event.
pub(super) fn is_start(bytes: &[u8], at: usize) -> bool {
    /// Maximum number of bytes of white space skipped before the brace, and maximum length of the first key.
    const NEAR: usize = 64;
    if bytes.get(at) != Some(&b'{') {
        return false;
    }
    let before = bytes.get(at.saturating_sub(NEAR)..at).unwrap_or(&[]);
    let solid = before.trim_ascii_end();
    let space = before.get(solid.len()..).unwrap_or(&[]);
    let is_behind = matches!(solid.last(), Some(b',' | b'[' | b'}') | None);
    if !is_behind && !space.contains(&b'\n') {
        return false;
    }
    let near = bytes.get(..bytes.len().min(at.saturating_add(4 * NEAR)));
    let mut ahead = Scan::new(near.unwrap_or(bytes), at + 1);
    ahead.next() == Some(b'"') && ahead.string().is_some() && ahead.expect(b':').is_some()
}
