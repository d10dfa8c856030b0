//! The page of `cargo build --timings`: the data in its scripts, and the table of facts above.

use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::seconds::{ns, ns_of, unix_ns};
use super::{indices, next_value, text};
use crate::base::{Job, Leading, Location, Problem, ReadError, Severity};
use crate::event::Fact;
use crate::formats::build_units::{Build, Counter, Log, Moment, Section, Unblock, Unit};

/// Name of the section at whose end a crate's metadata is written.
const FRONTEND: &[u8] = b"frontend";

/// An element of a list in the page.
struct Element {
    value: Json,
    /// Byte offset in the page.
    place: u64,
}

/// Reads the page.
///
/// # Errors
/// Errors if it has no list of units, or the job was cancelled.
pub(super) fn read(page: &[u8], job: &Job) -> Result<Log, ReadError> {
    let mut log = Log::default();
    let Some(list) = list_at(page, b"UNIT_DATA") else {
        let problem = Problem::Other("the page has no UNIT_DATA: it may have been cut".to_owned());
        return Err(ReadError::at_byte(0, "cargo timings", problem));
    };
    let elements = elements(page, list, &mut log, job)?;
    let mut build = Build {
        tool: "cargo",
        ..Build::default()
    };
    // Units refer to each other by number.
    let mut by_number: FxHashMap<u64, usize> = FxHashMap::default();
    let mut units: Vec<&Element> = Vec::new();
    for element in &elements {
        match unit(element) {
            Some(unit) => {
                by_number.insert(unit.number, build.units.len());
                build.units.push(unit);
                units.push(element);
            }
            None => note_bad(&mut log, element.place),
        }
    }
    for (from, element) in units.into_iter().enumerate() {
        let Some(unit) = build.units.get(from) else {
            continue;
        };
        let Some(end) = unit.end else { continue };
        let metadata = unit.sections.iter().find(|it| it.name == FRONTEND);
        let metadata = metadata.and_then(|it| it.end).unwrap_or(end);
        for (name, at) in [
            ("unblocked_units", end),
            ("unblocked_rmeta_units", metadata),
        ] {
            let to = indices(&element.value, name).filter_map(|number| by_number.get(&number));
            let unblocks = to.map(|&to| Unblock {
                from,
                to,
                time: at.time,
            });
            build.unblocks.extend(unblocks);
        }
    }
    build.counters = counters(page, &mut log, job)?;
    let ends = build.units.iter().filter_map(|unit| unit.end);
    let samples = build.counters.iter().flat_map(|counter| &counter.samples);
    let times = ends.chain(samples.map(|(moment, _)| *moment));
    let last = times.map(|moment| moment.time).max();
    build.span = (0, last.unwrap_or(0).max(0));
    log.builds.push(build);
    facts(page, &mut log);
    Ok(log)
}

fn note_bad(log: &mut Log, place: u64) {
    let place = Location::Byte(place);
    log.diagnostics
        .note("bad_unit", Severity::DataLoss, place, || {
            "entries of the page's data that cannot be read".to_owned()
        });
}

/// Returns the byte offset of the first element of the list that the script calls `name`.
fn list_at(page: &[u8], name: &[u8]) -> Option<usize> {
    let declared = [b"const ", name, b" = ["].concat();
    let at = memchr::memmem::find(page, &declared)?;
    at.checked_add(declared.len())
}

/// Returns the elements of the list whose first element is at `at`. Damaged elements are skipped: reading continues at
/// the next line that starts an element of the list.
fn elements(
    page: &[u8],
    mut at: usize,
    log: &mut Log,
    job: &Job,
) -> Result<Vec<Element>, ReadError> {
    let mut elements = Vec::new();
    while let Some(rest) = page.get(at..) {
        job.check()?;
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
        let skipped = rest.iter().take_while(|byte| is_between(byte)).count();
        let rest = rest.get(skipped..).unwrap_or_default();
        at = at.saturating_add(skipped);
        match rest.first() {
            Some(b']') => return Ok(elements),
            None => break,
            Some(_) => {}
        }
        let length = match next_value(rest) {
            Some(Leading { value, length }) => {
                elements.push(Element {
                    value,
                    place: at as u64,
                });
                length
            }
            None => {
                note_bad(log, at as u64);
                let next = [&b"\n  {\n"[..], b"\n  [\n", b"\n];"];
                let found = next.iter().filter_map(|it| memchr::memmem::find(rest, it));
                // The next element starts after the line break.
                match found.min() {
                    Some(length) => length.saturating_add(1),
                    None => break,
                }
            }
        };
        at = at.saturating_add(length);
    }
    Ok(elements)
}

