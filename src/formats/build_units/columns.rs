//! Writes the columns and the directory of build logs.

use super::slots::Slots;
use super::{Build, Counter, Moment, UNBLOCKS, Unit};
use crate::base::{Cancelled, Job, StringId, Strings, Timestamp};
use crate::event::{
    AsyncMark, AsyncOp, AsyncScope, Directory, EventKind, FlowBound, FlowJoin, FlowKind, FlowMark,
    FlowOp, ForkSort, KindId, KindOrigin, LaneColumns, ProcessEntry, ProcessKey, RecordedImage,
    RecordedLife, Role, Sample, Series, SeriesScope, SliceKind, ThreadEntry, ThreadKey,
};

/// Columns of builds, and the directory for the numbers in them.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The events of all builds.
    pub columns: LaneColumns,
    /// The tools and the targets.
    pub directory: Directory,
}

/// The kinds of events, with their names; the number of a kind is its index.
const KINDS: &[(Kind, &str)] = &[
    (Kind::Start, "target starts"),
    (Kind::End, "target ends"),
    (Kind::SectionStart, "section starts"),
    (Kind::SectionEnd, "section ends"),
    (Kind::Unblocks, UNBLOCKS),
    (Kind::IsUnblocked, "is unblocked"),
    (Kind::Value, "counter"),
    (Kind::BuildStart, "build starts"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    Start,
    End,
    SectionStart,
    SectionEnd,
    Unblocks,
    IsUnblocked,
    Value,
    BuildStart,
}

/// An event before events are sorted by time.
struct Draft {
    moment: Moment,
    kind: Kind,
    thread: ThreadKey,
    row: Row,
}

/// What an event adds to the other columns.
enum Row {
    Nothing,
    Async {
        op: AsyncOp,
        id: u64,
        name: StringId,
        category: StringId,
        group: StringId,
    },
    Flow {
        op: FlowOp,
        id: u64,
    },
    Sample {
        series: u32,
        value: f64,
    },
}

struct Writer {
    drafts: Vec<Draft>,
    columns: LaneColumns,
    directory: Directory,
    /// The last key that was given to a process and its main thread.
    last_key: u32,
    flow_count: u64,
}

/// Returns the columns and the directory of builds that follow each other on one time axis.
///
/// # Errors
/// Errors if the job was cancelled.
pub(crate) fn write(builds: &[Build], job: &Job) -> Result<Written, Cancelled> {
    let mut writer = Writer {
        drafts: Vec::new(),
        columns: LaneColumns::new(0),
        directory: Directory::default(),
        last_key: 0,
        flow_count: 0,
    };
    for build in builds {
        job.check()?;
        writer.build(build);
    }
    Ok(writer.finish())
}

impl Writer {
    /// Adds a process with its main thread; returns the key of both.
    fn process(&mut self, name: &[u8], number: u64, life: RecordedLife) -> u32 {
        self.last_key = self.last_key.saturating_add(1);
        let key = self.last_key;
        let directory = &mut self.directory;
        let name = Some(directory.strings.intern(name));
        let pid = u64::from(key);
        directory.processes.push(ProcessEntry {
            key: ProcessKey(key),
            pid,
            file_key: number,
            name,
        });
        directory.threads.push(ThreadEntry {
            key: ThreadKey(key),
            tid: pid,
            file_key: pid,
            process: Some(ProcessKey(key)),
            name,
        });
        directory.process_lives.push((ProcessKey(key), life));
        directory.thread_lives.push((
            ThreadKey(key),
            RecordedLife {
                start: life.start,
                end: life.end,
                ..RecordedLife::default()
            },
        ));
        key
    }

    fn build(&mut self, build: &Build) {
        let (start, end) = build.span;
        let life = RecordedLife {
            start: Some(Timestamp(start)),
            end: Some(Timestamp(end)),
            ..RecordedLife::default()
        };
        let tool = self.process(build.tool.as_bytes(), 0, life);
        let strings = &mut self.directory.strings;
        if let Some(program) = build.arguments.first() {
            let image = RecordedImage {
                start: Timestamp(start),
                program: strings.intern(program),
                arguments: build
                    .arguments
                    .iter()
                    .map(|it| strings.intern(it))
                    .collect(),
                directory: strings.intern(&build.directory),
                interpreter: StringId::EMPTY,
            };
            self.directory.images.push((ProcessKey(tool), image));
        }
        // The time axis starts here, not with the first target: the tool works before it starts that target. If the log
        // has a first record, it is about the build.
        self.drafts.push(Draft {
            moment: Moment {
                time: start,
                place: 0,
            },
            kind: Kind::BuildStart,
            thread: ThreadKey(tool),
            row: Row::Nothing,
        });
        let groups = slot_names(&build.units, &mut self.columns.strings);
        let keys: Vec<u32> = build
            .units
            .iter()
            .zip(groups)
            .map(|(unit, group)| self.unit(unit, group, ProcessKey(tool)))
            .collect();
        for unblock in &build.unblocks {
            let ends = (keys.get(unblock.from), keys.get(unblock.to));
            let to = build.units.get(unblock.to);
            if let ((Some(&from), Some(&key)), Some(to)) = (ends, to)
                && to.begin.time >= unblock.time
            {
                self.flow_count = self.flow_count.saturating_add(1);
                let id = self.flow_count;
                // The fields are those of the unblocked target. The record of the other one names all targets that it
                // unblocked, which each arrow would repeat.
                let begin = Moment {
                    time: unblock.time,
                    place: to.begin.place,
                };
                self.flow(Kind::Unblocks, begin, from, FlowOp::Begin, id);
                self.flow(Kind::IsUnblocked, to.begin, key, FlowOp::End, id);
            }
        }
        for counter in &build.counters {
            self.counter(counter, tool);
        }
    }

    /// Adds the process, slices and events of a target; returns its key.
    fn unit(&mut self, unit: &Unit, group: StringId, tool: ProcessKey) -> u32 {
        let life = RecordedLife {
            start: Some(Timestamp(unit.begin.time)),
            end: unit.end.map(|end| Timestamp(end.time)),
            made: Some(ForkSort::Process),
            parent: Some(tool),
            ..RecordedLife::default()
        };
        let key = self.process(&unit.name, unit.number, life);
        let strings = &mut self.columns.strings;
        let name = strings.intern(&unit.name);
        let category = strings.intern(&unit.category);
        let section = strings.intern_text("section");
        let mark = |writer: &mut Writer, moment, kind, op, name, category| {
            writer.drafts.push(Draft {
                moment,
                kind,
                thread: ThreadKey(key),
                row: Row::Async {
                    op,
                    id: u64::from(key),
                    name,
                    category,
                    group,
                },
            });
        };
        mark(
            self,
            unit.begin,
            Kind::Start,
            AsyncOp::Begin,
            name,
            category,
        );
        for part in &unit.sections {
            let name = self.columns.strings.intern(&part.name);
            mark(
                self,
                part.begin,
                Kind::SectionStart,
                AsyncOp::Begin,
                name,
                section,
            );
            if let Some(end) = part.end {
                mark(self, end, Kind::SectionEnd, AsyncOp::End, name, section);
            }
        }
        if let Some(end) = unit.end {
            mark(self, end, Kind::End, AsyncOp::End, name, category);
        }
        key
    }

    fn flow(&mut self, kind: Kind, moment: Moment, key: u32, op: FlowOp, id: u64) {
        self.drafts.push(Draft {
            moment,
            kind,
            thread: ThreadKey(key),
            row: Row::Flow { op, id },
        });
    }

    fn counter(&mut self, counter: &Counter, tool: u32) {
        let series = self.columns.series.len() as u32;
        self.columns.series.push(Series {
            name: self.columns.strings.intern_text(counter.name),
            scope: SeriesScope::Process(ProcessKey(tool)),
        });
        for &(moment, value) in &counter.samples {
            self.drafts.push(Draft {
                moment,
                kind: Kind::Value,
                thread: ThreadKey(tool),
                row: Row::Sample { series, value },
            });
        }
    }

    /// Sorts the events by time, and writes their rows in that order.
    fn finish(mut self) -> Written {
        // The sort is stable: the begin and end of a target without duration keep their order.
        self.drafts.sort_by_key(|draft| draft.moment.time);
        let columns = &mut self.columns;

        let unblocks = columns.strings.intern_text(UNBLOCKS);
        let category = columns.strings.intern_text("build");
        for draft in self.drafts {
            let Moment { time, place } = draft.moment;
            let kind = KindId(draft.kind as u32);
            let event = columns.events.push(time, place, kind, draft.thread);
            match draft.row {
                Row::Nothing => {}
                Row::Async {
                    op,
                    id,
                    name,
                    category,
                    group,
                } => columns.asyncs.push(AsyncMark {
                    event,
                    op,
                    scope: AsyncScope::Global,
                    id,
                    name,
                    category,
                    kind: SliceKind::Async,
                    group,
                }),
                Row::Flow { op, id } => columns.flows.push(FlowMark {
                    event,
                    op,
                    bound: FlowBound::Around,
                    joined: FlowJoin::ById,
                    id,
                    name: unblocks,
                    category,
                    kind: FlowKind::Unblocks,
                }),
                Row::Sample { series, value } => columns.samples.push(Sample {
                    event,
                    series,
                    value,
                }),
            }
        }
        let strings = &mut self.directory.strings;
        let category = strings.intern_text("build");
        let kinds = KINDS.iter().map(|&(_, name)| EventKind {
            name: strings.intern_text(name),
            category,
            role: Role::Consumed,
            origin: KindOrigin::Recorder,
        });
        self.directory.kinds = kinds.collect();
        Written {
            columns: self.columns,
            directory: self.directory,
        }
    }
}

/// Returns the name of each target's job slot. All numbers have as many digits as the largest, so that tracks sorted by
/// name are sorted by number.
fn slot_names(units: &[Unit], strings: &mut Strings) -> Vec<StringId> {
    let slots = Slots::new(units);
    let width = slots.count.to_string().len();
    let names: Vec<StringId> = (1..=slots.count)
        .map(|slot| strings.intern_text(&format!("job {slot:0width$}")))
        .collect();
    let name = |slot: &u32| names.get(*slot as usize).copied().unwrap_or_default();
    slots.of_unit.iter().map(name).collect()
}

/// Returns the name of an event's kind.
pub(super) fn kind_name(kind: KindId) -> &'static str {
    let row = KINDS.get(kind.0 as usize);
    row.map_or("", |&(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_numbered_as_they_are_listed() {
        assert!((0..).zip(KINDS).all(|(at, row)| row.0 as u32 == at));
        assert_eq!(kind_name(KindId(Kind::Value as u32)), "counter");
        assert_eq!(kind_name(KindId(99)), "");
    }
}
