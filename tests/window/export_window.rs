//! Exporting in the window: the form, how far it is, stopping it, what was written, and the way in by a right click.

use std::path::Path;

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use threadline::base::{Job, Nanos, TimeSpan};
use threadline::load;
use threadline::view::{Action, Effect};

/// Has `path` typed as the file to write.
fn name_the_file(window: &mut Window, path: &Path) {
    let field = window.get_by_role_and_label(Role::TextInput, "File to write");
    field.focus();
    window.run_steps(2);
    key(window, Modifiers::COMMAND, Key::A);
    let field = window.get_by_role_and_label(Role::TextInput, "File to write");
    field.type_text(&path.display().to_string());
    window.run_steps(3);
}

fn click(window: &mut Window, button: &str) {
    window.get_by_role_and_label(Role::Button, button).click();
    window.run_steps(3);
}

fn says(window: &Window, words: &str) -> bool {
    window.query_all_by_label_contains(words).next().is_some()
}

fn middle(window: &Window) -> TimeSpan {
    let whole = window.state().state().trace_span;
    let third = Nanos(whole.duration().0 / 3);
    TimeSpan::new(whole.start + third, whole.start + third + third)
}

#[test]
fn a_range_is_exported_summed_up_and_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.fxt");
    let mut window = window(&hackbench());
    let range = middle(&window);
    act(&mut window, Action::SelectRange(range));
    key(&mut window, Modifiers::COMMAND, Key::E);
    assert!(says(&window, "Selected, "), "the range is proposed");
    name_the_file(&mut window, &path);
    click(&mut window, "Export");
    settle(&mut window);
    assert!(says(&window, &format!("Wrote {}", path.display())));
    for words in [" context switches", " threads", " bytes in "] {
        assert!(says(&window, words), "{words}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let before = window.state().state().clone();
    click(&mut window, "Open it");
    settle(&mut window);
    let after = window.state().state();
    assert!(!after.is_export_open);
    // Who still runs is cut at the range's end: the span ends just after that.
    let (start, end) = (after.trace_span.start, after.trace_span.end);
    assert!(start >= range.start && end <= range.end + Nanos(1));
    // The rows of CPUs are the same ones.
    let cpus = |state: &threadline::view::ViewState| -> Vec<String> {
        let titles = state.rows.all().iter().map(|row| row.title.to_string());
        titles.filter(|title| title.starts_with("CPU ")).collect()
    };
    assert!(!cpus(after).is_empty());
    assert_eq!(cpus(after), cpus(&before));
}

#[test]
fn keys_of_the_timeline_do_not_act_behind_the_panel() {
    let mut window = window(&hackbench());
    let state = |window: &Window| {
        let state = window.state().state();
        (state.span, state.marks, state.flags.clone(), state.noting)
    };
    key(&mut window, Modifiers::COMMAND, Key::E);
    window.run_steps(3);
    // Over the timeline its keys act.
    let outside = canvas(&window).right_bottom() - egui::vec2(20.0, 20.0);
    window.hover_at(outside);
    window.run_steps(3);
    key(&mut window, Modifiers::SHIFT, Key::A);
    assert!(window.state().state().marks[0].is_some());
    let before = state(&window);
    let heading = window.get_by_role_and_label(Role::Label, "File");
    let place = heading.rect().center();
    window.hover_at(place);
    window.run_steps(3);
    let keys = [
        (Modifiers::SHIFT, Key::A),
        (Modifiers::SHIFT, Key::M),
        (Modifiers::NONE, Key::W),
        (Modifiers::ALT, Key::ArrowRight),
    ];
    for (modifiers, pressed) in keys {
        key(&mut window, modifiers, pressed);
        assert_eq!(state(&window), before, "{pressed:?}");
    }
    // The focus is in the panel, the pointer elsewhere.
    window.hover_at(outside);
    let button = window.get_by_role_and_label(Role::Button, "Close");
    button.focus();
    window.run_steps(3);
    for (modifiers, pressed) in keys {
        key(&mut window, modifiers, pressed);
        assert_eq!(state(&window), before, "{pressed:?}");
    }
    // Commands of the window act.
    key(&mut window, Modifiers::COMMAND, Key::E);
    window.run_steps(3);
    assert!(!window.state().state().is_export_open);
}

#[test]
fn a_file_that_is_there_is_replaced_only_when_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.fxt");
    std::fs::write(&path, "old").unwrap();
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::COMMAND, Key::E);
    name_the_file(&mut window, &path);
    click(&mut window, "Export");
    settle(&mut window);
    assert!(says(&window, "exists already"));
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    click(&mut window, "Replace it");
    settle(&mut window);
    assert!(says(&window, "Wrote "));
    assert!(std::fs::metadata(&path).unwrap().len() > 10_000);
}

