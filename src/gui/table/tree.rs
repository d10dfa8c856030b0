//! Trees in a table: which rows are open, and in which order they are shown.
//!
//! The rows of the source are in preorder: each row is followed by its children, each with its own. The widget shows
//! a row's children if the row is open, and sorts siblings among themselves. A filter keeps the rows that match and all
//! rows above them, and shows these open.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::data::TableData;
use super::order::{Order, Wanted, has_text};
use crate::base::{Cancelled, Job};
use crate::load::LoadedTrace;
use crate::tables::{Cell, RowSource};

/// The number of rows between two checks for cancellation.
const STEP: usize = 1 << 12;

/// The rows of a tree whose children are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Opened {
    /// Whether rows that are not in `others` are open.
    rule: OpenRule,
    /// The keys ([`RowSource::key`]) of the rows that do not follow the rule. Shared, because it is compared in every
    /// frame.
    others: Arc<FxHashSet<u32>>,
}

/// Whether rows are open that the user neither opened nor closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OpenRule {
    /// All rows are open.
    #[default]
    All,
    /// No row is open.
    None,
}

impl Opened {
    /// Returns the state in which all rows follow a rule.
    pub(super) fn all(rule: OpenRule) -> Opened {
        Opened {
            rule,
            ..Opened::default()
        }
    }

    /// Returns whether the row with a key is open.
    #[must_use]
    pub(super) fn is_open(&self, key: u32) -> bool {
        (self.rule == OpenRule::All) != self.others.contains(&key)
    }

    /// Opens the row with a key.
    pub(super) fn open(&mut self, key: u32) {
        if !self.is_open(key) {
            self.toggle(key);
        }
    }

    /// Opens the row with a key if it is closed, and closes it if it is open.
    pub(super) fn toggle(&mut self, key: u32) {
        let others = Arc::make_mut(&mut self.others);
        if !others.remove(&key) {
            others.insert(key);
        }
    }
}

/// The parents and children of a tree's rows.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The parent of each row; `None` for the roots.
    parents: Vec<Option<u32>>,
    /// The index in `children` at which the children of each row begin; entry 0 is for the roots, entry `row + 1` for a
    /// row. A last entry is the end of the list.
    firsts: Vec<u32>,
    /// The children of each row, in the order of the rows.
    children: Vec<u32>,
}

/// How a row of a tree is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeMark {
    /// The number of rows above it.
    pub depth: u32,
    /// Whether it has children that the filter keeps.
    pub has_children: bool,
    /// Whether its children are shown.
    pub is_open: bool,
    /// Whether it matches the filter itself, and not only a row below it.
    pub is_match: bool,
}

/// The rows of a tree in the order in which they are shown.
#[derive(Debug, Default)]
pub(super) struct TreeOrder {
    pub rows: Vec<u32>,
    /// By place in `rows`.
    pub marks: Vec<TreeMark>,
}

/// The rows that a filter keeps.
struct Filtered {
    /// By row: whether it matches.
    matches: Vec<bool>,
    /// By row: whether it or a row below it matches.
    kept: Vec<bool>,
}

impl Tree {
    /// Returns the tree of rows in preorder.
    #[must_use]
    pub(crate) fn new(rows: &dyn RowSource) -> Tree {
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let mut parents: Vec<Option<u32>> = Vec::with_capacity(count as usize);
        // The rows above the current one.
        let mut above: Vec<u32> = Vec::new();
        for row in 0..count {
            above.truncate(rows.depth(row as usize) as usize);
            parents.push(above.last().copied());
            above.push(row);
        }
        let slot = |parent: &Option<u32>| parent.map_or(0, |row| row as usize + 1);
        let mut firsts = vec![0_u32; count as usize + 2];
        for parent in &parents {
            firsts[slot(parent) + 1] += 1;
        }
        for at in 1..firsts.len() {
            firsts[at] += firsts[at - 1];
        }
        let mut next = firsts.clone();
        let mut children = vec![0; count as usize];
        for (parent, row) in parents.iter().zip(0..) {
            let free = &mut next[slot(parent)];
            children[*free as usize] = row;
            *free += 1;
        }
        Tree {
            parents,
            firsts,
            children,
        }
    }

    /// Returns the children of a row, or the roots.
    fn children_of(&self, row: Option<u32>) -> &[u32] {
        let slot = row.map_or(0, |row| row as usize + 1);
        let ends = self.firsts.get(slot).zip(self.firsts.get(slot + 1));
        let range = ends.map(|(&start, &end)| start as usize..end as usize);
        range.map_or(&[], |range| self.children.get(range).unwrap_or_default())
    }

