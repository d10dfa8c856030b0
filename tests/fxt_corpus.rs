//! FXT files of many writers: what the reader says of them against what is known to be in them.
//!
//! The corpus lies beside the repository (`../shared/corpus/fxt`, or `THREADLINE_CORPUS`); its README lists
//! the records of each file, and `.tp.*.tsv` what another reader sees. Without it these tests skip.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;

use threadline::base::{Job, Location, Severity, Timestamp};
use threadline::event::{
    AsyncOp, Directory, EndState, EventDetail, FlowOp, LaneColumns, MarkOp, SeriesScope, ThreadKey,
    Value,
};
use threadline::formats::{EventRef, FORMATS, Input, Reader, Sniff};

fn corpus() -> Option<PathBuf> {
    let root = std::env::var_os("THREADLINE_CORPUS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"),
        PathBuf::from,
    );
    let folder = root.join("fxt");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no corpus at {}", folder.display());
    None
}

fn unpacked(path: &PathBuf) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..])
        .read_to_end(&mut plain)
        .unwrap();
    plain
}

struct Opened {
    reader: Box<dyn Reader>,
    parts: Vec<LaneColumns>,
    directory: Directory,
}

fn open(bytes: Vec<u8>) -> Opened {
    let format = FORMATS
        .iter()
        .find(|format| format.name.contains("FXT"))
        .unwrap();
    assert_ne!(
        (format.sniff)(&bytes[..bytes.len().min(1 << 16)]),
        Sniff::No
    );
    let job = Job::default();
    let reader = (format.open)(Input::from_vec(bytes, "test.fxt"), &job).unwrap();
    let parts: Vec<LaneColumns> = (0..reader.parts().len() as u32)
        .map(|part| reader.read_part(part, &job).unwrap())
        .collect();
    assert!(parts.iter().all(|part| part.events.is_sorted()));
    let directory = reader.directory();
    Opened {
        reader,
        parts,
        directory,
    }
}

fn open_sample(name: &str) -> Option<Opened> {
    Some(open(unpacked(&corpus()?.join(name))))
}

impl Opened {
    /// The only part of a small file.
    fn part(&self) -> &LaneColumns {
        assert_eq!(self.parts.len(), 1);
        &self.parts[0]
    }

    fn describe(&self, part: usize, event: u32) -> EventDetail {
        let row = self.parts[part].events.row(event);
        self.reader.describe(EventRef {
            part: part as u32,
            place: row.place,
            time: row.time,
            kind: row.kind,
            thread: row.thread,
        })
    }

    fn diagnostic(&self, code: &str) -> u64 {
        let own = self.reader.diagnostics().count_of(code);
        let parts = self.parts.iter();
        own + parts
            .map(|part| part.diagnostics.count_of(code))
            .sum::<u64>()
    }

    fn thread_name(&self, key: ThreadKey) -> String {
        let entry = self.directory.threads.iter().find(|entry| entry.key == key);
        entry
            .and_then(|entry| entry.name)
            .map_or_else(String::new, |name| {
                self.directory.strings.text(name).into_owned()
            })
    }

    /// (process koid, thread koid) of a thread.
    fn koids(&self, key: ThreadKey) -> (Option<u64>, u64) {
        let entry = self.directory.threads.iter().find(|entry| entry.key == key);
        let entry = entry.unwrap();
        let process = entry.process.map(|process| {
            let processes = &self.directory.processes;
            processes.iter().find(|p| p.key == process).unwrap().pid
        });
        (process, entry.tid)
    }

    fn kind_name(&self, part: usize, event: u32) -> String {
        let kind = self.parts[part].events.kind(event);
        let name = self.directory.kinds[usize::from(kind.0)].name;
        self.directory.strings.text(name).into_owned()
    }

    /// (name, start, length) of all complete slices, sorted.
    fn completes(&self) -> Vec<(String, i64, i64)> {
        let mut all = Vec::new();
        for part in &self.parts {
            for complete in &part.completes {
                let label = part.labels[complete.label as usize];
                let start = part.events.time(complete.event).0;
                let name = part.strings.text(label.name).into_owned();
                all.push((name, start, complete.duration_ns));
            }
        }
        all.sort_by_key(|slice| slice.1);
        all
    }
}

