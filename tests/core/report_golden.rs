//! `report` against what trace-cmd printed for the same files.
//!
//! Beside each NAME.dat of the corpus lie the texts of `trace-cmd report`, with `-t` (NAME.report.txt), `-t -N`,
//! `-t -R`, and that of the current version, which has a column of flags (NAME.report33.txt); long ones packed
//! with zstd. Every line must be the same, byte for byte, but for what [`KNOWN`] lists.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::corpus::corpus;
use threadline::base::Job;
use threadline::formats::tracedat::TraceFile;
use threadline::formats::tracedat::report::source::{TraceReport, decoder_of};
use threadline::formats::{Input, RecordOptions, Report, ReportOptions};

/// Why a line may differ from the golden one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// trace-cmd 3.1.6 has fixed letters for thread states; 3.3 reads them from the event's format, as we do.
    StateLetter,
    /// trace-cmd gives up on the print fmt (strings in arrays, trace_printk after `%c`).
    FailedToParse,
    /// Elements of probes' arrays of more than one byte are printed as 0.
    ZeroElements,
    /// `flags & (A | B)` is computed as `(flags & A) | B`.
    Parentheses,
    /// Negative 32-bit numbers are printed without their sign.
    Unsigned,
    /// `%c` is not known, and all arguments after it are shifted.
    CharConversion,
    /// Bytes behind the end of the record are printed: arrays longer than the record, texts without a NUL, and
    /// texts whose place is not in the record.
    BeyondRecord,
    /// Names of enums that the format leaves unresolved match a value of 0; for the kernel they match nothing.
    UnresolvedFlags,
    /// A probe's string that could not be read looks like an empty one.
    Fault,
    /// trace-cmd leaves out what it cannot print: here the strings of an array.
    StringsOfArray,
}

use Why::*;

/// Where lines differ: part of the file's name, part of the golden line, and why.
const KNOWN: &[(&str, &str, Why)] = &[
    ("", "sched_switch: ", StateLetter),
    ("", "[FAILED TO PARSE]", FailedToParse),
    ("kprobe", "u16={0,0,0,0}", ZeroElements),
    ("kprobe", "how={0,0,0}", ZeroElements),
    ("uprobe", "u16a={0,0,0,0}", ZeroElements),
    ("", "timer_start: ", Parentheses),
    ("i386", "sys_exit: ", Unsigned),
    ("tzoo-bprint", "multi arg", CharConversion),
    ("tzoo-printfmt-zoo", "tz_ints: ", CharConversion),
    ("tzoo-printfmt-zoo", "tz_big: ", BeyondRecord),
    ("", "kernel_stack: ", BeyondRecord),
    ("", "\"\"", Fault),
    ("kprobe-seed-example", "filename=", BeyondRecord),
    ("", "exec: ", StringsOfArray),
    ("uprobe-types", "work_in: ", StringsOfArray),
    ("block-ext4", " writeback_", UnresolvedFlags),
];

fn golden(path: &Path) -> Option<Vec<u8>> {
    if let Ok(text) = std::fs::read(path) {
        return Some(text);
    }
    let packed = std::fs::read(format!("{}.zst", path.display())).ok()?;
    zstd::decode_all(&packed[..]).ok()
}

fn report(path: &Path, options: &ReportOptions) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    let file = TraceFile::open(Input::from_vec(bytes, "trace.dat"))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = Arc::new(file);
    let decoder = Arc::new(decoder_of(&file));
    let mut out = Vec::new();
    let report = TraceReport::new(file, decoder);
    report.write(options, &mut out, &Job::default()).unwrap();
    out
}

/// Compares line by line; the answer counts what differs for reasons known.
fn compare(name: &str, got: &[u8], want: &[u8]) -> Result<BTreeMap<Why, usize>, String> {
    let mut known = BTreeMap::new();
    let got: Vec<&[u8]> = got.split(|&byte| byte == b'\n').collect();
    let want: Vec<&[u8]> = want.split(|&byte| byte == b'\n').collect();
    let (mut at, mut golden_at) = (0, 0);
    while at < got.len() || golden_at < want.len() {
        let ours = got.get(at).copied().unwrap_or(b"<end>");
        let theirs = want.get(golden_at).copied().unwrap_or(b"<end>");
        at += 1;
        golden_at += 1;
        if ours == theirs {
            continue;
        }
        let text = String::from_utf8_lossy(theirs);
        let why = KNOWN.iter().find(|(file, part, why)| {
            name.contains(file) && text.contains(part) && is_kind(*why, ours, theirs)
        });
        let Some((_, _, why)) = why else {
            return Err(format!(
                "line {at}:\n  ours   {}\n  golden {text}",
                String::from_utf8_lossy(ours)
            ));
        };
        *known.entry(*why).or_default() += 1;
        // Garbage may hold line ends: go on where both agree again.
        let next = got.get(at).copied();
        let resync =
            (golden_at..want.len().min(golden_at + 4)).find(|&i| want.get(i).copied() == next);
        golden_at = resync.unwrap_or(golden_at);
    }
    Ok(known)
}

