//! The answer to a question as a table: its rows lead to their places on the timeline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::{Cancelled, Job};
use crate::export::ExportError;
use crate::export::dataset::engine::EngineError;
use crate::export::dataset::query::{Answer, AnswerColumn, QueryError, ask_about};
use crate::export::dataset::row_places::PlaceColumns;
use crate::export::rows::RowFormat;
use crate::gui::pane::Scene;
use crate::gui::save_bar::{Savable, SaveWords};
use crate::gui::table::{PaneColumn, TableData};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::row_place::RowPlace;
use crate::tables::columns::{DUR, TS};
use crate::tables::{Cell, ColumnDef, RowSource};
use crate::view::{Action, ruler};

/// The words for what is saved.
pub(super) const ANSWER: SaveWords = SaveWords {
    many: "rows",
    title: "Save rows to",
    ending: "answer.csv",
};

/// The most rows that are shown; all rows of the answer are saved.
const MOST_ROWS: usize = 100_000;
/// The number of rows whose texts decide how wide a column is.
const MEASURED_ROWS: usize = 200;
/// The width of a letter, and of the space around a text, in points.
const LETTER_WIDTH: f32 = 7.0;
const SPACE: f32 = 22.0;

/// The result of a question.
pub(super) enum Answered {
    /// The rows.
    Rows(Box<AnswerTable>),
    /// Why there is no answer.
    Refused(String),
}

impl Answered {
    /// Returns the rows.
    pub(super) fn table(&self) -> Option<&AnswerTable> {
        match self {
            Answered::Rows(table) => Some(table),
            Answered::Refused(_) => None,
        }
    }
}

/// The rows of an answer.
pub(super) struct AnswerTable {
    /// The question.
    pub(super) sql: String,
    /// The rows that are shown.
    pub(super) data: Arc<TableData>,
    rows: Arc<AnswerRows>,
    /// The number of all rows.
    count: u64,
    took: Duration,
    /// The names of columns that can be plotted.
    plotted: Vec<String>,
    files: Arc<Answer>,
}

/// Asks a question.
///
/// # Errors
/// If the job is cancelled.
pub(super) fn answered(
    loaded: &LoadedTrace,
    sql: String,
    job: &Job,
) -> Result<Arc<Answered>, Cancelled> {
    let began = Instant::now();
    let table = ask_about(loaded, &sql, job).and_then(|answer| {
        let table = AnswerTable::new(answer, sql, job)?;
        Ok(AnswerTable {
            took: began.elapsed(),
            ..table
        })
    });
    job.check()?;
    Ok(Arc::new(match table {
        Ok(table) => Answered::Rows(Box::new(table)),
        Err(QueryError::Engine(EngineError::Cancelled)) => return Err(Cancelled),
        Err(error) => Answered::Refused(error.to_string()),
    }))
}

