//! Files in a folder of their own, and the output of the program for them.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "a test may panic; not every test needs all of it"
)]

use std::process::{Command, Output};

/// A folder with these files.
pub struct Files(pub tempfile::TempDir);

impl Files {
    /// Writes the files.
    pub fn new(files: &[(&str, &str)]) -> Files {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Files(folder)
    }

    /// Runs the program in the folder.
    pub fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_threadline"))
            .current_dir(self.0.path())
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Returns the program's output; the program must succeed.
    pub fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns a table as rows of named cells.
    pub fn table(&self, arguments: &[&str]) -> Vec<serde_json::Value> {
        self.table_of(&[&["table"], arguments].concat())
    }

    /// Returns the rows that a verb prints.
    pub fn table_of(&self, arguments: &[&str]) -> Vec<serde_json::Value> {
        let arguments = [arguments, &["--format", "json"]].concat();
        serde_json::from_str(&self.text(&arguments)).unwrap()
    }

    /// Returns start, length and depth of the calls of this name.
    pub fn calls(&self, name: &str, arguments: &[&str]) -> Vec<(i64, Option<i64>, i64)> {
        let rows = self.table(&[&["slices"], arguments].concat());
        rows.iter()
            .filter(|row| row["name"] == name && row["category"] == "syscalls")
            .map(|row| {
                let number = |key: &str| row[key].as_i64();
                (
                    number("ts").unwrap(),
                    number("dur"),
                    number("depth").unwrap(),
                )
            })
            .collect()
    }
}
