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
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use super::file::File;
use super::line::{Payload, Word, parse_line};
use super::lines::events_after;
use super::sorts::Sort;
use crate::event::Directory;
use crate::event::keys::Environment;

#[derive(Default)]
struct Walk {
    tasks: Vec<i64>,
    /// Whether the list of tasks is complete.
    has_text: bool,
    text: Option<Vec<u8>>,
    found: FxHashMap<i64, BTreeSet<Vec<u8>>>,
}

/// Adds the variables to the directory, starting at the first list of tasks that was read.
pub(crate) fn list_into(file: &File, directory: &mut Directory) {
    let Ok(from) = usize::try_from(file.environments.load(Ordering::Relaxed)) else {
        return;
    };
    let text = file.text();
    let mut walk = Walk::default();
    let length = text.len().saturating_sub(from);
    for (line, _) in events_after(text, from, length) {
        let mut line = line;
        loop {
            if line.upid == 0 {
                walk.line(&line);
            }
            // The tracer omits one line end.
            if line.word != Word::ContEnd || line.text.is_empty() {
                break;
            }
            let Some(next) = parse_line(line.text) else {
                break;
            };
            line = next;
        }
    }
    walk.finish_text();
    let mut found: Vec<(i64, BTreeSet<Vec<u8>>)> = walk.found.into_iter().collect();
    found.sort_by_key(|entry| entry.0);
    for (upid, variables) in found {
        let strings = &mut directory.strings;
        let variables = variables.iter().map(|text| strings.intern(text)).collect();
        directory.environments.push(Environment {
            thread: file.upids.key(upid),
            variables,
        });
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
