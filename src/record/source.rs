//! Where the pages and counts of a CPU come from: the kernel of this machine, or a stream from another one.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use crate::tracefs::folder::Folder;

/// The pages and counts of a CPU.
pub(crate) struct CpuSource {
    /// Number of the CPU.
    pub cpu: u32,
    /// The CPU's pages.
    pub pages: Pages,
    /// The CPU's counts.
    pub stats: Stats,
}

/// The pages of a CPU.
pub(crate) enum Pages {
    /// `trace_pipe_raw`, opened in non-blocking mode.
    Kernel(File),
    /// A pipe that contains whole pages until it ends.
    Stream(File),
}

/// The counts of a CPU.
pub(crate) enum Stats {
    /// The open file `stats`.
    Here(File),
    /// The folder of an instance on another machine.
    There(Folder),
}

impl CpuSource {
    /// Returns the text of the counts; empty if the kernel has none, for example because the CPU is offline.
    #[must_use]
    pub(crate) fn counts(&self) -> String {
        match &self.stats {
            Stats::Here(stats) => {
                let mut bytes = vec![0; 4096];
                let length = stats.read_at(&mut bytes, 0).unwrap_or(0);
                bytes.truncate(length);
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Stats::There(folder) => {
                let name = format!("per_cpu/cpu{}/stats", self.cpu);
                folder.read(&name).unwrap_or_default()
            }
        }
    }
}
