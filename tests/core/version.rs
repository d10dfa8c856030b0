//! `threadline --version` tells what is installed: the version, where it was built from, and what is in it.

use std::process::Command;

fn version(flag: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .arg(flag)
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_version_names_commit_and_features() {
    let number = env!("CARGO_PKG_VERSION");
    assert_eq!(version("-V"), format!("threadline {number}\n"));
    let full = version("--version");
    let (start, rest) = full.trim_end().split_once(" (").unwrap();
    assert_eq!(start, format!("threadline {number}"));
    let (commit, features) = rest
        .strip_suffix(')')
        .unwrap()
        .split_once("; features: ")
        .unwrap();
    let is_hash =
        |text: &str| text.len() >= 7 && text.chars().all(|letter| letter.is_ascii_hexdigit());
    let is_commit = commit
        .strip_prefix("commit ")
        .is_some_and(|text| is_hash(text.trim_end_matches('+')));
    assert!(is_commit || commit == "no commit known", "{full}");
    assert_eq!(features.contains("gui"), cfg!(feature = "gui"));
}

#[test]
fn the_changelog_has_the_version_and_is_short() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/CHANGELOG.md");
    let text = std::fs::read_to_string(path).unwrap();
    let heading = format!("## [{}] - ", env!("CARGO_PKG_VERSION"));
    assert!(text.lines().any(|line| line.starts_with(&heading)));
    let first = text
        .lines()
        .skip_while(|line| !line.starts_with("## [0.1.0]"))
        .count();
    assert!(first <= 60, "{first} lines of 0.1.0");
}
