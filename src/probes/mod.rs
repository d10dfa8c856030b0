//! Definitions of kprobes, uprobes and other probes, checked as the kernel would check them: the text of
//! `kprobe_events`, `uprobe_events` or `dynamic_events`, a `kprobe_event=` boot parameter, or pasted lines.
//!
//! ```text
//! p[:[GRP/][EVENT]] [MOD:]SYM[+offs]|MEMADDR|PATH:OFFSET [FETCHARGS]             an entry probe
//! r[MAXACTIVE][:[GRP/][EVENT]] [MOD:]SYM[+0]|PATH:OFFSET [FETCHARGS]             a return probe
//! p[:[GRP/][EVENT]] [MOD:]SYM[+0]%return|PATH:OFFSET[%return][(COUNTER)] [FETCHARGS]   the same
//! e[:[GRP/][EVENT]] SYSTEM.EVENT [FETCHARGS] [if FILTER]                         a probe on an event
//! f[:[GRP/][EVENT]] [MOD:]SYM[%return] [FETCHARGS]                               a function's entry or return (fprobe)
//! t[:[GRP/][EVENT]] TRACEPOINT [FETCHARGS]                                       a probe on a tracepoint
//! -:[GRP/][EVENT]                                                                removes probes
//! FETCHARG: [NAME=]%REG | @ADDR | @SYM[+|-offs] | @+FILEOFFS | $stackN | $stack | $argN | $arg* | $retval | $comm
//!           | +|-[u]OFFS(FETCHARG) | \IMM | \"text" | NAME[->FIELD[.FIELD]]      followed by [:TYPE]
//! TYPE:     u|s|x 8|16|32|64 | char | string | ustring | symbol | symstr | bWIDTH@OFFSET/SIZE, each with [N]; %pd | %pD
//! ```
//!
//! Described in the kernel's Documentation/trace/kprobetrace.rst, uprobetracer.rst, eprobetrace.rst and
//! fprobetrace.rst. The rules are those of Linux 6.18 on a 64-bit machine (`tests/core/probes_kernel.rs` compares them
//! with a running kernel), except that `$argN` in a return probe is refused, as before 6.9. The number after `r`
//! follows the kernel's sources, not its documentation: 0 is refused for kernel functions. Whether a symbol, a
//! register, a file or a function's argument exists on a certain machine is not checked here.

mod around;
mod command;
mod definition;
mod fault;
mod fetch;
mod fetch_type;
mod place;
pub(crate) mod profile;
pub(crate) mod readable;
pub(crate) mod script;
mod show;
mod sniff;

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use command::parse;
pub(crate) use command::{DefinitionFile, parse_files};
pub use definition::Command;
pub(crate) use definition::{Definitions, FetchArgument, ProbeDefinition, ProbeSort};
pub use fault::Fault;
pub(crate) use profile::ProfileRow;
pub use profile::parse_profile;
pub(crate) use sniff::sniff_form;
pub use sniff::{sniff, sniff_profile};

/// Definitions with the kernel's hit counts, as attached to a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeSet {
    /// Names of the files of the definitions, separated by `, `; empty for pasted text.
    pub source: String,
    /// The parsed lines.
    pub definitions: Arc<Definitions>,
    /// Rows of `kprobe_profile` or `uprobe_profile`; empty if none was given.
    pub profile: Arc<Vec<ProfileRow>>,
}

impl ProbeSet {
    /// Parses definitions from a text.
    #[must_use]
    pub(crate) fn from_text(source: &str, text: &str) -> ProbeSet {
        ProbeSet {
            source: source.to_owned(),
            definitions: Arc::new(parse(text)),
            profile: Arc::default(),
        }
    }

    /// Parses definitions from files.
    #[must_use]
    pub(crate) fn from_files(files: &[DefinitionFile]) -> ProbeSet {
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        ProbeSet {
            source: names.join(", "),
            definitions: Arc::new(parse_files(files)),
            profile: Arc::default(),
        }
    }

    /// Returns the counts by event name; rows with the same name are summed.
    #[must_use]
    pub fn counts(&self) -> FxHashMap<&str, ProfileRow> {
        let mut counts: FxHashMap<&str, ProfileRow> = FxHashMap::default();
        for row in self.profile.iter() {
            match counts.entry(&row.event) {
                Entry::Vacant(free) => {
                    free.insert(row.clone());
                }
                Entry::Occupied(mut sum) => {
                    let sum = sum.get_mut();
                    sum.hits = sum.hits.saturating_add(row.hits);
                    sum.misses = match (sum.misses, row.misses) {
                        (Some(a), Some(b)) => Some(a.saturating_add(b)),
                        (a, b) => a.or(b),
                    };
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests;
