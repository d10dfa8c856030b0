//! The finder: a text field with matches below. Commands (Ctrl+Shift+P), tracks (Ctrl+P), times (Ctrl+G).

use super::keys;
use super::panes::PANES;
use super::theme::Palette;
use crate::view::jump::{Around, Target, parse_target};
use crate::view::link::Link;
use crate::view::rows::RowKey;
use crate::view::{Action, Arrange, Effect, Finder, ViewState, fuzzy, ruler};
use egui::{Key, RichText, Ui, vec2};

/// At most this many matches are listed.
const MOST: usize = 200;

/// State of the finder.
#[derive(Default)]
pub(super) struct FinderBox {
    text: String,
    picked: usize,
    is_new: bool,
    mode: Option<Finder>,
    /// The matches for `found_for`.
    found: Vec<Found>,
    found_for: Option<(Finder, String, usize)>,
}

struct Found {
    text: String,
    note: String,
    action: Action,
}

impl FinderBox {
    pub(super) fn ui(
        &mut self,
        ctx: &egui::Context,
        state: &ViewState,
        palette: &Palette,
        actions: &mut Vec<Action>,
    ) {
        if self.mode != state.finder {
            *self = FinderBox {
                mode: state.finder,
                is_new: true,
                ..FinderBox::default()
            };
        }
        let Some(mode) = state.finder else { return };
        self.look(mode, state);
        let width = (ctx.content_rect().width() - 40.0).min(560.0);
        let area = egui::Area::new(egui::Id::unique("finder"))
            .anchor(egui::Align2::CENTER_TOP, vec2(0.0, 64.0))
            .order(egui::Order::Foreground);
        let shown = area.show(ctx, |ui| {
            egui::Frame::popup(ui.style()).show(ui, |ui| {
                ui.set_width(width);
                self.line_ui(ui, mode);
                self.error_ui(ui, mode, state, palette);
                let height = (ctx.content_rect().height() - 200.0).clamp(80.0, 380.0);
                egui::ScrollArea::vertical()
                    .max_height(height)
                    .auto_shrink([false, true])
                    .show(ui, |ui| self.list_ui(ui, palette, actions));
            });
        });
        let keys = [Key::Escape, Key::Enter, Key::ArrowDown, Key::ArrowUp];
        let [escape, enter, down, up] = ctx.input(|i| keys.map(|key| i.key_pressed(key)));
        if down {
            self.picked = (self.picked + 1).min(self.found.len().saturating_sub(1));
        }
        if up {
            self.picked = self.picked.saturating_sub(1);
        }
        let is_left = !self.is_new
            && ctx.input(|i| {
                i.pointer.any_pressed()
                    && i.pointer
                        .interact_pos()
                        .is_some_and(|pos| !shown.response.rect.contains(pos))
            });
        if enter && let Some(found) = self.found.get(self.picked) {
            actions.push(Action::CloseFinder);
            actions.push(found.action.clone());
        } else if escape || is_left {
            actions.push(Action::CloseFinder);
        }
        self.is_new = false;
    }

    fn line_ui(&mut self, ui: &mut Ui, mode: Finder) {
        let (name, hint) = match mode {
            Finder::Commands => ("Find a command", "What do you want to do?"),
            Finder::Tracks => (
                "Find a track",
                "Letters of the track's name; > for commands",
            ),
            Finder::Time => (
                "Go to a time",
                "1.5s   250ms   +20us   2:30   @123456   1s .. 2s   a link",
            ),
        };
        let edit = egui::TextEdit::singleline(&mut self.text)
            .hint_text(hint)
            .desired_width(f32::INFINITY);
        let response = ui.add(edit);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, name));
        if self.is_new {
            response.request_focus();
        }
        if response.changed() {
            self.picked = 0;
        }
    }

    fn error_ui(&self, ui: &mut Ui, mode: Finder, state: &ViewState, palette: &Palette) {
        if mode == Finder::Time && !self.text.trim().is_empty() && self.found.is_empty() {
            let error = match Link::is_one(&self.text) {
                true => Link::parse(&self.text).err(),
                false => target_of(&self.text, state).err(),
            };
            ui.label(RichText::new(error.unwrap_or_default()).color(palette.error));
        } else if mode != Finder::Time && self.found.is_empty() {
            ui.label(RichText::new("No name matches.").color(palette.weak));
        }
    }

    fn list_ui(&mut self, ui: &mut Ui, palette: &Palette, actions: &mut Vec<Action>) {
        for (number, found) in self.found.iter().enumerate() {
            let is_picked = number == self.picked;
            let note = if is_picked {
                palette.text
            } else {
                palette.weak
            };
            let label = egui::Button::selectable(is_picked, &found.text)
                .min_size(vec2(ui.available_width(), 22.0))
                .right_text(RichText::new(&found.note).color(note).size(12.0));
            let response = ui.add(label);
            if is_picked
                && ui.input(|i| i.key_pressed(Key::ArrowDown) || i.key_pressed(Key::ArrowUp))
            {
                response.scroll_to_me(None);
            }
            if response.clicked() {
                actions.push(Action::CloseFinder);
                actions.push(found.action.clone());
            }
        }
    }

    /// Updates the matches if the text has changed.
    fn look(&mut self, mode: Finder, state: &ViewState) {
        let key = (mode, self.text.clone(), state.outline.track_count);
        if self.found_for.as_ref() == Some(&key) {
            return;
        }
        self.found = match mode {
            Finder::Commands => commands(&self.text, state),
            Finder::Tracks => match self.text.strip_prefix('>') {
                Some(command) => commands(command, state),
                None => tracks(&self.text, state),
            },
            Finder::Time => times(&self.text, state),
        };
        self.found_for = Some(key);
    }
}

