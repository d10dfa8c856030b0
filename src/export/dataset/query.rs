//! SQL over a data set, answered by the user's own DuckDB; and the data sets that are kept in the cache for single traces.
//!
//! ```text
//! traces -> data set in the cache (once) -> views + question -> DuckDB -> rows as JSON, a line each -> cells
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;
use serde_json::value::RawValue;

use super::add::{AddOptions, Adder};
use super::engine::{Engine, EngineError};
use super::manifest::Manifest;
use super::views::{Dialect, quoted};
use super::{DataSet, SetError};
use crate::base::Job;
use crate::base::fingerprint::{Fingerprint, digits};
use crate::base::system::files::create_private_folder;
use crate::base::user_folder;
use crate::export::rows::{RowFormat, RowWriter};
use crate::load::LoadedTrace;
use crate::tables::{Cell, ColumnDef};

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerColumn {
    /// Its name.
    pub name: String,
    /// Its type in DuckDB.
    pub of: String,
}

impl AnswerColumn {
    /// Returns whether its values are numbers.
    #[must_use]
    pub(crate) fn is_number(&self) -> bool {
        let of = self.of.as_str();
        self.is_whole() || matches!(of, "DOUBLE" | "FLOAT") || of.starts_with("DECIMAL")
    }

    fn is_whole(&self) -> bool {
        matches!(
            self.of.as_str(),
            "TINYINT"
                | "SMALLINT"
                | "INTEGER"
                | "BIGINT"
                | "HUGEINT"
                | "UTINYINT"
                | "USMALLINT"
                | "UINTEGER"
                | "UBIGINT"
                | "UHUGEINT"
        )
    }

    /// Returns the definition by which people see the column.
    pub(crate) fn def(&self) -> ColumnDef<'_> {
        let name = self.name.as_str();
        match self.is_whole() {
            true => ColumnDef::key(name, name, ""),
            false => ColumnDef::text(name, name, ""),
        }
    }
}

/// The answer to a question, in a folder that is removed with it.
#[derive(Debug)]
pub(crate) struct Answer {
    folder: tempfile::TempDir,
    /// The columns.
    pub columns: Vec<AnswerColumn>,
}

/// Why a question has no answer.
#[derive(Debug)]
pub(crate) enum QueryError {
    /// The engine's reason.
    Engine(EngineError),
    /// The data set's reason.
    Set(SetError),
    /// The answer could not be read.
    Io(std::io::Error),
    /// The trace was read from standard input, which cannot be read again.
    NoFile,
    /// The question may be more than one statement.
    NotOne,
}

impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QueryError::Engine(error) => error.fmt(f),
            QueryError::Set(error) => error.fmt(f),
            QueryError::Io(error) => error.fmt(f),
            QueryError::NotOne => {
                f.write_str("a question is one SELECT statement: it cannot contain ';'")
            }
            QueryError::NoFile => f.write_str(
                "the trace was read from standard input: save it to a file and open that",
            ),
        }
    }
}

impl From<SetError> for QueryError {
    fn from(error: SetError) -> QueryError {
        QueryError::Set(error)
    }
}

impl From<std::io::Error> for QueryError {
    fn from(error: std::io::Error) -> QueryError {
        QueryError::Io(error)
    }
}

