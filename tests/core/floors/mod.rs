//! Holds `src/` to the floors of ARCHITECTURE.md: a file imports only from floors below its own; on a floor, at most three
//! files import each other in a circle; and formats share code only through common modules, so that nothing but their
//! rows in `FORMATS` needs to know which formats exist.

mod circles;
mod imports;
mod words;

use std::fmt::Write;
use std::path::Path;

use circles::circles;
use imports::House;

/// Each folder with its floor; a folder may import itself and anything on a lower floor.
const FLOORS: &[(&str, u32)] = &[
    ("base", 1),
    ("event", 2),
    ("fxt", 3),
    ("probes", 3),
    ("trace", 3),
    ("tracedat", 3),
    ("tracefs", 4),
    ("record", 6),
    ("formats", 4),
    ("assemble", 4),
    ("index", 4),
    ("query", 5),
    ("load", 5),
    ("tables", 6),
    ("export", 7),
    ("view", 7),
    ("gui", 8),
    ("cli", 9),
];

fn floor(name: &str) -> Option<u32> {
    FLOORS
        .iter()
        .find(|(folder, _)| *folder == name)
        .map(|(_, floor)| *floor)
}

/// Circles have at most this many files: a larger one is taken apart by giving what its files share a file below them.
const MOST_IN_CIRCLE: usize = 3;

fn house() -> House {
    let house = House::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(house.files.len() > 20, "the sources were not found");
    house
}

#[test]
fn files_import_only_from_floors_below() {
    let house = house();
    let mut wrong = Vec::new();
    for (file, uses) in house.files.iter().zip(&house.uses) {
        let own = file.iter().next().unwrap().to_string_lossy();
        let Some(own_floor) = floor(&own) else {
            continue;
        };
        for used in uses {
            let name = used.path.first().map_or("", String::as_str);
            match floor(name) {
                Some(other) if name != own && other >= own_floor => {
                    wrong.push(format!("{} imports crate::{name}", file.display()));
                }
                Some(_) => {}
                None => wrong.push(format!("{}: crate::{name} has no floor", file.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_gui_sees_egui() {
    let house = house();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in house.files.iter().filter(|file| !file.starts_with("gui")) {
        let text = std::fs::read_to_string(source.join(file)).unwrap();
        assert!(!text.contains("egui::"), "{} sees egui", file.display());
    }
}

#[test]
fn at_most_three_files_import_each_other_in_a_circle() {
    let house = house();
    let uses = house.code_uses();
    let mut wrong = String::new();
    for circle in circles(&uses) {
        if circle.len() <= MOST_IN_CIRCLE {
            continue;
        }
        writeln!(wrong, "{} files in a circle:", circle.len()).unwrap();
        for &from in &circle {
            for &to in uses[from].iter().filter(|to| circle.contains(to)) {
                let names: Vec<&str> = house.names(from, to).into_iter().collect();
                let (from, to) = (house.files[from].display(), house.files[to].display());
                writeln!(wrong, "    {from} needs {} of {to}", names.join(", ")).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
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

/// The folders of `src/formats` that are common modules; each other folder there is a format.
const COMMON: &[&str] = &[
    "build_units",
    "compression",
    "etrace_lines",
    "event_filter",
    "ftrace_line",
];

/// A file of a format that others may use.
struct Door {
    /// The files that may use it: those whose path starts so.
    from: &'static str,
    /// The file.
    to: &'static str,
    /// Why no common module replaces it.
    reason: &'static str,
}

const DOORS: &[Door] = &[
    Door {
        from: "formats/mod.rs",
        to: "formats/",
        reason: "the registry has a row for each format",
    },
    Door {
        from: "export/fxt/",
        to: "formats/fxt/",
        reason: "records are copied from the reader's file to a file of the same format",
    },
    Door {
        from: "export/trace_dat/",
        to: "formats/tracedat/",
        reason: "pages are copied from the reader's file to a file of the same format",
    },
    Door {
        from: "record/memory_file.rs",
        to: "formats/tracedat/",
        reason: "pages that were just recorded are searched and shown as a recording of that format",
    },
];

/// Returns the format that a file belongs to; `None` for all other files.
fn format_of(file: &Path) -> Option<&str> {
    let mut folders = file.parent()?.iter().map(|name| name.to_str().unwrap());
    let is_format = folders.next() == Some("formats");
    let folder = folders.next().filter(|_| is_format)?;
    (!COMMON.contains(&folder)).then_some(folder)
}

#[test]
fn formats_share_code_only_through_common_modules() {
    let house = house();
    let mut wrong = Vec::new();
    let mut is_needed = vec![false; DOORS.len()];
    for (file, uses) in house.files.iter().zip(&house.uses) {
        for used in uses {
            let to = &house.files[used.file];
            if format_of(to).is_none() || format_of(to) == format_of(file) {
                continue;
            }
            let (from, to) = (file.to_str().unwrap(), to.to_str().unwrap());
            let door = (DOORS.iter())
                .position(|door| from.starts_with(door.from) && to.starts_with(door.to));
            match door {
                Some(door) => is_needed[door] = true,
                None => wrong.push(format!("{from} uses {} of {to}", used.path.join("::"))),
            }
        }
    }
    for (door, is_needed) in DOORS.iter().zip(is_needed) {
        if !is_needed {
            let Door { from, to, reason } = door;
            wrong.push(format!("{from} uses nothing of {to} any more ({reason})"));
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
