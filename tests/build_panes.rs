//! The panes for a traced build in a window without a screen: process tree, files and build on a real recording.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic and print"
)]

#[path = "support/window.rs"]
mod support;

use egui_kittest::kittest::Queryable;
use support::*;
use threadline::base::StringId;
use threadline::query::Item;
use threadline::trace::{ProcessId, TrackKind};
use threadline::view::{Action, Arrange};

fn lua() -> Window {
    let mut window = window(&file("sample-traces/lua-make-j2.etrace.zst"));
    act(&mut window, Action::OpenPane("Process tree"));
    settle(&mut window);
    window
}

fn process(window: &Window, pid: u64) -> ProcessId {
    let trace = &window.state().loaded().unwrap().trace;
    let at = trace.processes.iter().position(|it| it.pid == pid);
    ProcessId(at.unwrap() as u32)
}

fn selected(window: &Window) -> Option<Item> {
    window.state().state().selected
}

fn type_into(window: &mut Window, name: &str, text: &str) {
    window
        .get_by_role_and_label(egui::Role::TextInput, name)
        .click();
    window.run_steps(2);
    window
        .get_by_role_and_label(egui::Role::TextInput, name)
        .type_text(text);
    window.run_steps(3);
    settle(window);
}

#[test]
fn the_tree_follows_the_timeline_and_shows_the_path_to_the_root() {
    let mut window = lua();
    // The compiler of lvm.c: it is far down, so its row is there only if the list went to it.
    let compiler = process(&window, 225);
    let trace = window.state().loaded().unwrap().trace.clone();
    let thread = trace.processes[compiler.0 as usize].main_thread.unwrap();
    let track = trace.track_of(TrackKind::Thread(thread)).unwrap();
    let row = trace.tracks[track.0 as usize].rows.start as usize;
    let slice = threadline::trace::SliceId(trace.slices.rows[row].slices.start);
    act(&mut window, Action::Select(Item::Slice(slice)));
    settle(&mut window);
    for above in [
        "(etrace shell) (143)",
        "make (166)",
        "gcc (224)",
        "cc1 (225)",
    ] {
        assert!(window.query_by_label(above).is_some(), "{above}");
    }
    assert!(window.query_by_label("225").is_some(), "its row is in view");
    window.snapshot("tree-path");
    window.get_by_label("gcc (224)").click();
    window.run_steps(3);
    let driver = process(&window, 224);
    assert_eq!(selected(&window), Some(Item::Process(driver)));
}

#[test]
fn the_tree_is_filtered_folded_and_goes_to_the_slowest() {
    let mut window = lua();
    type_into(&mut window, "Filter processes", "ranlib");
    assert!(window.query_by_label("1 of 118 processes match").is_some());
    assert!(window.query_by_label("ranlib liblua.a").is_some());
    assert!(
        window.query_by_label("make -j2 linux").is_some(),
        "an ancestor"
    );
    window.get_by_label("Clear").click();
    window.run_steps(3);
    window.get_by_label("Collapse all").click();
    window.run_steps(3);
    settle(&mut window);
    assert!(window.query_by_label("make -j2 linux").is_none());
    window.get_by_label("Slowest child").click();
    window.run_steps(3);
    settle(&mut window);
    let slowest = process(&window, 225);
    assert_eq!(selected(&window), Some(Item::Process(slowest)));
    assert!(window.query_by_label("225").is_some());
    // Sorted by own time, the longest first; a second click turns it around. Times begin with the earliest.
    for (heading, order) in [
        ("Sort by Own", "largest first"),
        ("Sort by Own", "smallest first"),
        ("Sort by Start", "smallest first"),
        ("Sort by Exit", "largest first"),
    ] {
        window.get_by_label(heading).click();
        window.run_steps(3);
        settle(&mut window);
        let sorted = window.get_by_label(heading);
        assert_eq!(sorted.value().as_deref(), Some(order), "{heading}");
    }
}

#[test]
fn files_tell_who_used_them_and_what_they_were_made_of() {
    let mut window = lua();
    act(&mut window, Action::OpenPane("Files"));
    settle(&mut window);
    type_into(&mut window, "Filter files", "src/lvm.o");
    window.get_by_label("/proj/src/lua-5.4.4/src/lvm.o").click();
    window.run_steps(3);
    assert!(window.query_all_by_label("as (244)").next().is_some());
    assert!(window.query_all_by_label("ar (272)").next().is_some());
    window.snapshot("file-uses");
    window.get_by_label("What went into it").click();
    window.run_steps(3);
    settle(&mut window);
    assert!(window.query_by_label_contains("cchk4JV2.s").is_some());
    window.get_by_label("What was made from it").click();
    window.run_steps(3);
    settle(&mut window);
    assert!(window.query_by_label_contains("src/liblua.a").is_some());
    window.get_by_label("Uses").click();
    window.run_steps(3);
    let mut uses = window.query_all_by_label("ar (272)");
    uses.next().unwrap().click();
    drop(uses);
    window.run_steps(3);
    assert!(matches!(selected(&window), Some(Item::Event(_))));
}

