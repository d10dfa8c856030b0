//! Traces inside HTML pages: returns the bytes of the traces in a page.
//!
//! ```text
//! <script class="trace-data" type="application/text"> ftrace text </script>             systrace; also JSON
//! <script id="viewer-data" type="text/plain"> base64 of JSON, usually of gzip </script>  trace2html
//! var linuxPerfData = "\            line\n\            line\n\";                        systrace before 2013
//! json_data = {JSON in one line}                                                          viztracer
//! ```
//!
//! A page may contain several such places, because systrace writes one for each program that recorded. The caller
//! decides which of them are traces; systrace also adds lists of processes.
//!
//! None of the files of the corpus and the samples is such a page. The only HTML page there is a report of cargo, which
//! is a format of its own.

use std::ops::Range;

use super::compression;
use crate::base::{Job, ReadError, budget};

/// Maximum distance of a page's first tag from its start, in bytes.
const MOST_BEFORE: usize = 1024;
/// Maximum number of places that are checked.
const MOST_PLACES: usize = 64;

/// The trace in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Embedded {
    /// A range of bytes of the page.
    Part(Range<usize>),
    /// Bytes that were decoded from the page.
    Decoded(Vec<u8>),
}

/// Returns the traces in a page, in its order; none if the bytes are not a page.
///
/// # Errors
/// Errors if there is not enough memory, or the job was cancelled.
pub(crate) fn unwrap(
    page: &[u8],
    is_trace: &dyn Fn(&[u8]) -> bool,
    job: &Job,
) -> Result<Vec<Embedded>, ReadError> {
    let mut found = Vec::new();
    if !is_page(page) {
        return Ok(found);
    }
    for script in scripts(page).take(MOST_PLACES) {
        job.check()?;
        let tag = page.get(script.tag.clone()).unwrap_or(&[]);
        let body = trimmed(page, script.body);
        let text = page.get(body.clone()).unwrap_or(&[]);
        if is_trace(text) {
            found.push(Embedded::Part(body));
        } else if has(tag, b"viewer-data") {
            let decoded = base64(text)?;
            let plain = match compression::unwrap_file(&decoded, job) {
                Ok(Some(unwrapped)) => unwrapped.plain,
                _ => decoded,
            };
            if is_trace(&plain) {
                found.push(Embedded::Decoded(plain));
            }
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    if let Some(range) = json_data(page)
        && is_trace(page.get(range.clone()).unwrap_or(&[]))
    {
        found.push(Embedded::Part(range));
        return Ok(found);
    }
    let text = perf_data(page)?.filter(|text| is_trace(text));
    Ok(text.map(Embedded::Decoded).into_iter().collect())
}

/// Returns whether bytes are an HTML page.
pub(crate) fn is_page(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(MOST_BEFORE)).unwrap_or(bytes);
    let head = head.trim_ascii_start().to_ascii_lowercase();
    head.starts_with(b"<!doctype html") || head.starts_with(b"<html") || head.starts_with(b"<!--")
}

/// A script in a page.
struct Script {
    /// From its `<` to before its `>`.
    tag: Range<usize>,
    /// The text between its tags.
    body: Range<usize>,
}

/// Iterates over the scripts that may contain a trace, by the class or id in their tags.
fn scripts(page: &[u8]) -> impl Iterator<Item = Script> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr::memmem::find(page.get(at..)?, b"<script")?;
            let end = start + memchr::memchr(b'>', page.get(start..)?)?;
            let rest = page.get(end + 1..)?;
            // The last script of a page that is cut short has no end.
            let length = memchr::memmem::find(rest, b"</script").unwrap_or(rest.len());
            at = end + 1 + length;
            let tag = page.get(start..end)?;
            if has(tag, b"trace-data") || has(tag, b"viewer-data") {
                return Some(Script {
                    tag: start..end,
                    body: end + 1..at,
                });
            }
        }
    })
}

fn has(bytes: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(bytes, word).is_some()
}

/// Returns the range without white space at both ends, but with the line end after its last line.
fn trimmed(page: &[u8], range: Range<usize>) -> Range<usize> {
    let text = page.get(range.clone()).unwrap_or(&[]);
    let start = range.end - text.trim_ascii_start().len().min(range.len());
    let length = page
        .get(start..range.end)
        .unwrap_or(&[])
        .trim_ascii_end()
        .len();
    let line_end = usize::from(page.get(start + length) == Some(&b'\n'));
    start..(start + length + line_end).min(range.end)
}

/// Decodes base64 text; other characters are skipped.
fn base64(text: &[u8]) -> Result<Vec<u8>, ReadError> {
    let mut out = Vec::new();
    budget::grow(&mut out, text.len() / 4 * 3 + 3)
        .map_err(|problem| ReadError::at_byte(0, "base64", problem))?;
    let (mut bits, mut count) = (0_u32, 0);
    for &byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Ok(out)
}