/// The records that the corpus README lists for a file, by name.
fn listed_records(readme: &str, file: &str) -> BTreeMap<String, u64> {
    let section = readme
        .split("\n## ")
        .find(|section| section.starts_with(&format!("{file} ")))
        .unwrap_or_else(|| panic!("{file} is not in the README"));
    let line = section
        .lines()
        .find_map(|line| line.strip_prefix("Records: "))
        .unwrap();
    line.trim_end_matches('.')
        .split(", ")
        .filter_map(|item| {
            let (count, name) = item.split_once(' ')?;
            Some((name.to_owned(), count.parse().ok()?))
        })
        .collect()
}

#[test]
fn every_file_has_the_records_that_are_listed_for_it() {
    let Some(folder) = corpus() else { return };
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".fxt") || name.ends_with(".fxt.gz"))
        .collect();
    names.sort();
    assert!(names.len() > 25);
    for name in names {
        let opened = open(unpacked(&folder.join(&name)));
        // These have their own tests: their lists stop at the damage, or events are dropped for it.
        if name.contains("zero_word") || name == "bad_timestamps.fxt" {
            continue;
        }
        let listed = listed_records(&readme, &name);
        let said = |wanted: &str| -> u64 {
            let all = listed.iter().filter(|(name, _)| name.starts_with(wanted));
            all.map(|(_, count)| count).sum()
        };
        let sum = |count: &dyn Fn(&LaneColumns) -> usize| -> u64 {
            opened.parts.iter().map(|part| count(part) as u64).sum()
        };
        let marks = |op: MarkOp| sum(&|p| p.marks.iter().filter(|m| m.op() == op).count());
        let asyncs = |op: AsyncOp| sum(&|p| p.asyncs.iter().filter(|m| m.op == op).count());
        let flows = |op: FlowOp| sum(&|p| p.flows.iter().filter(|m| m.op == op).count());
        let mut drawn = 0;
        // The last two timestamps of the serializer's vectors are over the axis.
        let over = opened.diagnostic("timestamp_overflow");
        for (wanted, found) in [
            ("event duration_begin", marks(MarkOp::Begin)),
            ("event duration_end", marks(MarkOp::End)),
            ("event duration_complete", sum(&|p| p.completes.len())),
            ("event async_begin", asyncs(AsyncOp::Begin)),
            ("event async_instant", asyncs(AsyncOp::Instant)),
            ("event async_end", asyncs(AsyncOp::End)),
            ("event flow_begin", flows(FlowOp::Begin)),
            ("event flow_step", flows(FlowOp::Step)),
            ("event flow_end", flows(FlowOp::End)),
            ("sched thread_wakeup", sum(&|p| p.wakeups.len())),
            ("log", sum(&|p| p.logs.len())),
        ] {
            if over == 0 {
                assert_eq!(found, said(wanted), "{wanted} of {name}");
            }
            drawn += found;
        }
        let switches = sum(&|p| p.switches.len());
        let listed_switches = said("sched context_switch") + said("sched legacy");
        if over == 0 {
            assert_eq!(switches, listed_switches, "switches of {name}");
        }
        let points = said("event instant") + said("blob") + said("userspace") + said("profiler");
        let large = said("large type 0 format 0") + said("large type 0 format 1");
        let others = points + large + said("event counter");
        let events = sum(&|p| p.events.len());
        if over == 0 {
            assert_eq!(events, drawn + switches + others, "events of {name}");
        }
        for part in 0..opened.parts.len() {
            for event in 0..opened.parts[part].events.len() as u32 {
                let detail = opened.describe(part, event);
                assert_ne!(detail.text, "this record cannot be decoded", "{name}");
                let kind = opened.parts[part].events.kind(event);
                // The first 19 kinds stand for names that found no room.
                if kind.0 >= 19 {
                    let kind = opened.kind_name(part, event);
                    assert_eq!(detail.name, kind, "event {event} of {name}");
                }
            }
        }
    }
}
