//! The pointer's position while files are dragged over the window. winit 0.30 does not report it, so on X11 a thread
//! polls the display while something is dragged.

use std::sync::{Arc, Mutex, PoisonError};

use super::desktop::Desktop;

/// A position in the window, in pixels; `None` while unknown.
type Place = Mutex<Option<(i16, i16)>>;

/// Tracks the pointer until it is dropped or `rest` is called.
#[derive(Default)]
pub(super) struct DragPointer {
    place: Option<Arc<Place>>,
}

impl DragPointer {
    /// Returns the pointer's position, in points; `None` if it cannot be found out.
    pub(super) fn position(&mut self, ctx: &egui::Context, desktop: Desktop) -> Option<egui::Pos2> {
        let known = || ctx.input(|input| input.pointer.latest_pos());
        let Desktop::X11 { window } = desktop else {
            return known();
        };
        let place = self.place.get_or_insert_with(|| watch(ctx, window));
        let (x, y) = (*place.lock().unwrap_or_else(PoisonError::into_inner))?;
        let pixels = ctx.pixels_per_point();
        Some(egui::pos2(f32::from(x) / pixels, f32::from(y) / pixels))
    }

    /// Ends tracking, after the drag has ended.
    pub(super) fn rest(&mut self) {
        self.place = None;
    }
}

#[cfg(target_os = "linux")]
fn watch(ctx: &egui::Context, window: u32) -> Arc<Place> {
    use std::time::Duration;
    use x11rb::protocol::xproto::ConnectionExt as _;

    let place = Arc::new(Place::default());
    let (kept, ctx) = (Arc::downgrade(&place), ctx.clone());
    let ask = move || {
        // If the display cannot be reached, the position stays unknown.
        let (display, _) = x11rb::connect(None).ok()?;
        while let Some(place) = kept.upgrade() {
            let answer = display.query_pointer(window).ok()?.reply().ok()?;
            let now = Some((answer.win_x, answer.win_y)).filter(|_| answer.same_screen);
            let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
            if *place != now {
                *place = now;
                ctx.request_repaint();
            }
            drop(place);
            std::thread::sleep(Duration::from_millis(15));
        }
        Some(())
    };
    let thread = std::thread::Builder::new().name("drag pointer".to_owned());
    let _unstarted = thread.spawn(ask);
    place
}

#[cfg(not(target_os = "linux"))]
fn watch(_ctx: &egui::Context, _window: u32) -> Arc<Place> {
    Arc::default()
}