impl DataSet {
    /// Asks DuckDB.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub(crate) fn ask(&self, question: Question<'_>, job: &Job) -> Result<Answer, QueryError> {
        self.ask_as(question, "*", "rows.json", job)
    }

    /// Asks DuckDB for an answer as Parquet. Sums of whole numbers are whole numbers of 64 bits in it.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub(crate) fn ask_for_parquet(
        &self,
        question: Question<'_>,
        job: &Job,
    ) -> Result<Answer, QueryError> {
        let limited = format!("SELECT * FROM (\n{}\n) LIMIT 0", question.sql);
        let no_rows = Question {
            sql: &limited,
            ..question
        };
        let columns = self.ask(no_rows, job)?.columns;
        let narrow = columns
            .iter()
            .filter(|column| column.of == "HUGEINT")
            .map(|column| {
                let name = format!("\"{}\"", column.name.replace('"', "\"\""));
                format!("CAST({name} AS BIGINT) AS {name}")
            });
        let narrow: Vec<String> = narrow.collect();
        let select = match narrow.is_empty() {
            true => "*".to_owned(),
            false => format!("* REPLACE ({})", narrow.join(", ")),
        };
        self.ask_as(question, &select, PARQUET_ROWS, job)
    }

    /// Runs the question with DuckDB, which writes its result, with the columns of the SQL `select`, to the file
    /// `rows`; again if another job replaced parts of the data set meanwhile.
    fn ask_as(
        &self,
        question: Question<'_>,
        select: &str,
        rows: &str,
        job: &Job,
    ) -> Result<Answer, QueryError> {
        for _ in 1..MOST_TRIES {
            let asked = self.manifest()?.parts;
            match self.ask_once(question, select, rows, job) {
                Err(QueryError::Engine(_))
                    if self.manifest()?.parts != asked && job.check().is_ok() => {}
                answered => return answered,
            }
        }
        self.ask_once(question, select, rows, job)
    }

    fn ask_once(
        &self,
        question: Question<'_>,
        select: &str,
        rows: &str,
        job: &Job,
    ) -> Result<Answer, QueryError> {
        let Question {
            sql: question,
            engine,
        } = question;
        let folder = tempfile::tempdir()?;
        let views = self.views(Dialect::DuckDb)?;
        let format = rows.rsplit('.').next().unwrap_or_default();
        let path = |name: &str| quoted(&folder.path().join(name).to_string_lossy());
        // A session may bring a question along: it reads the data set, and nothing else.
        let prelude = format!(
            "SET allowed_directories = [{}, {}];\nSET temp_directory = {};\n\
             SET enable_external_access = false;\n{views}",
            quoted(&format!("{}/", self.text_path(self.folder())?)),
            path(""),
            path("spilled"),
        );
        // The question is on lines of its own, so that a comment at its end does not comment out the rest.
        // (DuckDB's command changes its own settings between the prelude and the statements.)
        let statements = format!(
            "SET lock_configuration = true;\nCREATE TEMP TABLE threadline_answer AS\n{question}\n;\n\
             COPY (SELECT column_name AS name, data_type AS type FROM duckdb_columns() \
             WHERE table_name = 'threadline_answer' ORDER BY column_index) TO {} (FORMAT json);\n\
             COPY (SELECT {select} FROM threadline_answer) TO {} (FORMAT {format});\n",
            path("columns.json"),
            path(rows)
        );
        let ran = engine.run(folder.path(), &prelude, &statements, job);
        ran.map_err(QueryError::Engine)?;
        let mut columns = Vec::new();
        for line in BufReader::new(File::open(folder.path().join("columns.json"))?).lines() {
            let row: Value = serde_json::from_str(&line?).map_err(std::io::Error::from)?;
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            columns.push(AnswerColumn {
                name: text("name"),
                of: text("type"),
            });
        }
        Ok(Answer { folder, columns })
    }
}

/// How often a question is asked while other jobs replace parts of the data set.
const MOST_TRIES: u32 = 20;

/// The file of an answer as Parquet.
const PARQUET_ROWS: &str = "rows.parquet";

/// A question that may be asked, and the engine that answers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'q> {
    /// The statement, without white space around it and semicolons at its end.
    sql: &'q str,
    engine: Engine,
}

impl<'q> Question<'q> {
    /// Takes a question and looks for an engine.
    ///
    /// # Errors
    /// If it may be more than one statement, or if there is no engine.
    pub(crate) fn new(sql: &'q str) -> Result<Question<'q>, QueryError> {
        let sql = sql.trim().trim_end_matches(';').trim_end();
        if sql.contains(';') {
            return Err(QueryError::NotOne);
        }
        let engine = Engine::find().ok_or(QueryError::Engine(EngineError::Missing))?;
        Ok(Question { sql, engine })
    }
}

impl Answer {
    /// Copies the rows of [`DataSet::ask_for_parquet`].
    ///
    /// # Errors
    /// Errors of `out`; errors if the answer cannot be read.
    pub(crate) fn copy_parquet(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        let mut rows = File::open(self.folder.path().join(PARQUET_ROWS))?;
        std::io::copy(&mut rows, out)?;
        Ok(())
    }

