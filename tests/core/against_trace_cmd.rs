//! `report` held against the trace-cmd that is installed, on files made for it: print formats and sections that
//! no recording has (`tests/support/against_trace_cmd`, where the reasons to differ stand).

use std::path::Path;
use std::process::Command;

fn compare(what: &str) {
    // The reasons to differ were found with this version; other versions may differ elsewhere.
    let version = Command::new("trace-cmd").arg("--version").output();
    let version = version.unwrap_or_else(|error| panic!("trace-cmd: {error}"));
    let text = String::from_utf8_lossy(&version.stdout).into_owned();
    assert!(text.contains("version 3.1.6"), "{text}");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/against_trace_cmd");
    let output = Command::new("python3")
        .arg("-B")
        .arg(script.join("compare.py"))
        .arg(what)
        .env("THREADLINE", env!("CARGO_BIN_EXE_threadline"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
}

#[test]
#[ignore = "needs python3 and trace-cmd 3.1.6"]
fn print_formats_that_no_kernel_has() {
    compare("cases");
}

#[test]
#[ignore = "needs python3 and trace-cmd 3.1.6"]
fn sections_that_no_recording_has() {
    compare("sections");
}
