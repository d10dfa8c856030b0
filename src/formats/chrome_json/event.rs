//! One event object: its members as they are in the file.
//!
//! ```text
//! {"ph":"X", "name":.., "cat":.., "ts": µs, "dur": µs, "pid":.., "tid":.., "id":.., "args":{..}, ...}
//! ```
//!
//! Reads one object at a place; does not interpret its members.

use super::scan::{Members, Quoted, Raw, Scan};
use super::text::plain;
use crate::event::SUM_FIELDS;

/// The members of an event that the bulk pass needs. For a member that occurs twice, the last value is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RawEvent<'a> {
    /// Phase: the first byte of `ph`; 0 if there is none.
    pub(super) phase: u8,
    pub(super) name: Raw<'a>,
    pub(super) category: Raw<'a>,
    pub(super) time: Raw<'a>,
    pub(super) duration: Raw<'a>,
    pub(super) process: Raw<'a>,
    pub(super) thread: Raw<'a>,
    pub(super) args: Raw<'a>,
    /// The number of known members that the event has.
    pub(super) known: u32,
    /// The members that few events have; all are absent unless `has_more`.
    pub(super) more: More<'a>,
    has_more: bool,
}

/// The members that few events have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct More<'a> {
    pub(super) id: Raw<'a>,
    /// `id2`: an object with `local` or `global`.
    pub(super) id2: Raw<'a>,
    pub(super) scope: Raw<'a>,
    /// `s`: the scope of an instant.
    pub(super) instant_scope: Raw<'a>,
    /// `bp`: the slice to which the end of a flow is bound.
    pub(super) bound: Raw<'a>,
    /// `bind_id`, `flow_in` and `flow_out`: arrows that start or end at slices.
    pub(super) bind_id: Raw<'a>,
    pub(super) flow_in: Raw<'a>,
    pub(super) flow_out: Raw<'a>,
}

