//! The pages of docs/ for people: each step that a page names is done in a window.

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT, Queryable};
use threadline::query::Item;
use threadline::trace::ThreadState;
use threadline::view::rows::LaneKind;
use threadline::view::{Action, Docking, PaneKind};

/// A page, read from its beginning.
struct Page {
    name: &'static str,
    rest: String,
}

impl Page {
    fn open(name: &'static str) -> Page {
        let text = std::fs::read_to_string(file(name)).unwrap();
        // Lines are wrapped anywhere.
        let rest = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Page { name, rest }
    }

    /// The page says these words after those asked for before: then they are done.
    fn says(&mut self, words: &str) {
        let Some(at) = self.rest.find(words) else {
            panic!("{} does not say '{words}' here", self.name);
        };
        self.rest.drain(..at + words.len());
    }
}

#[test]
fn the_first_five_minutes() {
    let mut page = Page::open("docs/first-five-minutes.md");
    page.says("sample-traces/sched-irq-syscalls.dat");
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    page.says("`Shift+L`");
    key(&mut window, Modifiers::SHIFT, Key::L);
    assert!(window.query_by_label("States of threads").is_some());
    key(&mut window, Modifiers::SHIFT, Key::L);
    page.says("Point at the place where the CPUs become busy again, and press `W`");
    let at = canvas(&window).lerp_inside(egui::vec2(0.5, 0.3));
    window.hover_at(at);
    window.run_steps(2);
    let whole = visible(&window);
    for _ in 0..8 {
        key(&mut window, Modifiers::NONE, Key::W);
    }
    assert!(visible(&window) < whole / 2);
    page.says("until names appear");
    // Heights follow once the view rests.
    window.run_steps(6);
    settle(&mut window);
    page.says("`S` goes back out, `A` and `D` go left and right");
    let before = visible(&window);
    key(&mut window, Modifiers::NONE, Key::S);
    assert!(visible(&window) > before);
    page.says("`K` keeps all heights");
    let heights = |window: &Window| window.state().state().settings.heights;
    let follow = heights(&window);
    key(&mut window, Modifiers::NONE, Key::K);
    assert_ne!(heights(&window), follow);
    key(&mut window, Modifiers::NONE, Key::K);
    page.says("`Ctrl+Z` goes back");
    act(&mut window, Action::Fit);
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert!(visible(&window) < whole);
    page.says("Click a bar");
    // The picture beside it shows system calls, and so does a window of that size.
    let bar = bars_named(&window, "wait4").first().copied();
    let bar = bar.expect("a system call in view");
    click_at(&mut window, bar.center());
    assert!(matches!(
        window.state().state().selected,
        Some(Item::Slice(_))
    ));
    page.says("`,` and `.` step along the track");
    let selected = window.state().state().selected;
    key(&mut window, Modifiers::NONE, Key::Period);
    assert_ne!(window.state().state().selected, selected);
    page.says("Press `/` and type `wait4`");
    act(&mut window, Action::OpenSearch);
    act(&mut window, Action::Search("wait4".to_owned()));
    page.says("`Enter` goes from one to the next");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert!(matches!(
        window.state().state().selected,
        Some(Item::Slice(_))
    ));
    page.says("Isolate dims everything else");
    let dimming = |window: &Window| window.state().state().search.isolation;
    let before = dimming(&window);
    window.get_by_label("Isolate").click();
    settle(&mut window);
    assert_ne!(dimming(&window), before);
    window.get_by_label("Isolate").click();
    settle(&mut window);
    act(&mut window, Action::CloseSearch);
    page.says("Drag over the tracks");
    let area = canvas(&window);
    drag(
        &mut window,
        area.lerp_inside(egui::vec2(0.3, 0.4)),
        area.lerp_inside(egui::vec2(0.6, 0.6)),
    );
    let range = window.state().state().range.expect("a range is selected");
    page.says("The Selection pane adds up");
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    assert!(!table_rows(&window).is_empty());
    page.says("`F` zooms to the range");
    key(&mut window, Modifiers::NONE, Key::F);
    settle(&mut window);
    let seen = window.state().state().span;
    assert!(seen.start <= range.start && range.end <= seen.end);
    assert!(seen.duration().0 < range.duration().0 * 2);
    page.says("`0` shows the whole again");
    key(&mut window, Modifiers::NONE, Key::Num0);
    assert_eq!(visible(&window), whole);
}

