//! Tells the program which commit it was built from (`threadline --version`).
//!
//! The fingerprint of the source is the version of model files: any change of the program may change what they contain.
//!
//! Development builds have the cfg `development`.
//!
//! Only optimised builds ask for the commit: a development build would otherwise be made anew with every commit. What is
//! built from a packed crate has the commit in `.cargo_vcs_info.json`; what is built from a plain folder has none.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=THREADLINE_COMMIT");
    // A package is built with its commit given; it says nothing of where it was built, and finds its samples beside itself.
    let is_packaged = std::env::var_os("THREADLINE_COMMIT").is_some();
    let source = std::env::var("CARGO_MANIFEST_DIR").ok();
    let source = source.filter(|_| !is_packaged).unwrap_or_default();
    println!("cargo:rustc-env=THREADLINE_SOURCE={source}");
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=Cargo.lock");
    let mut contents = DefaultHasher::new();
    add_sources(Path::new("src"), &mut contents);
    add_sources(Path::new("Cargo.lock"), &mut contents);
    println!(
        "cargo:rustc-env=THREADLINE_CONTENTS={:016x}",
        contents.finish()
    );
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    println!("cargo:rustc-check-cfg=cfg(development)");
    if !is_release {
        println!("cargo:rustc-cfg=development");
    }
    let commit = std::env::var("THREADLINE_COMMIT")
        .ok()
        .or_else(|| is_release.then(|| packed().or_else(checked_out)).flatten());
    println!(
        "cargo:rustc-env=THREADLINE_COMMIT={}",
        commit.unwrap_or_default()
    );
}

/// Adds the names and bytes of all files below a path, in the order of their names.
fn add_sources(path: &Path, hasher: &mut DefaultHasher) {
    let mut entries: Vec<_> = match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => {
            path.to_string_lossy().hash(hasher);
            return std::fs::read(path).unwrap_or_default().hash(hasher);
        }
    };
    entries.sort();
    for entry in entries {
        add_sources(&entry, hasher);
    }
}

/// The commit that `cargo package` wrote down.
fn packed() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    Some(rest.get(..10)?.to_owned())
}

/// The commit of the repository, if this folder is its root; `+` says that files differ from it.
fn checked_out() -> Option<String> {
    if !Path::new(".git").exists() {
        return None;
    }
    // Not the index: asking for the state of the files may write it anew.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        println!("cargo:rerun-if-changed={path}");
    }
    let commit = git(&["rev-parse", "--short=10", "HEAD"])?;
    let is_clean = git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if is_clean {
        commit
    } else {
        format!("{commit}+")
    })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