impl<'a> RawEvent<'a> {
    /// Reads the object that starts at the next byte. `None` if the text is not JSON; then `scan.at` is the position of
    /// the error.
    pub(super) fn read(scan: &mut Scan<'a>) -> Option<RawEvent<'a>> {
        let mut event = RawEvent::default();
        event.read_again(scan)?;
        Some(event)
    }

    /// Replaces all members by those of the object that starts at the next byte; see [`RawEvent::read`].
    #[inline]
    pub(super) fn read_again(&mut self, scan: &mut Scan<'a>) -> Option<()> {
        self.clear();
        scan.expect(b'{')?;
        if scan.next()? == b'}' {
            scan.at += 1;
            return Some(());
        }
        loop {
            scan.next()?;
            let key = scan.string()?;
            scan.expect(b':')?;
            let value = scan.value()?;
            self.set(key, value);
            match scan.next()? {
                b',' => scan.at += 1,
                b'}' => {
                    scan.at += 1;
                    return Some(());
                }
                _ => return None,
            }
            // A comma before the closing brace, as some scripts write it.
            if scan.next()? == b'}' {
                scan.at += 1;
                return Some(());
            }
        }
    }

    /// Returns whether this event is about an object: its creation, a snapshot of it, or its end.
    #[inline]
    pub(super) fn is_object(&self) -> bool {
        matches!(self.phase, b'N' | b'O' | b'D')
    }

    /// Returns whether this is not a slice but a sum over the whole trace, as compilers of LLVM write it for each name:
    /// at time 0, with only the arguments `count` and `avg ms`.
    #[inline]
    pub(super) fn is_sum(&self) -> bool {
        self.phase == b'X' && self.time.bytes() == b"0" && self.has_arguments_of_sum()
    }

    fn has_arguments_of_sum(&self) -> bool {
        let mut members = Members::of(self.args.nested());
        let mut is_next = |wanted: &[u8]| {
            let next = members.next();
            next.is_some_and(|(key, value)| key.bytes == wanted && matches!(value, Raw::Word(_)))
        };
        let [_, count, mean] = SUM_FIELDS;
        is_next(count.as_bytes()) && is_next(mean.as_bytes()) && members.next().is_none()
    }

    #[inline]
    fn clear(&mut self) {
        if std::mem::take(&mut self.has_more) {
            self.more = More::default();
        }
        self.phase = 0;
        self.known = 0;
        for member in [
            &mut self.name,
            &mut self.category,
            &mut self.time,
            &mut self.duration,
            &mut self.process,
            &mut self.thread,
            &mut self.args,
        ] {
            *member = Raw::None;
        }
    }

    /// Reads the members of an object that may be cut off, up to the cut.
    pub(super) fn read_as_far_as_possible(scan: &mut Scan<'a>) -> RawEvent<'a> {
        let mut event = RawEvent::default();
        let _ = scan.expect(b'{');
        while scan.next_after_commas() == Some(b'"') {
            let Some(key) = scan.string() else { break };
            let Some(value) = scan.expect(b':').and_then(|()| scan.value()) else {
                break;
            };
            event.set(key, value);
        }
        event
    }

    #[inline]
    fn set(&mut self, key: Quoted<'a>, value: Raw<'a>) {
        if !self.set_member(key.bytes, value) && key.has_escape {
            self.set_member(&plain(key), value);
        }
    }

    /// Sets the member with this key; returns `false` if there is none.
    #[inline]
    fn set_member(&mut self, key: &[u8], value: Raw<'a>) -> bool {
        let member = match key {
            b"name" => &mut self.name,
            b"ph" => {
                self.phase = value.bytes().first().copied().unwrap_or(0);
                self.known += 1;
                return true;
            }
            b"ts" => &mut self.time,
            b"pid" => &mut self.process,
            b"tid" => &mut self.thread,
            b"cat" => &mut self.category,
            b"dur" => &mut self.duration,
            b"args" => &mut self.args,
            key => match self.more.member(key) {
                Some(member) => {
                    self.has_more = true;
                    member
                }
                None => return false,
            },
        };
        *member = value;
        self.known += 1;
        true
    }
}

impl<'a> More<'a> {
    fn member(&mut self, key: &[u8]) -> Option<&mut Raw<'a>> {
        Some(match key {
            b"id" => &mut self.id,
            b"id2" => &mut self.id2,
            b"scope" => &mut self.scope,
            b"s" => &mut self.instant_scope,
            b"bp" => &mut self.bound,
            b"bind_id" => &mut self.bind_id,
            b"flow_in" => &mut self.flow_in,
            b"flow_out" => &mut self.flow_out,
            _ => return None,
        })
    }
}

/// Returns whether a member with this key shows that its object is an event.
pub(super) fn is_of_event(key: &[u8]) -> bool {
    matches!(
        key,
        b"ph" | b"ts" | b"pid" | b"tid" | b"cat" | b"dur" | b"args"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_whatever_the_order_of_its_members() {
        let text =
            br#"{"ts":1.5,"extra":[{"ph":"no"}],"ph":"X" , "name":"a","args":{"ph":"B"},}rest"#;
        let mut scan = Scan::new(text, 0);
        let event = RawEvent::read(&mut scan).unwrap();
        assert_eq!(event.phase, b'X');
        assert_eq!(event.time, Raw::Word(b"1.5"));
        assert_eq!(event.args.nested(), br#"{"ph":"B"}"#);
        assert_eq!(text.get(scan.at..), Some(&b"rest"[..]));
        let text = br#"{"p\u0068":"X","\u0070id":7,"k\u0065y":1}"#;
        let event = RawEvent::read(&mut Scan::new(text, 0)).unwrap();
        assert_eq!((event.phase, event.process), (b'X', Raw::Word(b"7")));
        for (text, at) in [
            (&br#"{"ph":"X" "ts":1}"#[..], 10),
            (br#"{"ph":"X","ts":}"#, 15),
            (br#"{"ph"#, 4),
        ] {
            let mut scan = Scan::new(text, 0);
            assert!(RawEvent::read(&mut scan).is_none());
            assert_eq!(scan.at, at);
        }
    }
}
