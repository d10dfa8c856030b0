//! Runs a test in a process of its own: a test that measures the memory of its process, or changes state that all
//! threads of a process share.

use std::process::Command;

/// Environment variable that is set in the process of a single test.
const ALONE: &str = "THREADLINE_TEST_ALONE";

/// Returns whether this process runs a single test. If it does not, runs the test `name` in a process of its own and
/// panics if it fails there: the caller then returns. `name` is `module_path!()`, `::` and the function's name.
pub fn is_alone(name: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    // The harness's names of tests do not contain the name of the binary.
    let name = name.split_once("::").map_or(name, |(_, name)| name);
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program)
        .args([name, "--exact", "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    assert!(text.contains("1 passed"), "no test {name}: {text}");
    print!("{text}");
    false
}
