//! Parses a text of definitions line by line, and checks each line against the lines before it.

use rustc_hash::FxHashMap;

use super::around::Around;
use super::definition::{
    Command, DefinitionLine, Definitions, OtherEvent, ProbeDefinition, ProbePlace, ProbeSort,
};
use super::fault::{Fault, ProbeError};
use super::fetch::argument;
use super::place::{EventName, Wrong, event_name, generated_name, place, unsigned};
use crate::event::kernel::ProbeGroup;

const MOST_LINE: usize = 4094;
const MOST_ACTIVE: u64 = 4096;
const MOST_ARGUMENTS: usize = 128;
/// The name of the boot parameter, before its commands.
pub(super) const BOOT: &str = "kprobe_event=";

/// Parses a text of definitions. Every command becomes a line of the result, valid or not; comments do not.
#[must_use]
pub fn parse(text: &str) -> Definitions {
    let mut found = Found::default();
    found.read("", text);
    found.all
}

/// A file of definitions.
pub(crate) struct DefinitionFile {
    /// The file's name in messages.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Parses several files of definitions as if they were given to the kernel one after the other.
#[must_use]
pub(crate) fn parse_files(files: &[DefinitionFile]) -> Definitions {
    let mut found = Found::default();
    for file in files {
        found.read(&file.name, &file.text);
    }
    found.all
}

/// The state of parsing: the lines so far, and maps of the probes that they define.
#[derive(Default)]
struct Found {
    all: Definitions,
    /// The defined probes, by `GROUP/EVENT`.
    by_event: FxHashMap<String, SameEvent>,
    /// Indices of lines that define probes: by group, and by event in any group. Some may have been removed later.
    of_group: FxHashMap<String, Vec<usize>>,
    of_name: FxHashMap<String, Vec<usize>>,
}

/// The defined probes of one event; no two have the same place and arguments.
#[derive(Default)]
struct SameEvent {
    /// Indices of the probes' lines.
    lines: Vec<usize>,
    /// Index of the line, by place and arguments.
    of_place: FxHashMap<(ProbePlace, Vec<String>), usize>,
}

/// Why a line contradicts the lines before it.
struct Clash {
    /// The index of the word at fault.
    word: usize,
    fault: Fault,
}

impl Found {
    fn read(&mut self, source: &str, text: &str) {
        for (number, line) in (1..).zip(text.lines()) {
            for span in commands(line) {
                let words = words(line, span.at, span.end, span.separator);
                if words.is_empty() {
                    continue;
                }
                let command = if span.end - span.at > MOST_LINE {
                    Err((span.at + MOST_LINE, Fault::LineTooLong))
                } else {
                    command(&words)
                };
                let command = command.map_err(|(at, fault)| ProbeError {
                    line: number,
                    column: column(line, at),
                    fault,
                });
                let mut row = DefinitionLine {
                    source: source.to_owned(),
                    number,
                    text: line.to_owned(),
                    command,
                    is_removed: false,
                };
                self.join(&mut row, line, &words);
                self.note(&row);
                self.all.lines.push(row);
            }
        }
    }

    /// Adds the line, which gets the next index, to the maps.
    fn note(&mut self, row: &DefinitionLine) {
        let Ok(Command::Define(probe)) = &row.command else {
            return;
        };
        if row.is_removed {
            return;
        }
        let at = self.all.lines.len();
        let same = self.by_event.entry(event_key(probe)).or_default();
        same.lines.push(at);
        same.of_place.insert(place_key(probe), at);
        self.of_group
            .entry(probe.group.clone())
            .or_default()
            .push(at);
        self.of_name
            .entry(probe.event.clone())
            .or_default()
            .push(at);
    }

