//! What the kernel of this machine offers to record, for a window that lets the user choose.

use super::kernel_filter::{check, fields_of};
use crate::tracefs::catalog::{self, EventName, Meaning, resolve};
use crate::tracefs::folder::{Folder, Trouble};

/// At most this many events of a pattern are compared with a filter.
const MOST_CHECKED: usize = 200;

/// What the kernel offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// All events, as `SYSTEM:EVENT`, sorted.
    pub events: Vec<String>,
}

/// Returns what the kernel offers to this process.
///
/// # Errors
/// If this process may not record; the error contains the line that grants it.
pub(crate) fn offer() -> Result<Offer, Trouble> {
    let top = Folder::find()?;
    top.may_be_used()?;
    let events = catalog::events(&top).into_iter();
    let events = events.map(|EventName { system, name }| format!("{system}:{name}"));
    Ok(Offer {
        events: events.collect(),
    })
}

/// Returns why the kernel would refuse events with a filter; `None` if nothing is wrong. Without the right to read
/// tracefs only the grammar of the filter is checked.
#[must_use]
pub(crate) fn fault_of(pattern: &str, filter: &str) -> Option<String> {
    let filter = filter.trim();
    let grammar = || match filter {
        "" => None,
        filter => check(filter, None).err().map(|fault| fault.to_string()),
    };
    let Ok(top) = Folder::find() else {
        return grammar();
    };
    let meaning = match resolve(&top, pattern) {
        Ok(meaning) => meaning,
        Err(trouble) => return Some(trouble.to_string()),
    };
    if filter.is_empty() {
        return None;
    }
    let (events, is_system) = match meaning {
        Meaning::Events(events) => (events, false),
        Meaning::System(system) => {
            let all = catalog::events(&top).into_iter();
            (all.filter(|event| event.system == system).collect(), true)
        }
    };
    let is_one = events.len() == 1;
    let faults = events.iter().take(MOST_CHECKED).map(|event| {
        let format = top.read(&format!("events/{}/{}/format", event.system, event.name));
        let fields = format.ok().map(|text| fields_of(&text));
        let fault = check(filter, fields.as_deref()).err()?;
        Some(match is_one {
            true => fault.to_string(),
            false => format!("{}:{}: {fault}", event.system, event.name),
        })
    });
    let faults: Vec<Option<String>> = faults.collect();
    // A filter of a system holds for those of its events that have the fields.
    let is_fine = is_system && faults.iter().any(Option::is_none);
    faults.into_iter().flatten().next().filter(|_| !is_fine)
}
