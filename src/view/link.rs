//! A link to a view: the files, the visible span, the selection and the markers, as one line that can be sent and that
//! opens the same view on any machine that has the files.
//!
//! ```text
//! threadline:?file=/t/run.dat&view=36185724127..36187865250&range=..&a=36185724127&item={"sort":"slice",...}
//! ```
//!
//! Times are nanoseconds on the trace's clock. Special characters are written as `%41`. Unknown names are skipped when
//! a link is parsed, so that later versions can add some.

use super::anchor::{Anchor, find};
use super::state::ViewState;
use crate::base::{TimeSpan, Timestamp};
use crate::query::Item;
use crate::trace::Trace;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::base::system::files::path_of;

/// Prefix of every link.
const START: &str = "threadline:?";

/// The content of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// Files of the trace, on one time axis.
    pub files: Vec<PathBuf>,
    /// Visible span; `None`: the whole trace.
    pub view: Option<TimeSpan>,
    /// The selected range.
    pub range: Option<TimeSpan>,
    /// The markers A and B.
    pub marks: [Option<Timestamp>; 2],
    /// The selected item.
    pub item: Option<Anchor>,
}

impl Link {
    /// Returns a link to the current view of `files`.
    #[must_use]
    pub fn to(state: &ViewState, files: Vec<PathBuf>) -> Link {
        Link {
            files,
            view: (state.span != state.bounds()).then_some(state.span),
            range: state.range,
            marks: state.marks,
            item: state.selected_anchor.clone(),
        }
    }

    /// Returns whether a text starts like a link; the rest may be malformed.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        text.trim().starts_with(START)
    }

    /// Parses a link.
    ///
    /// # Errors
    /// Returns a sentence for the user if the text is not a link, or a value in it is malformed.
    pub fn parse(text: &str) -> Result<Link, String> {
        let wrong = |what: &str| format!("this link is wrong: {what}");
        let text = text.trim();
        let rest = text
            .strip_prefix(START)
            .ok_or_else(|| wrong("it does not begin with threadline:?"))?;
        let mut link = Link::default();
        for part in rest.split('&') {
            let Some((name, value)) = part.split_once('=') else {
                continue;
            };
            let value = decoded(value).ok_or_else(|| wrong(&format!("'{name}' is damaged")))?;
            let text = String::from_utf8_lossy(&value);
            let time = |text: &str| {
                let number = text.parse().map(Timestamp);
                number.map_err(|_| wrong(&format!("'{text}' is not a time")))
            };
            let span = || {
                let (from, until) = (text.split_once(".."))
                    .ok_or_else(|| wrong(&format!("'{text}' is not a span of time")))?;
                let (from, until) = (time(from)?, time(until)?);
                Ok::<_, String>(TimeSpan::new(from.min(until), from.max(until)))
            };
            match name {
                "file" => link.files.push(path_of(value.clone())),
                "view" => link.view = Some(span()?),
                "range" => link.range = Some(span()?),
                "a" => link.marks[0] = Some(time(&text)?),
                "b" => link.marks[1] = Some(time(&text)?),
                "item" => {
                    let anchor = serde_json::from_str(&text);
                    link.item = Some(anchor.map_err(|_| wrong("its item is not valid"))?);
                }
                _ => {}
            }
        }
        match link.files.is_empty() {
            true => Err(wrong("it names no file")),
            false => Ok(link),
        }
    }

    /// Returns whether the link is to exactly these files, in this order.
    #[must_use]
    pub(crate) fn is_of(&self, files: &[PathBuf]) -> bool {
        let whole = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        self.files.len() == files.len()
            && self
                .files
                .iter()
                .zip(files)
                .all(|(a, b)| whole(a) == whole(b))
    }

    /// Returns the item that the link names, if the trace has it.
    #[must_use]
    pub(crate) fn item_in(&self, trace: &Trace) -> Option<Item> {
        find(trace, self.item.as_ref()?)
    }
}

impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(START)?;
        let mut is_first = true;
        let mut add = |name: &str, value: &[u8]| {
            let sep = if std::mem::take(&mut is_first) {
                ""
            } else {
                "&"
            };
            write!(f, "{sep}{name}={}", encoded(value))
        };
        for file in &self.files {
            add("file", bytes_of(file))?;
        }
        let text = |span: TimeSpan| format!("{}..{}", span.start.0, span.end.0);
        for (name, span) in [("view", self.view), ("range", self.range)] {
            if let Some(span) = span {
                add(name, text(span).as_bytes())?;
            }
        }
        for (name, mark) in [("a", self.marks[0]), ("b", self.marks[1])] {
            if let Some(time) = mark {
                add(name, time.0.to_string().as_bytes())?;
            }
        }
        if let Some(text) = (self.item.as_ref()).and_then(|it| serde_json::to_string(it).ok()) {
            add("item", text.as_bytes())?;
        }
        Ok(())
    }
}

/// Returns the files that a text names, as file managers and terminals put them on the clipboard: one path or `file:`
/// address per line. `home` replaces `~`.
#[must_use]
pub(crate) fn pasted_paths(text: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let path = |line: &str| {
        let line = line.trim();
        let inner = ['"', '\''].into_iter().find_map(|quote| {
            let rest = line.strip_prefix(quote)?;
            rest.strip_suffix(quote)
        });
        let line = inner.unwrap_or(line);
        if let Some(address) = line.strip_prefix("file://") {
            let from = address.find('/')?;
            return decoded(address.get(from..)?).map(path_of);
        }
        match (line.strip_prefix("~/"), home) {
            (Some(below), Some(home)) => Some(home.join(below)),
            _ => Some(PathBuf::from(line)).filter(|path| !line.is_empty() && path.is_absolute()),
        }
    };
    let lines: Option<Vec<PathBuf>> = text.trim().lines().map(path).collect();
    lines.unwrap_or_default()
}

/// Returns whether a text is a link.
#[must_use]
pub(crate) fn is_link(text: &str) -> bool {
    text.starts_with(START)
}

fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        let is_plain = byte.is_ascii_alphanumeric() || b"/._-~:,".contains(&byte);
        match is_plain {
            true => text.push(char::from(byte)),
            false => {
                let _infallible = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = rest.get(2..)?;
        } else {
            bytes.push(byte);
        }
    }
    Some(bytes)
}

fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_pasted_as_terminals_and_file_managers_copy_them() {
        let home = Some(Path::new("/home/ada"));
        let paths = |text: &str| pasted_paths(text, home);
        let is = |text: &str, path: &str| assert_eq!(paths(text), [PathBuf::from(path)]);
        is("/t/a b.dat\n", "/t/a b.dat");
        is("'/t/a b.dat'", "/t/a b.dat");
        is("~/a.dat", "/home/ada/a.dat");
        is("file:///t/a%20b.dat\r\n", "/t/a b.dat");
        is("file://host/t/a.dat", "/t/a.dat");
        assert_eq!(paths("/t/a\n/t/b").len(), 2);
        for none in ["", "sched_switch", "/t/a\nand more", "file:///%zz"] {
            assert!(paths(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn links_say_what_they_were_made_of() {
        let span = |from, until| TimeSpan::new(Timestamp(from), Timestamp(until));
        let link = Link {
            files: vec!["/t/a b&c=d%.dat".into(), "/t/ä.fxt".into()],
            view: Some(span(-5, 1_000_000_000_000)),
            range: Some(span(7, 8)),
            marks: [Some(Timestamp(3)), None],
            item: Some(Anchor {
                sort: "slice".to_owned(),
                time: Some(Timestamp(9)),
                name: "read \"x\" & y".to_owned(),
                key: Some(4),
            }),
        };
        let text = link.to_string();
        assert!(
            Link::is_one(&text) && !text.contains(' ') && text.is_ascii(),
            "{text}"
        );
        assert_eq!(Link::parse(&text), Ok(link));
        // Unknown names are skipped.
        let newer = format!("{START}file=a&later=1&nothing");
        assert_eq!(Link::parse(&newer).unwrap().files, [PathBuf::from("a")]);
    }

    #[test]
    fn wrong_links_are_told() {
        for (text, words) in [
            ("/t/a.dat", "begin with"),
            ("threadline:?view=1..2", "no file"),
            ("threadline:?file=a&view=1-2", "not a span"),
            ("threadline:?file=a&a=x", "not a time"),
            ("threadline:?file=a%4", "damaged"),
            ("threadline:?file=a%zz", "damaged"),
            ("threadline:?file=a&item=7", "item"),
        ] {
            let error = Link::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
