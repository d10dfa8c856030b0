//! The processes as a forest of parents and children, in the order of their starts.

use crate::trace::{ProcessId, Trace};

/// The forest; every process is in it once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessTree {
    /// Processes whose parent is not known.
    pub roots: Vec<ProcessId>,
    /// The children of each process, by [`ProcessId`].
    pub children: Vec<Vec<ProcessId>>,
}

/// A process in the order of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visited {
    /// The process.
    pub id: ProcessId,
    /// The number of its ancestors.
    pub depth: u32,
}

impl ProcessTree {
    /// Returns the forest. A loop of parents (in a damaged file) is cut: one of its processes becomes a root.
    #[must_use]
    pub fn new(trace: &Trace) -> ProcessTree {
        let count = trace.processes.len();
        let mut tree = ProcessTree {
            roots: Vec::new(),
            children: vec![Vec::new(); count],
        };
        // 0: not visited, 1: on the path that is being followed, 2: known to lead to a root.
        let mut marks = vec![0_u8; count];
        let mut cut = vec![false; count];
        for start in 0..count {
            let mut path = Vec::new();
            let mut at = start;
            while marks[at] == 0 {
                marks[at] = 1;
                path.push(at);
                match trace.processes[at].parent {
                    Some(parent) if (parent.0 as usize) < count => at = parent.0 as usize,
                    _ => break,
                }
            }
            if marks[at] == 1
                && path.last() != Some(&at)
                && let Some(&last) = path.last()
            {
                cut[last] = true;
            } else if path.last() == Some(&at)
                && trace.processes[at].parent == Some(ProcessId(at as u32))
            {
                cut[at] = true;
            }
            for index in path {
                marks[index] = 2;
            }
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by_key(|&index| {
            (
                trace.processes[index as usize]
                    .start
                    .unwrap_or(trace.span.start),
                index,
            )
        });
        for index in order {
            let parent = trace.processes[index as usize]
                .parent
                .filter(|_| !cut[index as usize]);
            match parent.and_then(|parent| tree.children.get_mut(parent.0 as usize)) {
                Some(children) => children.push(ProcessId(index)),
                None => tree.roots.push(ProcessId(index)),
            }
        }
        tree
    }

    /// Returns all processes with their depths, depth first.
    #[must_use]
    pub fn walk(&self) -> Vec<Visited> {
        let mut out = Vec::with_capacity(self.children.len());
        let roots = self.roots.iter().rev();
        let mut stack: Vec<Visited> = roots.map(|&id| Visited { id, depth: 0 }).collect();
        while let Some(visited) = stack.pop() {
            out.push(visited);
            let children = self.children[visited.id.0 as usize].iter().rev();
            stack.extend(children.map(|&id| Visited {
                id,
                depth: visited.depth + 1,
            }));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Process;

    fn process(parent: Option<u32>) -> Process {
        Process {
            parent: parent.map(ProcessId),
            ..Process::new(0, 0)
        }
    }

    #[test]
    fn every_process_is_found_once_even_in_circles() {
        for parents in [
            vec![None, Some(0), Some(0), Some(1)],
            vec![Some(1), Some(2), Some(0), Some(2)],
            vec![Some(0), Some(0)],
            vec![Some(9), Some(0)],
            vec![Some(1), Some(0), Some(1)],
        ] {
            let processes: Vec<Process> = parents.iter().map(|&parent| process(parent)).collect();
            let trace = Trace {
                processes: processes.into(),
                ..Trace::default()
            };
            let mut ids: Vec<u32> = ProcessTree::new(&trace)
                .walk()
                .iter()
                .map(|it| it.id.0)
                .collect();
            ids.sort_unstable();
            assert_eq!(
                ids,
                (0..parents.len() as u32).collect::<Vec<_>>(),
                "{parents:?}"
            );
        }
    }
}