    /// Checks a line against those before it: removals, and events with several probes.
    fn join(&mut self, row: &mut DefinitionLine, line: &str, words: &[Word<'_>]) {
        let fault = match &row.command {
            Ok(Command::Remove { group, event }) => {
                let was_there = self.remove(group.as_deref(), event.as_deref());
                (!was_there).then_some(Clash {
                    word: 0,
                    fault: Fault::NothingToRemove,
                })
            }
            // The kernel lists a probe both in `kprobe_events` and in `dynamic_events`.
            Ok(Command::Define(probe)) if self.is_in_other_file(&row.source, probe) => {
                row.is_removed = true;
                None
            }
            Ok(Command::Define(probe)) => self.clash(probe),
            _ => None,
        };
        if let Some(Clash { word, fault }) = fault {
            let at = words.get(word).or(words.last()).map_or(0, |word| word.0);
            row.command = Err(ProbeError {
                line: row.number,
                column: column(line, at),
                fault,
            });
        }
    }

    fn probe(&self, line: usize) -> Option<(&DefinitionLine, &ProbeDefinition)> {
        let line = self.all.lines.get(line)?;
        match &line.command {
            Ok(Command::Define(probe)) => Some((line, probe)),
            _ => None,
        }
    }

    fn is_in_other_file(&self, source: &str, probe: &ProbeDefinition) -> bool {
        let same = self.by_event.get(&event_key(probe));
        let at = same.and_then(|same| same.of_place.get(&place_key(probe)));
        let there = at.and_then(|&at| self.probe(at));
        there.is_some_and(|(line, old)| line.source != source && old == probe)
    }

    /// Removes the probes of this group and event; returns whether there was any.
    fn remove(&mut self, group: Option<&str>, event: Option<&str>) -> bool {
        let lines = match (group, event) {
            (Some(group), Some(event)) => self
                .by_event
                .remove(&format!("{group}/{event}"))
                .map(|same| same.lines),
            (Some(group), None) => self.of_group.remove(group),
            (None, Some(event)) => self.of_name.remove(event),
            (None, None) => Some(self.of_group.drain().flat_map(|it| it.1).collect()),
        };
        let mut has_any = false;
        for at in lines.unwrap_or_default() {
            let Some(row) = self.all.lines.get_mut(at).filter(|row| !row.is_removed) else {
                continue;
            };
            if let Ok(Command::Define(probe)) = &row.command {
                row.is_removed = true;
                self.by_event.remove(&event_key(probe));
                has_any = true;
            }
        }
        has_any
    }

    /// Returns why `probe` cannot be added to the probes of its event, and the index of the word at fault; `None` if it
    /// can.
    fn clash(&self, probe: &ProbeDefinition) -> Option<Clash> {
        let same = self.by_event.get(&event_key(probe))?;
        let (_, old) = self.probe(*same.lines.first()?)?;
        if old.letter() != probe.letter()
            || old.sort != probe.sort
            || old.place.is_user() != probe.place.is_user()
        {
            return Some(Clash {
                word: 0,
                fault: Fault::OtherSort,
            });
        }
        let differs = |(a, b): (&super::FetchArgument, &super::FetchArgument)| {
            (&a.name, a.type_, a.count) != (&b.name, b.type_, b.count)
        };
        let shorter = old.arguments.len().min(probe.arguments.len());
        let pairs = old.arguments.iter().zip(&probe.arguments);
        let at = pairs.map(differs).position(|it| it);
        if let Some(at) = at.or((old.arguments.len() != probe.arguments.len()).then_some(shorter)) {
            return Some(Clash {
                word: at + 2,
                fault: Fault::OtherArguments,
            });
        }
        let is_there = same.of_place.contains_key(&place_key(probe));
        is_there.then_some(Clash {
            word: 0,
            fault: Fault::SameProbe,
        })
    }
}

fn event_key(probe: &ProbeDefinition) -> String {
    format!("{}/{}", probe.group, probe.event)
}

/// Returns the place of a probe and the texts of its arguments.
fn place_key(probe: &ProbeDefinition) -> (ProbePlace, Vec<String>) {
    let texts = probe.arguments.iter().map(|it| it.text.clone());
    (probe.place.clone(), texts.collect())
}

/// The byte range of a command in a line, and the separator of its words.
struct Span {
    at: usize,
    end: usize,
    separator: char,
}

/// Returns the commands of a line: the line itself, those of a boot parameter, or the text that a shell's `echo` would
/// write.
fn commands(line: &str) -> Vec<Span> {
    // If there are several such parameters, the kernel uses the last.
    if let Some(found) = line.rfind(BOOT) {
        let given = found + BOOT.len();
        // The value ends at the closing quote if the value or the whole parameter is quoted, otherwise at a space or
        // quote.
        let is_value_quoted = line.get(given..).unwrap_or("").starts_with('"');
        let is_all_quoted = line.get(..found).unwrap_or("").ends_with('"');
        let start = given + usize::from(is_value_quoted);
        let rest = line.get(start..).unwrap_or("");
        let length = if is_value_quoted || is_all_quoted {
            rest.find('"')
        } else {
            rest.find([' ', '\t', '"', '\''])
        };
        let length = length.unwrap_or(rest.len());
        let mut at = start;
        let mut spans = Vec::new();
        for part in rest.get(..length).unwrap_or("").split(';') {
            spans.push(Span {
                at,
                end: at + part.len(),
                separator: ',',
            });
            at += part.len() + 1;
        }
        return spans;
    }
    let trimmed = line.trim_start();
    let start = line.len() - trimmed.len();
    if let Some(echoed) = trimmed.strip_prefix("echo ")
        && let Some(open) = echoed.find(['"', '\''])
    {
        let quote = echoed.get(open..=open).unwrap_or("'");
        let at = start + "echo ".len() + open + 1;
        let inner = line.get(at..).unwrap_or("");
        let end = at + inner.find(quote).unwrap_or(inner.len());
        return vec![Span {
            at,
            end,
            separator: ' ',
        }];
    }
    vec![Span {
        at: start,
        end: line.find('#').unwrap_or(line.len()).max(start),
        separator: ' ',
    }]
}

/// Byte offset of a word in the line, and the word.
type Word<'a> = (usize, &'a str);

fn words(line: &str, at: usize, end: usize, separator: char) -> Vec<Word<'_>> {
    let text = line.get(at..end).unwrap_or("");
    let is_gap = |c: char| c.is_ascii_whitespace() || c == separator;
    let mut found = Vec::new();
    let mut from = 0;
    for part in text.split(is_gap) {
        if !part.is_empty() {
            found.push((at + from, part));
        }
        from += part.len() + 1;
    }
    found
}