    /// Writes the rows with a heading.
    ///
    /// # Errors
    /// Errors of `out`; errors if the answer cannot be read.
    pub(crate) fn write_rows(
        &self,
        format: RowFormat,
        out: &mut dyn std::io::Write,
    ) -> std::io::Result<()> {
        let columns: Vec<ColumnDef<'_>> = self.columns.iter().map(AnswerColumn::def).collect();
        let mut rows = RowWriter::new(out, format, &columns)?;
        self.each_row(|cells| rows.row(cells))?;
        rows.finish()?;
        Ok(())
    }

    /// Calls `each` with the cells of each row.
    ///
    /// # Errors
    /// Errors of `each`; errors if the answer cannot be read.
    pub(crate) fn each_row(
        &self,
        mut each: impl FnMut(&[Cell<'_>]) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let rows = BufReader::new(File::open(self.folder.path().join("rows.json"))?);
        for line in rows.lines() {
            let line = line?;
            let line = with_quoted_numbers(&line);
            let row: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(&line)?;
            let cells = self.columns.iter().map(|column| {
                let value = row.get(column.name.as_str());
                value.map_or(Ok(Cell::None), |value| cell_of(column, value.get()))
            });
            let cells: Result<Vec<Cell<'_>>, serde_json::Error> = cells.collect();
            each(&cells?)?;
        }
        Ok(())
    }
}

/// Returns a line of JSON in which the numbers are texts that DuckDB writes and JSON does not have: `NaN`, `Infinity`.
fn with_quoted_numbers(line: &str) -> Cow<'_, str> {
    const ODD: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !ODD.iter().any(|odd| line.contains(odd)) {
        return Cow::Borrowed(line);
    }
    let mut quoted = String::with_capacity(line.len() + 2);
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let length = match (next, ODD.iter().find(|odd| rest.starts_with(**odd))) {
            ('"', _) => string_length(rest),
            (_, Some(odd)) => {
                quoted.push('"');
                quoted.push_str(odd);
                quoted.push('"');
                rest = &rest[odd.len()..];
                continue;
            }
            (next, None) => next.len_utf8(),
        };
        quoted.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Cow::Owned(quoted)
}

/// Returns the length in bytes of the string at the start of a text, with its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Returns a decimal fraction without zeros at its end.
fn without_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// Returns a value of a column: whole numbers of any size and decimal fractions with all their digits.
fn cell_of<'v>(column: &AnswerColumn, value: &'v str) -> Result<Cell<'v>, serde_json::Error> {
    let is_float = matches!(column.of.as_str(), "DOUBLE" | "FLOAT");
    Ok(match value.as_bytes().first() {
        Some(b'n') => Cell::None,
        Some(b't') => 1_u32.into(),
        Some(b'f') => 0_u32.into(),
        Some(b'"') => {
            let text: String = serde_json::from_str(value)?;
            match text.parse::<f64>() {
                Ok(number) if is_float => number.into(),
                _ => text.into(),
            }
        }
        Some(b'{' | b'[') => value.into(),
        _ if is_float => value
            .parse()
            .map_or(Cell::None, |number: f64| number.into()),
        _ => match (value.parse::<i128>(), value.parse::<f64>()) {
            (Ok(whole), _) => Cell::Int(whole),
            (_, Ok(number)) if number.to_string() == without_zeros(value) => number.into(),
            _ => value.into(),
        },
    })
}

/// Asks DuckDB about one trace as it is loaded, with its attached definitions and the other files on its axis: ids in the
/// answer are those of `loaded`. The data set stays in the cache.
///
/// # Errors
/// See [`QueryError`].
pub(crate) fn ask_about(
    loaded: &LoadedTrace,
    question: &str,
    job: &Job,
) -> Result<Answer, QueryError> {
    if loaded.path.as_os_str() == "-" {
        return Err(QueryError::NoFile);
    }
    // Checked first: converting the trace may take long.
    let asked = Question::new(question)?;
    let files = files_of(loaded);
    let options = AddOptions::for_question(question);
    let probes = loaded.probes.as_ref().map(|probes| &probes.set);
    let shifts = loaded.trace.sources.iter();
    let shifts: Vec<_> = shifts.map(|it| (it.origin.shift, it.home)).collect();
    let what = format!(
        "{:?} {:?} {:?} {} {probes:?} {shifts:?}",
        options.tables, options.events, loaded.reading, loaded.file_bytes
    );
    let making = Making {
        fill: |set: &DataSet| {
            let mut adder = Adder::new(set, &options)?;
            adder.add(&loaded.path, loaded, job)?;
            adder.commit(job)?;
            Ok::<_, QueryError>(Found::Nothing)
        },
        look: || Ok(files.clone()),
    };
    let set = cached(&files, &what, making)?;
    set.ask(asked, job)
}

