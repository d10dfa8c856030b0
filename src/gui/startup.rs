//! Commands to carry out once the trace is loaded: by their names in the palette, or as the view of a link.

use std::collections::VecDeque;

use super::finder::target_of;
use super::keys::{self, KeyRow, key_of};
use crate::trace::Plot;
use crate::view::fuzzy;
use crate::view::jump::Target;
use crate::view::link::Link;
use crate::view::{Action, Arrange, PaneKind, ViewState};

/// A deferred command.
#[derive(Clone, Debug)]
pub enum Todo {
    /// A command of the palette.
    Do(Command),
    /// The view of a link.
    Show(Box<Link>),
}

/// A command of the palette, with its argument if it takes one.
#[derive(Clone, Debug)]
pub struct Command {
    text: String,
    kind: Kind,
    argument: String,
}

#[derive(Clone, Copy)]
enum Kind {
    Row(&'static KeyRow),
    Pane(PaneKind),
    With(&'static Wants),
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Row(row) => row.about,
            Kind::Pane(pane) => pane.title(),
            Kind::With(wants) => wants.name,
        })
    }
}

/// A command that takes an argument.
struct Wants {
    name: &'static str,
    what: &'static str,
    action: fn(&str, &ViewState) -> Result<Action, String>,
}

/// All commands with an argument. In the palette, the argument is typed after choosing the command.
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
                .ok_or_else(|| "write the events, and then the number".to_owned())?;
            let plot = Plot::of_events(filter.trim(), field);
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
    /// Parses a command as the palette writes it (`NAME`, or `NAME: ARGUMENT` for a command with an argument).
    ///
    /// # Errors
    /// Returns a sentence for the user, with similar command names, if there is no such command.
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
            && let Some(pane) = PaneKind::of_title(argument.trim())
        {
            return Ok(made(Kind::Pane(pane), ""));
        }
        if let Some(row) = keys::rows().find(|row| is(row.about, text)) {
            return Ok(made(Kind::Row(row), ""));
        }
        if let Some(wants) = WITH_ARGUMENTS.iter().find(|wants| is(wants.name, name)) {
            return match argument.trim().is_empty() {
                true => Err(format!(
                    "'{text}' needs a value, as in '{}: {}'",
                    wants.name, wants.what
                )),
                false => Ok(made(Kind::With(wants), argument)),
            };
        }
        Err(unknown(text))
    }

    /// Returns the command's action in the current view.
    pub(super) fn action(&self, state: &ViewState) -> Result<Action, String> {
        let located = |why: String| format!("'{}': {why}", self.text);
        match self.kind {
            Kind::Row(row) => {
                let action = (row.action)(state);
                action
                    .ok_or_else(|| located("this command is not available in this view".to_owned()))
            }
            Kind::Pane(pane) => Ok(Action::OpenPane(pane)),
            Kind::With(wants) => (wants.action)(&self.argument, state).map_err(located),
        }
    }
}

/// Returns the names of all commands, as users write them.
pub(crate) fn names() -> impl Iterator<Item = String> {
    let panes = PaneKind::ALL.into_iter();
    let panes = panes.map(|pane| format!("Pane: {}", pane.title()));
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
        true => {
            let palette = key_of("Find a command");
            format!("there is no command '{text}'; the palette ({palette}) lists them")
        }
        false => format!("there is no command '{text}'; there is {}", like.join(", ")),
    }
}

/// Deferred commands, the next one at the front.
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
        for pane in PaneKind::ALL {
            let text = format!("Pane: {}", pane.title());
            assert!(Command::parse(&text).is_ok(), "{text}");
        }
        assert!(Command::parse("search: dur > 1ms").is_ok());
        let error_of = |text: &str| Command::parse(text).unwrap_err();
        assert!(
            error_of("zoom in").contains("'Zoom in at the pointer'"),
            "{}",
            error_of("zoom in")
        );
        assert!(error_of("Find a track:").contains("Find a track: LETTERS"));
        assert!(error_of("Pane: nowhere").contains("no command"));
    }
}
