//! A test in a process of its own: one that measures what its process holds, or changes something of all of it.

use std::process::Command;

/// Set in such a process.
const ALONE: &str = "THREADLINE_TEST_ALONE";

/// Whether the test of this name (with the modules it lies in, `module_path!()` and `::name`) runs in a process of its
/// own. If not, it is run in one here, and fails if it fails there.
pub fn is_alone(name: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    // The harness knows tests without the name of the binary.
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
