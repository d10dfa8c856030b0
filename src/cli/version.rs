//! The answer of `threadline --version`: version, commit and features.

use std::sync::LazyLock;

/// The version, the commit that it was built from (`+`: with changes), and the parts that are in it.
///
/// ```text
/// 0.1.0 (commit 5ef8e10abc; features: gui)
/// ```
/// What was not built as a release (or from no repository) has no commit; see `build.rs`.
pub(crate) static FULL: LazyLock<String> = LazyLock::new(full);

fn full() -> String {
    let commit = match env!("THREADLINE_COMMIT") {
        "" => "no commit known".to_owned(),
        commit => format!("commit {commit}"),
    };
    let features = match cfg!(feature = "gui") {
        true => "gui",
        false => "none, the command line only",
    };
    let version = env!("CARGO_PKG_VERSION");
    format!("{version} ({commit}; features: {features})")
}
