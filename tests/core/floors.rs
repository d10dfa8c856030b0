//! Holds `src/` to the floors of ARCHITECTURE.md: a file imports only from floors below its own.

use std::path::Path;

/// Each folder with its floor; a folder may import itself and anything on a lower floor.
const FLOORS: &[(&str, u32)] = &[
    ("base", 1),
    ("event", 2),
    ("probes", 3),
    ("trace", 3),
    ("formats", 4),
    ("build", 4),
    ("index", 4),
    ("query", 5),
    ("load", 5),
    ("export", 6),
    ("view", 6),
    ("gui", 7),
    ("cli", 8),
];

fn floor(name: &str) -> Option<u32> {
    FLOORS
        .iter()
        .find(|(folder, _)| *folder == name)
        .map(|(_, floor)| *floor)
}

fn rust_files(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

/// The folders that a file's text names after `crate::`, in single paths and in braces.
fn imports(text: &str) -> Vec<String> {
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut name = String::new();
            let mut is_head = true;
            for c in list.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        found.push(std::mem::take(&mut name));
                        is_head = true;
                        continue;
                    }
                    _ => {}
                }
                if depth == 0 && is_head {
                    if c.is_alphanumeric() || c == '_' {
                        name.push(c);
                    } else if c == ':' {
                        is_head = false;
                    }
                }
            }
            found.push(name);
        } else {
            found.push(
                rest.chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect(),
            );
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn files_import_only_from_floors_below() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    assert!(files.len() > 20, "the sources were not found");
    let mut wrong = Vec::new();
    for file in &files {
        let path = file.strip_prefix(&source).unwrap();
        let own = path
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_string_lossy()
            .into_owned();
        let Some(own_floor) = floor(&own) else {
            continue;
        };
        for name in imports(&std::fs::read_to_string(file).unwrap()) {
            match floor(&name) {
                Some(other) if name != own && other >= own_floor => {
                    wrong.push(format!("{} imports crate::{name}", path.display()));
                }
                Some(_) => {}
                None => wrong.push(format!("{}: crate::{name} has no floor", path.display())),
            }
        }
        if own != "gui" && std::fs::read_to_string(file).unwrap().contains("egui::") {
            wrong.push(format!("{} sees egui", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn folders_in_src_all_have_a_floor() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in std::fs::read_dir(source).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(
            !entry.path().is_dir() || floor(&name).is_some(),
            "{name} has no floor"
        );
    }
}
