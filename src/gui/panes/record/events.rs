//! Finding events by typing parts of their names.

use egui::{Key, RichText, ScrollArea, TextEdit, Ui};

use crate::gui::pane::Alone;
use crate::view::{RecordedEvent, ruler};

/// The height of the list of events, in points.
const LIST_HEIGHT: f32 = 108.0;

/// The field in which events are searched.
#[derive(Default)]
pub(super) struct EventFinder {
    text: String,
}

impl EventFinder {
    /// Draws the field and the events that match; events that the user picks are added to `chosen`. `events` are those of
    /// the kernel; `None`: they are not known, so that their names are typed.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        alone: &Alone<'_>,
        events: Option<&[String]>,
        chosen: &mut Vec<RecordedEvent>,
        label: egui::Id,
    ) {
        let typed = self.text.trim().to_lowercase();
        let found = matching(&typed, events.unwrap_or_default());
        let weak = alone.palette.weak;
        ui.horizontal(|ui| {
            let hint = match events {
                Some(_) => "Find events: part of a name, or a pattern with *",
                None => "Name of an event: sched:sched_switch, irq, sys_enter_*",
            };
            let field = TextEdit::singleline(&mut self.text)
                .hint_text(hint)
                .desired_width(330.0);
            let field = ui.add(field).labelled_by(label);
            let is_entered = field.lost_focus() && ui.input(|it| it.key_pressed(Key::Enter));
            let entered = self.entered(&found, events);
            let add = ui.add_enabled(entered.is_some(), egui::Button::new("Add"));
            let add = add.on_hover_text("Adds the pattern, or the first event of the list (Enter)");
            if let Some(pattern) = entered.filter(|_| add.clicked() || is_entered) {
                add_to(chosen, &pattern);
                self.text.clear();
                field.request_focus();
            }
            if let (Some(events), false) = (events, typed.is_empty()) {
                let all = ruler::counted(events.len(), "event", "events");
                let words = format!("{} of {all}", ruler::grouped(found.len() as i64));
                ui.label(RichText::new(words).color(weak));
            }
        });
        if typed.is_empty() || found.is_empty() {
            return;
        }
        let row_height = ui.spacing().interact_size.y;
        ScrollArea::vertical()
            .id_salt("events found")
            .max_height(LIST_HEIGHT)
            .auto_shrink([false, true])
            .show_rows(ui, row_height, found.len(), |ui, rows| {
                for event in found.get(rows).unwrap_or_default() {
                    let is_chosen = chosen.iter().any(|it| it.pattern == **event);
                    let name = RichText::new(*event).monospace();
                    if ui.selectable_label(is_chosen, name).clicked() {
                        match is_chosen {
                            true => chosen.retain(|it| it.pattern != **event),
                            false => add_to(chosen, event),
                        }
                    }
                }
            });
    }

    /// Returns the pattern that Enter adds: the typed one if it has a star, is the name of a system or cannot be
    /// compared with the kernel's events, otherwise the first event that matches.
    fn entered(&self, found: &[&String], events: Option<&[String]>) -> Option<String> {
        let typed = self.text.trim();
        if typed.is_empty() {
            return None;
        }
        let Some(events) = events else {
            return Some(typed.to_owned());
        };
        let is_system = events
            .iter()
            .any(|event| event.split(':').next() == Some(typed));
        match typed.contains('*') || is_system {
            true => Some(typed.to_owned()),
            false => found.first().map(|event| (*event).clone()),
        }
    }
}

fn add_to(chosen: &mut Vec<RecordedEvent>, pattern: &str) {
    if !chosen.iter().any(|event| event.pattern == pattern) {
        chosen.push(RecordedEvent {
            pattern: pattern.to_owned(),
            ..RecordedEvent::default()
        });
    }
}

/// Returns the events whose names contain all typed words; those in which a word begins the event's own name first.
fn matching<'a>(typed: &str, events: &'a [String]) -> Vec<&'a String> {
    let words: Vec<&str> = typed
        .split([' ', '*'])
        .filter(|it| !it.is_empty())
        .collect();
    let mut found: Vec<&String> = events
        .iter()
        .filter(|event| words.iter().all(|word| event.contains(word)))
        .collect();
    let begins = |event: &str| {
        let name = event.split_once(':').map_or(event, |(_, name)| name);
        words.first().is_some_and(|word| name.starts_with(word))
    };
    found.sort_by_key(|event| !begins(event));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_by_parts_of_their_names() {
        let events = [
            "block:block_rq_issue",
            "sched:sched_switch",
            "sched:sched_waking",
        ];
        let events = events.map(str::to_owned);
        let found = |typed: &str| -> Vec<&str> {
            let found = matching(typed, &events).into_iter();
            found.map(String::as_str).collect()
        };
        assert_eq!(found("sched"), ["sched:sched_switch", "sched:sched_waking"]);
        assert_eq!(found("sched wak"), ["sched:sched_waking"]);
        assert_eq!(found("sched:*wak*"), ["sched:sched_waking"]);
        assert_eq!(found("q"), ["block:block_rq_issue"]);
        let entered = |typed: &str, events: Option<&[String]>| {
            let finder = EventFinder { text: typed.into() };
            let all = events.unwrap_or_default();
            finder.entered(&matching(typed, all), events)
        };
        assert_eq!(
            entered("switch", Some(&events)).as_deref(),
            Some("sched:sched_switch")
        );
        assert_eq!(entered("sched", Some(&events)).as_deref(), Some("sched"));
        assert_eq!(
            entered("sched_*", Some(&events)).as_deref(),
            Some("sched_*")
        );
        assert_eq!(entered("zzz", Some(&events)), None);
        assert_eq!(entered("zzz", None).as_deref(), Some("zzz"));
    }
}
