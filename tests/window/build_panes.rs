//! The panes for a traced build in a window without a screen: process tree, files and build on a real recording.

use crate::farm::{farm_window, turn_wheel_over_tree};
use crate::support::*;
use egui_kittest::kittest::Queryable;
use threadline::base::StringId;
use threadline::query::Item;
use threadline::trace::{ProcessId, TrackKind};
use threadline::view::{Action, Arrange, Docking, PaneKind};

fn lua() -> Window {
    let mut window = window(&file("sample-traces/lua-make-j2.etrace.zst"));
    act(&mut window, Action::OpenPane(PaneKind::ProcessTree));
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
    act(&mut window, Action::OpenPane(PaneKind::Files));
    settle(&mut window);
    type_into(&mut window, "Filter files", "src/lvm.o");
    act(&mut window, Action::Dock(Docking::Share(0.8)));
    window.get_by_label("/proj/src/lua-5.4.4/src/lvm.o").click();
    window.run_steps(3);
    assert!(window.query_all_by_label("as (244)").next().is_some());
    assert!(window.query_all_by_label("ar (272)").next().is_some());
    window.snapshot("file-uses");
    window.get_by_label("What went into it").click();
    window.run_steps(3);
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("cchk4JV2.s")
            .next()
            .is_some()
    );
    window.get_by_label("What was made from it").click();
    window.run_steps(3);
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("src/liblua.a")
            .next()
            .is_some()
    );
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
    act(&mut window, Action::OpenPane(PaneKind::Files));
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
    assert!(
        window
            .query_all_by_label_contains("of 312 files")
            .next()
            .is_some()
    );
    assert!(window.query_by_label("312 of 312 files").is_none());
}

#[test]
fn programs_and_failures_of_a_build_lead_to_their_processes() {
    let mut window = farm_window(300);
    act(&mut window, Action::OpenPane(PaneKind::Build));
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
    act(&mut window, Action::OpenPane(PaneKind::Build));
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
    assert!(!has(&window), "they are folded at first");
    act(&mut window, Action::UnfoldAll);
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
        (PaneKind::Files, "This trace contains no use of files"),
        (PaneKind::Build, "No process was started in this trace"),
    ] {
        act(&mut window, Action::OpenPane(pane));
        settle(&mut window);
        assert!(
            window.query_all_by_label_contains(words).next().is_some(),
            "{pane:?}"
        );
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
        act(&mut window, Action::OpenPane(PaneKind::ProcessTree));
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

/// What a frame draws: its shapes, and the nodes that a screen reader is told of.
fn drawn(window: &mut Window) -> (usize, usize) {
    settle(window);
    let nodes = window.query_all_by(|_| true).count();
    (window.output().shapes.len(), nodes)
}

#[test]
fn of_two_hundred_thousand_processes_only_those_in_view_are_drawn() {
    let mut counts = Vec::new();
    for count in [2_100, 200_000] {
        let mut window = farm_window(count);
        let mut own = vec![("open", drawn(&mut window))];
        window.get_by_label("Expand all").click();
        own.push(("expand all", drawn(&mut window)));
        window.get_by_label("Sort by Duration").click();
        own.push(("sort", drawn(&mut window)));
        turn_wheel_over_tree(&mut window);
        own.push(("scroll", drawn(&mut window)));
        type_into(&mut window, "Filter processes", "1777");
        own.push(("filter", drawn(&mut window)));
        window.get_by_label("Clear").click();
        own.push(("clear", drawn(&mut window)));
        window.get_by_label("Slowest child").click();
        own.push(("slowest child", drawn(&mut window)));
        counts.push(own);
    }
    for ((what, few), (_, many)) in counts[0].iter().zip(&counts[1]) {
        println!("{what}: {many:?} of {few:?}");
        // A few more where more processes than rows are left; a hundred times as many where all were drawn.
        assert!(many.0 < few.0 * 3 && many.1 < few.1 * 3, "{what}");
    }
}

#[test]
fn in_a_narrow_dock_the_tables_of_a_build_stand_below_each_other_or_one_at_a_time() {
    let mut window = lua();
    act(&mut window, Action::OpenPane(PaneKind::Build));
    // Headings sort their table.
    let why = "Sort by Why";
    window.set_size(egui::vec2(427.0, 1600.0));
    settle(&mut window);
    let chain = window.get_by_label(why).rect();
    let total = window.get_by_label("Sort by Total").rect();
    let curve = window.get_by_label("Processes at work").rect();
    assert!(chain.bottom() < total.top() && total.bottom() < curve.top());
    window.set_size(egui::vec2(427.0, 720.0));
    settle(&mut window);
    assert!(
        window.query_by_label(why).is_some() && window.query_by_label("Sort by Total").is_none()
    );
    window.get_by_label("By program").click();
    settle(&mut window);
    assert!(
        window.query_by_label(why).is_none() && window.query_by_label("Sort by Total").is_some()
    );
    window.set_size(egui::vec2(1280.0, 720.0));
    settle(&mut window);
    let chain = window.get_by_label(why).rect();
    let total = window.get_by_label("Sort by Total").rect();
    assert!(chain.right() < total.left());
}