/// Returns the paths of all files of a trace, without repetition.
pub(crate) fn files_of(loaded: &LoadedTrace) -> Vec<PathBuf> {
    let mut files = Vec::new();
    add_files(loaded, &mut files);
    files
}

/// Adds the paths of all files of a trace, without repetition.
fn add_files(loaded: &LoadedTrace, files: &mut Vec<PathBuf>) {
    let own = std::iter::once(&loaded.path).chain(&loaded.part_paths);
    for path in own {
        if !files.contains(path) {
            files.push(path.clone());
        }
    }
    for member in &loaded.members {
        add_files(member, files);
    }
}

/// Maximum size of the cached data sets in bytes; above it, the oldest are removed.
const MOST_CACHED_BYTES: u64 = 10 << 30;

/// Returns the folder of cached data sets: `$XDG_CACHE_HOME/threadline/datasets`, else `~/.cache/...`.
fn cache_folder() -> Option<PathBuf> {
    Some(user_folder::cache_folder()?.join("datasets"))
}

/// The files that were opened because recordings name them: traces of their programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The recordings name none.
    Nothing,
    /// All files of the traces. Which of those that the recordings name exist may change.
    Files(Vec<PathBuf>),
}

/// How a data set for the cache is made.
pub(crate) struct Making<F, L> {
    /// Adds the traces.
    pub fill: F,
    /// Returns all files of the traces as they are now.
    pub look: L,
}

/// Name of the file of a cached data set with the fingerprint of [`Found::Files`].
const FOUND: &str = "found-files";

/// Returns the data set of these files if it is in the cache, else makes it. `what` distinguishes data sets of
/// the same files with other contents.
///
/// # Errors
/// Errors of `making`, and errors of the system.
pub(crate) fn cached<E: From<SetError>>(
    files: &[PathBuf],
    what: &str,
    making: Making<
        impl FnOnce(&DataSet) -> Result<Found, E>,
        impl FnOnce() -> Result<Vec<PathBuf>, E>,
    >,
) -> Result<DataSet, E> {
    let io = |path: &Path, error: std::io::Error| SetError::Io {
        path: path.to_path_buf(),
        error,
    };
    let folder = cache_folder().unwrap_or_else(|| std::env::temp_dir().join("threadline-datasets"));
    let place = folder.join(key_of(files, what).map_err(|error| io(&folder, error))?);
    if let Ok(known) = DataSet::open(&place) {
        let found = std::fs::read_to_string(place.join(FOUND));
        let is_current = match found {
            Ok(found) => key_of(&(making.look)()?, "").is_ok_and(|key| key == found),
            Err(_) => true,
        };
        if is_current {
            return Ok(known);
        }
        std::fs::remove_dir_all(&place).map_err(|error| io(&place, error))?;
    }
    create_private_folder(&folder).map_err(|error| io(&folder, error))?;
    let made = tempfile::Builder::new()
        .prefix(".making-")
        .tempdir_in(&folder);
    let made = made.map_err(|error| io(&folder, error))?;
    let set = DataSet::open_or_make(made.path(), Some(1))?;
    if let Found::Files(found) = (making.fill)(&set)? {
        let key = key_of(&found, "");
        let written = key.and_then(|key| std::fs::write(made.path().join(FOUND), key));
        written.map_err(|error| io(made.path(), error))?;
    }
    make_room(&folder);
    match std::fs::rename(made.path(), &place) {
        Ok(()) => {
            // The folder was renamed, so it must not be deleted when `made` is dropped.
            let _renamed = made.keep();
        }
        // Another process made the same data set meanwhile.
        Err(_) if DataSet::open(&place).is_ok() => {}
        Err(error) => return Err(io(&place, error).into()),
    }
    Ok(DataSet::open(&place)?)
}

