//! Indentation of traced functions: a function is indented relative to the function that calls it.

use rustc_hash::FxHashMap;

use super::function_names::{Recent, remember};
use super::plugin::Event;

/// Maximum number of CPUs for which callers are stored.
const MAX_CPUS: usize = 65_536;

/// Maximum number of callers that are stored for one CPU. trace-cmd has no limit, but names that call each other run
/// out long before.
const MAX_DEPTH: usize = 1 << 17;

/// Number of a function's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NameId(u32);

/// For each CPU, the functions that were last seen calling each other. A function is indented relative to its caller.
#[derive(Debug, Default)]
pub struct Callers {
    stacks: Vec<Vec<NameId>>,
    names: FxHashMap<Box<[u8]>, NameId>,
    /// Cache of names by address.
    recent: Recent<NameId>,
}

impl Callers {
    /// Returns the indentation of a `function` event, in levels. Events must be passed in time order.
    pub fn depth(&mut self, event: &Event<'_>) -> u32 {
        let (Some(function), Some(parent)) = (event.value(0), event.value(1)) else {
            return 0;
        };
        let function = self.name(event, function);
        match self.name(event, parent) {
            Some(parent) => self.depth_below(parent, function, event.cpu) as u32,
            None => 0,
        }
    }

    fn name(&mut self, event: &Event<'_>, address: u64) -> Option<NameId> {
        if let Some(name) = self.recent.get(&address) {
            return *name;
        }
        let next = NameId(self.names.len() as u32);
        let name = event
            .function(address)
            .map(|called| match self.names.get(called.name) {
                Some(id) => *id,
                None => *self.names.entry(called.name.into()).or_insert(next),
            });
        *remember(&mut self.recent, address, name)
    }

    /// Returns the indentation of `function` when `parent` calls it, in levels.
    fn depth_below(&mut self, parent: NameId, function: Option<NameId>, cpu: u32) -> usize {
        let cpu = cpu as usize;
        if cpu >= MAX_CPUS {
            return 0;
        }
        if self.stacks.len() <= cpu {
            self.stacks.resize(cpu + 1, Vec::new());
        }
        let Some(stack) = self.stacks.get_mut(cpu) else {
            return 0;
        };
        if let Some(at) = stack.iter().position(|name| *name == parent) {
            set(stack, at + 1, function);
            return at;
        }
        set(stack, 0, Some(parent));
        set(stack, 1, function);
        0
    }
}

fn set(stack: &mut Vec<NameId>, at: usize, name: Option<NameId>) {
    let Some(name) = name else {
        return;
    };
    match stack.get_mut(at) {
        Some(slot) => *slot = name,
        None if at < MAX_DEPTH => stack.push(name),
        None => {}
    }
}
