//! The bits of a kernel event's `common_flags`, in binary traces and in text, and what they are called.

/// Interrupts are off.
pub const IRQS_OFF: u64 = 0x01;
/// Since 6.13: it should be rescheduled when that costs nothing; before: nobody knows whether interrupts are off.
pub const LAZY: u64 = 0x02;
/// The thread should be rescheduled.
pub const NEED_RESCHED: u64 = 0x04;
/// In a hard interrupt.
pub const HARDIRQ: u64 = 0x08;
/// In a soft interrupt.
pub const SOFTIRQ: u64 = 0x10;
/// The preemption count says that it should be rescheduled, too.
pub const PREEMPT_RESCHED: u64 = 0x20;
/// In an interrupt that cannot be masked.
pub const NMI: u64 = 0x40;
/// Soft interrupts are off.
pub const BH_OFF: u64 = 0x80;

/// The flags in words.
#[must_use]
pub fn words(flags: u64) -> String {
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
