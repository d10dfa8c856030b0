//! The environment of processes, which the tracer writes at the end on request (`trace_env_vars`).
//!
//! ```text
//! 0: 0,0,s,ns!UPID|8389609         the tasks to which the following variables belong, one per line
//! 0: 0,0,s,ns!UPID|12583396
//! 0: 0,0,s,ns!Env[0]NAME=value     Env[1]: the next piece; Cont|: a new line in it; the next Env[0]: another variable
//! ```
//!
//! Each CPU writes its own dump, and some dumps lack tasks: the result contains only what the file contains.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::by_task::Tasks;
use super::file::File;
use super::line::{Payload, Word, parse_line};
use super::lines::line_at;
use super::sorts::Sort;
use super::upids::Upids;
use crate::base::ReadError;
use crate::event::Directory;
use crate::event::keys::Environment;

/// The variables of each task, by upid, both sorted.
#[derive(Debug, Default)]
pub(super) struct Environments(Vec<(i64, BTreeSet<Vec<u8>>)>);

#[derive(Default)]
struct Walk {
    tasks: Vec<i64>,
    /// Whether the list of tasks is complete.
    has_text: bool,
    text: Option<Vec<u8>>,
    found: FxHashMap<i64, BTreeSet<Vec<u8>>>,
}

impl Environments {
    /// Returns the variables that the lines of `task` contain: the one whose upid is 0.
    ///
    /// # Errors
    /// Errors if memory is insufficient.
    pub(super) fn of(
        file: &File,
        tasks: &Tasks<'_>,
        task: usize,
    ) -> Result<Environments, ReadError> {
        let mut walk = Walk::default();
        tasks.visit(task, |line| {
            let place = usize::try_from(line.place).unwrap_or(usize::MAX);
            let text = line_at(file.text(), place).map(|found| found.line);
            if let Some(payload) = text.and_then(parse_line) {
                walk.line(&payload);
            }
            Ok(())
        })?;
        walk.finish_text();
        let mut found: Vec<(i64, BTreeSet<Vec<u8>>)> = walk.found.into_iter().collect();
        found.sort_by_key(|entry| entry.0);
        Ok(Environments(found))
    }

    /// Adds the variables to the directory.
    pub(super) fn list_into(&self, upids: &Upids, directory: &mut Directory) {
        for (upid, variables) in &self.0 {
            let strings = &mut directory.strings;
            let variables = variables.iter().map(|text| strings.intern(text)).collect();
            directory.environments.push(Environment {
                thread: upids.key(*upid),
                variables,
            });
        }
    }
}

impl Walk {
    fn line(&mut self, line: &Payload<'_>) {
        match line.word {
            Word::Call(Sort::Upid) => {
                self.finish_text();
                if std::mem::take(&mut self.has_text) {
                    self.tasks.clear();
                }
                let upid = std::str::from_utf8(line.text).ok();
                self.tasks
                    .extend(upid.and_then(|upid| upid.trim().parse::<i64>().ok()));
            }
            Word::Call(Sort::Env) if line.number.is_some_and(|number| number > 0) => {
                if let Some(text) = &mut self.text {
                    text.extend_from_slice(line.text);
                }
            }
            Word::Call(Sort::Env) => {
                self.finish_text();
                self.has_text = true;
                self.text = Some(line.text.to_vec());
            }
            Word::Cont => {
                if let Some(text) = &mut self.text {
                    text.push(b'\n');
                    text.extend_from_slice(line.text);
                }
            }
            _ => {}
        }
    }

    fn finish_text(&mut self) {
        let Some(text) = self.text.take() else {
            return;
        };
        for &task in self.tasks.iter().filter(|task| **task > 0) {
            self.found.entry(task).or_default().insert(text.clone());
        }
    }
}
