//! What is to be done once the trace is there: commands by the names that the palette shows, and the view of a link.

use std::collections::VecDeque;

use super::app::App;
use super::finder::target_of;
use super::keys::{self, KeyRow};
use super::notices::Mood;
use super::panes::PANES;
use crate::load::LoadedTrace;
use crate::load::together::files_of;
use crate::trace::Plot;
use crate::view::fuzzy;
use crate::view::jump::Target;
use crate::view::link::Link;
use crate::view::{Action, Arrange, Flagging, ViewState};

/// Something to do later.
#[derive(Clone, Debug)]
pub enum Todo {
    /// A command.
    Do(Command),
    /// What a link shows.
    Show(Box<Link>),
}

/// A command of the palette, with what it is about where it needs that.
#[derive(Clone, Debug)]
pub struct Command {
    text: String,
    kind: Kind,
    argument: String,
}

#[derive(Clone, Copy)]
enum Kind {
    Row(&'static KeyRow),
    Pane(&'static str),
    With(&'static Wants),
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Row(row) => row.about,
            Kind::Pane(name) => name,
            Kind::With(wants) => wants.name,
        })
    }
}

/// A command that is about something that is typed behind it.
struct Wants {
    name: &'static str,
    what: &'static str,
    action: fn(&str, &ViewState) -> Result<Action, String>,
}

/// They are in the palette too, where what they want is typed afterwards.
const WITH_ARGUMENTS: &[Wants] = &[
    Wants {
        name: "Search",
        what: "TEXT",
        action: |text, _| Ok(Action::Search(text.to_owned())),
    },
    Wants {
        name: "Go to a time",
        what: "TIME or FROM .. UNTIL",
        action: |text, state| {
            Ok(match target_of(text, state)? {
                Target::At(time) => Action::GoToTime(time),
                Target::Over(span) => Action::Show(span),
            })
        },
    },
    Wants {
        name: "Find a track",
        what: "LETTERS OF ITS NAME",
        action: |text, state| {
            let mut best = None;
            state.outline.visit(&mut |_, node| {
                let rank = fuzzy::rank(text, &node.title, &node.title);
                if let Some(rank) = rank
                    && best.is_none_or(|(most, _)| rank > most)
                {
                    best = Some((rank, node.key));
                }
            });
            let (_, key) = best.ok_or_else(|| "no track is called that".to_owned())?;
            Ok(Action::GoToRow(key))
        },
    },
    Wants {
        name: "Filter tracks by name",
        what: "TEXT",
        action: |text, _| Ok(Action::Filter(text.to_owned())),
    },
    Wants {
        name: "Plot a number of events as a track",
        what: "EVENTS NUMBER",
        action: |text, _| {
            let (filter, field) = text
                .rsplit_once(char::is_whitespace)
                .ok_or_else(|| "say which events, and behind them which number".to_owned())?;
            let plot = Plot {
                filter: filter.trim().to_owned(),
                field: field.to_owned(),
            };
            Ok(Action::Arrange(Arrange::Plot(plot, None)))
        },
    },
    Wants {
        name: "Keep the layout",
        what: "NAME",
        action: |text, _| Ok(Action::Arrange(Arrange::Save(text.to_owned()))),
    },
    Wants {
        name: "Use the layout",
        what: "NAME",
        action: |text, state| {
            let known = state.layouts.iter().any(|layout| layout.name == text);
            match known {
                true => Ok(Action::Arrange(Arrange::Use(text.to_owned()))),
                false => Err("no layout is kept under that name".to_owned()),
            }
        },
    },
];

impl Command {
    /// The command of that name, written as in the palette (`NAME`, or `NAME: ARGUMENT` where it is about something).
    ///
    /// # Errors
    /// In words for the user, with the commands that are called alike.
    pub fn parse(text: &str) -> Result<Command, String> {
        let text = text.trim();
        let made = |kind, argument: &str| Command {
            text: text.to_owned(),
            kind,
            argument: argument.trim().to_owned(),
        };
        let is = |name: &str, typed: &str| name.eq_ignore_ascii_case(typed.trim());
        let (name, argument) = text.split_once(':').unwrap_or((text, ""));
        if is("pane", name)
            && let Some(row) = PANES.iter().find(|row| is(row.name, argument))
        {
            return Ok(made(Kind::Pane(row.name), ""));
        }
        if let Some(row) = keys::rows().find(|row| is(row.about, text)) {
            return Ok(made(Kind::Row(row), ""));
        }
        if let Some(wants) = WITH_ARGUMENTS.iter().find(|wants| is(wants.name, name)) {
            return match argument.trim().is_empty() {
                true => Err(format!(
                    "'{text}': say what, as in '{}: {}'",
                    wants.name, wants.what
                )),
                false => Ok(made(Kind::With(wants), argument)),
            };
        }
        Err(unknown(text))
    }

    /// What it does to the view as it is.
    fn action(&self, state: &ViewState) -> Result<Action, String> {
        let told = |why: String| format!("'{}': {why}", self.text);
        match self.kind {
            Kind::Row(row) => {
                let action = (row.action)(state);
                action.ok_or_else(|| told("this cannot be done as things are".to_owned()))
            }
            Kind::Pane(name) => Ok(Action::OpenPane(name)),
            Kind::With(wants) => (wants.action)(&self.argument, state).map_err(told),
        }
    }
}

