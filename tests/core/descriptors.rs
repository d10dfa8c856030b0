//! Which calls close a descriptor: for how long files are open, and to whom pipes lead, in strace texts. What the kernel does
//! is in the manual pages dup(2), close_range(2), fcntl(2), pipe(2), execve(2) and rename(2).

use crate::program::{Row, number, rows, stdout};

/// Writes a text with these lines, from `100 1.0NN` on, and returns its path.
fn written(folder: &std::path::Path, name: &str, lines: &[(u32, &str)]) -> String {
    let line =
        |(at, (pid, call)): (usize, &(u32, &str))| format!("{pid} 1700000010.{at:03} {call}\n");
    let text: String = lines.iter().enumerate().map(line).collect();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

/// How long the first open file was open, in ms: by its slice, and by the table of uses.
fn open_for(file: &str) -> (i64, i64) {
    let slices = rows(&["table", "slices", file]);
    let slice = slices.iter().find(|row| row["category"] == "open files");
    let uses = rows(&["table", "file_uses", file]);
    let done = number(&uses[0], "done") - number(&uses[0], "ts");
    (number(slice.unwrap(), "dur") / 1_000_000, done / 1_000_000)
}

const START: (u32, &str) = (
    100,
    r#"execve("/bin/p", ["p"], 0x7f /* 1 vars */) = 0 <0.000100>"#,
);
const OPEN: (u32, &str) = (
    100,
    r#"openat(AT_FDCWD, "f", O_WRONLY|O_CREAT, 0600) = 3 <0.000010>"#,
);
const NEXT: (u32, &str) = (
    100,
    r#"execve("/bin/q", ["q"], 0x7f /* 1 vars */) = 0 <0.000100>"#,
);
const LAST: (u32, &str) = (100, "exit_group(0) = ?");
const END: (u32, &str) = (100, "+++ exited with 0 +++");

#[test]
fn a_file_is_open_until_its_last_descriptor_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let call = |call: &'static str| (100, call);
    let check = |name: &str, calls: &[(u32, &str)], expected: i64| {
        let mut lines = vec![START, OPEN];
        lines.extend(calls);
        lines.extend([call("getpid() = 100 <0.000010>"), LAST, END]);
        let file = written(folder.path(), name, &lines);
        assert_eq!(open_for(&file), (expected, expected), "{name}");
    };
    // As dash undoes a redirection: descriptor 10 is a copy of one that was open before the recording.
    check(
        "dup2",
        &[
            call("fcntl(1, F_DUPFD, 10) = 10 <0.000009>"),
            call("dup2(3, 1) = 1 <0.000008>"),
            call("close(3) = 0 <0.000008>"),
            call("dup2(10, 1) = 1 <0.000011>"),
            call("close(10) = 0 <0.000008>"),
        ],
        4,
    );
    let range = |flags: &'static str| [call(flags)];
    check(
        "range",
        &range("close_range(3, 4294967295, 0) = 0 <0.000010>"),
        1,
    );
    // Not this one: it is open until the process ends.
    check(
        "others",
        &range("close_range(4, 4294967295, 0) = 0 <0.000010>"),
        4,
    );
    let before_exec = |mark: &'static str| [call(mark), NEXT];
    check(
        "raw",
        &before_exec("close_range(0x3, 0xffffffff, 0x4) = 0 <0.000010>"),
        2,
    );
    check(
        "setfd",
        &before_exec("fcntl(3, F_SETFD, FD_CLOEXEC) = 0 <0.000010>"),
        2,
    );
    check(
        "setfd.raw",
        &before_exec("fcntl(0x3, 0x2, 0x1) = 0 <0.000010>"),
        2,
    );
    check(
        "fioclex",
        &before_exec("ioctl(3, FIOCLEX) = 0 <0.000010>"),
        2,
    );
    let cleared = [
        call("ioctl(3, FIOCLEX) = 0 <0.000010>"),
        call("fcntl(3, F_SETFD, 0) = 0 <0.000010>"),
        NEXT,
    ];
    check("cleared", &cleared, 6);
    let copied = [
        call("dup3(3, 7, O_CLOEXEC) = 7 <0.000010>"),
        call("close(3) = 0 <0.000010>"),
        NEXT,
    ];
    check("dup3", &copied, 3);
}

