//! The clocks of the kernel's tracing (`trace_clock`) by name: their units, whether they count from boot, and how they
//! relate to the clock with which the kernel measures durations. Source: `kernel/trace/trace.c` (`trace_clocks`) and
//! `arch/*/include/asm/trace_clock.h` of Linux.

use super::part::ClockUnit;
use super::rows::MeasuredClock;

/// A clock of the kernel's tracing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelClock {
    /// Its name in `trace_clock`.
    pub name: &'static str,
    /// The unit.
    pub unit: ClockUnit,
    /// Whether the clock is zero at the boot of the machine. The times of two such clocks differ by a few ms at most.
    pub counts_from_boot: bool,
    /// How this clock relates to the kernel's local clock, which measures durations.
    pub measured: MeasuredClock,
}

const fn clock(name: &'static str, unit: ClockUnit, measured: MeasuredClock) -> KernelClock {
    KernelClock {
        name,
        unit,
        counts_from_boot: false,
        measured,
    }
}

const fn from_boot(name: &'static str, measured: MeasuredClock) -> KernelClock {
    KernelClock {
        counts_from_boot: true,
        ..clock(name, ClockUnit::Nanoseconds, measured)
    }
}

const CLOCKS: &[KernelClock] = &[
    from_boot("local", MeasuredClock::Same),
    from_boot("global", MeasuredClock::Unproven),
    from_boot("perf", MeasuredClock::Unproven),
    from_boot("mono", MeasuredClock::Unproven),
    from_boot("mono_raw", MeasuredClock::Unproven),
    from_boot("boot", MeasuredClock::Unproven),
    clock("tai", ClockUnit::Nanoseconds, MeasuredClock::Unproven),
    clock("tsc2nsec", ClockUnit::Nanoseconds, MeasuredClock::Other),
    clock("counter", ClockUnit::Order, MeasuredClock::Other),
    // Counts ticks of the kernel (10 ms with USER_HZ = 100), whose rate no file contains.
    clock("uptime", ClockUnit::Order, MeasuredClock::Other),
    clock("x86-tsc", ClockUnit::Cycles, MeasuredClock::Other),
    clock("ppc-tb", ClockUnit::Cycles, MeasuredClock::Other),
    clock("s390-tod", ClockUnit::Cycles, MeasuredClock::Other),
    clock("tsc", ClockUnit::Cycles, MeasuredClock::Other),
];

/// Returns the clock with this name. A clock with an unknown name (of a newer kernel) is assumed to count nanoseconds,
/// like most, and nothing else is assumed.
#[must_use]
pub(crate) fn kernel_clock(name: &str) -> KernelClock {
    let known = CLOCKS.iter().find(|clock| clock.name == name);
    let unknown = clock("", ClockUnit::Nanoseconds, MeasuredClock::Unproven);
    known.copied().unwrap_or(unknown)
}
