//! Probe definitions of the corpus, as kernels printed them back, and the traces that they made.

#![allow(clippy::unwrap_used)] // A test that cannot read its files fails.

use std::path::PathBuf;

use threadline::probes::{self, Command};

fn corpus() -> Option<PathBuf> {
    let base = std::env::var_os("THREADLINE_CORPUS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"),
        PathBuf::from,
    );
    let folder = base.join("tracedat");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no corpus at {}", folder.display());
    None
}

#[test]
fn what_kernels_accepted_has_no_errors_and_is_printed_back_as_it_was() {
    let Some(folder) = corpus() else { return };
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
    assert!(files >= 6, "{files} files");
}
