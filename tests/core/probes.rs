//! Probe definitions of the corpus, as kernels printed them back, and the traces that they made.

use std::path::PathBuf;

use crate::corpus::corpus;
use threadline::base::Job;
use threadline::event::{KindId, Value};
use threadline::load::LoadedTrace;
use threadline::load::together::open_together;
use threadline::probes::{self, Command, ProbeSet};
use threadline::query::Item;
use threadline::query::details::details;
use threadline::query::probes::{ProbeTable, events_of, table};
use threadline::trace::{EventId, SliceId};

fn open(names: &[&str]) -> LoadedTrace {
    let folder = corpus("tracedat");
    let paths: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
    open_together(&paths, &[], &[], &Job::default(), None).unwrap()
}

fn table_of(loaded: &LoadedTrace, set: Option<&ProbeSet>) -> ProbeTable {
    let reader = Some(loaded.reader.as_ref());
    table(&loaded.trace, reader, set, &Job::default()).unwrap()
}

fn first_of(loaded: &LoadedTrace, kinds: &[KindId]) -> EventId {
    events_of(&loaded.trace, kinds, 1, &Job::default()).unwrap()[0]
}

/// The fields of an event as they are shown.
fn shown(loaded: &LoadedTrace, event: EventId) -> Vec<(String, String)> {
    let detail = threadline::query::details::describe(&loaded.trace, loaded.reader.as_ref(), event);
    let fields = detail.fields.iter();
    fields
        .map(|field| (field.name.clone(), field.text()))
        .collect()
}

#[test]
fn what_kernels_accepted_has_no_errors_and_is_printed_back_as_it_was() {
    let folder = corpus("tracedat");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with("_profile.txt") {
            let text = std::fs::read(&path).unwrap();
            assert!(probes::sniff_profile(&text), "{name}");
            continue;
        }
        if !name.ends_with("_events.txt") {
            continue;
        }
        files += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(probes::sniff(text.as_bytes()), "{name}");
        let parsed = probes::parse(&text);
        let errors: Vec<_> = parsed.errors().collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        for line in &parsed.lines {
            let Ok(Command::Define(probe)) = &line.command else {
                panic!("{name}: {line:?}");
            };
            let again = probes::parse(&probe.to_string());
            assert_eq!(again.standing().next(), Some(probe), "{name}");
        }
    }
    assert!(files >= 5, "{files} files");
}

#[test]
fn definitions_and_profile_beside_a_trace_are_attached_to_it() {
    let loaded = open(&[
        "v7-zstd-kprobe-types.dynamic_events.txt",
        "v7-zstd-kprobe-types.dat",
        "v7-zstd-kprobe-types.kprobe_profile.txt",
    ]);
    assert!(loaded.members.is_empty(), "one trace, not several");
    let set = &loaded.probes.as_ref().unwrap().set;
    let all = table_of(&loaded, Some(set));
    let row = |event: &str| all.rows.iter().find(|row| row.event == event).unwrap();
    assert_eq!(row("pf").hits, Some(3150));
    assert_eq!(row("pf").misses, Some(0));
    assert_eq!((row("pf").events, row("pf_ret").events), (3150, 3150));
    assert_eq!(row("midsched").events, 118);
    assert_eq!(row("openat").place(&all), "syscalls.sys_enter_openat");
    let pair = &all.pairs[row("read_in").pair.unwrap()];
    assert_eq!(
        (pair.subject.as_str(), pair.durations.len()),
        ("vfs_read", 114)
    );
    assert_eq!(row("read_out").pair, row("read_in").pair);
    assert!(pair.quantile(0.5) <= pair.quantile(0.99));
    assert_eq!(
        pair.histogram().iter().map(|step| step.count).sum::<u64>(),
        114
    );

    let event = first_of(&loaded, &row("open_in").kinds);
    let fields = shown(&loaded, event);
    let field = |name: &str| &fields.iter().find(|it| it.0 == name).unwrap().1;
    assert_eq!(field("dfd"), "-100", "s32");
    assert_eq!(
        field("imm"),
        "0x2a",
        "a machine word is shown in hexadecimal"
    );
    let event = first_of(&loaded, &row("read_in").kinds);
    let fields = shown(&loaded, event);
    let field = |name: &str| &fields.iter().find(|it| it.0 == name).unwrap().1;
    assert!(field("buf").starts_with("0x"), "{fields:?}");
    assert!(!field("count").starts_with("0x"), "{fields:?}");
}

