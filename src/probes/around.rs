//! The kind of place of a probe, which decides what its arguments can fetch.

/// The kind of place that a probe is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// At a kernel function's entry.
    FunctionEntry,
    /// At another place in the kernel.
    Kernel,
    /// At the return of a kernel function.
    KernelReturn,
    /// In a program.
    User,
    /// At the return of a program's function.
    UserReturn,
    /// On an event.
    Event,
    /// At a kernel function's entry, by fprobe: no registers are saved.
    FprobeEntry,
    /// At the return of a kernel function, by fprobe.
    FprobeReturn,
    /// At a tracepoint.
    Tracepoint,
}

impl Around {
    pub(super) fn is_return(self) -> bool {
        self.is_kernel_return() || self == Around::UserReturn
    }

    pub(super) fn is_kernel_return(self) -> bool {
        matches!(self, Around::KernelReturn | Around::FprobeReturn)
    }

    /// Returns whether a kernel function's arguments can be fetched.
    pub(super) fn is_entry(self) -> bool {
        matches!(
            self,
            Around::FunctionEntry | Around::FprobeEntry | Around::Tracepoint
        )
    }

    pub(super) fn has_registers(self) -> bool {
        let is_fprobe = matches!(
            self,
            Around::FprobeEntry | Around::FprobeReturn | Around::Tracepoint
        );
        !is_fprobe && self != Around::Event
    }

    /// Returns whether names of the kernel's files can be fetched (`%pd`, `%pD`).
    pub(super) fn has_files(self) -> bool {
        !self.is_user() && self != Around::Event
    }

    pub(super) fn is_user(self) -> bool {
        matches!(self, Around::User | Around::UserReturn)
    }
}