/// Whether two lines differ only as `why` says.
fn is_kind(why: Why, ours: &[u8], theirs: &[u8]) -> bool {
    let (ours, theirs) = (
        String::from_utf8_lossy(ours),
        String::from_utf8_lossy(theirs),
    );
    // The columns before the info are always the same.
    let info = |line: &str| {
        let colon = line.match_indices(": ").nth(1).map_or(0, |(at, _)| at + 2);
        line.split_at(colon).0.to_owned()
    };
    let same_head = info(&ours) == info(&theirs) || theirs.len() < 60;
    let common = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    same_head
        && match why {
            StateLetter => {
                let without = |line: &str| {
                    let arrow = line.find(" ==> ")?;
                    let start = line.get(..arrow)?.rfind(' ')?;
                    Some(format!("{}{}", &line[..start], &line[arrow..]))
                };
                without(&ours) == without(&theirs) && without(&ours).is_some()
            }
            FailedToParse => !ours.contains("FAILED"),
            ZeroElements => {
                let digits = |line: &str| {
                    let brace = line.rfind(",0}").or(line.rfind('}'))?;
                    Some(line.get(brace..)?.to_owned())
                };
                digits(&ours).is_some() && digits(&theirs).is_some()
            }
            Parentheses => {
                let at = |line: &str| line.find("flags=").map(|at| line[..at].to_owned());
                at(&ours) == at(&theirs)
            }
            Unsigned => {
                let last = |line: &str| {
                    let word = line.rsplit([' ', '=']).next().unwrap_or("");
                    word.parse::<i64>().ok()
                };
                last(&ours)
                    .zip(last(&theirs))
                    .is_some_and(|(a, b)| a < 0 && b == i64::from(a as i32 as u32))
            }
            Fault => ours.contains("(fault)") && ours.replace("(fault)", "\"\"") == theirs,
            CharConversion | BeyondRecord => common(&ours, &theirs) > 60,
            UnresolvedFlags => {
                let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
                let (ours, theirs) = (words(&ours), words(&theirs));
                ours.len() == theirs.len()
                    && ours
                        .iter()
                        .zip(&theirs)
                        .all(|(a, b)| a == b || (a == "state=" && b == "state=I_DIRTY_SYNC"))
            }
            StringsOfArray => ours.starts_with(&*theirs) && ours.contains("={\""),
        }
}

#[test]
fn reports_of_the_corpus_are_those_of_trace_cmd() {
    let folder = corpus("tracedat");
    let compared = compare_folder(&folder, &folder);
    let is_all = std::env::var_os("ONLY").is_none();
    assert!(
        !is_all || compared > 160,
        "only {compared} goldens were found"
    );
}

#[test]
fn reports_of_our_own_recordings_are_those_of_trace_cmd() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let texts = tests.join("reports");
    let compared =
        compare_folder(&tests.join("golden/tracedat"), &texts) + compare_folder(&texts, &texts);
    let is_all = std::env::var_os("ONLY").is_none();
    assert!(
        !is_all || compared > 10,
        "only {compared} goldens were found"
    );
}

/// Holds the report of every file of a folder against its goldens in `texts`; answers how many there were.
fn compare_folder(folder: &Path, texts: &Path) -> usize {
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".dat")?.to_owned()))
        .filter(|name| name.contains(&only))
        .collect();
    names.sort();
    let mut failures = Vec::new();
    let mut compared = 0;
    let mut all_known: BTreeMap<Why, usize> = BTreeMap::new();
    for name in &names {
        // The zlib files were printed by 3.3.3, which has the flags.
        let is_current = name.contains("zlib") || name.contains("tc34");
        for variant in ["report", "report-N", "report-R", "report33"] {
            let Some(want) = golden(&texts.join(format!("{name}.{variant}.txt"))) else {
                continue;
            };
            let options = ReportOptions {
                has_full_times: true,
                records: RecordOptions {
                    is_plain: variant == "report-N",
                    ..RecordOptions::default()
                },
                is_raw: variant == "report-R",
                has_no_flags: !(is_current || variant == "report33"),
                ..ReportOptions::default()
            };
            let got = report(&folder.join(format!("{name}.dat")), &options);
            compared += 1;
            match compare(name, &got, &want) {
                Ok(known) => {
                    for (why, count) in known {
                        assert!(
                            why != StateLetter || options.has_no_flags,
                            "{name}.{variant}: state letters must be those of the current version"
                        );
                        *all_known.entry(why).or_default() += count;
                    }
                }
                Err(difference) => failures.push(format!("{name}.{variant}: {difference}")),
            }
        }
    }
    println!(
        "{compared} reports of {} files; known differences: {all_known:?}",
        names.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    compared
}