    /// Returns the rows above a row, the parent first.
    pub(crate) fn above(&self, row: u32) -> impl Iterator<Item = u32> {
        let parent = |row: u32| self.parents.get(row as usize).copied().flatten();
        std::iter::successors(parent(row), move |&row| parent(row))
    }

    fn filtered(
        &self,
        data: &TableData,
        loaded: &LoadedTrace,
        filter: &str,
        job: &Job,
    ) -> Result<Filtered, Cancelled> {
        let matches = |row: usize| {
            if row.is_multiple_of(STEP) {
                job.check()?;
            }
            if let Some(matches) = data.matches {
                let item = data.rows.item(loaded, row);
                return Ok(item.is_some_and(|item| matches(loaded, item, filter)));
            }
            let mut cells = Vec::new();
            data.rows.row(loaded, row, &mut cells);
            Ok(has_text(data, &cells, filter))
        };
        let rows = (0..self.parents.len()).into_par_iter();
        let matches: Vec<bool> = rows.map(matches).collect::<Result<_, Cancelled>>()?;
        let mut kept = matches.clone();
        // Children come after their parents.
        for row in (0..kept.len()).rev() {
            if let (true, Some(parent)) = (kept[row], self.parents[row]) {
                kept[parent as usize] = true;
            }
        }
        Ok(Filtered { matches, kept })
    }

    /// Returns the rows in the order in which they are shown; `None` if they are more than `most`.
    pub(super) fn order(
        &self,
        data: &TableData,
        loaded: &LoadedTrace,
        wanted: &Wanted,
        most: usize,
        job: &Job,
    ) -> Result<Option<TreeOrder>, Cancelled> {
        let filtered = match wanted.filter.trim() {
            "" => None,
            filter => Some(self.filtered(data, loaded, filter, job)?),
        };
        let keeps = |row: u32| {
            let kept = filtered.as_ref().map(|it| it.kept.get(row as usize));
            kept.is_none_or(|kept| kept == Some(&true))
        };
        let siblings = |parent: Option<u32>| {
            let rows = self.children_of(parent).iter().copied();
            sorted(data, loaded, wanted, rows.filter(|&row| keeps(row)))
        };
        let mut order = TreeOrder::default();
        let mut open: Vec<(u32, u32)> = Vec::new();
        let push = |open: &mut Vec<(u32, u32)>, rows: Vec<u32>, depth| {
            open.extend(rows.into_iter().rev().map(|row| (row, depth)));
        };
        if self.children_of(None).len() > most {
            return Ok(None);
        }
        push(&mut open, siblings(None), 0);
        while let Some((row, depth)) = open.pop() {
            if order.rows.len().is_multiple_of(STEP) {
                job.check()?;
            }
            let children = self.children_of(Some(row));
            let has_children = children.iter().any(|&child| keeps(child));
            let key = data.rows.key(row as usize);
            let is_open = has_children && (filtered.is_some() || wanted.opened.is_open(key));
            order.rows.push(row);
            order.marks.push(TreeMark {
                depth,
                has_children,
                is_open,
                is_match: (filtered.as_ref())
                    .is_none_or(|it| it.matches.get(row as usize) == Some(&true)),
            });
            if is_open {
                if order.rows.len() + open.len() + children.len() > most {
                    return Ok(None);
                }
                push(&mut open, siblings(Some(row)), depth + 1);
            }
        }
        Ok(Some(order))
    }
}