/// Returns the column of byte `at`, in characters, counted from 1.
fn column(line: &str, at: usize) -> u32 {
    let before = line.get(..at.min(line.len())).unwrap_or(line);
    before.chars().count() as u32 + 1
}

/// Converts an error's offset in a word, which starts at `word`, to an offset in the line.
fn within<T>(word: usize, result: Result<T, Wrong>) -> Result<T, Wrong> {
    result.map_err(|(at, fault)| (word + at, fault))
}

fn command(words: &[Word<'_>]) -> Result<Command, Wrong> {
    let Some(&(at, first)) = words.first() else {
        return Err((0, Fault::UnknownCommand));
    };
    match first.as_bytes().first() {
        Some(b'-' | b'!') => within(at, removal(first)),
        Some(b'p' | b'r' | b'e' | b'f' | b't') if is_head(first) => {
            define(words).map(Command::Define)
        }
        Some(b's') if is_head(first) => Ok(Command::Other(OtherEvent::Synthetic)),
        Some(b'u') if is_head(first) => Ok(Command::Other(OtherEvent::User)),
        _ => Err((at, Fault::UnknownCommand)),
    }
}

/// Returns whether a word is a letter, followed by an optional number and an optional name.
pub(super) fn is_head(word: &str) -> bool {
    let rest = word.get(1..).unwrap_or("");
    let number = rest.split(':').next().unwrap_or("");
    number.is_empty()
        || number.starts_with(|c: char| c.is_ascii_digit())
        || (number.starts_with('-') && rest.len() > number.len())
}

fn removal(word: &str) -> Result<Command, Wrong> {
    // `!p:GRP/EVENT` in `dynamic_events` is also a removal.
    let rest = word.get(1..).unwrap_or("");
    let colon = rest.find(':').filter(|&at| at <= 1);
    let Some(colon) = colon else {
        return Err((0, Fault::BadRemoval));
    };
    let name = rest.get(colon + 1..).unwrap_or("");
    let (group, event) = match name.split_once('/') {
        Some((group, event)) => (Some(group), event),
        None => (None, name),
    };
    if group.unwrap_or("").is_empty() && event.is_empty() {
        return Err((1, Fault::BadRemoval));
    }
    Ok(Command::Remove {
        group: group.map(str::to_owned),
        event: (!event.is_empty()).then(|| event.to_owned()),
    })
}

fn define(words: &[Word<'_>]) -> Result<ProbeDefinition, Wrong> {
    let Some((&(head_at, head), rest)) = words.split_first() else {
        return Err((0, Fault::UnknownCommand));
    };
    let letter = head.as_bytes().first().copied().unwrap_or(b'p');
    let mut sort = match letter {
        b'r' => ProbeSort::Return,
        b'e' | b't' => ProbeSort::Event,
        _ => ProbeSort::Entry,
    };
    let colon = head.find(':');
    let number = head.get(1..colon.unwrap_or(head.len())).unwrap_or("");
    let max_active = within(head_at + 1, max_active(number, letter))?;
    let Some(((place_at, place_word), arguments)) = rest.split_first() else {
        return Err((head_at + head.len(), Fault::NoPlace));
    };
    let place = within(*place_at, place(letter, place_word, &mut sort))?;
    if max_active == Some(0) && !place.is_user() {
        return Err((head_at + 1, Fault::NoneActive));
    }
    if letter == b'f' && arguments.iter().any(|(_, word)| fetches_return(word)) {
        sort = ProbeSort::Return;
    }
    let EventName { group, event } = match colon {
        // After a number the kernel does not parse the name of a probe in a program.
        Some(_) if place.is_user() && !number.is_empty() => EventName::default(),
        Some(colon) => {
            let text = head.get(colon + 1..).unwrap_or("");
            within(head_at, event_name(text, colon + 1))?
        }
        None => EventName::default(),
    };
    let around = around(sort, &place);
    // The words after `if` are the filter of an event probe.
    let filter = arguments
        .iter()
        .position(|(_, word)| *word == "if" && letter == b'e');
    if let Some((at, word)) = filter.and_then(|at| arguments.get(at))
        && filter.is_some_and(|at| at + 1 == arguments.len())
    {
        return Err((at + word.len(), Fault::NoFilter));
    }
    let arguments = arguments.get(..filter.unwrap_or(arguments.len()));
    let arguments = arguments.unwrap_or(&[]);
    if let Some((at, _)) = arguments.get(MOST_ARGUMENTS) {
        return Err((*at, Fault::TooManyArguments));
    }
    let mut fetched = Vec::with_capacity(arguments.len());
    for (index, (at, word)) in arguments.iter().enumerate() {
        let one = within(*at, argument(word, index, &fetched, around))?;
        fetched.push(one);
    }
    let usual = match place {
        ProbePlace::File { .. } => ProbeGroup::Uprobes,
        ProbePlace::Event { .. } => ProbeGroup::Eprobes,
        ProbePlace::Function { .. } => ProbeGroup::Fprobes,
        ProbePlace::Tracepoint(_) => ProbeGroup::Tracepoints,
        _ => ProbeGroup::Kprobes,
    };
    Ok(ProbeDefinition {
        sort,
        // For a probe in a program the kernel parses the number but does not use it.
        max_active: max_active.filter(|&number| number > 0),
        group: group.unwrap_or_else(|| usual.name().to_owned()),
        event: event.unwrap_or_else(|| generated_name(sort, &place)),
        place,
        arguments: fetched,
    })
}

/// Returns whether an argument fetches the function's return value, which makes an fprobe a return probe.
fn fetches_return(word: &str) -> bool {
    let behind = word.split_once("$retval").map(|(_, behind)| behind);
    behind.is_some_and(|it| !it.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

fn max_active(number: &str, letter: u8) -> Result<Option<u32>, Wrong> {
    match letter {
        _ if number.is_empty() => return Ok(None),
        b'r' => {}
        // The kernel ignores the number.
        b'e' => return Ok(None),
        b'f' | b't' => return Err((0, Fault::NumberOnFunction)),
        _ => return Err((0, Fault::MaxActiveOnEntry)),
    }
    match unsigned(number) {
        None => Err((0, Fault::BadMaxActive)),
        Some(number) if number > MOST_ACTIVE => Err((0, Fault::MaxActiveTooBig)),
        Some(number) => Ok(Some(number as u32)),
    }
}

fn around(sort: ProbeSort, place: &ProbePlace) -> Around {
    match (place, sort) {
        (ProbePlace::Event { .. }, _) => Around::Event,
        (ProbePlace::Tracepoint(_), _) => Around::Tracepoint,
        (ProbePlace::Function { .. }, ProbeSort::Return) => Around::FprobeReturn,
        (ProbePlace::Function { .. }, _) => Around::FprobeEntry,
        (ProbePlace::File { .. }, ProbeSort::Return) => Around::UserReturn,
        (ProbePlace::File { .. }, _) => Around::User,
        (_, ProbeSort::Return) => Around::KernelReturn,
        (ProbePlace::Symbol { offset: 0, .. }, _) => Around::FunctionEntry,
        _ => Around::Kernel,
    }
}
