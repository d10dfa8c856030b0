//! The window system: the one the window uses, and the preferred one.

/// The window system of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Desktop {
    /// X11.
    X11 {
        /// X11 id of the window.
        window: u32,
    },
    /// Wayland, where winit 0.30 does not support dropped files.
    Wayland,
    /// Another window system, or none.
    #[default]
    Other,
}

/// Returns the window system of a new window.
pub(super) fn desktop_of(context: &eframe::CreationContext<'_>) -> Desktop {
    use winit::raw_window_handle::{HasWindowHandle as _, RawWindowHandle};
    match context.window_handle().map(|handle| handle.as_raw()) {
        Ok(RawWindowHandle::Xlib(handle)) => {
            u32::try_from(handle.window).map_or(Desktop::Other, |window| Desktop::X11 { window })
        }
        Ok(RawWindowHandle::Xcb(handle)) => Desktop::X11 {
            window: handle.window.get(),
        },
        Ok(RawWindowHandle::Wayland(_)) => Desktop::Wayland,
        _ => Desktop::Other,
    }
}

/// Returns whether the environment names a display.
#[cfg(target_os = "linux")]
pub(super) fn has_display() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn has_display() -> bool {
    true
}

/// Selects X11 if there is one: winit 0.30 supports dropped files on X11 only.
#[cfg(target_os = "linux")]
pub(super) fn prefer_x11(options: &mut eframe::NativeOptions) {
    use winit::platform::x11::EventLoopBuilderExtX11;
    let has_x11 = std::env::var_os("DISPLAY").is_some_and(|display| !display.is_empty());
    if has_x11 && std::env::var_os("THREADLINE_WAYLAND").is_none() {
        options.event_loop_builder = Some(Box::new(|builder| {
            builder.with_x11();
        }));
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn prefer_x11(_options: &mut eframe::NativeOptions) {}
