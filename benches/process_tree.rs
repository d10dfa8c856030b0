//! The time of frames of the process tree pane at 4K, with 2,100 and with 200,000 processes.
//!
//!     cargo bench --bench process_tree
//!
//! For each action: the longest and the median of the frames while the pane computes and after it. Times are the CPU
//! time of the window's thread, so that other processes of the machine do not matter.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench may stop and print"
)]

#[path = "../tests/support/farm.rs"]
mod farm;
#[path = "../tests/support/window.rs"]
mod support;

use std::time::Duration;

use egui_kittest::kittest::Queryable;
use farm::{farm_window, turn_wheel_over_tree};
use support::{Window, settle};

/// Number of frames that are drawn while the pane computes, and after it.
const FRAMES: usize = 60;

fn main() {
    println!("ms of the window's thread: the longest frame, and the one in the middle");
    for count in [2_100, 200_000] {
        let mut window = farm_window(count);
        println!("{count} processes");
        print("open", frames(&mut window, |_| ()));
        window.get_by_label("Expand all").click();
        print("expand all", frames(&mut window, |_| ()));
        window.get_by_label("Sort by Duration").click();
        print("sort", frames(&mut window, |_| ()));
        print("scroll", frames(&mut window, turn_wheel_over_tree));
        let filter = (egui::Role::TextInput, "Filter processes");
        window.get_by_role_and_label(filter.0, filter.1).click();
        window.event(egui::Event::Text("1777".to_owned()));
        print("filter", frames(&mut window, |_| ()));
        window.get_by_label("Clear").click();
        print("clear", frames(&mut window, |_| ()));
        window.get_by_label("Slowest child").click();
        print("slowest child", frames(&mut window, |_| ()));
    }
}

fn print(what: &str, (longest, middle): (f64, f64)) {
    println!("{what:>15} {longest:>8.2} {middle:>8.2}");
}

/// Returns the longest and the median time of some frames; `act` runs before each frame.
fn frames(window: &mut Window, act: impl Fn(&mut Window)) -> (f64, f64) {
    let mut own: Vec<f64> = (0..FRAMES)
        .map(|_| {
            act(window);
            let begun = cpu_ms();
            window.step();
            let own = cpu_ms() - begun;
            std::thread::sleep(Duration::from_millis(2));
            own
        })
        .collect();
    settle(window);
    own.sort_by(f64::total_cmp);
    (own[FRAMES - 1], own[FRAMES / 2])
}

/// Returns the CPU time of this thread, in ms.
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let ns: f64 = text.split(' ').next().unwrap().parse().unwrap();
    ns / 1e6
}