#[test]
fn files_are_sorted_and_those_of_one_process_are_listed() {
    let mut window = lua();
    act(&mut window, Action::OpenPane("Files"));
    settle(&mut window);
    window.get_by_label("Sort by Read").click();
    window.run_steps(3);
    settle(&mut window);
    let sorted = window.get_by_label("Sort by Read");
    assert_eq!(sorted.value().as_deref(), Some("largest first"));
    assert!(window.query_by_label("/etc/ld.so.cache").is_some());
    let ranlib = process(&window, 273);
    act(&mut window, Action::Select(Item::Process(ranlib)));
    window.get_by_label("Of the selected process").click();
    window.run_steps(3);
    settle(&mut window);
    assert!(window.query_by_label_contains("of 312 files").is_some());
    assert!(window.query_by_label("312 of 312 files").is_none());
}

#[test]
fn programs_and_failures_of_a_build_lead_to_their_processes() {
    let mut window = farm(300);
    act(&mut window, Action::OpenPane("Build"));
    settle(&mut window);
    window.get_by_label_contains(" failed").click();
    window.run_steps(3);
    // The first that failed: its exit status is what is left of its number by three.
    let failed = {
        let trace = &window.state().loaded().unwrap().trace;
        let at = trace.processes.iter().position(|it| it.has_failed());
        ProcessId(at.unwrap() as u32)
    };
    let pid = window.state().loaded().unwrap().trace.processes[failed.0 as usize].pid;
    window.get_by_label_contains(&format!("({pid}): ")).click();
    window.run_steps(3);
    assert_eq!(selected(&window), Some(Item::Process(failed)));
}

#[test]
fn the_build_pane_sets_the_critical_chain_off() {
    let mut window = lua();
    act(&mut window, Action::OpenPane("Build"));
    settle(&mut window);
    assert!(window.query_by_label("Critical chain").is_some());
    assert!(window.query_by_label("no process failed").is_some());
    window.get_by_label("Highlight").click();
    window.run_steps(3);
    let (on, off) = (process(&window, 225), process(&window, 201));
    assert!(window.state().state().is_highlighted(on));
    assert!(!window.state().state().is_highlighted(off));
    act(&mut window, Action::Reveal(Item::Process(on)));
    window.snapshot("critical-chain");
    window.get_by_label("Highlight").click();
    window.run_steps(3);
    assert!(window.state().state().highlight.is_none());
}

#[test]
fn open_files_are_hidden_and_shown_again() {
    let mut window = lua();
    let has = |window: &Window| {
        let rows = window.state().state().rows.all();
        rows.iter().any(|row| &*row.title == "open files")
    };
    assert!(has(&window));
    let toggle = || Action::Arrange(Arrange::ToggleAll("open files"));
    act(&mut window, toggle());
    assert!(!has(&window));
    act(&mut window, toggle());
    assert!(has(&window));
}

#[test]
fn panes_say_what_to_do_where_there_is_no_build() {
    let mut window = window(&file("tests/golden/fxt/simple_trace.fxt"));
    for (pane, words) in [
        ("Files", "This trace says nothing of files"),
        ("Build", "No process was started in this trace"),
    ] {
        act(&mut window, Action::OpenPane(pane));
        settle(&mut window);
        assert!(window.query_by_label_contains(words).is_some(), "{pane}");
    }
}

#[test]
fn the_tree_works_for_other_formats() {
    for (name, program) in [
        ("sample-traces/shell-pipeline.strace", "sh"),
        ("sample-traces/sched-irq.ftrace", "sh"),
        ("tests/golden/tracedat/be-v6-sched.dat", "sh"),
    ] {
        let mut window = window(&file(name));
        act(&mut window, Action::OpenPane("Process tree"));
        settle(&mut window);
        let trace = &window.state().loaded().unwrap().trace;
        let children = trace.processes.iter().filter(|it| it.parent.is_some());
        assert!(children.count() > 0, "{name}");
        let is_named = trace.processes.iter().any(|it| it.name != StringId::EMPTY);
        assert!(is_named, "{name} {program}");
        let mut counts = window.query_all_by_label_contains(" processes");
        assert!(counts.next().is_some(), "{name}");
    }
}