/// Returns the unit that an element describes.
fn unit(element: &Element) -> Option<Unit> {
    let (object, place) = (&element.value, element.place);
    let moment = |time| Moment { time, place };
    let start = ns(object, "start")?;
    let duration = ns(object, "duration")?.max(0);
    let end = start.checked_add(duration)?;
    let mut name = text(object, "name").to_owned();
    for (before, part) in [
        (" v", text(object, "version")),
        ("", text(object, "target")),
    ] {
        if !part.is_empty() {
            name.push_str(before);
            name.push_str(part);
        }
    }
    // A section has no record of its own, and must not repeat that of its target, which lists all sections: no object
    // begins at the byte after the begin of the target's.
    let inside = |since: i64| Moment {
        time: start.saturating_add(since).clamp(start, end),
        place: place.saturating_add(1),
    };
    let section = |name: &str, from: i64, until: i64| Section {
        name: name.as_bytes().to_vec(),
        begin: inside(from),
        end: Some(inside(until.max(from))),
    };
    let listed = object.get("sections").and_then(Json::as_array);
    let mut sections: Vec<Section> = listed
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let (name, span) = (entry.get(0)?.as_str()?, entry.get(1)?);
            Some(section(name, ns(span, "start")?, ns(span, "end")?))
        })
        .collect();
    // cargo before 1.92 writes the time of the metadata instead. The one page at hand (1.95) has sections; a test was
    // made for the older form.
    if let (true, Some(metadata)) = (sections.is_empty(), ns(object, "rmeta_time")) {
        sections.push(section("frontend", 0, metadata));
        sections.push(section("codegen", metadata, duration));
    }
    sections.sort_by_key(|section| section.begin.time);
    let category = match text(object, "mode") {
        // The page's words for an ordinary build.
        "" | "todo" => "build",
        mode => mode,
    };
    Some(Unit {
        name: name.into_bytes(),
        category: category.as_bytes().to_vec(),
        number: object.get("i")?.as_u64()?,
        begin: moment(start),
        end: Some(moment(end)),
        sections,
    })
}

/// Returns the counters of units and of processor usage.
fn counters(page: &[u8], log: &mut Log, job: &Job) -> Result<Vec<Counter>, ReadError> {
    let mut counters: Vec<Counter> = Vec::new();
    if let Some(list) = list_at(page, b"CONCURRENCY_DATA") {
        let elements = elements(page, list, log, job)?;
        for (name, member) in [
            ("units active", "active"),
            ("units waiting", "waiting"),
            ("units inactive", "inactive"),
        ] {
            let sample = |element: &Element| {
                let moment = Moment {
                    time: ns(&element.value, "t")?,
                    place: element.place,
                };
                Some((moment, element.value.get(member)?.as_f64()?))
            };
            let samples = elements.iter().filter_map(sample).collect();
            counters.push(Counter { name, samples });
        }
    }
    if let Some(list) = list_at(page, b"CPU_USAGE") {
        let sample = |element: Element| {
            let moment = Moment {
                time: ns_of(element.value.get(0)?)?,
                place: element.place,
            };
            Some((moment, element.value.get(1)?.as_f64()?))
        };
        let elements = elements(page, list, log, job)?;
        let samples = elements.into_iter().filter_map(sample).collect();
        let name = "CPU usage (%)";
        counters.push(Counter { name, samples });
    }
    counters.retain(|counter| !counter.samples.is_empty());
    Ok(counters)
}

/// Adds the rows of the page's table of facts to the facts.
fn facts(page: &[u8], log: &mut Log) {
    let start = memchr::memmem::find(page, b"summary-table\">").unwrap_or(page.len());
    let table = page.get(start..).unwrap_or_default();
    let end = memchr::memmem::find(table, b"</table>").unwrap_or(table.len());
    let table = String::from_utf8_lossy(table.get(..end).unwrap_or_default());
    for row in table.split("<tr>").skip(1) {
        let mut cells = row.split("<td>").skip(1).map(plain);
        let (Some(name), Some(value)) = (cells.next(), cells.next()) else {
            continue;
        };
        let name = name.trim_end_matches(':').to_lowercase();
        if name == "build start" {
            log.wall_clock_zero_ns = unix_ns(&value);
        }
        log.facts.push(Fact::new(name, value));
    }
}

/// Returns the text of a table's cell.
fn plain(cell: &str) -> String {
    let cell = cell.split("</td>").next().unwrap_or_default();
    let mut text = String::new();
    for (at, piece) in cell.split("<br>").enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(piece);
    }
    for (entity, letter) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, letter);
    }
    text.trim().to_owned()
}