/// Returns the name of the data set of files as they are now.
fn key_of(files: &[PathBuf], what: &str) -> std::io::Result<String> {
    let mut key = Fingerprint::default();
    key.add_text(env!("CARGO_PKG_VERSION"));
    key.add_text(what);
    for file in files {
        let metadata = std::fs::metadata(file)?;
        key.add_text(&file.canonicalize()?.to_string_lossy());
        key.add(&metadata.len().to_le_bytes());
        let changed = metadata.modified()?.duration_since(SystemTime::UNIX_EPOCH);
        key.add(&changed.unwrap_or_default().as_nanos().to_le_bytes());
    }
    Ok(digits(key.finish()))
}

/// Removes the oldest data sets of the cache until those that stay are small enough.
fn make_room(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let dated = entries.filter_map(|entry| {
        let changed = entry.metadata().ok()?.modified().ok()?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        (!is_hidden).then_some((changed, entry.path()))
    });
    let mut dated: Vec<(SystemTime, PathBuf)> = dated.collect();
    dated.sort_by(|a, b| b.cmp(a));
    let mut kept_bytes = 0_u64;
    for (_, path) in dated {
        let manifest = DataSet::open(&path).and_then(|set| set.manifest());
        kept_bytes = kept_bytes.saturating_add(manifest.map_or(u64::MAX, |it| bytes_of(&it)));
        if kept_bytes > MOST_CACHED_BYTES {
            let _left = std::fs::remove_dir_all(&path);
        }
    }
}

fn bytes_of(manifest: &Manifest) -> u64 {
    manifest.parts.iter().map(|part| part.size_bytes).sum()
}

/// A frequently used query.
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    /// Its name, for `threadline sql NAME FILE`.
    pub name: &'static str,
    /// The question that it answers.
    pub about: &'static str,
    /// The SQL.
    pub sql: &'static str,
}

