//! The checker of probe definitions against a kernel: what Linux 6.18 said of each definition that was written to
//! its `dynamic_events`, with the column from its `error_log`. (That kernel had uprobes and no kprobes; the
//! arguments of both are read by one parser.)

use threadline::probes::{self, Command};

const RECORDED: &str = include_str!("../support/linux-6.18-uprobes.tsv");

/// Where this program means to differ: the heads that `uprobe_events` takes and a kernel with kprobes refuses in
/// `dynamic_events` (a number that is none, is too big, or stands behind p), or that somebody mistyped; and the
/// column of the first argument that is too many, where the kernel marks the first of all.
const MEANT: &[&str] = &[
    "p9 /bin/sh:0x1000",
    "p9:e /bin/sh:0x1000",
    "r5000:e /bin/sh:0x1000",
    "rx:e /bin/sh:0x1000",
    "px:e /bin/sh:0x1000",
];

/// Whether both mark the same type, but the kernel's mark is moved by the width of a bracket before it.
fn is_moved(line: &str, said: &str, kernel: u32, code: &str) -> bool {
    let type_column = line.rfind(':').map_or(0, |colon| colon as u32 + 2);
    matches!(code, "BAD_BITFIELD" | "BAD_STRING")
        && said == format!("{type_column} {code}")
        && kernel > type_column
}

/// What the kernel knows and a definition alone does not say: whether a file exists.
const UNKNOWABLE: &[&str] = &["FILE_NOT_FOUND", "NO_REGULAR_FILE"];

#[test]
fn definitions_are_taken_and_refused_as_the_kernel_does() {
    let mut wrong = Vec::new();
    let mut rows = 0;
    for row in RECORDED.lines().filter(|row| !row.starts_with('#')) {
        let mut cells = row.split('\t');
        let (line, column, code) = (
            cells.next().unwrap(),
            cells.next().unwrap(),
            cells.next().unwrap(),
        );
        if UNKNOWABLE.contains(&code) || MEANT.contains(&line) {
            continue;
        }
        rows += 1;
        let parsed = probes::parse(line);
        let said = match parsed.lines.first().map(|line| &line.command) {
            None => "nothing".to_owned(),
            Some(Ok(Command::Define(probe))) => format!("ok {}/{}", probe.group, probe.event),
            Some(Ok(_)) => "ok".to_owned(),
            // The kernel says no more than that it is wrong.
            Some(Err(_)) if column == "0" => "refused".to_owned(),
            Some(Err(error)) => format!("{} {}", error.column, error.fault.code()),
        };
        let expected = match column {
            "ok" => {
                let name = code.split([':', ' ']).nth(1).unwrap_or("");
                format!("ok {name}")
            }
            "0" => "refused".to_owned(),
            _ => format!("{column} {code}"),
        };
        let is_moved = column
            .parse()
            .is_ok_and(|column| is_moved(line, &said, column, code));
        let is_too_many = code == "TOO_MANY_ARGS" && said.ends_with(code);
        if said != expected && !is_moved && !is_too_many {
            wrong.push(format!(
                "{line}\n    kernel: {expected}\n    here:   {said}"
            ));
        }
    }
    assert!(rows > 1900, "{rows}");
    assert!(
        wrong.is_empty(),
        "{} of {rows} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
