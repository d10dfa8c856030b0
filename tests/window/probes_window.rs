//! The pane "Probes" in a window without a screen: definitions are pasted, checked, attached and written out.

use crate::support::*;
use egui_kittest::kittest::Queryable;
use threadline::query::Item;
use threadline::view::text_order::TextOrder;
use threadline::view::{Action, Docking, Effect, PaneKind};

#[test]
fn a_trace_without_probes_says_what_to_do_and_checks_what_is_pasted() {
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    act(&mut window, Action::OpenPane(PaneKind::Probes));
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("no events of kprobes")
            .next()
            .is_some()
    );
    let edit = window.get_by_role_and_label(egui::Role::MultilineTextInput, "Probe definitions");
    edit.focus();
    window.run_steps(2);
    window
        .get_by_role_and_label(egui::Role::MultilineTextInput, "Probe definitions")
        .type_text("p:mine vfs_read n=$arg3:u64\np:bad vfs_read x=%no");
    window.run_steps(3);
    assert!(
        window
            .query_all_by_label_contains("1 right, 1 wrong")
            .next()
            .is_some()
    );
    assert!(
        window
            .query_all_by_label_contains("column 18")
            .next()
            .is_some()
    );
    window.snapshot("probes-pasted");
    window.get_by_label("Use these definitions").click();
    settle(&mut window);
    let loaded = window.state().loaded().unwrap();
    let set = &loaded.probes.as_ref().unwrap().set;
    assert_eq!(set.definitions.standing().count(), 1);
    assert!(window.query_by_label("Write capture script…").is_some());
}

fn rows_of_probes(window: &Window) -> usize {
    let loaded = window.state().loaded().unwrap();
    let set = &loaded.probes.as_ref().unwrap().set;
    set.definitions.standing().count()
}

#[test]
fn definitions_dropped_by_themselves_are_attached_to_what_is_shown() {
    let mut window = window(&file("sample-traces/kprobe-pair.trace_pipe"));
    let before = window.state().loaded().unwrap().trace.clone();
    drop_on(&mut window, file("sample-traces/kprobe-pair.kprobe_events"));
    let loaded = window.state().loaded().unwrap();
    assert!(std::sync::Arc::ptr_eq(&before, &loaded.trace));
    assert_eq!(rows_of_probes(&window), 2);
    assert!(
        window
            .query_all_by_label_contains("2 probes are defined")
            .next()
            .is_some()
    );
    // The profile joins the definitions.
    drop_on(
        &mut window,
        file("sample-traces/kprobe-pair.kprobe_profile"),
    );
    assert_eq!(rows_of_probes(&window), 2);
    let loaded = window.state().loaded().unwrap();
    let set = &loaded.probes.as_ref().unwrap().set;
    assert_eq!(set.counts()["myprobe"].hits, 35);
    assert!(
        window
            .query_all_by_label_contains("defined in kprobe-pair.kprobe_events")
            .next()
            .is_some()
    );
}

#[test]
fn definitions_without_a_trace_wait_for_one() {
    let mut window = empty_window();
    drop_on(&mut window, file("sample-traces/kprobe-pair.kprobe_events"));
    assert!(
        window
            .query_all_by_label_contains("Open the trace that they made")
            .next()
            .is_some()
    );
    assert!(window.query_by_label("Write capture script…").is_some());
    // Alone: where a row of tabs is scrolled to depends on the frames that it took.
    act(
        &mut window,
        Action::Dock(Docking::ShowOnly(vec![PaneKind::Probes])),
    );
    window.snapshot("probes-without-a-trace");
    drop_on(&mut window, file("sample-traces/kprobe-pair.trace_pipe"));
    assert_eq!(window.state().loaded().unwrap().trace.events.len(), 70);
    assert_eq!(rows_of_probes(&window), 2);
}

#[test]
fn probes_show_their_calls_and_lead_to_them() {
    let mut window = window(&file("sample-traces/kprobe-pair.trace_pipe"));
    act(&mut window, Action::OpenPane(PaneKind::Probes));
    settle(&mut window);
    let text = "p:myprobe do_sys_open dfd=%ax filename=%dx flags=%cx mode=+4($stack)\n\
                r:myretprobe do_sys_open $retval\n";
    let span = window.state().state().span;
    act(
        &mut window,
        Action::Do(Effect::DefineProbes(text.to_owned())),
    );
    settle(&mut window);
    assert_eq!(window.state().state().span, span, "the view stays");
    assert!(window.query_by_label("myprobe").is_some());
    assert!(
        window
            .query_all_by_label_contains("Durations of do_sys_open")
            .next()
            .is_some()
    );
    window.snapshot("probes-pair");
    window.get_by_label_contains("max ").click();
    settle(&mut window);
    let selected = window.state().state().selected;
    assert!(matches!(selected, Some(Item::Slice(_))), "{selected:?}");
}

#[test]
fn a_text_is_written_whole_and_never_over_another() {
    let folder = std::env::temp_dir().join(format!("threadline-text-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("capture.sh");
    let order = TextOrder {
        text: "#!/bin/sh\n".to_owned(),
        to: Some(path.clone()),
        ..TextOrder::default()
    };
    let mut window = window(&file("sample-traces/kprobe-pair.trace_pipe"));
    act(
        &mut window,
        Action::Do(Effect::WriteText(Box::new(order.clone()))),
    );
    settle(&mut window);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "#!/bin/sh\n");
    act(&mut window, Action::Do(Effect::WriteText(Box::new(order))));
    settle(&mut window);
    assert!(window.state().notice().unwrap().contains("already"));
    std::fs::remove_dir_all(&folder).unwrap();
}