#[test]
fn why_a_thread_was_late() {
    let mut page = Page::open("docs/why-was-my-thread-late.md");
    page.says("sample-traces/sched-irq.ftrace");
    let mut window = window(&file("sample-traces/sched-irq.ftrace"));
    page.says("Open the Latency pane");
    act(&mut window, Action::OpenPane(PaneKind::Latency));
    page.says("Click a row");
    let row = table_rows(&window)[0].clone();
    window.get_by_role_and_label(Role::Row, &row).click();
    window.run_steps(3);
    settle(&mut window);
    let Some(Item::State(wait)) = window.state().state().selected else {
        panic!("{:?}", window.state().state().selected);
    };
    let trace = window.state().loaded().unwrap().trace.clone();
    page.says("the thread was ready and did not run");
    assert_eq!(trace.states.get(wait).state, ThreadState::Runnable);
    page.says("Press `C`");
    key(&mut window, Modifiers::NONE, Key::C);
    settle(&mut window);
    page.says("The same path is drawn over the tracks");
    assert!(!window.state().state().path.is_empty());
    page.says("Click a row");
    assert!(!table_rows(&window).is_empty());
}

#[test]
fn what_made_a_build_slow() {
    let mut page = Page::open("docs/what-made-my-build-slow.md");
    page.says("sample-traces/lua-make-j2.etrace.zst");
    let mut window = window(&file("sample-traces/lua-make-j2.etrace.zst"));
    page.says("the first row, What ran when");
    let first = window.state().state().rows.all()[0].clone();
    assert_eq!(&*first.title, "What ran when");
    page.says("as many lanes as jobs ran at once");
    assert!(matches!(first.lanes[0].kind, LaneKind::Jobs(0)));
    page.says("`cc1 lvm.c`");
    let bar = bars_named(&window, "cc1 lvm.c").first().copied();
    click_at(&mut window, bar.expect("the longest job").center());
    assert!(matches!(
        window.state().state().selected,
        Some(Item::Process(_))
    ));
    page.says("Open the Build pane");
    act(&mut window, Action::OpenPane(PaneKind::Build));
    assert!(window.query_by_label("Critical chain").is_some());
    page.says("Click a row to go to the process");
    let steps = table_rows(&window);
    let step = steps.iter().find(|row| row.contains("cc1")).unwrap();
    window.get_by_role_and_label(Role::Row, step).click();
    window.run_steps(3);
    settle(&mut window);
    assert!(matches!(
        window.state().state().selected,
        Some(Item::Process(_))
    ));
    page.says("Set the number of job slots");
    let estimate = |window: &Window| {
        let mut all = window.query_all_by_label_contains("(estimate)");
        let found = all.next().expect("an estimate");
        let found = found.accesskit_node();
        found.value().or(found.label()).unwrap_or_default()
    };
    let before = estimate(&window);
    let field = window.get_by_role_and_label(Role::SpinButton, "With");
    field.click();
    window.run_steps(2);
    key(&mut window, Modifiers::COMMAND, Key::A);
    window.event(egui::Event::Text("1".to_owned()));
    key(&mut window, Modifiers::NONE, Key::Enter);
    settle(&mut window);
    assert_ne!(estimate(&window), before);
}

#[test]
fn who_wrote_a_file() {
    let mut page = Page::open("docs/who-wrote-this-file.md");
    let mut window = window(&file("sample-traces/lua-make-j2.etrace.zst"));
    page.says("Open the Files pane and type a part of the name into Filter files: `src/lvm.o`");
    act(&mut window, Action::OpenPane(PaneKind::Files));
    type_into(&mut window, "Filter files", "src/lvm.o");
    act(&mut window, Action::Dock(Docking::Share(0.9)));
    page.says("Click the file");
    window.get_by_label("/proj/src/lua-5.4.4/src/lvm.o").click();
    window.run_steps(3);
    settle(&mut window);
    page.says("`as` wrote it, `ar` read it");
    for user in ["as (244)", "ar (272)"] {
        assert!(window.query_all_by_label(user).next().is_some(), "{user}");
    }
    for (button, found) in [
        ("What went into it", "cchk4JV2.s"),
        ("What was made from it", "src/liblua.a"),
    ] {
        page.says(button);
        window.get_by_label(button).click();
        window.run_steps(3);
        settle(&mut window);
        let mut all = window.query_all_by_label_contains(found);
        assert!(all.next().is_some(), "{found}");
    }
    page.says("table file_uses");
    assert!(
        threadline::tables::TABLES
            .iter()
            .any(|table| table.name == "file_uses")
    );
}
