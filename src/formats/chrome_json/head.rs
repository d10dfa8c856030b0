//! The start of a file: whether the file is in this format, its form, and whether our own exporter wrote it.

use super::event::{RawEvent, is_of_event};
use super::scan::{Members, Raw, Scan};
use super::walk::Form;
use crate::event::{OWN_WRITER, SEEN_UNTIL};
use crate::formats::Sniff;

/// How far the head is read, in bytes.
const MOST_HEAD: usize = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Facts from the start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Offset of the first bracket.
    pub(super) start: usize,
    pub(super) form: Form,
    /// Whether our own exporter wrote the file: then slices that start together are in order, and some arguments have a
    /// fixed meaning.
    pub(super) is_ours: bool,
    /// The last moment of the recording in ns, in files of our own exporter.
    pub(super) seen_until: Option<i64>,
    /// The certainty that the file is in this format.
    pub(super) sniff: Sniff,
}

impl Head {
    /// Reads the start of a file.
    pub(super) fn of(bytes: &[u8]) -> Head {
        let head = bytes.get(..bytes.len().min(MOST_HEAD)).unwrap_or(bytes);
        let start = match head.starts_with(BYTE_ORDER_MARK) {
            true => BYTE_ORDER_MARK.len(),
            false => 0,
        };
        let mut scan = Scan::new(head, start);
        let first = scan.next();
        let mut found = Head {
            start: scan.at,
            form: Form::Events,
            is_ours: false,
            seen_until: None,
            sniff: Sniff::No,
        };
        match first {
            Some(b'{') => found.read_members(head),
            Some(b'[') => {
                scan.at += 1;
                if scan.next_after_commas() == Some(b'{') {
                    found.sniff = sniff_event(scan);
                }
            }
            _ => {}
        }
        found
    }

    /// Reads the members of the first object, which is an event or contains the array of events.
    fn read_members(&mut self, head: &[u8]) {
        let mut scan = Scan::new(head, self.start + 1);
        self.form = Form::Object;
        let mut frames_or_samples = 0;
        while scan.next_after_commas() == Some(b'"') {
            let Some(key) = scan.string() else { break };
            let Some(byte) = scan.expect(b':').and_then(|()| scan.next()) else {
                break;
            };
            match (key.bytes, byte) {
                (b"traceEvents", b'[') => {
                    self.sniff = Sniff::Yes;
                    return;
                }
                (b"samples", b'[') | (b"stackFrames", b'{') => frames_or_samples += 1,
                (key, _) if is_of_event(key) => {
                    self.form = Form::Events;
                    self.sniff = sniff_event(Scan::new(head, self.start));
                    return;
                }
                _ => {}
            }
            let Some(value) = scan.value() else { break };
            if key.bytes == b"otherData" {
                self.is_ours = is_ours(value);
                self.seen_until = seen_until(value).filter(|_| self.is_ours);
            }
        }
        if frames_or_samples == 2 {
            self.sniff = Sniff::Yes;
        } else if memchr::memmem::find(head, b"\"traceEvents\"").is_some() {
            // The array may follow after a long or damaged member.
            self.sniff = Sniff::Maybe;
        }
    }
}

fn is_ours(other_data: Raw<'_>) -> bool {
    let mut members = Members::of(other_data.nested());
    members.any(|(key, value)| {
        key.bytes == b"writer" && value.bytes().starts_with(OWN_WRITER.as_bytes())
    })
}

fn seen_until(other_data: Raw<'_>) -> Option<i64> {
    let mut members = Members::of(other_data.nested());
    let found = members.find(|(key, _)| key.bytes == SEEN_UNTIL.as_bytes());
    let text = std::str::from_utf8(found?.1.bytes()).ok()?;
    text.parse().ok().filter(|time| *time < i64::MAX)
}

/// Returns the certainty that the object at the next byte is an event. The end of the head may cut the object.
fn sniff_event(mut scan: Scan<'_>) -> Sniff {
    let start = scan.at;
    let event = match RawEvent::read(&mut scan) {
        Some(event) => event,
        None => {
            let mut again = scan;
            again.at = start;
            RawEvent::read_as_far_as_possible(&mut again)
        }
    };
    match (event.phase, event.known) {
        (0, 3..) => Sniff::Maybe,
        (0, _) | (_, 0..=1) => Sniff::No,
        _ => Sniff::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_are_taken() {
        let sniff = |text: &str| Head::of(text.as_bytes()).sniff;
        for text in [
            r#"{"traceEvents":[]}"#,
            r#"{"displayTimeUnit":"ns", "traceEvents" : [ "#,
            "\u{feff} [\n{\"name\":\"a\",\"ph\":\"B\"",
            r#"[{"ph":"X","ts":1,"args":{"x":[1,2"#,
            r#"{"ph":"X","ts":1}"#,
            r#"{"name":"a","cat":"b","ph":"X","ts":1}"#,
            r#"{"stackFrames":{},"samples":[]}"#,
        ] {
            assert_eq!(sniff(text), Sniff::Yes, "{text}");
        }
        for text in [
            "",
            "[]",
            "{}",
            "[1,2,3]",
            r#"[{"name":"x","value":1}]"#,
            r#"{"name":"x","args":["--pid"]}"#,
            r#"[{"directory":"/x","file":"a.c","command":"cc"}]"#,
            r#"{"ph":7.4,"soil":"loam"}"#,
            "{ int main(void) }",
        ] {
            assert_eq!(sniff(text), Sniff::No, "{text}");
        }
    }

    #[test]
    fn our_own_files_are_known() {
        let ours = format!(
            r#"{{"displayTimeUnit":"ns","otherData":{{"writer":"{OWN_WRITER} 1.0"}},"traceEvents":[]}}"#
        );
        assert!(Head::of(ours.as_bytes()).is_ours);
        assert!(!Head::of(br#"{"traceEvents":[]}"#).is_ours);
    }
}
