//! Keys that are typed right after one that opens a field: the field has the keyboard only a frame or two later, and
//! until then they are held back, so that none is lost and none is taken for a command.

use egui::{Event, Id, Key};

/// A field that does not come within so many frames does not come at all: then the keys mean what they always do.
const PATIENCE: u8 = 4;

/// What was typed ahead of a field.
#[derive(Default)]
pub struct TypedAhead {
    waiting: Option<Waiting>,
    /// In the order in which it was typed.
    held: Vec<Event>,
}

struct Waiting {
    /// What had the keyboard before.
    before: Option<Id>,
    frames: u8,
}

impl TypedAhead {
    /// Holds back what follows the event `at`, which opens a field, in this frame and the next ones.
    pub(super) fn begin(&mut self, ctx: &egui::Context, at: usize) {
        self.waiting = Some(Waiting {
            before: ctx.memory(|memory| memory.focused()),
            frames: 0,
        });
        ctx.input_mut(|input| {
            let mut rest = input.events.split_off(at + 1);
            // The sign that the key itself makes is not for the field.
            if matches!(rest.first(), Some(Event::Text(_))) {
                rest.remove(0);
            }
            let (typed, others) = rest.into_iter().partition(is_typed);
            self.held = typed;
            input.events.extend::<Vec<Event>>(others);
        });
        ctx.request_repaint();
    }

    /// Once a frame, before keys are looked at: hands out what was held once the field has the keyboard.
    pub fn release(&mut self, ctx: &egui::Context) {
        if let Some(waiting) = &mut self.waiting {
            waiting.frames += 1;
            let focused = ctx.memory(|memory| memory.focused());
            let is_there = ctx.text_edit_focused() && focused != waiting.before;
            if !is_there && waiting.frames < PATIENCE {
                let is_left = ctx.input_mut(|input| {
                    let events = std::mem::take(&mut input.events);
                    let is_left = events.iter().any(is_escape);
                    let (typed, others): (Vec<Event>, _) = events.into_iter().partition(is_typed);
                    self.held.extend(typed);
                    input.events = others;
                    is_left
                });
                if is_left {
                    // What was opened is closed again.
                    *self = TypedAhead::default();
                }
                ctx.request_repaint();
                return;
            }
            self.waiting = None;
        }
        if self.held.is_empty() {
            return;
        }
        // Enter is about all that was typed before it: it comes in a frame of its own.
        let enter = self.held.iter().position(is_enter);
        let until = enter.map_or(self.held.len(), |at| at.max(1));
        let rest = self.held.split_off(until);
        let now = std::mem::replace(&mut self.held, rest);
        ctx.input_mut(|input| {
            // What is typed in this frame comes after what is still held.
            if self.held.is_empty() {
                input.events.splice(0..0, now);
                return;
            }
            let events = std::mem::take(&mut input.events);
            let (typed, others): (Vec<Event>, Vec<Event>) = events.into_iter().partition(is_typed);
            self.held.extend(typed);
            input.events = now;
            input.events.extend(others);
        });
        if !self.held.is_empty() {
            ctx.request_repaint();
        }
    }
}

/// Whether an event is typed; Esc is not: it closes what was opened.
fn is_typed(event: &Event) -> bool {
    match event {
        Event::Key { key, pressed, .. } => *pressed && *key != Key::Escape,
        Event::Text(_) | Event::Paste(_) | Event::Ime(_) => true,
        _ => false,
    }
}

fn is_enter(event: &Event) -> bool {
    matches!(
        event,
        Event::Key {
            key: Key::Enter,
            ..
        }
    )
}

fn is_escape(event: &Event) -> bool {
    let escape = Key::Escape;
    matches!(event, Event::Key { key, pressed: true, .. } if *key == escape)
}
