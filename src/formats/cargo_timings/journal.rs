//! The log of cargo's build analysis: one JSON object per line, each with a reason.

use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::seconds::{ns, unix_ns};
use super::{indices, text};
use crate::base::lines::lines;
use crate::base::{Job, Location, ReadError, Severity};
use crate::event::Fact;
use crate::formats::build_units::{Build, Log, Moment, Section, Unblock, Unit};
use crate::formats::text_end::note_cut_line;

/// A unit while the log is read.
#[derive(Default)]
struct Open {
    name: String,
    category: String,
    begin: Option<Moment>,
    metadata: Option<Moment>,
    end: Option<Moment>,
    sections: Vec<Section>,
}

#[derive(Default)]
struct Reader {
    /// Units by number, and the numbers in the order of the lines.
    units: FxHashMap<u64, Open>,
    order: Vec<u64>,
    /// (number of the unit, numbers of the units that it unblocked, time).
    unblocked: Vec<(u64, Vec<u64>, Moment)>,
    last: i64,
    log: Log,
    build: Build,
}

/// Reads the log.
///
/// # Errors
/// Errors if the job was cancelled.
pub(super) fn read(log: &[u8], job: &Job) -> Result<Log, ReadError> {
    let mut reader = Reader::default();
    note_cut_line(log, &mut reader.log.diagnostics);
    for line in lines(log, 1, 0) {
        if line.number.is_multiple_of(1 << 10) {
            job.check()?;
        }
        if line.bytes.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Json>(line.bytes) {
            Ok(object @ Json::Object(_)) => reader.object(&object, line.offset),
            _ => {
                let place = Location::Byte(line.offset);
                let diagnostics = &mut reader.log.diagnostics;
                diagnostics.note("bad_line", Severity::DataLoss, place, || {
                    "lines that are not JSON objects".to_owned()
                });
            }
        }
    }
    Ok(reader.finish())
}

impl Reader {
    fn object(&mut self, object: &Json, place: u64) {
        let elapsed = ns(object, "elapsed");
        if let (None, Some(elapsed)) = (self.log.wall_clock_zero_ns, elapsed) {
            let now = unix_ns(text(object, "timestamp"));
            self.log.wall_clock_zero_ns = now.and_then(|now| now.checked_sub(elapsed));
        }
        let reason = text(object, "reason");
        if reason == "build-started" {
            self.build_started(object);
            return;
        }
        let Some(number) = object.get("index").and_then(Json::as_u64) else {
            return;
        };
        let order = &mut self.order;
        let unit = self.units.entry(number).or_insert_with(|| {
            order.push(number);
            Open::default()
        });
        if reason == "unit-registered" {
            unit.name = unit_name(object);
            unit.category = text(object, "mode").to_owned();
            return;
        }
        let Some(time) = elapsed else { return };
        self.last = self.last.max(time);
        let moment = Moment { time, place };
        match reason {
            "unit-started" => unit.begin = Some(moment),
            "unit-rmeta-finished" => unit.metadata = Some(moment),
            "unit-finished" => unit.end = Some(moment),
            "unit-section-started" => unit.sections.push(Section {
                name: text(object, "section").as_bytes().to_vec(),
                begin: moment,
                end: None,
            }),
            "unit-section-finished" => {
                let name = text(object, "section").as_bytes();
                let mut open = unit.sections.iter_mut().rev();
                if let Some(section) = open.find(|it| it.end.is_none() && it.name == name) {
                    section.end = Some(moment);
                }
            }
            _ => {}
        }
        let to: Vec<u64> = indices(object, "unblocked").collect();
        if !to.is_empty() {
            self.unblocked.push((number, to, moment));
        }
    }

