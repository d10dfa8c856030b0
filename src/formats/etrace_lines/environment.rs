//! The environments of processes, which the tracer writes at its end on request (`trace_env_vars`).
//!
//! ```text
//! 0: 0,0,s,ns!UPID|8389609         the tasks to which the following variables belong, one per line
//! 0: 0,0,s,ns!UPID|12583396
//! 0: 0,0,s,ns!Env[0]NAME=value     Env[1]: the next piece; Cont|: a newline and text; another Env[0]: another variable
//! ```
//!
//! Each CPU writes its own dump, and some dumps lack tasks: the result contains only what the file contains.
//!
//! Of the 21 etrace files of the corpus, 1 contains environments.

use super::by_task::Tasks;
use super::file::File;
use super::line::{Payload, Word, parse_line};
use super::lines::line_at;
use super::sorts::Sort;
use super::upids::Upids;
use crate::base::ReadError;
use crate::event::Directory;
use crate::event::keys::Environment;

/// The variables of tasks, in the order of the file. Variables are not copied for each task: a file may contain very
/// many tasks, and very many variables for all of them.
#[derive(Debug, Default)]
pub(crate) struct Environments(Vec<Group>);

/// Some tasks, and the variables that each of them has.
#[derive(Debug, Default)]
struct Group {
    upids: Vec<i64>,
    variables: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Walk {
    /// The last group is being read: after its first variable, its list of tasks is complete.
    groups: Vec<Group>,
    text: Option<Vec<u8>>,
}

impl Environments {
    /// Returns the variables in the lines of `task`, which must be the one with upid 0.
    ///
    /// # Errors
    /// Errors if there is not enough memory.
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
        Ok(Environments(walk.groups))
    }

    /// Adds the variables to the directory.
    pub(crate) fn list_into(&self, upids: &Upids, directory: &mut Directory) {
        for group in &self.0 {
            let tasks = group.upids.iter().filter(|upid| **upid > 0);
            let strings = &mut directory.strings;
            let variables = group.variables.iter().map(|text| strings.intern(text));
            directory.environments.push(Environment {
                threads: tasks.map(|upid| upids.key(*upid)).collect(),
                variables: variables.collect(),
            });
        }
    }
}

impl Walk {
    fn line(&mut self, line: &Payload<'_>) {
        match line.word {
            Word::Call(Sort::Upid) => {
                self.finish_text();
                let upid = std::str::from_utf8(line.text).ok();
                let upid = upid.and_then(|upid| upid.trim().parse::<i64>().ok());
                match self.groups.last_mut() {
                    Some(group) if group.variables.is_empty() => group.upids.extend(upid),
                    _ => self.groups.push(Group {
                        upids: upid.into_iter().collect(),
                        variables: Vec::new(),
                    }),
                }
            }
            Word::Call(Sort::Env) if line.number.is_some_and(|number| number > 0) => {
                if let Some(text) = &mut self.text {
                    text.extend_from_slice(line.text);
                }
            }
            Word::Call(Sort::Env) => {
                self.finish_text();
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
        // Variables before the first task belong to no task.
        if let (Some(text), Some(group)) = (self.text.take(), self.groups.last_mut()) {
            group.variables.push(text);
        }
    }
}