#[test]
fn the_tracks_of_a_selected_area_are_what_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.fxt");
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    let rows = window.state().state().rows.all();
    let key_of = |title: &str| rows.iter().find(|row| &*row.title == title).unwrap().key;
    let keys = vec![key_of("mix.sh")];
    let range = middle(&window);
    act(&mut window, Action::SelectArea(range, keys));
    key(&mut window, Modifiers::COMMAND, Key::E);
    assert!(says(&window, "Selected ones, 1 track"));
    name_the_file(&mut window, &path);
    click(&mut window, "Export");
    settle(&mut window);
    assert!(says(&window, "Wrote "));
    let part = load::open(&path, &Job::default()).unwrap();
    let names: Vec<String> = part
        .trace
        .processes
        .iter()
        .map(|it| part.trace.text(it.name).into_owned())
        .collect();
    assert_eq!(names, ["mix.sh"]);
    // Without an area there is nothing of the kind to be chosen.
    act(&mut window, Action::DeselectItems);
    assert!(says(&window, "Selected ones (drag over tracks"));
}

#[test]
fn a_selected_cpu_beside_a_thread_is_exported_with_all_that_ran_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.fxt");
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    let trace = window.state().loaded().unwrap().trace.clone();
    let rows = window.state().state().rows.all();
    let key_of = |title: &str| rows.iter().find(|row| &*row.title == title).unwrap().key;
    let keys = vec![key_of("CPU 0"), key_of("mix.sh")];
    let range = middle(&window);
    act(&mut window, Action::SelectArea(range, keys));
    key(&mut window, Modifiers::COMMAND, Key::E);
    name_the_file(&mut window, &path);
    click(&mut window, "Export");
    settle(&mut window);
    assert!(says(&window, "Wrote "));
    let part = load::open(&path, &Job::default()).unwrap().trace;
    let count = |trace: &threadline::trace::Trace| {
        let cpu = trace.cpus.iter().position(|cpu| cpu.number == 0).unwrap();
        let on_cpu = trace.runs.on(threadline::trace::CpuId(cpu as u32));
        trace.runs.overlapping(on_cpu, range).len()
    };
    assert!(count(&trace) > 20);
    assert_eq!(count(&part), count(&trace));
}

#[test]
fn cpus_of_several_files_are_told_apart() {
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    act(&mut window, Action::Do(Effect::Add(vec![hackbench()])));
    settle(&mut window);
    key(&mut window, Modifiers::COMMAND, Key::E);
    let heading = |name: &str| {
        window
            .query_all_by_label(name)
            .any(|it| it.rect().top() > 200.0)
    };
    assert!(heading("sched-irq-syscalls.dat") && heading("kprobe-hackbench.dat"));
    let (first, second) = (
        window
            .query_all_by_label("0")
            .map(|it| it.rect().top())
            .fold(f32::MAX, f32::min),
        window
            .query_all_by_label("0")
            .map(|it| it.rect().top())
            .fold(0.0, f32::max),
    );
    assert!(second > first + 10.0, "each file begins a line");
}

#[test]
fn what_cannot_be_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::COMMAND, Key::E);
    name_the_file(&mut window, &folder.path().join("no such folder/a.fxt"));
    click(&mut window, "Export");
    settle(&mut window);
    assert!(says(&window, "there is no folder"));
    name_the_file(&mut window, Path::new(" "));
    assert!(says(&window, "Name a file to write to."));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_range_without_anything_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&hackbench());
    let end = window.state().state().trace_span.end;
    // The margin after the trace's end can be selected, too.
    let after = TimeSpan::new(end + Nanos(1000), end + Nanos(2000));
    act(&mut window, Action::SelectRange(after));
    assert_eq!(window.state().state().range, Some(after));
    key(&mut window, Modifiers::COMMAND, Key::E);
    name_the_file(&mut window, &folder.path().join("none.fxt"));
    click(&mut window, "Export");
    settle(&mut window);
    assert!(says(&window, "Nothing happened in this range"));
}

