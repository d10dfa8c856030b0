//! Fonts: those that come with the program, and those of the system for letters that these lack.
//!
//! Finding a font of the system reads files and takes up to half a second the first time. In a window that is done on
//! another thread, and the letters appear when the font is there; what is drawn into a file waits for it.

use std::collections::HashSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use egui::{FallbackRequest, FontFamily, FontInsert, FontPriority, FontProvider, InsertFontFamily};
use egui_system_font_provider::SystemFontProvider;

/// Lets text fall back on the font of code, which has the arrows and frames that the other lacks.
pub(super) fn install(ctx: &egui::Context) {
    let mut fonts = egui::FontDefinitions::default();
    let of_code = fonts.families.get(&FontFamily::Monospace).cloned();
    let all = fonts.families.entry(FontFamily::Proportional).or_default();
    for name in of_code.unwrap_or_default() {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    ctx.set_fonts(fonts);
}

/// Takes letters that no font has from the system's fonts; for pictures.
pub(super) fn use_system_fonts(ctx: &egui::Context) {
    // Most texts need none of them.
    let fonts = LazyLock::new(SystemFontProvider::new);
    ctx.add_font_provider(Arc::new(move |request: &FallbackRequest<'_>| {
        fonts.font_for(request)
    }));
}

/// The same for a window, whose thread must not wait for it.
pub(super) fn use_system_fonts_later(ctx: &egui::Context) {
    let (asked, wanted) = channel();
    let own = ctx.clone();
    let spawned = std::thread::Builder::new()
        .name("system fonts".to_owned())
        .spawn(move || add_fonts(&own, &wanted));
    if spawned.is_ok() {
        let asked = Mutex::new(asked);
        ctx.add_font_provider(Arc::new(Later { asked }));
    }
}

/// A cluster of letters that no font has, and the family that wants them.
type Wanted = (String, FontFamily);

struct Later {
    asked: Mutex<Sender<Wanted>>,
}

impl FontProvider for Later {
    fn font_for(&self, request: &FallbackRequest<'_>) -> Option<FontInsert> {
        let wanted = (request.cluster.to_owned(), request.family.clone());
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody listens any more when the window has closed.
        let _is_closed = asked.send(wanted);
        None
    }
}

fn add_fonts(ctx: &egui::Context, wanted: &Receiver<Wanted>) {
    let fonts = LazyLock::new(SystemFontProvider::new);
    // A font that is there already is not laid out anew with all texts.
    let mut added = HashSet::new();
    for (cluster, family) in wanted {
        let request = FallbackRequest {
            cluster: &cluster,
            family: &family,
        };
        if let Some(mut font) = fonts.font_for(&request)
            && added.insert(font.name.clone())
        {
            // A font is added once: for both.
            font.families = [FontFamily::Proportional, FontFamily::Monospace]
                .map(|family| InsertFontFamily {
                    family,
                    priority: FontPriority::Lowest,
                })
                .into();
            ctx.add_font(font);
            ctx.request_repaint();
        }
    }
}
