//! The user's own DuckDB: its command, otherwise its Python module.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::base::Job;

/// The program that runs SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// The command `duckdb`.
    Command,
    /// The module `duckdb` of Python.
    Python,
}

/// What to do if there is no DuckDB.
pub(crate) const HOW_TO_GET: &str =
    "DuckDB is not installed: `pip install duckdb`, or the command from https://duckdb.org";

/// Why a query failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EngineError {
    /// There is no DuckDB.
    Missing,
    /// The user cancelled it.
    Cancelled,
    /// DuckDB's own error message.
    Refused(String),
}

impl std::fmt::Display for EngineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EngineError::Missing => f.write_str(HOW_TO_GET),
            EngineError::Cancelled => f.write_str("stopped"),
            EngineError::Refused(words) => f.write_str(words),
        }
    }
}

/// Runs the file of its first argument, then the statements of its second.
const PYTHON: &str = "import duckdb, sys; it = duckdb.connect(); \
     it.execute(open(sys.argv[1], encoding='utf-8').read()); it.execute(sys.argv[2])";

/// The most bytes of an argument of a program (Linux: 128 KiB with its end).
const MOST_STATEMENTS: usize = 100_000;

impl Engine {
    /// Returns the engine that is installed.
    pub(crate) fn find() -> Option<Engine> {
        let runs = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::null());
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        if runs("duckdb", &["--version"]) {
            return Some(Engine::Command);
        }
        runs("python3", &["-c", "import duckdb"]).then_some(Engine::Python)
    }

    fn command(self, prelude: &Path, statements: &str) -> Command {
        match self {
            Engine::Command => {
                let mut command = Command::new("duckdb");
                // Instead of the user's settings, which could print lines into the answer. Statements come as an argument:
                // in a file, a line that begins with a dot would be a command of the shell, such as `.shell`.
                command.arg("-init").arg(prelude);
                command.args(["-batch", "-bail", ":memory:", "-c", statements]);
                command
            }
            Engine::Python => {
                let mut command = Command::new("python3");
                command.args([OsStr::new("-c"), OsStr::new(PYTHON), prelude.as_os_str()]);
                command.arg(statements);
                command
            }
        }
    }

    /// Runs statements after those of `prelude`, which are ours; files of the run are in `folder`.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub(crate) fn run(
        self,
        folder: &Path,
        prelude: &str,
        statements: &str,
        job: &Job,
    ) -> Result<(), EngineError> {
        let io = |error: std::io::Error| EngineError::Refused(error.to_string());
        if statements.len() > MOST_STATEMENTS {
            return Err(EngineError::Refused("the question is too long".to_owned()));
        }
        let script = folder.join("prelude.sql");
        std::fs::write(&script, prelude).map_err(io)?;
        // The output goes to a file: a pipe that is not read could fill up.
        let said = folder.join("said");
        let mut command = self.command(&script, statements);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(&said).map_err(io)?);
        let mut child = command.spawn().map_err(io)?;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(io)? {
                break status;
            }
            if job.is_cancelled() {
                let _gone = child.kill();
                let _gone = child.wait();
                return Err(EngineError::Cancelled);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        match status.success() {
            true => Ok(()),
            false => Err(EngineError::Refused(what_it_said(&said))),
        }
    }
}

/// Returns the end of the engine's output: Python prints the error message last.
fn what_it_said(path: &PathBuf) -> String {
    let mut said = Vec::new();
    if let Ok(file) = File::open(path) {
        let _unreadable = file.take(1 << 16).read_to_end(&mut said);
    }
    let said = String::from_utf8_lossy(&said);
    let start = said
        .rfind("Error: ")
        .map_or(0, |at| said[..at].rfind('\n').map_or(0, |line| line + 1));
    let said = said[start..].trim();
    // The command resets its colour there, even where its output is no terminal.
    let said = said.strip_prefix("\u{1b}[00m").unwrap_or(said);
    match said
        .strip_prefix("_duckdb.")
        .or(said.strip_prefix("duckdb."))
    {
        Some(rest) => rest.to_owned(),
        None if said.is_empty() => "DuckDB failed".to_owned(),
        None => said.to_owned(),
    }
}
