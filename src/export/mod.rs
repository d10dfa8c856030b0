//! Writes a trace, or a range of it, as a file that other programs read.
//!
//! `EXPORTERS` lists all exporters: the command line's `--to`, the window's dialog and the tests walk it. A new
//! exporter is one file and its row. [`run`] writes to a temporary file first, so that a file appears only when it is
//! complete. A [`Selection`] defines what is exported; each exporter's header describes how its format represents it.

pub(crate) mod aligned;
pub(crate) mod background;
pub(crate) mod choices;
mod chrome_json;
mod compile_commands;
pub(crate) mod escaped;
mod exporter;
mod fxt;
mod lines;
pub(crate) mod parquet;
mod perfetto;
mod process_tree_json;
pub mod rows;
mod shared;
pub mod tables;
mod trace_dat;

use std::path::Path;

pub use crate::base::atomic_file::{self, Overwrite};
pub use crate::query::selection::{Chosen, Selection};
pub use exporter::{ExportError, ExportedText, Exporter, Summary, run};
pub(crate) use exporter::{Request, WriteFn, check_input, word_for};

/// All exporters, the most complete first.
pub const EXPORTERS: &[Exporter] = &[
    fxt::EXPORTER,
    perfetto::EXPORTER,
    trace_dat::EXPORTER,
    chrome_json::EXPORTER,
    tables::CSV,
    tables::JSON,
    parquet::PARQUET,
    compile_commands::EXPORTER,
    process_tree_json::EXPORTER,
];

/// Returns the exporter of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Exporter> {
    EXPORTERS.iter().find(|exporter| exporter.name == name)
}

/// Returns the exporter for a file name, by its ending: `compile_commands.json` is not a `.json` trace.
#[must_use]
pub(crate) fn for_path(path: &Path) -> Option<&'static Exporter> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let fits = |exporter: &&Exporter| {
        let stem = name.strip_suffix(exporter.extension);
        stem.is_some_and(|stem| stem.is_empty() || stem.ends_with('.'))
    };
    EXPORTERS
        .iter()
        .filter(fits)
        .max_by_key(|exporter| exporter.extension.len())
}

/// Returns the exporter that writes one table into a file of that ending.
#[must_use]
pub(crate) fn for_table(path: &Path) -> Option<&'static Exporter> {
    let ending = path.extension()?.to_string_lossy().to_lowercase();
    let fits = |exporter: &&Exporter| {
        exporter.table.is_some() && exporter.extension.rsplit('.').next() == Some(&*ending)
    };
    EXPORTERS.iter().find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_choose_the_exporter() {
        let name = |path: &str| for_path(Path::new(path)).map(|exporter| exporter.name);
        assert_eq!(name("a/b.fxt"), Some("fxt"));
        assert_eq!(name("b.trace.json"), Some("chrome-json"));
        assert_eq!(name("b.json"), Some("chrome-json"));
        assert_eq!(name("b.table.json"), Some("json"));
        assert_eq!(
            name("build/compile_commands.json"),
            Some("compile-commands")
        );
        assert_eq!(name("part.dat"), Some("trace-dat"));
        assert_eq!(name("b.txt"), None);
    }
}
