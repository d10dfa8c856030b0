//! A large build in a window, for tests of the process tree and the bench of its frames.

use egui_kittest::kittest::Queryable;
use threadline::view::{Action, PaneKind};

use super::support::{Window, act, settle, window};

/// Returns a 4K window with the process tree of a build of `count` processes: make starts shells, each of which starts
/// many compilers.
pub fn farm_window(count: u64) -> Window {
    let upid = |serial: u64| (serial << 22) | (1000 + serial % 30_000);
    let mut text = format!("0: {},0,5,0!SchedFork|pid={}\n", upid(1), upid(2));
    for serial in 3..=count {
        let parent = if serial % 100 == 3 {
            2
        } else {
            serial - (serial - 3) % 100
        };
        let (parent, child, ms) = (upid(parent), upid(serial), serial % 100 * 9);
        let seconds = 6 + serial / 100;
        text.push_str(&format!(
            "0: {parent},0,{seconds},{ms}000000!SchedFork|pid={child}\n\
             0: {child},0,{seconds},{ms}500000!Exit|status={}\n",
            serial % 3
        ));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("farm.etrace");
    std::fs::write(&path, text).unwrap();
    let mut window = window(&path);
    act(&mut window, Action::OpenPane(PaneKind::ProcessTree));
    window.set_size(egui::vec2(3840.0, 2160.0));
    settle(&mut window);
    window
}

/// Turns the wheel by 15 lines over the table, for the next frame.
pub fn turn_wheel_over_tree(window: &mut Window) {
    let over = window.get_by_label("Sort by Duration").rect().center() + egui::vec2(0.0, 90.0);
    window.event(egui::Event::PointerMoved(over));
    window.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, -15.0),
        phase: egui::TouchPhase::Move,
        modifiers: egui::Modifiers::NONE,
        source: egui::MouseWheelSource::Wheel,
    });
}