/// Queries that are built into the program; docs/queries.md explains them.
pub const PREPARED: &[Prepared] = &[
    Prepared {
        name: "longest-slices",
        about: "The 20 longest slices, with their threads",
        sql: "SELECT s.ts, s.dur, s.name, t.name AS thread, s.track_id, s.id\n\
              FROM slice s LEFT JOIN thread t USING (trace_id, utid)\n\
              WHERE s.dur IS NOT NULL ORDER BY s.dur DESC, s.ts LIMIT 20",
    },
    Prepared {
        name: "time-by-name",
        about: "Where the time goes: total and own time of each category and name of slices",
        sql: "SELECT category, name, count(dur) AS count, count(*) - count(dur) AS unfinished,\n\
              CAST(sum(dur) AS BIGINT) AS total, CAST(sum(self_dur) AS BIGINT) AS own, max(dur) AS longest\n\
              FROM slice GROUP BY category, name ORDER BY total DESC NULLS LAST, category, name LIMIT 50",
    },
    Prepared {
        name: "percentiles",
        about: "The median and the 99th percentile of each category and name of slices",
        sql: "SELECT category, name, count(dur) AS count, count(*) - count(dur) AS unfinished,\n\
              quantile_disc(dur, 0.5) AS p50, quantile_disc(dur, 0.99) AS p99, max(dur) AS longest\n\
              FROM slice GROUP BY category, name ORDER BY count DESC, category, name LIMIT 50",
    },
    Prepared {
        name: "time-on-cpu",
        about: "How long each thread ran on each CPU",
        sql: "SELECT t.tid, t.name, r.cpu, count(*) AS runs, CAST(sum(r.dur) AS BIGINT) AS ran\n\
              FROM sched r JOIN thread t USING (trace_id, utid)\n\
              GROUP BY ALL ORDER BY ran DESC NULLS LAST, t.tid, r.cpu",
    },
    Prepared {
        name: "states",
        about: "How long each thread ran, waited for a CPU, slept and waited for disks",
        sql: "SELECT t.tid, t.name, s.state, count(s.dur) AS count, count(*) - count(s.dur) AS unfinished,\n\
              CAST(sum(s.dur) AS BIGINT) AS total\n\
              FROM thread_state s JOIN thread t USING (trace_id, utid)\n\
              GROUP BY ALL ORDER BY total DESC NULLS LAST, t.tid, s.state",
    },
    Prepared {
        name: "wakeup-latency",
        about: "How long threads waited for a CPU after they were woken, by process",
        sql: "SELECT p.pid, p.name, count(*) AS waits, quantile_disc(s.dur, 0.5) AS p50,\n\
              quantile_disc(s.dur, 0.99) AS p99, max(s.dur) AS longest\n\
              FROM thread_state s JOIN thread t USING (trace_id, utid)\n\
              LEFT JOIN process p ON p.trace_id = t.trace_id AND p.upid = t.upid\n\
              WHERE s.state = 'runnable' AND s.dur IS NOT NULL AND s.waker IS NOT NULL\n\
              GROUP BY p.pid, p.name ORDER BY longest DESC, p.pid",
    },
    Prepared {
        name: "wakers",
        about: "Which thread or interrupt woke which thread, and how often",
        sql: "SELECT coalesce(w.name, s.waker) AS waker, t.name AS woken, count(*) AS wakeups\n\
              FROM thread_state s JOIN thread t USING (trace_id, utid)\n\
              LEFT JOIN thread w ON w.trace_id = s.trace_id AND w.utid = s.waker_utid\n\
              WHERE s.waker IS NOT NULL\n\
              GROUP BY ALL ORDER BY wakeups DESC, waker, woken LIMIT 50",
    },
    Prepared {
        name: "counters",
        about: "Least, mean and greatest value of each counter",
        sql: "SELECT t.name, t.type, t.cpu, count(*) AS samples, min(c.value) AS least,\n\
              avg(c.value) AS mean, max(c.value) AS greatest\n\
              FROM counter c JOIN track t ON t.trace_id = c.trace_id AND t.id = c.track_id\n\
              GROUP BY ALL ORDER BY samples DESC, t.name, t.cpu",
    },
    Prepared {
        name: "arrows",
        about: "Flows between threads: how many of each name, and how long they take",
        sql: "SELECT f.name, a.name AS from_thread, b.name AS to_thread, count(*) AS count,\n\
              quantile_disc(f.to_ts - f.from_ts, 0.5) AS p50, max(f.to_ts - f.from_ts) AS longest\n\
              FROM flow f LEFT JOIN thread a ON a.trace_id = f.trace_id AND a.utid = f.from_utid\n\
              LEFT JOIN thread b ON b.trace_id = f.trace_id AND b.utid = f.to_utid\n\
              GROUP BY ALL ORDER BY count DESC, f.name, from_thread, to_thread LIMIT 50",
    },
    Prepared {
        name: "build-steps",
        about: "The processes of a build that took longest themselves, with their command lines",
        sql: "SELECT ts, dur, pid, name, self_dur, below, cmdline\n\
              FROM build_process ORDER BY self_dur DESC NULLS LAST, pid LIMIT 30",
    },
    Prepared {
        name: "findings",
        about: "What is missing in the traces or odd about them",
        sql: "SELECT t.path, s.severity, s.name, s.value, s.description\n\
              FROM stats s JOIN trace t USING (trace_id)\n\
              ORDER BY s.severity, s.value DESC, t.path, s.name",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &str, columns: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rows.json"), format!("{line}\n")).unwrap();
        let column = |&(name, of): &(&str, &str)| AnswerColumn {
            name: name.to_owned(),
            of: of.to_owned(),
        };
        let answer = Answer {
            columns: columns.iter().map(column).collect(),
            folder,
        };
        let mut out = Vec::new();
        answer.write_rows(RowFormat::Tsv, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().nth(1).unwrap().to_owned()
    }

    #[test]
    fn numbers_of_an_answer_keep_their_digits() {
        let line = r#"{"a":18446744073709551614,"b":12345678901234567890.123456789,"c":1.50,"d":NaN,"e":-Infinity}"#;
        let columns = [
            ("a", "HUGEINT"),
            ("b", "DECIMAL(38,9)"),
            ("c", "DECIMAL(4,2)"),
            ("d", "DOUBLE"),
            ("e", "FLOAT"),
        ];
        let expected = "18446744073709551614\t12345678901234567890.123456789\t1.5\tNaN\t-inf";
        assert_eq!(cells(line, &columns), expected);
        let line = r#"{"a":"NaN, \"Infinity","b":[1.0,Infinity],"c":null,"d":true}"#;
        let columns = [
            ("a", "VARCHAR"),
            ("b", "DOUBLE[]"),
            ("c", "BIGINT"),
            ("d", "BOOLEAN"),
        ];
        let expected = "NaN, \"Infinity\t[1.0,\"Infinity\"]\t\\N\t1";
        assert_eq!(cells(line, &columns), expected);
    }
}