impl AnswerTable {
    fn new(answer: Answer, sql: String, job: &Job) -> Result<AnswerTable, QueryError> {
        let names: Vec<&str> = answer.columns.iter().map(|it| it.name.as_str()).collect();
        let places = PlaceColumns::of(&names);
        let (mut rows, mut count) = (Vec::new(), 0);
        answer.each_row(|cells| {
            count += 1;
            if rows.len() < MOST_ROWS {
                job.check()
                    .map_err(|_| std::io::Error::other("cancelled"))?;
                let own = cells.iter().map(|cell| cell.borrowed().into_owned());
                rows.push(own.collect::<Vec<Cell<'static>>>());
            }
            Ok(())
        })?;
        let is_plotted =
            |column: &&AnswerColumn| column.is_number() && !column.name.eq_ignore_ascii_case("ts");
        let plotted = answer.columns.iter().filter(is_plotted);
        let plotted = plotted.map(|column| column.name.clone()).collect();
        let columns = (0..)
            .zip(&answer.columns)
            .map(|(at, column)| pane_column(at, column, &rows));
        let columns = columns.collect();
        let rows = Arc::new(AnswerRows { rows, places });
        Ok(AnswerTable {
            sql,
            data: Arc::new(TableData::new(columns, rows.clone())),
            rows,
            count,
            took: Duration::ZERO,
            plotted: if places.has_time() {
                plotted
            } else {
                Vec::new()
            },
            files: Arc::new(answer),
        })
    }

    /// Returns the number of rows and the time that the answer took, for the user.
    pub(super) fn words(&self) -> String {
        let count = ruler::counted(self.count as usize, "row", "rows");
        let shown = self.rows.rows.len();
        let took = self.took.as_secs_f64();
        match (shown as u64) < self.count {
            true => {
                let shown = ruler::grouped(shown as i64);
                format!("The first {shown} of {count}, in {took:.2} s; Save writes all of them")
            }
            false => format!("{count}, in {took:.2} s"),
        }
    }

    /// Returns the names of the columns that can be kept as a track.
    pub(super) fn plotted_columns(&self) -> &[String] {
        &self.plotted
    }

    /// Returns the rows to be saved.
    pub(super) fn savable(&self) -> SavedAnswer {
        SavedAnswer {
            files: self.files.clone(),
            count: self.count,
        }
    }

    /// Shows the place of a row: its item, otherwise its time.
    pub(super) fn lead_to(&self, scene: &Scene<'_>, row: usize, actions: &mut Vec<Action>) {
        let Some(place) = self.rows.place(row) else {
            return;
        };
        let span = place.span().intersection(scene.state.bounds());
        match place.item(&scene.loaded.trace) {
            Some(item) => actions.push(Action::Reveal(item)),
            None => {
                actions.push(Action::GoToTime(place.time));
                if !span.is_empty() {
                    actions.push(Action::SelectRange(span));
                }
            }
        }
    }
}

/// Returns a column of the pane. Columns with the names of times and durations in data sets are shown as such.
fn pane_column(at: usize, column: &AnswerColumn, rows: &[Vec<Cell<'static>>]) -> PaneColumn {
    let name = column.name.to_ascii_lowercase();
    let is_key = ["id", "tid", "pid", "cpu", "row"]
        .iter()
        .any(|end| name.ends_with(end));
    let def = match name.as_str() {
        "ts" => TS,
        "dur" => DUR,
        _ if name.ends_with("_ts") => ColumnDef::time("ts", "", ""),
        _ if name.ends_with("_dur") => ColumnDef::duration("dur", "", ""),
        _ if column.is_number() && is_key => ColumnDef::key("key", "", ""),
        _ if column.is_number() => ColumnDef::count("number", "", ""),
        _ => ColumnDef::text("text", "", ""),
    };
    let letters = rows
        .iter()
        .take(MEASURED_ROWS)
        .filter_map(|row| row.get(at))
        .map(|cell| match cell {
            Cell::Text(text) => text.chars().count(),
            // A time or a long number.
            Cell::Int(_) | Cell::AtLeast(_) => 12,
            Cell::Float(_) => 10,
            Cell::None => 0,
        });
    let letters = letters.chain([name.chars().count() + 2]).max().unwrap_or(8);
    let width = (letters as f32 * LETTER_WIDTH + SPACE).clamp(60.0, 320.0);
    PaneColumn::at(at, ColumnDef { about: "", ..def }, width).titled(column.name.clone())
}

/// The rows that are shown, with the columns by which they have a place.
struct AnswerRows {
    rows: Vec<Vec<Cell<'static>>>,
    places: PlaceColumns,
}

impl AnswerRows {
    fn place(&self, row: usize) -> Option<RowPlace> {
        self.places.place(self.rows.get(row)?)
    }
}

/// The table and the pane share the rows.
impl RowSource for Arc<AnswerRows> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn row<'a>(&'a self, _: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        if let Some(row) = self.rows.get(at) {
            cells.extend(row.iter().map(Cell::borrowed));
        }
    }

    /// The place is looked up in the trace that is shown: plots that were added since do not matter.
    fn item(&self, loaded: &LoadedTrace, at: usize) -> Option<Item> {
        self.place(at)?.item(&loaded.trace)
    }
}

/// An answer to be saved, whole.
pub(super) struct SavedAnswer {
    files: Arc<Answer>,
    count: u64,
}

impl Savable for SavedAnswer {
    fn write(
        &self,
        out: &mut dyn std::io::Write,
        format: RowFormat,
        job: &Job,
    ) -> Result<u64, ExportError> {
        let written = self.files.write_rows(format, out);
        job.check()?;
        written?;
        Ok(self.count)
    }
}
