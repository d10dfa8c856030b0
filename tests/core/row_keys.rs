//! Rows of the timeline are told apart by their keys: what is done to one row is not done to another.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use threadline::base::Job;
use threadline::load::together::open_together;
use threadline::load::{LoadedTrace, open};
use threadline::view::outline::Outline;

fn files_in(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    paths
}

/// Checks that every row has a key of its own; returns the number of rows.
fn check_keys(what: &str, loaded: &LoadedTrace) -> usize {
    let mut titles = FxHashMap::default();
    Outline::new(&loaded.trace).visit(&mut |_, node| {
        let before = titles.insert(node.key, node.title.clone());
        assert_eq!(before, None, "{what}: {:?}: {}", node.key, node.title);
    });
    titles.len()
}

#[test]
fn every_row_has_a_key_of_its_own() {
    let job = Job::default();
    let mut rows = 0;
    let folders = [
        "sample-traces",
        "tests/cases/chrome_json",
        "tests/cases/ftrace_text",
        "tests/cases/fxt",
        "tests/cases/text",
        "tests/cases/tracedat",
        "tests/golden/etrace",
        "tests/golden/fxt",
        "tests/golden/strace",
        "tests/golden/minix",
    ];
    for path in folders.into_iter().flat_map(files_in) {
        if let Ok(loaded) = open(&path, &job) {
            rows += check_keys(&path.display().to_string(), &loaded);
        }
    }
    assert!(rows > 1000, "{rows}");
}

#[test]
fn one_file_twice_has_different_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/lua-make-j2.etrace.zst");
    let twice = open_together(&[path.clone(), path], &[], &[], &Job::default(), None).unwrap();
    assert!(check_keys("twice", &twice) > 40);
}

/// The kernel gives a pid to another task after its first one has ended.
#[test]
fn tasks_of_one_pid_have_rows_of_their_own() {
    let child = |from: u32| {
        format!(
            "10 1796000000.{from}00000 vfork() = 11 <0.000100>\n\
             11 1796000000.{from}20000 getpid() = 11 <0.000100>\n\
             11 1796000000.{from}30000 exit_group(0) = ?\n\
             11 1796000000.{from}40000 +++ exited with 0 +++\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.strace");
    std::fs::write(&path, child(1) + &child(2)).unwrap();
    let loaded = open(&path, &Job::default()).unwrap();
    let reused = loaded.trace.threads.iter().filter(|it| it.tid == 11);
    assert_eq!(reused.count(), 2);
    assert!(check_keys("again.strace", &loaded) >= 3);
}
