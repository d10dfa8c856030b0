//! Fonts: the bundled ones, and the system's fonts for letters that these lack.
//!
//! Finding a system font reads files and takes up to half a second the first time. In a window another thread does
//! that, and the letters appear when the font is there; pictures wait for it.

use std::collections::HashSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use egui::{FallbackRequest, FontFamily, FontInsert, FontPriority, FontProvider, InsertFontFamily};
use egui_system_font_provider::SystemFontProvider;

/// Adds the monospace font as fallback for proportional text: it has arrows and frames that the other lacks.
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

/// Lets missing letters come from the system's fonts at once; for pictures.
pub(super) fn use_system_fonts(ctx: &egui::Context) {
    // Created on first use: most texts need no system font.
    let fonts = LazyLock::new(SystemFontProvider::new);
    ctx.add_font_provider(Arc::new(move |request: &FallbackRequest<'_>| {
        fonts.font_for(request)
    }));
}

/// Lets missing letters come from the system's fonts later, without blocking the window's thread.
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

/// A cluster of letters that no font has, and the family that needs them.
type Wanted = (String, FontFamily);

struct Later {
    asked: Mutex<Sender<Wanted>>,
}

impl FontProvider for Later {
    fn font_for(&self, request: &FallbackRequest<'_>) -> Option<FontInsert> {
        let wanted = (request.cluster.to_owned(), request.family.clone());
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // Sending fails after the window has closed.
        let _is_closed = asked.send(wanted);
        None
    }
}

fn add_fonts(ctx: &egui::Context, wanted: &Receiver<Wanted>) {
    let fonts = LazyLock::new(SystemFontProvider::new);
    // Adding a font lays out all texts again: each is added only once.
    let mut added = HashSet::new();
    for (cluster, family) in wanted {
        let request = FallbackRequest {
            cluster: &cluster,
            family: &family,
        };
        if let Some(mut font) = fonts.font_for(&request)
            && added.insert(font.name.clone())
        {
            // The one addition serves both families.
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
