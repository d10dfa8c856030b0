//! The options of trace-cmd's plugins for traced functions (`trace-cmd report -O`).

/// Options of trace-cmd's plugins for functions, set by `-O`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionOptions {
    /// `parent`: prints the caller after a function.
    pub shows_parent: bool,
    /// `offset`: prints the address's offset in its function.
    pub shows_offset: bool,
    /// `indent=0`: functions are not indented relative to their callers.
    pub is_flat: bool,
    /// `tailprint`: prints the function's name after its closing brace.
    pub shows_tail: bool,
    /// `depth`: prints the depth of a call.
    pub shows_depth: bool,
}

impl FunctionOptions {
    /// Names of the options that `-O` accepts.
    pub(crate) const NAMES: [&'static str; 5] =
        ["parent", "offset", "indent", "tailprint", "depth"];

    /// Returns the options that the user gave; unknown names are ignored.
    pub(crate) fn of(given: &[String]) -> FunctionOptions {
        let mut options = FunctionOptions::default();
        for option in given {
            options.set(option);
        }
        options
    }

    /// Sets an option given as `name`, `plugin:name` or `name=value`, as trace-cmd does. Returns whether it exists.
    pub(crate) fn set(&mut self, option: &str) -> bool {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, !matches!(value.trim(), "0" | "false" | "no" | "n")),
            None => (option, true),
        };
        let (plugin, name) = name.rsplit_once(':').unwrap_or(("", name));
        let (is_known, slot) = match name {
            "parent" => (matches!(plugin, "" | "ftrace"), &mut self.shows_parent),
            "offset" => (matches!(plugin, "" | "ftrace"), &mut self.shows_offset),
            "indent" => (matches!(plugin, "" | "ftrace"), &mut self.is_flat),
            "tailprint" => (matches!(plugin, "" | "fgraph"), &mut self.shows_tail),
            "depth" => (matches!(plugin, "" | "fgraph"), &mut self.shows_depth),
            _ => return false,
        };
        if is_known {
            *slot = value != (name == "indent");
        }
        is_known
    }
}
