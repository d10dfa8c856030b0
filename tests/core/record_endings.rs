//! How recordings end: by a key, by a kill, by what happens, by a full disk, or with a CPU less; with their file, and with
//! nothing in the kernel.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::program::stdout;
use crate::recording::{
    Desk, event_names, left_in_kernel, nothing_in_kernel, signal, started, turn, wait_until, words,
};

#[test]
fn a_cpu_that_goes_offline_is_no_error() {
    let name = "a_cpu_that_goes_offline_is_no_error";
    let online = Path::new("/sys/devices/system/cpu/cpu1/online");
    if std::env::var_os("THREADLINE_GUEST").is_none() {
        eprintln!(
            "\n=== SKIPPED: {name}: no CPU of this machine is taken away; tests/qemu/run does it ===\n"
        );
        return;
    }
    let Some(_turn) = turn(name) else { return };
    let desk = Desk::new();
    let child = started(&desk, &["--preset", "sched"]);
    for state in ["0", "1", "0"] {
        fs::write(online, state).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    // One that is offline from the start has no pages.
    let output = desk.run(&["--force", "--preset", "sched", "--for", "200ms"]);
    fs::write(online, "1").unwrap();
    assert!(output.status.success(), "{}", words(&output));
    assert!(!event_names(&desk.out()).is_empty());
    nothing_in_kernel();
}

#[test]
fn ctrl_c_ends_a_recording_with_its_file() {
    let Some(_turn) = turn("ctrl_c_ends_a_recording_with_its_file") else {
        return;
    };
    let desk = Desk::new();
    let child = started(&desk, &["--preset", "sched"]);
    std::thread::sleep(Duration::from_millis(200));
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    nothing_in_kernel();
    assert!(!event_names(&desk.out()).is_empty());
}

#[test]
fn a_recording_that_is_stopped_before_it_begins_leaves_nothing() {
    let Some(_turn) = turn("a_recording_that_is_stopped_before_it_begins_leaves_nothing") else {
        return;
    };
    // The instance is there before all formats are read; on a busy machine the signal may still come too late.
    let stopped = || {
        let desk = Desk::new();
        let child = desk.command(&["--preset", "sched"]).spawn().unwrap();
        wait_until("it is set up", || !left_in_kernel().is_empty());
        signal(&child, "-INT");
        let output = child.wait_with_output().unwrap();
        nothing_in_kernel();
        (desk, output)
    };
    let is_early = |(_, output): &(Desk, Output)| !output.status.success();
    let mut tries = std::iter::repeat_with(stopped).take(5);
    let (desk, output) = tries.find(is_early).unwrap();
    let told = words(&output);
    assert!(
        !output.status.success() && told.contains("before recording began"),
        "{told}"
    );
    assert!(desk.files().is_empty());
}

#[test]
fn a_killed_recording_leaves_nothing_or_is_offered_for_clean_up() {
    let Some(_turn) = turn("a_killed_recording_leaves_nothing_or_is_offered_for_clean_up") else {
        return;
    };
    // The process with the rights outlives the one that records, and puts everything back.
    let desk = Desk::new();
    let child = started(&desk, &["-e", "sched_switch"]);
    signal(&child, "-KILL");
    let _killed = child.wait_with_output();
    wait_until("the instance is removed", || left_in_kernel().is_empty());
    assert!(desk.files().is_empty());
    // Both are killed: the instance stays until somebody cleans up.
    let child = started(&desk, &["-e", "sched_switch"]);
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let tracer = fs::read_to_string(children).unwrap();
    let killed = Command::new("kill")
        .args(["-KILL", tracer.trim(), &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    let _killed = child.wait_with_output();
    assert_eq!(left_in_kernel().len(), 1);
    let output = desk.run(&["-e", "sched_process_exec", "--for", "10ms"]);
    let told = words(&output);
    assert!(
        output.status.success() && told.contains("--clean-up"),
        "{told}"
    );
    let output = desk.run(&["--clean-up"]);
    assert!(output.status.success(), "{}", words(&output));
    nothing_in_kernel();
}

#[test]
fn a_recording_ends_when_something_matches() {
    let Some(_turn) = turn("a_recording_ends_when_something_matches") else {
        return;
    };
    let desk = Desk::new();
    let expression = "sched_process_exec: filename ~ \"*/true\"";
    let until = ["--until-event", expression, "--for", "60s"];
    let child = started(&desk, &[&["--preset", "sched"], &until[..]].concat());
    std::thread::sleep(Duration::from_millis(300));
    assert!(Command::new("true").status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let told = words(&output);
    assert!(
        output.status.success() && told.contains("% of one CPU"),
        "{told}"
    );
    assert!(!event_names(&desk.out()).is_empty());
    nothing_in_kernel();
}

#[test]
fn a_flight_recorder_writes_the_last_stretch_each_time_something_matches() {
    let Some(_turn) = turn("a_flight_recorder_writes_the_last_stretch") else {
        return;
    };
    let desk = Desk::new();
    let trigger = "sched_process_exec: filename ~ \"*/true\"";
    let ring = [
        "--ring",
        "1s",
        "--trigger",
        trigger,
        "--after",
        "50ms",
        "--repeat",
        "2",
    ];
    let child = started(&desk, &[&["--preset", "sched"], &ring[..]].concat());
    let second = desk.folder.path().join("out-2.dat");
    for file in [desk.out(), second.clone()] {
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!file.exists());
        assert!(Command::new("true").status().unwrap().success());
        wait_until("a file is written", || file.exists());
    }
    let output = child.wait_with_output().unwrap();
    let told = words(&output);
    assert!(
        output.status.success() && told.contains("out-2.dat"),
        "{told}"
    );
    for file in [desk.out(), second] {
        let table = stdout(&["table", "events", file.to_str().unwrap()]);
        let times = table
            .lines()
            .skip(1)
            .map(|row| row.split('\t').next().unwrap());
        let times: Vec<i64> = times.map(|time| time.parse().unwrap()).collect();
        let span = times.iter().max().unwrap() - times.iter().min().unwrap();
        // A page may be older than the stretch, as it contains newer events.
        assert!((100_000_000..3_000_000_000).contains(&span), "{span}");
        assert!(
            event_names(&file)
                .iter()
                .any(|name| name == "sched_process_exec")
        );
    }
    // What matches may be the last event of the command, and `--after` is added to what is kept before.
    for file in [desk.out(), desk.folder.path().join("out-2.dat")] {
        fs::remove_file(file).unwrap();
    }
    let last = "sched_process_exit: comm == \"sleep\"";
    let ring = ["--ring", "500ms", "--trigger", last, "--after", "2s"];
    let command = ["--preset", "sched", "--", "sleep", "0.7"];
    let output = desk.run(&[&ring[..], &command].concat());
    assert!(output.status.success(), "{}", words(&output));
    let has_exit = |file: &Path| {
        event_names(file)
            .iter()
            .any(|it| it == "sched_process_exit")
    };
    assert!(has_exit(&desk.out()));
    // A file that exists is found before anything is recorded.
    fs::rename(desk.out(), desk.folder.path().join("out-3.dat")).unwrap();
    let output = desk.run(&[&ring[..], &["--repeat", "3"], &command].concat());
    assert!(!output.status.success() && words(&output).contains("out-3.dat exists already"));
    assert!(!desk.out().exists());
    fs::rename(desk.folder.path().join("out-3.dat"), desk.out()).unwrap();
    let quiet = [
        "--ring",
        "1s",
        "--trigger",
        "sched_switch: next_pid == -7",
        "--for",
        "300ms",
    ];
    fs::remove_file(desk.out()).unwrap();
    let output = desk.run(&[&["--preset", "sched"], &quiet[..]].concat());
    let told = words(&output);
    assert!(
        output.status.success() && told.contains("nothing matched"),
        "{told}"
    );
    assert!(!desk.out().exists());
    nothing_in_kernel();
}

#[test]
fn a_full_disk_ends_a_recording_with_what_was_written() {
    let Some(_turn) = turn("a_full_disk_ends_a_recording_with_what_was_written") else {
        return;
    };
    let desk = Desk::new();
    let disk = desk.folder.path();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=40m,mode=777", "none"])
        .arg(disk)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("\n=== SKIPPED: a_full_disk needs the right to mount ===\n");
        return;
    }
    // A load that fills 16 MB in seconds.
    let mut load = Command::new("sh")
        .args([
            "-c",
            "while :; do dd if=/dev/zero of=/dev/null bs=1 count=1000000 2>/dev/null; done",
        ])
        .process_group(0)
        .spawn()
        .unwrap();
    let output = desk.run(&["-e", "raw_syscalls", "--for", "120s"]);
    let group = format!("-{}", load.id());
    let _killed = Command::new("kill").args(["-KILL", "--", &group]).status();
    let _ended = load.wait();
    let told = words(&output);
    let names = fs::exists(desk.out())
        .unwrap()
        .then(|| event_names(&desk.out()).len());
    let unmounted = Command::new("umount").arg(disk).status();
    assert!(unmounted.unwrap().success());
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the disk is full"), "{told}");
    assert!(
        names.is_some_and(|count| count > 10_000),
        "{names:?}: {told}"
    );
    nothing_in_kernel();
}
