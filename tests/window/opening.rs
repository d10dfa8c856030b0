//! How a trace comes into the window: recent files, drops, the clipboard, a typed path; and what is said when it does not.

use crate::support::*;
use egui::{Event, Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT, Queryable};
use std::path::Path;
use std::time::SystemTime;
use threadline::base::Job;
use threadline::gui::desktop::Desktop;
use threadline::load;
use threadline::view::saved::{RecentFile, Saved};
use threadline::view::{Action, PaneKind};

fn says(window: &Window, words: &str) -> bool {
    window.query_all_by_label_contains(words).next().is_some()
}

/// Takes a file to a place in the window, as a hand does.
fn drag_file(window: &mut Window, path: &Path, to: egui::Pos2) {
    window.input_mut().hovered_files.push(egui::HoveredFile {
        path: Some(path.to_path_buf()),
        ..Default::default()
    });
    window.hover_at(to);
    window.run_steps(2);
}

fn let_go(window: &mut Window, path: &Path) {
    window.input_mut().hovered_files.clear();
    drop_on(window, path.to_path_buf());
}

fn paste(window: &mut Window, text: &str) {
    window.event(Event::Paste(text.to_owned()));
    window.run_steps(3);
    settle(window);
}

#[test]
fn recent_files_say_folder_size_and_when_and_leave_out_what_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.dat");
    std::fs::copy(hackbench(), &trace).unwrap();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let recent = |path: &Path, ago: u64| RecentFile {
        path: path.to_path_buf(),
        format: "trace.dat 7".to_owned(),
        length: "58.383 ms".to_owned(),
        opened_at: now.as_ref().unwrap().as_secs() - ago,
    };
    let settings = folder.path().join("window.json");
    let saved = Saved {
        recent: vec![
            recent(&trace, 7_300),
            recent(&folder.path().join("gone.dat"), 60),
        ],
        ..Saved::default()
    };
    saved.write(&settings).unwrap();
    let mut window = window_keeping(&settings);
    settle(&mut window);
    let bytes = std::fs::metadata(&trace).unwrap().len();
    let size = threadline::view::ruler::size_text(bytes);
    let name = folder.path().file_name().unwrap().to_string_lossy();
    for words in [
        "run.dat",
        "trace.dat 7 · 58.383 ms",
        &size,
        "2 hours ago",
        &name,
    ] {
        assert!(says(&window, words), "{words}");
    }
    assert!(!says(&window, "gone.dat"));
    window.get_by_label("File").click();
    window.run_steps(2);
    let is_menu = |node: &egui_kittest::Node<'_>| {
        let label = node.accesskit_node().label();
        label.is_some_and(|label| label.starts_with("Recent"))
    };
    {
        let mut buttons = window.query_all_by_role(Role::Button);
        buttons.find(is_menu).unwrap().hover();
    }
    window.run_steps(4);
    let entry = format!("{size} · 2 hours ago");
    assert!(says(&window, &entry), "{entry}");
}

#[test]
fn a_dragged_file_is_opened_or_added_as_the_target_under_it_says() {
    let other = file("sample-traces/sched-irq-syscalls.dat");
    let names = |window: &Window| -> Vec<String> {
        let loaded = window.state().loaded().unwrap();
        let members = loaded.members.iter().map(|member| member.file_name());
        match loaded.members.is_empty() {
            true => vec![loaded.file_name()],
            false => members.collect(),
        }
    };
    let mut window = window(&hackbench());
    let (left, right) = (egui::pos2(200.0, 300.0), egui::pos2(700.0, 300.0));
    drag_file(&mut window, &other, right);
    window.snapshot("drop-targets");
    let_go(&mut window, &other);
    assert_eq!(
        names(&window),
        ["kprobe-hackbench.dat", "sched-irq-syscalls.dat"]
    );
    // On the way over one target to the other: the last one counts.
    drag_file(&mut window, &other, right);
    window.hover_at(left);
    window.run_steps(2);
    let_go(&mut window, &other);
    assert_eq!(names(&window), ["sched-irq-syscalls.dat"]);
}