    fn build_started(&mut self, object: &Json) {
        let words = object.get("command").and_then(Json::as_array);
        let words = words.into_iter().flatten().filter_map(Json::as_str);
        self.build.arguments = words.map(|word| word.as_bytes().to_vec()).collect();
        self.build.directory = text(object, "cwd").as_bytes().to_vec();
        for (name, title) in [
            ("profile", "profile"),
            ("jobs", "jobs"),
            ("num_cpus", "CPUs"),
            ("host", "host"),
            ("rustc_version", "rustc"),
        ] {
            let value = match object.get(name) {
                Some(Json::String(text)) => text.clone(),
                Some(Json::Number(number)) => number.to_string(),
                _ => continue,
            };
            self.log.facts.push(Fact::new(title, value));
        }
    }

    fn finish(self) -> Log {
        let Reader {
            mut units,
            order,
            unblocked,
            last,
            mut log,
            mut build,
        } = self;
        build.tool = "cargo";
        build.span = (0, last);
        let mut index_of: FxHashMap<u64, usize> = FxHashMap::default();
        let mut fresh = 0_u64;
        for number in order {
            let Some(unit) = units.remove(&number) else {
                continue;
            };
            match unit.begin {
                Some(begin) => {
                    index_of.insert(number, build.units.len());
                    build.units.push(unit.finish(number, begin));
                }
                None => fresh = fresh.saturating_add(1),
            }
        }
        for (from, to, at) in unblocked {
            let Some(&from) = index_of.get(&from) else {
                continue;
            };
            let to = to.iter().filter_map(|number| index_of.get(number));
            build.unblocks.extend(to.map(|&to| Unblock {
                from,
                to,
                time: at.time,
            }));
        }
        if fresh > 0 {
            let words = format!("{fresh} (fresh, or never started)");
            let fact = Fact::new("units that were not built", words);
            log.facts.push(fact);
        }
        log.builds.push(build);
        log
    }
}

impl Open {
    fn finish(self, number: u64, begin: Moment) -> Unit {
        let is_later = |end: &Moment| end.time >= begin.time;
        let end = self.end.filter(is_later);
        let mut sections = self.sections;
        sections.sort_by_key(|section| section.begin.time);
        // The front end works until the first section that rustc announces, otherwise until the metadata is written.
        let section = |name: &str, begin, end| Section {
            name: name.as_bytes().to_vec(),
            begin,
            end,
        };
        match (sections.first(), self.metadata.filter(is_later)) {
            (Some(first), _) => sections.insert(0, section("frontend", begin, Some(first.begin))),
            (None, Some(metadata)) => {
                sections.push(section("frontend", begin, Some(metadata)));
                sections.push(section("codegen", metadata, end));
            }
            (None, None) => {}
        }
        let name = match self.name.is_empty() {
            true => format!("unit {number}"),
            false => self.name,
        };
        Unit {
            name: name.into_bytes(),
            category: self.category.into_bytes(),
            number,
            begin,
            end,
            sections,
        }
    }
}

/// Returns the name of a unit as on the page of `--timings`: `serde v1.0.229 build-script (run)`.
fn unit_name(object: &Json) -> String {
    let package = text(object, "package_id");
    let (source, id) = package.split_once('#').unwrap_or((package, ""));
    let folder = source.rsplit('/').next().unwrap_or(source);
    let (name, version) = match id.split_once('@') {
        Some((name, version)) => (name, version),
        None => (folder, id),
    };
    let mut words = name.to_owned();
    if !version.is_empty() {
        words = format!("{words} v{version}");
    }
    let target = object.get("target").unwrap_or(&Json::Null);
    match (text(target, "kind"), text(object, "mode")) {
        ("lib" | "", "build" | "") => {}
        ("build-script", "run-custom-build") => words.push_str(" build-script (run)"),
        ("build-script", _) => words.push_str(" build-script"),
        (kind, mode) => {
            words = format!("{words} {kind} \"{}\"", text(target, "name"));
            if mode != "build" {
                words = format!("{words} ({mode})");
            }
        }
    }
    words
}
