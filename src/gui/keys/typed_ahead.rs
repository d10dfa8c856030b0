//! Keys typed right after a key that opens a text field: the field gets the focus only a frame or two later. Until then
//! the keys are held, so that none is lost and none is taken for a command.

use egui::{Event, Id, Key};

/// If the field has no focus after this many frames, it is not coming: keys have their usual meaning again.
const PATIENCE: u8 = 4;

/// Input typed ahead of a text field.
#[derive(Default)]
pub(crate) struct TypedAhead {
    waiting: Option<Waiting>,
    /// Held events, in the order typed.
    held: Vec<Event>,
}

struct Waiting {
    /// The widget that had focus before.
    before: Option<Id>,
    frames: u8,
}

impl TypedAhead {
    /// Holds the input after the event `at`, which opens a field, in this frame and the next ones.
    pub(super) fn begin(&mut self, ctx: &egui::Context, at: usize) {
        self.waiting = Some(Waiting {
            before: ctx.memory(|memory| memory.focused()),
            frames: 0,
        });
        ctx.input_mut(|input| {
            let mut rest = input.events.split_off(at + 1);
            // The character made by the opening key itself is not for the field.
            if matches!(rest.first(), Some(Event::Text(_))) {
                rest.remove(0);
            }
            let (typed, others) = rest.into_iter().partition(is_typed);
            self.held = typed;
            input.events.extend::<Vec<Event>>(others);
        });
        ctx.request_repaint();
    }

    /// Delivers held input once the field has focus; called once a frame, before keys are handled.
    pub(crate) fn release(&mut self, ctx: &egui::Context) {
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
                    // Esc closed the field or dialog that the key had opened.
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
        // Enter applies to all that was typed before it, so it is delivered in a frame of its own.
        let enter = self.held.iter().position(is_enter);
        let until = enter.map_or(self.held.len(), |at| at.max(1));
        let rest = self.held.split_off(until);
        let now = std::mem::replace(&mut self.held, rest);
        ctx.input_mut(|input| {
            // Input of this frame comes after what is still held.
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

/// Returns whether an event is typed input. Esc is not: it closes what was opened.
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
