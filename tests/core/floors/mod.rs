//! Holds `src/` to the floors of ARCHITECTURE.md: a file imports only from floors below its own; and on a floor, at
//! most three files import each other in a circle.

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
