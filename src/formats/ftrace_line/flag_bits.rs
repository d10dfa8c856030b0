//! The bits of a kernel event's `common_flags`, in binary and text traces, and their names.

/// Interrupts are off.
pub(crate) const IRQS_OFF: u64 = 0x01;
/// Since Linux 6.13: lazy rescheduling is wanted. Before 6.13: unknown whether interrupts are off.
pub(crate) const LAZY: u64 = 0x02;
/// The thread should be rescheduled.
pub(crate) const NEED_RESCHED: u64 = 0x04;
/// In a hard interrupt.
pub(crate) const HARDIRQ: u64 = 0x08;
/// In a soft interrupt.
pub(crate) const SOFTIRQ: u64 = 0x10;
/// The preemption count also requests rescheduling.
pub(crate) const PREEMPT_RESCHED: u64 = 0x20;
/// In a non-maskable interrupt.
pub(crate) const NMI: u64 = 0x40;
/// Soft interrupts are off.
pub(crate) const BH_OFF: u64 = 0x80;

/// Returns the flags in words.
#[must_use]
pub(crate) fn words(flags: u64) -> String {
    const WORDS: [(u64, &str); 7] = [
        (IRQS_OFF, "interrupts off"),
        (NEED_RESCHED, "needs rescheduling"),
        (HARDIRQ, "in hardirq"),
        (SOFTIRQ, "in softirq"),
        (PREEMPT_RESCHED, "preempt needs rescheduling"),
        (NMI, "in NMI"),
        (BH_OFF, "softirqs off"),
    ];
    let set = WORDS
        .iter()
        .filter(|(mask, _)| flags & mask != 0)
        .map(|(_, word)| *word);
    set.collect::<Vec<_>>().join(", ")
}
