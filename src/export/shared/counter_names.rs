//! Names of counters in a file where names are unique only within a process.

use rustc_hash::FxHashMap;

use crate::base::StringId;
use crate::trace::Trace;
use crate::trace::counters::CounterScope;

/// The name of a counter track, as the name of an event, the name of an argument and an id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CounterName {
    /// Name of the event.
    pub event: Vec<u8>,
    /// Name of the argument.
    pub argument: Vec<u8>,
    /// Distinguishes counter tracks of one process that share a name; 0 if none do.
    pub id: u64,
}

impl CounterName {
    /// Returns a name that reads back as `name`: readers join `event:argument`, and omit the argument if it equals the
    /// event.
    pub(crate) fn new(name: &[u8], id: u64) -> CounterName {
        let colon = name.iter().position(|&byte| byte == b':');
        let (event, argument) = match colon.map(|at| (&name[..at], &name[at + 1..])) {
            Some((event, argument))
                if !event.is_empty() && !argument.is_empty() && event != argument =>
            {
                (event, argument)
            }
            _ => (name, name),
        };
        CounterName {
            event: event.to_owned(),
            argument: argument.to_owned(),
            id,
        }
    }
}

/// Returns the names of all counter tracks. Counters of one process that share a name get ids: the thread or number of
/// the second and later ones.
pub(crate) fn counter_names(trace: &Trace) -> Vec<CounterName> {
    let mut used: FxHashMap<(CounterScope, StringId), u64> = FxHashMap::default();
    trace
        .counters
        .tracks
        .iter()
        .map(|track| {
            let scope = match track.scope {
                CounterScope::Thread(thread) => match trace.thread(thread).process {
                    Some(process) => CounterScope::Process(process),
                    None => track.scope,
                },
                scope => scope,
            };
            let number = used.entry((scope, track.name)).or_default();
            *number += 1;
            let id = match (track.scope, *number) {
                (_, 1) => 0,
                (CounterScope::Thread(thread), _) => trace.thread(thread).tid,
                (_, number) => number,
            };
            CounterName::new(trace.strings.bytes(track.name), id)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_names_come_back_as_they_were() {
        let joined = |name: &[u8]| {
            let parts = CounterName::new(name, 0);
            if parts.event == parts.argument {
                parts.event
            } else {
                [&parts.event, &b":"[..], &parts.argument].concat()
            }
        };
        for name in ["load", "cpu:busy", "a:b:3", "a:", ":b", "x:x", ""] {
            assert_eq!(joined(name.as_bytes()), name.as_bytes());
        }
    }
}