#[test]
fn a_right_click_leads_to_the_export_of_the_range() {
    let mut window = window(&hackbench());
    let range = middle(&window);
    act(&mut window, Action::SelectRange(range));
    let canvas = window.get_by_label("Timeline").rect();
    let place = canvas.lerp_inside(egui::vec2(0.5, 0.95));
    right_click(&mut window, place);
    window.run_steps(4);
    window.get_by_label("Export the range…").click();
    window.run_steps(4);
    assert!(window.state().state().is_export_open);
    assert!(says(&window, "Selected, "));
    let proposed = "kprobe-hackbench-part.fxt";
    let field = window.get_by_role_and_label(Role::TextInput, "File to write");
    assert!(field.value().unwrap().ends_with(proposed), "{field:?}");
}

/// An FXT file with more events than a pipe and the buffers before it hold.
fn many_events(folder: &Path) -> std::path::PathBuf {
    let mut bytes: Vec<u8> = Vec::new();
    let mut word = |word: u64| bytes.extend_from_slice(&word.to_le_bytes());
    word(0x0016_5478_4604_0010);
    for number in 0..200_000_u64 {
        // An instant without names, of process 1 and thread 2 in the record.
        word(4 | 4 << 4);
        word(number * 1000);
        word(1);
        word(2);
    }
    let path = folder.join("many.fxt");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The file is a pipe that nobody empties: the export stands still half way until it is read.
#[test]
#[cfg(unix)]
fn an_export_shows_how_far_it_is_and_can_be_stopped() {
    use std::io::Read as _;
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.fxt");
    // mkfifo is a command that POSIX requires.
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let mut window = window(&many_events(folder.path()));
    key(&mut window, Modifiers::COMMAND, Key::E);
    name_the_file(&mut window, &pipe);
    click(&mut window, "Export");
    let mut reader = std::fs::File::open(&pipe).unwrap();
    let began = std::time::Instant::now();
    while !says(&window, " rows") {
        window.run_steps(2);
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(began.elapsed() < std::time::Duration::from_secs(120));
    }
    let bar = window.get_by_role(Role::ProgressIndicator);
    let percent = bar.accesskit_node().numeric_value().unwrap();
    assert!(percent < 100.0, "{percent}");
    let export = window.query_by_role_and_label(Role::Button, "Export");
    assert!(export.is_none(), "one at a time");
    click(&mut window, "Cancel");
    // What it had written already is taken away, so that it goes on and sees that it was stopped.
    let emptied = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        bytes.len()
    });
    settle(&mut window);
    assert!(says(&window, "Stopped: nothing was written"));
    let whole = 200_000 * 24;
    assert!(emptied.join().unwrap() < whole);
    click(&mut window, "Close");
    assert!(!window.state().state().is_export_open);
}

#[test]
fn chrome_json_is_chosen_written_and_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let choose = |window: &mut Window, format: &str| {
        let combo = window.get_by_role_and_label(Role::ComboBox, "Format");
        combo.click();
        window.run_steps(3);
        window.get_by_label(format).click();
        window.run_steps(3);
    };
    let mut window = window(&file("sample-traces/node-workers.json.gz"));
    let slices = |window: &Window| window.state().loaded().unwrap().trace.slices.len();
    let before = slices(&window);
    // A table as JSON is no trace, whatever its ending is.
    key(&mut window, Modifiers::COMMAND, Key::E);
    choose(&mut window, "JSON");
    name_the_file(&mut window, &folder.path().join("table.json"));
    click(&mut window, "Export");
    settle(&mut window);
    assert!(says(&window, "Wrote "));
    assert!(window.query_by_label("Open it").is_none());
    choose(&mut window, "Chrome JSON");
    name_the_file(&mut window, &folder.path().join("again.trace.json"));
    click(&mut window, "Export");
    settle(&mut window);
    click(&mut window, "Open it");
    settle(&mut window);
    assert!(window.state().title().starts_with("again.trace.json"));
    assert_eq!(slices(&window), before);
}
