//! The kernel's events as text inside a JSON file: `{"traceEvents":[], "systemTraceEvents":"# tracer: nop\n ..."}`.
//!
//! If a file contains nothing else, it is opened as that text. If there are other events, the text is a further
//! recording in the file. None of the 17 Chrome JSON recordings of the corpus and the samples contains such a text.

use super::head::Head;
use super::scan::{Quoted, Raw, Scan};
use super::text::plain;
use super::walk::{Border, Form, Found, Walk, Within};

/// The member with the text.
pub(super) const KEY: &[u8] = b"systemTraceEvents";

/// Returns the text of the kernel's events in a file without other events; `None` for any other file.
pub(super) fn lone_system_trace(bytes: &[u8]) -> Option<Vec<u8>> {
    let head = Head::of(bytes);
    if head.form != Form::Object || bytes.get(head.start) != Some(&b'{') {
        return None;
    }
    let from = Border {
        at: head.start,
        within: Within::File,
    };
    let mut walk = Walk::new(bytes, head.form, from, bytes.len());
    let mut text = None;
    while let Some(found) = walk.next() {
        match found {
            Found::Member {
                at,
                key: Quoted { bytes: KEY, .. },
            } => text = Some(at as u64),
            Found::Member { .. } | Found::Frame { .. } => {}
            Found::Event { .. }
            | Found::Sample { .. }
            | Found::Stray { .. }
            | Found::Broken { .. } => return None,
        }
    }
    text_at(bytes, text?)
}

/// Returns the text of the kernel's events; `place` is the offset of the member's value. `None` if the value is not a
/// text.
pub(super) fn text_at(bytes: &[u8], place: u64) -> Option<Vec<u8>> {
    let at = usize::try_from(place).ok()?;
    match Scan::new(bytes, at).value()? {
        Raw::Text(text) => Some(plain(text).into_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_found_where_there_are_no_other_events() {
        let text = r##""systemTraceEvents":"# tracer: nop\n#\n  a-1 [000] 1.0: x: y""##;
        let expected = Some(b"# tracer: nop\n#\n  a-1 [000] 1.0: x: y".to_vec());
        for file in [
            format!("{{{text}}}"),
            format!("{{\"traceEvents\":[],{text},\"x\":[1]}}"),
            format!("{{{text},\"traceEvents\":[]}}"),
        ] {
            assert_eq!(lone_system_trace(file.as_bytes()), expected, "{file}");
        }
        for file in [
            format!("{{{text},\"traceEvents\":[{{\"ph\":\"i\",\"ts\":1}}]}}"),
            format!("[{{{text}}}]"),
            "{\"systemTraceEvents\":[1]}".to_owned(),
            "{\"traceEvents\":[]}".to_owned(),
            "{\"a\":".to_owned(),
        ] {
            assert_eq!(lone_system_trace(file.as_bytes()), None, "{file}");
        }
    }
}