/// The names of all commands, as they are written.
pub fn names() -> impl Iterator<Item = String> {
    let panes = PANES.iter().map(|row| format!("Pane: {}", row.name));
    let with = WITH_ARGUMENTS.iter();
    let with = with.map(|wants| format!("{}: {}", wants.name, wants.what));
    keys::rows()
        .map(|row| row.about.to_owned())
        .chain(panes)
        .chain(with)
}

fn unknown(text: &str) -> String {
    let mut like: Vec<(i32, String)> = names()
        .filter_map(|name| Some((fuzzy::score(text, &name)?, name)))
        .collect();
    like.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let like: Vec<String> = like
        .into_iter()
        .take(3)
        .map(|(_, it)| format!("'{it}'"))
        .collect();
    match like.is_empty() {
        true => format!("there is no command '{text}'; the palette (Ctrl+Shift+P) lists them"),
        false => format!("there is no command '{text}'; there is {}", like.join(", ")),
    }
}

impl App {
    /// Has these done when the trace is there, in their order.
    pub fn later(&mut self, todo: impl IntoIterator<Item = Todo>) {
        self.todo.extend(todo);
    }

    /// What went wrong with what was to be done.
    #[must_use]
    pub fn todo_errors(&self) -> &[String] {
        &self.todo_errors
    }

    /// Opens what a link shows.
    pub(super) fn open_link(&mut self, ctx: &egui::Context, text: &str) {
        match Link::parse(text) {
            Ok(link) => {
                let is_shown = self
                    .loaded
                    .as_ref()
                    .is_some_and(|loaded| link.is_of(&files_of(loaded).0));
                if !is_shown {
                    self.open_paths(ctx, link.files.clone());
                }
                self.todo.push_back(Todo::Show(Box::new(link)));
                ctx.request_repaint();
            }
            Err(error) => self.notices.say(Mood::Wrong, error),
        }
    }

    /// A link to what is seen.
    pub(super) fn link(&self) -> Option<String> {
        let loaded = self.loaded.as_ref()?;
        let whole = |path: &std::path::PathBuf| {
            std::fs::canonicalize(path).unwrap_or_else(|_| path.clone())
        };
        let files = files_of(loaded).0.iter().map(whole).collect();
        Some(Link::to(&self.state, files).to_string())
    }

    /// Once a frame: does the next thing, once what was opened is there.
    pub(super) fn poll_todo(&mut self, ctx: &egui::Context) {
        // Only once it was drawn is it known how many tracks are seen.
        let is_drawn = self.loaded.is_none() || self.state.page_height > 0.0;
        let is_loading = !is_drawn
            || self.loading.is_some()
            || self.lacks_plots()
            || self
                .loaded
                .as_ref()
                .is_some_and(|loaded| !loaded.is_complete)
            || (self.follow.is_some() && self.loaded.is_none());
        if is_loading {
            if !is_drawn && !self.todo.is_empty() {
                ctx.request_repaint();
            }
            return;
        }
        let Some(next) = self.todo.pop_front() else {
            return;
        };
        match next {
            Todo::Do(command) => match command.action(&self.state) {
                // Nobody types a note now.
                Ok(Action::AddFlag(time)) => self.act(ctx, Action::Flag(Flagging::Add(time))),
                Ok(action) => self.act(ctx, action),
                Err(words) => {
                    self.todo_errors.push(words.clone());
                    self.notices.say(Mood::Wrong, words);
                }
            },
            Todo::Show(link) => self.show_link(ctx, &link),
        }
        ctx.request_repaint();
    }

    fn show_link(&mut self, ctx: &egui::Context, link: &Link) {
        let Some(loaded) = self.loaded.clone() else {
            return;
        };
        if !link.is_of(&files_of(&loaded).0) {
            // It could not be opened, and that was said.
            return;
        }
        self.state.marks = link.marks;
        match link.range {
            Some(range) => self.act(ctx, Action::SelectRange(range)),
            None => self.act(ctx, Action::DeselectItems),
        }
        match link.item_in(&LoadedTrace::as_read(&loaded).trace) {
            Some(item) => self.act(ctx, Action::Reveal(item)),
            None if link.item.is_some() => {
                let words = "The trace has no longer what the link selects.";
                self.notices.say(Mood::Wrong, words);
            }
            None => {}
        }
        self.act(ctx, link.view.map_or(Action::Fit, Action::Show));
    }
}

/// What is to be done, the first at the front.
pub(super) type Todos = VecDeque<Todo>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_name() {
        for row in keys::rows() {
            assert!(Command::parse(row.about).is_ok(), "{}", row.about);
            assert!(Command::parse(&row.about.to_uppercase()).is_ok());
        }
        for row in PANES {
            assert!(
                Command::parse(&format!("Pane: {}", row.name)).is_ok(),
                "{}",
                row.name
            );
        }
        assert!(Command::parse("search: dur > 1ms").is_ok());
        let told = |text: &str| Command::parse(text).unwrap_err();
        assert!(
            told("zoom in").contains("'Zoom in at the pointer'"),
            "{}",
            told("zoom in")
        );
        assert!(told("Find a track:").contains("Find a track: LETTERS"));
        assert!(told("Pane: nowhere").contains("no command"));
    }
}
