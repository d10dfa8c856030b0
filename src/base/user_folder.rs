//! The folders of the user's own files.

use std::path::PathBuf;

/// Returns a folder for the user's own files: the one that an environment variable names, else `below_home` in the home
/// folder (XDG Base Directory Specification); `None` if neither is an absolute path.
pub(crate) fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let folder = |variable: &str| {
        let path = PathBuf::from(std::env::var_os(variable)?);
        path.is_absolute().then_some(path)
    };
    folder(variable).or_else(|| folder("HOME").map(|home| home.join(below_home)))
}

/// Returns the folder for what the program can make again: `$XDG_CACHE_HOME/threadline`, else `~/.cache/threadline`.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    Some(user_folder("XDG_CACHE_HOME", ".cache")?.join("threadline"))
}