/// Returns siblings in the wanted order. The sort compares typed cells, and is stable.
fn sorted(
    data: &TableData,
    loaded: &LoadedTrace,
    wanted: &Wanted,
    rows: impl Iterator<Item = u32>,
) -> Vec<u32> {
    let sort = wanted.sort;
    let sort = sort.and_then(|sort| Some((data.columns.get(sort.column)?.at?, sort.order)));
    let Some((column, order)) = sort else {
        return rows.collect();
    };
    let keyed = rows.map(|row| (data.rows.cell(loaded, row as usize, column), row));
    let mut keyed: Vec<(Cell, u32)> = keyed.collect();
    match order {
        Order::Ascending => keyed.sort_by(|(a, _), (b, _)| a.order(b)),
        Order::Descending => keyed.sort_by(|(a, _), (b, _)| b.order(a)),
    }
    keyed.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::data::PaneColumn;
    use super::super::order::Sort;
    use super::*;
    use crate::tables::columns::NAME;
    use crate::tables::{ColumnDef, Unit};

    /// Rows with a depth, a name and a number.
    struct Rows(Vec<(u32, String, u32)>);

    impl RowSource for Rows {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn row<'a>(&'a self, _: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
            let (_, name, number) = &self.0[at];
            cells.extend([name.as_str().into(), (*number).into()]);
        }

        fn depth(&self, at: usize) -> u32 {
            self.0[at].0
        }
    }

    fn loaded() -> LoadedTrace {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
        crate::load::open(&samples.join("sched-irq.ftrace"), &Job::default()).unwrap()
    }

    fn data(rows: Vec<(u32, String, u32)>) -> TableData {
        let number = ColumnDef::number("number", "Number", Unit::None, "");
        let columns = vec![PaneColumn::at(0, NAME, 0.0), PaneColumn::at(1, number, 0.0)];
        TableData::new(columns, Rows(rows)).into_tree()
    }

    fn build() -> TableData {
        let rows = [
            (0, "make", 50),
            (1, "sh", 4),
            (1, "gcc", 28),
            (2, "as", 1),
            (2, "cc1", 14),
            (0, "rmmod", 20),
        ];
        let row = |(depth, name, number): (u32, &str, u32)| (depth, name.to_owned(), number);
        data(rows.map(row).into())
    }

    fn shown(data: &TableData, wanted: &Wanted) -> Vec<(u32, TreeMark)> {
        let tree = data.tree.as_ref().unwrap();
        let order = tree.order(data, &loaded(), wanted, usize::MAX, &Job::default());
        let order = order.unwrap().unwrap();
        order.rows.into_iter().zip(order.marks).collect()
    }

    fn rows(data: &TableData, wanted: &Wanted) -> Vec<(u32, u32)> {
        let shown = shown(data, wanted).into_iter();
        shown.map(|(row, mark)| (row, mark.depth)).collect()
    }

    #[test]
    fn siblings_are_sorted_within_their_parents() {
        let data = build();
        let first = [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 0)];
        assert_eq!(rows(&data, &Wanted::default()), first);
        let sorted = |column, order| Wanted {
            sort: Some(Sort { column, order }),
            ..Wanted::default()
        };
        let largest = [(0, 0), (2, 1), (4, 2), (3, 2), (1, 1), (5, 0)];
        assert_eq!(rows(&data, &sorted(1, Order::Descending)), largest);
        let by_name = [(0, 0), (2, 1), (3, 2), (4, 2), (1, 1), (5, 0)];
        assert_eq!(rows(&data, &sorted(0, Order::Ascending)), by_name);
    }

    #[test]
    fn a_filter_shows_matches_with_the_rows_above_them() {
        let data = build();
        let wanted = Wanted {
            filter: "cc1".to_owned(),
            opened: Opened::all(OpenRule::None),
            ..Wanted::default()
        };
        assert_eq!(rows(&data, &wanted), [(0, 0), (2, 1), (4, 2)]);
        let shown = shown(&data, &wanted);
        let is_match: Vec<bool> = shown.iter().map(|(_, mark)| mark.is_match).collect();
        assert_eq!(is_match, [false, false, true]);
        let has_children: Vec<bool> = shown.iter().map(|(_, mark)| mark.has_children).collect();
        assert_eq!(has_children, [true, true, false]);
    }

    #[test]
    fn closed_rows_hide_what_is_below() {
        let data = build();
        let mut wanted = Wanted::default();
        wanted.opened.toggle(2);
        assert_eq!(rows(&data, &wanted), [(0, 0), (1, 1), (2, 1), (5, 0)]);
        wanted.opened = Opened::all(OpenRule::None);
        wanted.opened.open(0);
        assert_eq!(rows(&data, &wanted), [(0, 0), (1, 1), (2, 1), (5, 0)]);
        let above: Vec<u32> = data.tree.as_ref().unwrap().above(4).collect();
        assert_eq!(above, [2, 0]);
    }

    #[test]
    fn a_long_tree_is_listed_whole_or_left_to_a_task() {
        let row = |at: u32| {
            (
                at.min(3) * u32::from(!at.is_multiple_of(7)),
                format!("row {at}"),
                at,
            )
        };
        let data = data((0..200_000).map(row).collect());
        let wanted = Wanted::default();
        assert_eq!(rows(&data, &wanted).len(), 200_000);
        let tree = data.tree.as_ref().unwrap();
        let some = tree.order(&data, &loaded(), &wanted, 20_000, &Job::default());
        assert!(some.unwrap().is_none());
    }
}
