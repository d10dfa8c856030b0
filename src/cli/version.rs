//! The output of `threadline --version`: version, commit and features.

use std::sync::LazyLock;

/// The version, the commit that was built (`+`: with local changes), and the features.
///
/// ```text
/// 0.1.0 (commit 5ef8e10abc; features: gui)
/// ```
/// There is no commit unless the build is a release from a repository; see `build.rs`.
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