/// The info of each event by (CPU, microsecond, name), in a text that the kernel or `report -N` printed.
fn infos(text: &[u8]) -> BTreeMap<(String, String, String), Vec<String>> {
    let text = String::from_utf8_lossy(text);
    let mut found: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for line in text.lines() {
        let parts = line.split_once(" [").and_then(|(_, rest)| {
            let (cpu, rest) = rest.split_once(']')?;
            let (before, info) = rest.split_once(": ")?;
            let time = before.rsplit(' ').next()?;
            let (name, info) = info.trim_start().split_once(": ")?;
            Some((
                cpu.to_owned(),
                time.to_owned(),
                name.to_owned(),
                info.trim().to_owned(),
            ))
        });
        if let Some((cpu, time, name, info)) = parts {
            found.entry((cpu, time, name)).or_default().push(info);
        }
    }
    found
}

/// A probe's arguments: what follows the place in parentheses, without the sizes of functions.
fn arguments(info: &str) -> String {
    let rest = match info.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or("", |(_, rest)| rest),
        None => info,
    };
    let words = rest.split(' ').map(|word| match word.split_once("+0x") {
        Some((name, offset)) => {
            let offset = offset.split('/').next().unwrap_or("");
            format!("{name}+0x{offset}")
        }
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ").trim().to_owned()
}

#[test]
fn what_trace_cmd_gets_wrong_is_as_the_kernel_printed_it() {
    let folder = corpus("tracedat");
    let cases: [(&str, &[&str]); 5] = [
        (
            "v7-zstd-tzoo-printfmt-zoo",
            &[
                "tz_flags",
                "tz_strings",
                "tz_one",
                "tz_two",
                "tz_noprint",
                "tz_big",
            ],
        ),
        (
            "v7-zstd-kprobe-types",
            &[
                "open_in", "open_out", "exec", "pf", "pf_ret", "read_in", "read_out",
            ],
        ),
        (
            "v7-zstd-uprobe-types",
            &[
                "work_in",
                "work_out",
                "greet_in",
                "greet_out",
                "fib_in",
                "fib_out",
            ],
        ),
        ("be-v7-zstd-kprobe", &["myprobe", "myretprobe", "rd"]),
        ("i386-v7-zstd-kprobe", &["myprobe", "myretprobe"]),
    ];
    for (name, events) in cases {
        let Some(kernel) = golden(&folder.join(format!("{name}.ftrace.txt"))) else {
            panic!("{name} has no text of the kernel");
        };
        // The kernel's text has microseconds, rounded (`ns2usecs`).
        let options = ReportOptions {
            records: RecordOptions {
                is_plain: true,
                ..RecordOptions::default()
            },
            has_no_flags: true,
            has_full_times: true,
            ..ReportOptions::default()
        };
        let report = report(&folder.join(format!("{name}.dat")), &options);
        let mut ours: BTreeMap<_, Vec<String>> = BTreeMap::new();
        for ((cpu, time, event), infos) in infos(&report) {
            let (seconds, fraction) = time.split_once('.').unwrap();
            let nanos: u64 = fraction.parse().unwrap();
            let seconds: u64 = seconds.parse().unwrap();
            let micros = seconds * 1_000_000 + (nanos + 500) / 1000;
            let time = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
            ours.entry((cpu, time, event)).or_default().extend(infos);
        }
        let (mut same, mut missing) = (0, 0);
        for ((cpu, time, event), infos) in infos(&kernel) {
            if !events.contains(&event.as_str()) {
                continue;
            }
            let Some(ours) = ours.get(&(cpu, time.clone(), event.clone())) else {
                missing += infos.len();
                continue;
            };
            for info in infos {
                let info = arguments(&info);
                let is_there = ours.iter().any(|ours| arguments(ours) == info);
                assert!(
                    is_there,
                    "{name} {time} {event}:\n  kernel {info}\n  ours   {ours:?}"
                );
                same += 1;
            }
        }
        println!("{name}: {same} events as the kernel printed them, {missing} not in the file");
        assert!(
            same > 20 && missing * 20 < same,
            "{name}: {same} same, {missing} missing"
        );
    }
}