/// A match and how well it fits.
struct Ranked {
    rank: fuzzy::Rank,
    found: Found,
}

/// Returns the matches that fit best.
fn best(mut ranked: Vec<Ranked>) -> Vec<Found> {
    ranked.sort_by_key(|it| std::cmp::Reverse(it.rank));
    ranked.truncate(MOST);
    ranked.into_iter().map(|it| it.found).collect()
}

fn commands(typed: &str, state: &ViewState) -> Vec<Found> {
    let rows = keys::rows().filter_map(|row| {
        let action = (row.action)(state)?;
        Some((row.about.to_owned(), row.key_text(), action))
    });
    let panes = PANES.iter().map(|row| {
        let text = format!("Pane: {}", row.kind.title());
        (text, row.about.to_owned(), Action::OpenPane(row.kind))
    });
    let layouts = state.layouts.iter().map(|layout| {
        let text = format!("Use the layout: {}", layout.name);
        let action = Action::Arrange(Arrange::Use(layout.name.clone()));
        (text, String::new(), action)
    });
    let fitting = rows
        .chain(panes)
        .chain(layouts)
        .filter_map(|(text, note, action)| {
            let rank = fuzzy::rank(typed, &text, &text)?;
            let found = Found { text, note, action };
            Some(Ranked { rank, found })
        });
    let mut found: Vec<_> = fitting.collect();
    if typed.trim().is_empty() {
        // Equal ranks keep the order of the list of keys.
        found.iter_mut().for_each(|it| it.rank.1 = 0);
    }
    best(found)
}

fn tracks(typed: &str, state: &ViewState) -> Vec<Found> {
    let mut found: Vec<Ranked> = Vec::new();
    state.outline.visit(&mut |path, node| {
        let name = state
            .layout
            .names
            .get(&node.key)
            .map_or(&*node.title, String::as_str);
        let text = if node.note.is_empty() {
            name.to_owned()
        } else {
            format!("{name}  {}", node.note)
        };
        if let Some((nearness, score)) = fuzzy::rank(typed, name, &text) {
            let above: Vec<&str> = path[..path.len() - 1].iter().map(|it| &*it.title).collect();
            let key: RowKey = node.key;
            found.push(Ranked {
                rank: (nearness, if typed.trim().is_empty() { 0 } else { score }),
                found: Found {
                    text,
                    note: above.join(" › "),
                    action: Action::GoToRow(key),
                },
            });
        }
    });
    best(found)
}

/// Parses a typed time or span.
///
/// # Errors
/// Returns a sentence for the user if the text is neither, or outside the trace.
pub(super) fn target_of(typed: &str, state: &ViewState) -> Result<Target, String> {
    let around = Around {
        trace: state.trace_span,
        middle: state.middle(),
        origins: state.origins,
    };
    let target = parse_target(typed, &around)?;
    let bounds = state.bounds();
    let is_inside = match target {
        Target::At(time) => bounds.contains(time) || time == bounds.end,
        Target::Over(span) => bounds.overlaps(span),
    };
    if is_inside {
        return Ok(target);
    }
    let text = |time| ruler::full_text(time, state.time_format, state.origins);
    let (start, end) = (text(state.trace_span.start), text(state.trace_span.end));
    Err(format!(
        "that is outside the trace, which goes from {start} to {end}"
    ))
}

fn times(typed: &str, state: &ViewState) -> Vec<Found> {
    if let Ok(link) = Link::parse(typed) {
        let names = link.files.iter().map(|path| crate::load::file_name(path));
        return vec![Found {
            text: "Open what the link shows".to_owned(),
            note: names.collect::<Vec<_>>().join(", "),
            action: Action::Do(Effect::OpenLink(typed.to_owned())),
        }];
    }
    let text = |time| ruler::full_text(time, state.time_format, state.origins);
    match target_of(typed, state) {
        Ok(Target::At(time)) => vec![Found {
            text: format!("Go to {}", text(time)),
            note: "Enter".to_owned(),
            action: Action::GoToTime(time),
        }],
        Ok(Target::Over(span)) => vec![Found {
            text: format!("Show {} to {}", text(span.start), text(span.end)),
            note: ruler::length_text(span.duration(), state.origins.unit),
            action: Action::Show(span),
        }],
        Err(_) => Vec::new(),
    }
}
