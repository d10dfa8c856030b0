//! The corpus: recordings of many machines and programs, and the output of independent tools for them.
//!
//! `tests/corpus` contains the recordings that we made ourselves and that are small enough for a repository;
//! `NAME.packed` there is NAME, compressed with zstd. These and the [`SAMPLES`] are unpacked once for each state of the
//! files. `THREADLINE_CORPUS` names a larger collection with the same folders, which the same tests then read.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The message of a test that needs files that are not in the repository.
pub const LARGER: &str = "set THREADLINE_CORPUS to a corpus that has this file";

/// Files of `sample-traces` that belong to the corpus as well, and their paths there.
const SAMPLES: &[(&str, &str)] = &[
    ("function-graph.dat", "tracedat/v7-zstd-fgraph.dat"),
    ("lua-make-j2.etrace.zst", "etrace/lua-make-j2.etrace.zst"),
];

/// The path of a folder or file of the corpus; it must exist.
pub fn corpus(path: &str) -> PathBuf {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    let found = ROOT.get_or_init(root).join(path);
    assert!(found.exists(), "no {}: {LARGER}", found.display());
    found
}

fn root() -> PathBuf {
    if let Some(larger) = std::env::var_os("THREADLINE_CORPUS") {
        return larger.into();
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packed = repository.join("tests/corpus");
    let mut paths = Vec::new();
    files_below(&packed, &mut paths);
    paths.sort();
    let name_of = |path: &Path| path.strip_prefix(&packed).unwrap().to_path_buf();
    let mut files: Vec<(PathBuf, PathBuf)> = paths
        .into_iter()
        .map(|path| (name_of(&path), path))
        .collect();
    for (sample, name) in SAMPLES {
        let path = repository.join("sample-traces").join(sample);
        files.push((name.into(), path));
    }
    let mut state = DefaultHasher::new();
    for (_, file) in &files {
        let metadata = file.metadata().unwrap();
        (file, metadata.len(), metadata.modified().unwrap()).hash(&mut state);
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let root = target.join(format!("corpus-{:016x}", state.finish()));
    if !root.is_dir() {
        // Test processes start at the same time: each unpacks into a folder of its own, and all then use the folder
        // that is complete first.
        let own = tempfile::tempdir_in(target).unwrap();
        for (name, file) in &files {
            unpack(file, &own.path().join(name));
        }
        if std::fs::rename(own.path(), &root).is_ok() {
            let _gone = own.keep();
        }
    }
    root
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}

fn unpack(file: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let bytes = std::fs::read(file).unwrap();
    if to.extension().is_some_and(|ending| ending == "packed") {
        let plain = zstd::decode_all(&bytes[..]).unwrap();
        std::fs::write(to.with_extension(""), plain).unwrap();
    } else {
        std::fs::write(to, bytes).unwrap();
    }
}