#[test]
fn definitions_make_the_arguments_of_text_traces_readable() {
    let folder = std::env::temp_dir().join(format!("threadline-probes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let trace = folder.join("trace_pipe");
    std::fs::write(
        &trace,
        "            bash-96      [001] .....    69.626109: myprobe: (do_sys_open+0x0/0xd6) dfd=ffffff9c filename=7fffd1ec4440 flags=8000 mode=0\n            \
         bash-96      [001] .....    69.626458: myretprobe: (sys_openat+0xc/0xe <- do_sys_open) $retval=fffffffffffffffe\n",
    )
    .unwrap();
    let definitions = folder.join("kprobe_events");
    let text = "p:myprobe do_sys_open dfd=%ax filename=%dx flags=%cx mode=+4($stack)\nr:myretprobe do_sys_open $retval\n";
    std::fs::write(&definitions, text).unwrap();
    let paths = [trace, definitions];
    let loaded = open_together(&paths, &[], &[], &Job::default(), None).unwrap();
    let set = &loaded.probes.as_ref().unwrap().set;
    let all = table_of(&loaded, Some(set));
    assert_eq!(all.pairs.len(), 1);
    let entry = &all.rows[0];
    assert_eq!(entry.event, "myprobe");
    let fields = shown(&loaded, first_of(&loaded, &entry.kinds));
    assert!(
        fields.contains(&("flags".to_owned(), "0x8000".to_owned())),
        "{fields:?}"
    );
    let back = shown(&loaded, first_of(&loaded, &all.rows[1].kinds));
    assert!(
        back.contains(&("$retval".to_owned(), "0xfffffffffffffffe".to_owned())),
        "{back:?}"
    );

    // By themselves, definitions are no trace, and the words say what to do.
    let alone = open_together(&paths[1..], &[], &[], &Job::default(), None);
    let words = alone.unwrap_err().to_string();
    assert!(words.contains("together with the trace"), "{words}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn details_of_a_call_have_what_both_of_its_probes_recorded() {
    let samples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    let names = ["kprobe-pair.trace_pipe", "kprobe-pair.kprobe_events"];
    let paths = names.map(|name| samples.join(name));
    let loaded = open_together(&paths, &[], &[], &Job::default(), None).unwrap();
    let trace = &loaded.trace;
    let slice = Item::Slice(SliceId(0));
    let text = details(trace, loaded.reader.as_ref(), slice).text();
    for wanted in [
        "filename",
        "/tmp/",
        "dfd",
        "arg1",
        "0x3",
        "__x64_sys_openat+0x6a/0xa0",
    ] {
        assert!(text.contains(wanted), "{wanted} is not in:\n{text}");
    }
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_lists_errors_under_their_columns_and_writes_a_script() {
    let folder = std::env::temp_dir().join(format!("threadline-script-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let definitions = folder.join("kprobe_events");
    std::fs::write(
        &definitions,
        "p:ok vfs_read n=$arg3:u64\np:bad vfs_read x=%no\n",
    )
    .unwrap();
    let path = definitions.to_str().unwrap();
    let (code, out, err) = run(&["probes", "--definitions", path]);
    assert_eq!(code, 1, "{err}");
    assert!(
        out.contains("kprobes\tok\tentry\tvfs_read\tn=$arg3:u64"),
        "{out}"
    );
    assert!(err.contains("line 2, column 18"), "{err}");
    assert!(
        err.contains("\n    p:bad vfs_read x=%no\n                     ^\n"),
        "{err}"
    );

    // A file of which no line is right is checked like any other.
    let wrong = folder.join("wrong");
    std::fs::write(&wrong, "p ext4:foo.isra.0+0x10/0x20\n").unwrap();
    let (code, _, err) = run(&["probes", wrong.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(
        err.contains("line 1, column 3: the function's size"),
        "{err}"
    );
    assert!(err.contains("(BAD_PROBE_ADDR)"), "{err}");

    let script = folder.join("capture.sh");
    let to = script.to_str().unwrap();
    let (_, _, err) = run(&["probes", "--definitions", path, "--script", to]);
    assert!(script.is_file(), "{err}");
    let checked = std::process::Command::new("sh")
        .arg("-n")
        .arg(&script)
        .status();
    assert!(checked.unwrap().success());
    let (code, _, err) = run(&["probes", "--definitions", path, "--script", to]);
    assert_eq!(code, 1);
    assert!(err.contains("--force"), "{err}");
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(run(&["probes"]).0, 2);
}

#[test]
fn errors_name_the_file_that_they_stand_in() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let first = write("kprobe_events", "p:a vfs_read\np:b vfs_read %ax\n");
    let second = write(
        "dynamic_events",
        "p:a vfs_read\np:c vfs_write\np:a vfs_read %ax\ns:lat u64 lat\n",
    );
    let (code, _, stderr) = run(&["probes", &first, &second]);
    assert_ne!(code, 0);
    assert!(
        stderr.contains(
            "dynamic_events: line 3, column 14: an event of this name has other arguments"
        ),
        "{stderr}"
    );
    assert!(
        stderr.contains("dynamic_events: line 4: a synthetic event; only probes are checked"),
        "{stderr}"
    );
}

#[test]
fn mutated_definitions_do_no_harm_and_print_back_what_they_mean() {
    let text = "p:kprobes/open_in do_sys_openat2 dfd=$arg1:s32 filename=+0($arg2):ustring hx=+0($arg2):x8[4] \
                lo=+0($arg3):b4@0/32 caller=$stack0:symbol comm=$comm imm=\\42 jif=@jiffies:u64\n\
                r100:kprobes/open_out do_sys_openat2 ret=$retval:s32\n-:kprobes/open_in\n\
                p:work_in /srv/demo/utest:0x1169 id=+0(%di):s32 names=+24(%di):ustring[3]\n";
    let mut random = 0x5eed_u64;
    let mut below = |limit: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 16) as usize % limit.max(1)
    };
    for _ in 0..20_000 {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=below(4) {
            let at = below(bytes.len());
            match below(4) {
                0 => bytes[at] ^= 1 << below(8),
                1 => bytes.truncate(at + 1),
                2 => {
                    bytes.remove(at);
                }
                _ => {
                    let end = (at + below(24)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let to = below(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        let mutated = String::from_utf8_lossy(&bytes);
        let parsed = probes::parse(&mutated);
        for probe in parsed.standing() {
            let again = probes::parse(&probe.to_string());
            assert_eq!(again.errors().count(), 0, "{probe}");
        }
        let _ = probes::sniff(&bytes);
        let _ = probes::parse_profile(&mutated);
    }
}

/// A trace of two probes with its definitions and profile.
fn written() -> (tempfile::TempDir, LoadedTrace) {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "trace",
            "# tracer: nop\n bash-96 [001] ..... 69.626109: myprobe: (do_sys_open+0x0/0xd6) dfd=0xffffff9c n=0xff\n \
             bash-96 [001] ..... 69.626160: myretprobe: (sys_openat+0xc/0xe <- do_sys_open) ret=0xfffffffffffffffe\n",
        ),
        (
            "definitions",
            "p:myprobe do_sys_open dfd=$arg1:s32 n=$arg4:s8\nr:myretprobe do_sys_open ret=$retval:s64\n",
        ),
        (
            "profile",
            "  myprobe                    4               0\n  ghost                      7               1\n",
        ),
    ];
    let paths = files.map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    });
    let loaded = open_together(&paths, &[], &[], &Job::default(), None).unwrap();
    (folder, loaded)
}

#[test]
fn values_are_as_their_definitions_type_them() {
    let (_folder, loaded) = written();
    let value = |event: u32, name: &str| {
        let event = loaded.trace.events.get(EventId(event));
        loaded.reader.value(event.into(), name)
    };
    assert_eq!(value(0, "dfd"), Some(Value::Int(-100)));
    assert_eq!(value(0, "n"), Some(Value::Int(-1)));
    assert_eq!(value(1, "ret"), Some(Value::Int(-2)));
    assert_eq!(value(1, "dfd"), None);
}

#[test]
fn a_row_of_the_profile_is_listed_though_nothing_else_knows_it() {
    let (_folder, loaded) = written();
    let set = loaded.probes.as_ref().map(|attached| attached.set.as_ref());
    let found = table_of(&loaded, set);
    let ghost = found.rows.iter().find(|row| row.event == "ghost").unwrap();
    assert_eq!((ghost.hits, ghost.misses), (Some(7), Some(1)));
    assert_eq!(found.rows.len(), 3);
}