/// Returns the range of the value of `json_data`, which is on one line.
fn json_data(page: &[u8]) -> Option<Range<usize>> {
    let assigned = b"json_data = {";
    let start = memchr::memmem::find(page, assigned)? + assigned.len() - 1;
    let rest = page.get(start..)?;
    let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    Some(trimmed(page, start..start + length))
}

/// Returns the text of the string `linuxPerfData`.
fn perf_data(page: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
    let Some(start) = memchr::memmem::find(page, b"linuxPerfData = \"") else {
        return Ok(None);
    };
    let mut rest = page
        .get(start + b"linuxPerfData = \"".len()..)
        .unwrap_or(&[]);
    let mut out = Vec::new();
    budget::grow(&mut out, rest.len())
        .map_err(|problem| ReadError::at_byte(start as u64, "linuxPerfData", problem))?;
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or(&[]));
        let length = match rest.get(at..) {
            Some([b'\\', b'n', ..]) => {
                out.push(b'\n');
                2
            }
            Some([b'\\', b't', ..]) => {
                out.push(b'\t');
                2
            }
            // A backslash before a line end: the string continues.
            Some([b'\\', b'\r', b'\n', ..]) => 3,
            Some([b'\\', b'\n', ..]) => 2,
            Some([b'\\', byte, ..]) => {
                out.push(*byte);
                2
            }
            _ => return Ok(Some(out)),
        };
        rest = rest.get(at + length..).unwrap_or(&[]);
    }
    out.extend_from_slice(rest);
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FTRACE: &str =
        "# tracer: nop\n#\n   bash-96 [001] ...1 69.626109: sched_waking: comm=x\n";

    fn found(page: &str) -> Option<Vec<u8>> {
        let mut found = all_found(page);
        assert!(found.len() < 2, "{page}");
        found.pop()
    }

    fn all_found(page: &str) -> Vec<Vec<u8>> {
        let is_trace = |text: &[u8]| text.starts_with(b"# tracer") || text.starts_with(b"{\"tr");
        let embedded = unwrap(page.as_bytes(), &is_trace, &Job::default()).unwrap();
        let bytes = |embedded| match embedded {
            Embedded::Part(range) => page.as_bytes().get(range).unwrap().to_vec(),
            Embedded::Decoded(bytes) => bytes,
        };
        embedded.into_iter().map(bytes).collect()
    }

    #[test]
    fn the_trace_in_a_page_is_found() {
        let page = |body: &str| {
            format!("<!DOCTYPE html>\n<html><head><script>var a=1;</script>{body}</html>")
        };
        let systrace = page(&format!(
            "<script class=\"trace-data\" type=\"application/text\">\nPID TTY\n</script>\n<script class=\"trace-data\" type=\"application/text\">\n{FTRACE}\n  </script>"
        ));
        assert_eq!(found(&systrace), Some(FTRACE.as_bytes().to_vec()));
        let cut = page(&format!(
            "<script class=\"trace-data\" type=\"application/text\">{FTRACE}"
        ));
        let cut = cut.strip_suffix("</html>").unwrap();
        assert_eq!(found(cut), Some(FTRACE.as_bytes().to_vec()));
        let old = page(&format!(
            "<script>\nvar linuxPerfData = \"\\\n{}\";</script>",
            FTRACE.replace('\n', "\\n\\\n")
        ));
        assert_eq!(found(&old), Some(FTRACE.as_bytes().to_vec()));
        // base64 of {"traceEvents":[]}
        let viewer = page(
            "<script id=\"viewer-data\" type=\"text/plain\">\neyJ0cmFjZUV2ZW50\ncyI6W119\n</script>",
        );
        assert_eq!(found(&viewer), Some(b"{\"traceEvents\":[]}".to_vec()));
        let viztracer = page(
            "<script>\nvar json_data;\nfunction go() {\n  json_data = {\"traceEvents\":[]}\n}</script>",
        );
        assert_eq!(found(&viztracer), Some(b"{\"traceEvents\":[]}".to_vec()));
        let script = |text| {
            format!(
                "  <script class=\"trace-data\" type=\"application/text\">\n{text}  </script>\n"
            )
        };
        let json = "{\"traceEvents\":[]}";
        let several = [FTRACE, "PID TTY\n", json].map(script).concat();
        let expected = [FTRACE.as_bytes().to_vec(), json.into()];
        assert_eq!(all_found(&page(&several)), expected);
        assert_eq!(found(&page("<p>nothing</p>")), None);
        assert_eq!(found(FTRACE), None);
    }
}