/// A build of `count` processes: make starts shells, each of which starts many compilers.
fn farm(count: u64) -> Window {
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
    act(&mut window, Action::OpenPane("Process tree"));
    settle(&mut window);
    window
}

/// The time that this thread has had on a CPU: others may be busy.
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns: f64 = text
        .split(' ')
        .next()
        .and_then(|it| it.parse().ok())
        .unwrap_or(0.0);
    ns / 1e6
}

/// The longest frame until nothing is worked out any more, and the one after that.
fn frames(window: &mut Window) -> (f64, f64) {
    let frame = |window: &mut Window| {
        let begun = cpu_ms();
        window.step();
        cpu_ms() - begun
    };
    let mut longest = 0.0_f64;
    for _ in 0..10 {
        longest = longest.max(frame(window));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    settle(window);
    let still = (0..5).map(|_| frame(window)).fold(f64::MAX, f64::min);
    (longest, still)
}

/// The longest frame, and the one in the middle, of 60 in each of which the wheel is turned over the table.
fn scrolled(window: &mut Window) -> (f64, f64) {
    let over = window.get_by_label("Sort by Duration").rect().center() + egui::vec2(0.0, 90.0);
    let wheel = egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, -15.0),
        phase: egui::TouchPhase::Move,
        modifiers: egui::Modifiers::NONE,
        source: egui::MouseWheelSource::Wheel,
    };
    let mut own: Vec<f64> = (0..60)
        .map(|_| {
            window.event(egui::Event::PointerMoved(over));
            window.event(wheel.clone());
            let begun = cpu_ms();
            window.step();
            cpu_ms() - begun
        })
        .collect();
    own.sort_by(f64::total_cmp);
    (own[own.len() - 1], own[own.len() / 2])
}

#[test]
fn two_hundred_thousand_processes_are_no_slower_to_draw() {
    let mut times = Vec::new();
    for count in [2_100, 200_000] {
        let mut window = farm(count);
        window.set_size(egui::vec2(3840.0, 2160.0));
        settle(&mut window);
        let mut own = vec![("open", frames(&mut window))];
        window.get_by_label("Expand all").click();
        own.push(("expand all", frames(&mut window)));
        window.get_by_label("Sort by Duration").click();
        own.push(("sort", frames(&mut window)));
        own.push(("scroll", scrolled(&mut window)));
        type_into(&mut window, "Filter processes", "1777");
        own.push(("filter", frames(&mut window)));
        window.get_by_label("Clear").click();
        own.push(("clear", frames(&mut window)));
        window.get_by_label("Slowest child").click();
        own.push(("slowest child", frames(&mut window)));
        times.push(own);
    }
    for ((what, few), (_, many)) in times[0].iter().zip(&times[1]) {
        println!(
            "{what}: longest frame {:.1} ms of {:.1}, then {:.1} of {:.1}",
            many.0, few.0, many.1, few.1
        );
        // A pane that walked over all processes would take a hundred times as long.
        assert!(many.1 < 3.0 * few.1 + 5.0, "{what}: {many:?} {few:?}");
        assert!(many.0 < 5.0 * few.0 + 40.0, "{what}: {many:?} {few:?}");
    }
}

#[test]
fn in_a_narrow_dock_the_tables_of_a_build_stand_below_each_other_or_one_at_a_time() {
    let mut window = lua();
    act(&mut window, Action::OpenPane("Build"));
    let why = "Why after the one above";
    window.set_size(egui::vec2(427.0, 1600.0));
    settle(&mut window);
    let chain = window.get_by_label(why).rect();
    let total = window.get_by_label("Total").rect();
    let curve = window.get_by_label("Processes at work").rect();
    assert!(chain.bottom() < total.top() && total.bottom() < curve.top());
    window.set_size(egui::vec2(427.0, 720.0));
    settle(&mut window);
    assert!(window.query_by_label(why).is_some() && window.query_by_label("Total").is_none());
    window.get_by_label("By program").click();
    settle(&mut window);
    assert!(window.query_by_label(why).is_none() && window.query_by_label("Total").is_some());
    window.set_size(egui::vec2(1280.0, 720.0));
    settle(&mut window);
    let chain = window.get_by_label(why).rect();
    let total = window.get_by_label("Total").rect();
    assert!(chain.right() < total.left());
}
