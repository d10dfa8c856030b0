//! What is installed beside the program: the files in `assets/` say what the program says of itself.

use crate::program::stdout;
use std::path::{Path, PathBuf};

/// What the program makes, and where the Debian package takes it from.
const GENERATED: &[(&str, &str)] = &[
    ("man", "threadline.1"),
    ("bash", "completions/threadline.bash"),
    ("zsh", "completions/_threadline"),
    ("fish", "completions/threadline.fish"),
];

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets")
}

/// `UPDATE_ASSETS=1 cargo test --test core installed` writes them anew. Without the window there are fewer commands.
#[test]
#[cfg(feature = "gui")]
fn completions_and_manual_page_are_those_of_the_table_of_commands() {
    for (name, file) in GENERATED {
        let made = stdout(&["install", "--print", name]);
        let path = assets().join(file);
        if std::env::var_os("UPDATE_ASSETS").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(
            kept == made,
            "{file} is stale: UPDATE_ASSETS=1 cargo test --test core installed"
        );
    }
}

/// Whether only root may change the program that polkit gives root's rights.
fn tracer_is_roots() -> bool {
    let tracer = Path::new(env!("CARGO_BIN_EXE_threadline-tracer"));
    let only_roots = |path: &Path| {
        use std::os::unix::fs::MetadataExt as _;
        let found = std::fs::metadata(path).unwrap();
        found.uid() == 0 && found.mode() & 0o022 == 0
    };
    only_roots(tracer) && only_roots(tracer.parent().unwrap())
}

/// The number of files that are installed under a prefix.
fn file_count() -> usize {
    3 + usize::from(tracer_is_roots()) + GENERATED.len()
}

#[test]
fn every_file_is_put_under_the_prefix_and_taken_away_again() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().to_string_lossy().into_owned();
    let wrote = stdout(&["install", "--prefix", &prefix]);
    let files: Vec<&str> = wrote
        .lines()
        .map(|line| line.strip_prefix("wrote ").unwrap())
        .collect();
    let policy = files.iter().find(|file| file.ends_with(".policy"));
    assert_eq!(policy.is_some(), tracer_is_roots());
    assert_eq!(files.len(), file_count());
    for file in &files {
        assert!(std::fs::metadata(file).unwrap().len() > 100, "{file}");
    }
    let desktop = files
        .iter()
        .find(|file| file.ends_with(".desktop"))
        .unwrap();
    let entry = std::fs::read_to_string(desktop).unwrap();
    let program = std::fs::canonicalize(env!("CARGO_BIN_EXE_threadline")).unwrap();
    assert!(
        entry.contains(&format!("Exec={} %F", program.display())),
        "{entry}"
    );
    // polkit gives rights to the small program alone.
    if let Some(policy) = policy {
        let policy = std::fs::read_to_string(policy).unwrap();
        let tracer = program.with_file_name("threadline-tracer");
        let path = format!("exec.path\">{}</annotate>", tracer.display());
        assert!(policy.contains(&path), "{policy}");
        let kept = "<allow_active>auth_admin_keep<";
        assert!(policy.contains(kept), "{policy}");
    }
    // Every type that the entry opens is one that we describe.
    let types = std::fs::read_to_string(assets().join("threadline-mime.xml")).unwrap();
    let listed = entry
        .lines()
        .find_map(|line| line.strip_prefix("MimeType="))
        .unwrap();
    for name in listed.split(';').filter(|name| !name.is_empty()) {
        assert!(
            types.contains(&format!("mime-type type=\"{name}\"")),
            "{name}"
        );
    }
    stdout(&["install", "--prefix", &prefix, "--remove"]);
    assert!(files.iter().all(|file| !Path::new(file).exists()));
}

/// A full disk under the standard output is an error, but no reason to leave half of the files.
#[test]
#[cfg(target_os = "linux")]
fn every_file_is_put_although_nobody_can_be_told() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().to_string_lossy().into_owned();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(["install", "--prefix", &prefix])
        .stdout(full.unwrap())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
    let removed = stdout(&["install", "--prefix", &prefix, "--remove"]);
    assert_eq!(removed.lines().count(), file_count());
}

#[test]
fn the_package_takes_files_that_are_there() {
    let manifest = std::fs::read_to_string(assets().join("../Cargo.toml")).unwrap();
    let listed = manifest
        .lines()
        .filter_map(|line| line.trim().strip_prefix("[\"")?.split_once('"'))
        .map(|(file, _)| file)
        .filter(|file| !file.starts_with("target/"));
    let mut count = 0;
    for file in listed {
        let path = assets().join("..").join(file.trim_end_matches("/*"));
        assert!(path.exists(), "{file}");
        count += 1;
    }
    assert!(count > 5);
}