#[test]
fn a_path_on_the_clipboard_is_opened() {
    let mut window = empty_window();
    settle(&mut window);
    paste(&mut window, "a word\n");
    let notice = window.state().notice().unwrap().to_owned();
    assert!(notice.contains("no path of a file"), "{notice}");
    paste(
        &mut window,
        &format!("file://{}\r\n", hackbench().display()),
    );
    assert_eq!(window.state().loaded().unwrap().trace.events.len(), 441);
    // Where one types it is text.
    key(&mut window, Modifiers::COMMAND, Key::T);
    paste(&mut window, "/no/such/file");
    assert_eq!(window.state().state().filter, "/no/such/file");
    assert!(window.state().notice().is_none());
}

#[test]
fn where_nothing_can_be_dropped_the_window_says_so_and_takes_a_path() {
    let mut window = empty_window();
    settle(&mut window);
    assert!(says(&window, "Drop a trace here"));
    window.state_mut().sits_on(Desktop::Wayland);
    window.run_steps(2);
    assert!(!says(&window, "Drop a trace here"));
    assert!(says(&window, "Files cannot be dropped on this window"));
    window.snapshot("welcome-without-drops");
    window.get_by_label("Type its path…").click();
    window.run_steps(3);
    let path = hackbench().display().to_string();
    type_into(&mut window, "Path of the file", &path);
    key(&mut window, Modifiers::NONE, Key::Enter);
    settle(&mut window);
    assert_eq!(window.state().loaded().unwrap().trace.events.len(), 441);
}

#[test]
fn a_file_of_no_known_format_can_be_read_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("noise.txt");
    std::fs::write(&path, "no trace\n".repeat(2_000)).unwrap();
    let mut window = empty_window();
    drop_on(&mut window, path);
    assert!(window.state().loaded().is_none());
    window.get_by_label("Read it as…").click();
    window.run_steps(3);
    click_button(&mut window, "ftrace text");
    let loaded = window.state().loaded().unwrap();
    assert_eq!(loaded.trace.info.format, "ftrace text");
    assert!(window.state().notice().is_none());
}

#[test]
fn no_message_that_reaches_the_window_names_an_option_of_the_command_line() {
    let names_option = |words: &str| {
        words.match_indices("--").any(|(at, _)| {
            let after = words[at + 2..].chars().next();
            let before = words[..at].chars().next_back();
            after.is_some_and(|c| c.is_ascii_lowercase()) && before != Some('-')
        })
    };
    assert!(names_option("say --read-as") && !names_option("r---w -- x"));
    let mut told = 0;
    for format in ["tracedat", "fxt", "etrace", "ftrace_text", "strace"] {
        let Ok(folder) = std::fs::read_dir(file("tests/broken").join(format)) else {
            continue;
        };
        for entry in folder {
            let path = entry.unwrap().path();
            let messages = match load::open(&path, &Job::default()) {
                Err(error) => vec![error.error.to_string()],
                Ok(loaded) => {
                    let rows = loaded.trace.diagnostics.rows().iter();
                    rows.map(|row| row.message.to_string()).collect()
                }
            };
            told += messages.len();
            for words in messages {
                assert!(!names_option(&words), "{}: {words}", path.display());
            }
        }
    }
    assert!(told > 50, "{told}");
    let error = load::open(&file("Cargo.toml"), &Job::default()).unwrap_err();
    assert!(!names_option(&error.to_string()), "{error}");
}

#[test]
fn long_diagnostics_wrap_at_the_edge_of_the_pane() {
    let mut window = window(&file(
        "tests/broken/tracedat/first-options-beyond-the-end.dat",
    ));
    act(&mut window, Action::OpenPane(PaneKind::Info));
    let message = |window: &Window| {
        let label = Role::Label;
        let nodes = window.query_all_by_role(label);
        let is_it = |text: &str| text.contains("the options end early");
        let mut found =
            nodes.filter(|it| it.accesskit_node().value().is_some_and(|text| is_it(&text)));
        found.next().unwrap().rect()
    };
    let narrow = message(&window);
    assert!(narrow.right() < 900.0, "{narrow:?}");
    // Two lines.
    assert!(narrow.height() > 24.0, "{narrow:?}");
    window.snapshot("diagnostics-wrapped");
    window.set_size(egui::vec2(1900.0, 560.0));
    settle(&mut window);
    let wide = message(&window);
    assert!(wide.height() < narrow.height() && wide.width() > narrow.width());
}
