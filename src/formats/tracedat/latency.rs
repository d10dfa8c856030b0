//! A trace.dat that contains the text of a latency tracer instead of events (`trace-cmd record -p wakeup_rt`), like 1
//! of the 99 trace.dat files of the corpus and the samples.

use super::TraceDat;
use crate::formats::format::{Input, Instead};
use crate::formats::stream::IndependentParts;

/// Returns the text of a latency tracer in a file without events; `None` for other files.
#[must_use]
pub(super) fn text_instead_of_events(reader: &TraceDat) -> Option<Instead> {
    let file = reader.file();
    if file.latency_texts.is_empty() || !IndependentParts::parts(reader).is_empty() {
        return None;
    }
    let mut joined = Vec::new();
    for text in &file.latency_texts {
        let length = memchr::memchr(0, text).unwrap_or(text.len());
        joined.extend_from_slice(text.get(..length).unwrap_or(text));
        joined.push(b'\n');
    }
    Some(Instead {
        name: "latency text",
        input: Input::from_vec(joined, &file.input.file_name),
        known: reader.directory(),
    })
}