#[test]
fn an_exec_closes_the_ends_of_a_pipe_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |pipe: &'static str, closes: bool| {
        let mut lines = vec![
            START,
            (100, pipe),
            (
                100,
                "clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.000010>",
            ),
            (101, "dup2(4, 1) = 1 <0.000010>"),
        ];
        let close = |pid| {
            [
                (pid, "close(3) = 0 <0.000001>"),
                (pid, "close(4) = 0 <0.000001>"),
            ]
        };
        let closing = |lines: &mut Vec<_>, pid| match closes {
            true => lines.extend(close(pid)),
            false => lines.extend([(pid, "getpid() = 1 <0.000001>"); 2]),
        };
        closing(&mut lines, 101);
        lines.push((
            101,
            r#"execve("/bin/gen", ["gen"], 0x7f /* 1 vars */) = 0 <0.000100>"#,
        ));
        lines.push((
            100,
            "clone(child_stack=NULL, flags=SIGCHLD) = 102 <0.000010>",
        ));
        closing(&mut lines, 102);
        lines.extend([
            (
                102,
                r#"execve("/bin/other", ["other"], 0x7f /* 1 vars */) = 0 <0.000100>"#,
            ),
            (100, "close(4) = 0 <0.000010>"),
            (101, "exit_group(0) = ?"),
            (101, "+++ exited with 0 +++"),
            (100, r#"read(3, "", 99) = 0 <0.000010>"#),
            (102, "exit_group(0) = ?"),
            (102, "+++ exited with 0 +++"),
            LAST,
            END,
        ]);
        lines
    };
    let arrows = |file: &str| -> Vec<(String, String)> {
        let all = rows(&["table", "flows", file]);
        let pipes = all.iter().filter(|row| row["name"] == "pipe");
        pipes
            .map(|row| (row["from_tid"].clone(), row["to_tid"].clone()))
            .collect()
    };
    let expected = [("101".to_owned(), "100".to_owned())];
    let closed = lines("pipe([3, 4]) = 0 <0.000010>", true);
    assert_eq!(arrows(&written(folder.path(), "closed", &closed)), expected);
    let by_exec = lines("pipe2([3, 4], O_CLOEXEC) = 0 <0.000010>", false);
    assert_eq!(
        arrows(&written(folder.path(), "by-exec", &by_exec)),
        expected
    );
}

/// The pipe arrows of a text: from and to.
fn arrows(file: &str) -> Vec<(String, String)> {
    let all = rows(&["table", "flows", file]);
    let pipes = all.iter().filter(|row| row["name"] == "pipe");
    pipes
        .map(|row| (row["from_tid"].clone(), row["to_tid"].clone()))
        .collect()
}

