//! The constants of trace.dat: magic, ids of sections and options, bits of a page. Reader, exporter and recorder use
//! this one definition.

/// The bytes that every trace.dat starts with.
pub(crate) const MAGIC: [u8; 10] = *b"\x17\x08\x44tracing";

/// Size of a section's header in version 7, in bytes.
pub(crate) const SECTION_HEAD_BYTES: u64 = 16;

/// Bit of a section's flags: its body is compressed.
pub(crate) const IS_PACKED: u16 = 1;

/// The number of pages that trace-cmd compresses together.
pub(crate) const CHUNK_PAGES: usize = 10;

/// The ids of sections and options; ids from 16 on are used for both.
pub mod id {
    /// End of the options; in version 7, followed by the file offset of the next options.
    pub(crate) const DONE: u16 = 0;
    /// Offset of the trace's clock from the wall clock.
    pub(crate) const DATE: u16 = 1;
    /// A CPU's statistics as text.
    pub(crate) const CPUSTAT: u16 = 2;
    /// A buffer's name and the position of its pages.
    pub(crate) const BUFFER: u16 = 3;
    /// The kernel's list of clocks, with the chosen one in brackets.
    pub(crate) const TRACECLOCK: u16 = 4;
    /// The output of `uname`.
    pub(crate) const UNAME: u16 = 5;
    /// A pair of events that `record -H` joins.
    pub(crate) const HOOK: u16 = 6;
    /// The time that `record --ts-offset` adds.
    pub(crate) const OFFSET: u16 = 7;
    /// Number of CPUs.
    pub(crate) const CPUCOUNT: u16 = 8;
    /// The version of trace-cmd.
    pub(crate) const VERSION: u16 = 9;
    /// A process's memory map.
    pub(crate) const PROCMAPS: u16 = 10;
    /// The trace's id.
    pub(crate) const TRACEID: u16 = 11;
    /// Offsets of a guest's clock from the host's.
    pub(crate) const TIME_SHIFT: u16 = 12;
    /// A guest and the host threads that run its CPUs.
    pub(crate) const GUEST: u16 = 13;
    /// Factors from TSC cycles to ns.
    pub(crate) const TSC2NSEC: u16 = 14;
    /// Names of sections.
    pub(crate) const STRINGS: u16 = 15;
    /// Layout of pages and event headers.
    pub(crate) const HEADER_INFO: u16 = 16;
    /// Formats of ftrace's own events.
    pub(crate) const FTRACE_EVENTS: u16 = 17;
    /// Formats of all other events.
    pub(crate) const EVENT_FORMATS: u16 = 18;
    /// Addresses of kernel functions.
    pub(crate) const KALLSYMS: u16 = 19;
    /// Texts of `trace_printk`.
    pub(crate) const PRINTK: u16 = 20;
    /// Names of tasks by pid.
    pub(crate) const CMDLINES: u16 = 21;
    /// A buffer that was recorded as text.
    pub(crate) const BUFFER_TEXT: u16 = 22;
    /// Types of the kernel.
    pub(crate) const BTF_FILE: u16 = 23;
    /// Texts about an instance that survived a reboot.
    pub(crate) const LAST_BOOT_INFO: u16 = 24;
    /// Addresses of kernel modules.
    pub(crate) const MODULES_FILE: u16 = 25;
    /// The processes that threads belong to. Only Threadline writes this section, and no option refers to it: trace-cmd
    /// warns of options that it does not know, but passes over such sections.
    pub(crate) const THREAD_GROUPS: u16 = 0x7467;
}

/// Offsets of the parts of a ring-buffer page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size of the commit counter at offset 8, in bytes: the size of the kernel's `long`.
    pub commit_size: usize,
    /// Offset of the first record in the page, in bytes.
    pub data: usize,
}

/// Whether events were lost before a page, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// No events were lost.
    No,
    /// Events were lost; their number is unknown.
    Some,
    /// This number of events was lost.
    Count(u64),
}

/// The bits of a page's commit counter and of its records' headers.
pub(crate) mod bits {
    /// The bits of `commit` that contain the number of bytes of records.
    pub(crate) const COMMIT_BYTES: u64 = 0x07ff_ffff;
    /// The bit of `commit` that is set if events were lost before the page.
    pub(crate) const HAS_LOST: u64 = 1 << 31;
    /// The bit of `commit` that is set if the number of lost events follows the records.
    pub(crate) const HAS_LOST_COUNT: u64 = 1 << 30;

    /// The number of bits of a time delta in a record's header.
    pub(crate) const DELTA_BITS: u32 = 27;
    /// The largest time delta of a record's header.
    pub(crate) const MAX_DELTA: u64 = (1 << DELTA_BITS) - 1;
    /// Type of a record whose length is in the word after its header; types from 1 to `MAX_WORDS` are lengths.
    pub(crate) const LONG: u32 = 0;
    /// The largest type that is a length in words of 4 bytes.
    pub(crate) const MAX_WORDS: u32 = 28;
    /// Type of bytes that are skipped.
    pub(crate) const PADDING: u32 = 29;
    /// Type of a delta whose upper bits are in the next word.
    pub(crate) const TIME_EXTEND: u32 = 30;
}