/// `echo hi | cat`: the shell's child that runs `echo` has ended before the one that runs `cat` takes the pipe, or before it is
/// there at all. `x=$(echo hi)`: the shell itself reads.
#[test]
fn who_takes_a_pipe_after_its_writer_is_gone_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    const FORK_ECHO: (u32, &str) = (
        100,
        "clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.000010>",
    );
    const FORK_CAT: (u32, &str) = (
        100,
        "clone(child_stack=NULL, flags=SIGCHLD) = 102 <0.000010>",
    );
    let echo = [
        (101, "close(3) = 0 <0.000010>"),
        (101, "dup2(4, 1) = 1 <0.000010>"),
        (101, "close(4) = 0 <0.000010>"),
        (101, r#"write(1, "hi", 2) = 2 <0.000010>"#),
        (101, "exit_group(0) = ?"),
        (101, "+++ exited with 0 +++"),
    ];
    let cat = [
        (102, "dup2(3, 0) = 0 <0.000010>"),
        (102, "close(3) = 0 <0.000010>"),
        (
            102,
            r#"execve("/bin/cat", ["cat"], 0x7f /* 1 vars */) = 0 <0.000100>"#,
        ),
        (102, r#"read(0, "hi", 99) = 2 <0.000010>"#),
        (102, r#"read(0, "", 99) = 0 <0.000010>"#),
        (102, "exit_group(0) = ?"),
        (102, "+++ exited with 0 +++"),
    ];
    let close_3 = [(100, "close(3) = 0 <0.000010>")];
    let close_4 = [(100, "close(4) = 0 <0.000010>")];
    let reads = [
        (100, r#"read(3, "hi", 99) = 2 <0.000010>"#),
        (100, r#"read(3, "", 99) = 0 <0.000010>"#),
    ];
    let to = |to: &str| vec![("101".to_owned(), to.to_owned())];
    let check = |name: &str, steps: &[&[(u32, &str)]], expected: Vec<(String, String)>| {
        let pipe = [START, (100, "pipe([3, 4]) = 0 <0.000010>"), FORK_ECHO];
        let lines = [&pipe[..], &steps.concat(), &[LAST, END]].concat();
        assert_eq!(
            arrows(&written(folder.path(), name, &lines)),
            expected,
            "{name}"
        );
    };
    check(
        "first",
        &[&close_4, &echo, &[FORK_CAT], &close_3, &cat],
        to("102"),
    );
    check(
        "before",
        &[&close_4, &[FORK_CAT], &echo, &close_3, &cat],
        to("102"),
    );
    check(
        "after",
        &[&close_4, &[FORK_CAT], &close_3, &cat[..3], &echo, &cat[3..]],
        to("102"),
    );
    check("shell", &[&echo, &close_4, &reads, &close_3], to("100"));
    check("open", &[&close_4, &echo, &reads], to("100"));
    // The shell only keeps its end until it has started the reader.
    check(
        "kept",
        &[&close_4, &echo, &[FORK_CAT], &cat, &close_3],
        to("102"),
    );
}

#[test]
fn an_exchange_of_two_names_is_one_in_strace_too() {
    let folder = tempfile::tempdir().unwrap();
    let exchange = r#"renameat2(AT_FDCWD, "A", AT_FDCWD, "B", RENAME_EXCHANGE) = 0 <0.000010>"#;
    let lines = [
        START,
        (
            100,
            "clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.000010>",
        ),
        (
            101,
            r#"openat(AT_FDCWD, "A", O_WRONLY|O_CREAT, 0600) = 3 <0.000010>"#,
        ),
        (101, "close(3) = 0 <0.000010>"),
        (101, "exit_group(0) = ?"),
        (101, "+++ exited with 0 +++"),
        (
            100,
            r#"openat(AT_FDCWD, "B", O_WRONLY|O_CREAT, 0600) = 3 <0.000010>"#,
        ),
        (100, "close(3) = 0 <0.000010>"),
        (100, exchange),
        (
            100,
            "clone(child_stack=NULL, flags=SIGCHLD) = 102 <0.000010>",
        ),
        (102, r#"openat(AT_FDCWD, "A", O_RDONLY) = 3 <0.000010>"#),
        (102, "exit_group(0) = ?"),
        (102, "+++ exited with 0 +++"),
        LAST,
        END,
    ];
    let file = written(folder.path(), "exchange", &lines);
    let all = rows(&["table", "file_dependencies", &file]);
    let read_by_102 = all.iter().filter(|row| row["reader_pid"] == "102");
    let writers: Vec<&str> = read_by_102.map(|row| &*row["writer_pid"]).collect();
    assert_eq!(writers, ["100"], "{all:?}");
}

/// `strace --decode-pids=pidns` of a program in a PID namespace: the number that the program sees, and the one of strace.
#[test]
fn a_child_in_a_pid_namespace_is_the_one_that_strace_knows() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        START,
        (100, "vfork( <unfinished ...>"),
        (
            24786,
            r#"execve("/bin/true", ["true"], 0x7f /* 1 vars */) = 0 <0.000100>"#,
        ),
        (
            100,
            "<... vfork resumed>) = 2 /* 24786 in strace's PID NS */ <0.000544>",
        ),
        (
            100,
            "clone(child_stack=NULL, flags=SIGCHLD) = 3 /* 24787 in strace's PID NS */ <0.000010>",
        ),
        (24787, "exit_group(0) = ?"),
        (24787, "+++ exited with 0 +++"),
        (24786, "exit_group(0) = ?"),
        (24786, "+++ exited with 0 +++"),
        LAST,
        END,
    ];
    let file = written(folder.path(), "namespace", &lines);
    let all = rows(&["table", "processes", &file]);
    let own = |row: &Row| (row["pid"].clone(), row["parent_id"].clone());
    let tree: Vec<(String, String)> = all.iter().map(own).collect();
    let expected = [("100", "\\N"), ("24786", "0"), ("24787", "0")];
    let expected = expected.map(|(pid, parent)| (pid.to_owned(), parent.to_owned()));
    assert_eq!(tree, expected);
    assert!(!stdout(&["table", "flows", &file]).is_empty());
}

/// strace leaves out the pid while it traces one process: that which it says it attached to.
#[test]
fn calls_before_the_first_pid_are_of_the_process_that_was_attached_to() {
    let folder = tempfile::tempdir().unwrap();
    let text = "strace: Process 500 attached\n\
        1.000000 openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = 3 <0.000010>\n\
        1.100000 clone(child_stack=NULL, flags=SIGCHLDstrace: Process 501 attached\n\
        ) = 501 <0.000100>\n\
        [pid   501] 1.200000 exit_group(4) = ?\n\
        [pid   500] 1.210000 getpid() = 500 <0.000010>\n\
        [pid   501] 1.300000 +++ exited with 4 +++\n\
        1.400000 +++ exited with 6 +++\n";
    let path = folder.path().join("attached.strace");
    std::fs::write(&path, text).unwrap();
    let file = path.to_string_lossy().into_owned();
    let processes = rows(&["table", "processes", &file]);
    let cells =
        |row: &Row| ["pid", "parent_id", "exit_status", "opens"].map(|name| row[name].clone());
    let found: Vec<_> = processes.iter().map(cells).collect();
    assert_eq!(found, [["500", "\\N", "6", "1"], ["501", "0", "4", "0"]]);
    let calls = rows(&["stats", "--of", "calls", "--process", "500", &file]);
    let mut names: Vec<&str> = calls.iter().map(|row| row["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["clone", "getpid", "openat"]);
}

/// A text that ends in the number of a new process: nobody knows how many digits it had.
#[test]
fn a_number_that_a_cut_text_ends_with_is_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.strace");
    let text = "100 1.000000 getpid() = 100 <0.000010>\n\
                100 1.100000 clone(child_stack=NULL, flags=SIGCHLD) = 1234";
    std::fs::write(&path, text).unwrap();
    let file = path.to_string_lossy().into_owned();
    let processes = rows(&["table", "processes", &file]);
    let pids: Vec<&str> = processes.iter().map(|row| row["pid"].as_str()).collect();
    assert_eq!(pids, ["100"]);
}

/// `-y` prints the directory of a process in any call that takes a path.
#[test]
fn a_directory_is_known_from_any_call_that_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    for (at, call) in [
        r#"newfstatat(AT_FDCWD</x/y>, "/usr/lib", {st_mode=S_IFDIR|0755, st_size=4096, ...}, 0) = 0"#,
        r#"faccessat2(AT_FDCWD</x/y>, "a.h", R_OK, 0) = -1 ENOENT (No such file or directory)"#,
        r#"renameat2(AT_FDCWD</x/y>, "a", AT_FDCWD</x/y>, "b", 0) = 0"#,
    ]
    .into_iter()
    .enumerate()
    {
        let lines = [
            (600, r#"execve("/usr/bin/gcc", ["gcc", "-c", "a.c"], 0x7ff /* 3 vars */) = 0"#),
            (600, call),
            (600, "exit_group(0) = ?"),
            (600, "+++ exited with 0 +++"),
        ];
        let file = written(folder.path(), &format!("{at}.strace"), &lines);
        let commands = stdout(&["export", &file, "--to", "compile-commands", "-o", "-"]);
        assert!(commands.contains(r#""directory": "/x/y""#), "{call}: {commands}");
    }
}

/// `-X verbose` prints the number of the directory with its name.
#[test]
fn a_directory_is_known_by_name_and_by_number() {
    let folder = tempfile::tempdir().unwrap();
    for (at, here) in ["AT_FDCWD", "-100", "-100 /* AT_FDCWD */"]
        .iter()
        .enumerate()
    {
        let open = format!(
            r#"openat({here}</w, (x>, "a", O_WRONLY|O_CREAT, 0644) = 3</w, (x/a> <0.000010>"#
        );
        let lines = [
            (10, open.as_str()),
            (10, "close(3</w, (x/a>) = 0 <0.000005>"),
            (10, r#"rename("a", "b") = 0 <0.000005>"#),
            (10, "+++ exited with 0 +++"),
        ];
        let file = written(folder.path(), &format!("{at}.strace"), &lines);
        let files = rows(&["table", "file_list", &file]);
        let cells = |row: &Row| ["path", "writes", "renames"].map(|name| row[name].clone());
        let found: Vec<_> = files.iter().map(cells).collect();
        assert_eq!(found, [["/w, (x/b", "1", "1"]], "{here}");
    }
}

/// `--decode-pids=comm` escapes the bytes of a name as in any string.
#[test]
fn names_beside_pids_are_unescaped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.strace");
    let text = r#"100<a\303\266 \74b\76> 1.000000 write(2, "", 0) = 0 <0.000004>
100<a\303\266 \74b\76> 1.100000 exit_group(0) = ?
"#;
    std::fs::write(&path, text).unwrap();
    let threads = rows(&["table", "threads", &path.to_string_lossy()]);
    assert_eq!(threads[0]["name"], "a\u{f6} <b>");
}

/// In MINIX, a deadly signal is printed in the place of the result.
#[test]
fn a_call_that_a_signal_ended_did_not_return() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.minix");
    let text = "Tracing sh (pid 314)\n  \
        314| open(\"/tmp/log\", O_WRONLY|O_APPEND|O_CREAT, 0666) = ** SIGTERM ** <..>\n  \
        314| Process terminated from signal SIGTERM\n";
    std::fs::write(&path, text).unwrap();
    let calls = rows(&["stats", "--of", "calls", &path.to_string_lossy()]);
    let counts = ["calls", "unfinished", "returned"].map(|name| number(&calls[0], name));
    assert_eq!(counts, [1, 1, 0]);
}
