//! The position of each field in each FXT record: one definition for the reader and the writer.
//!
//! ```text
//! bits 0..3 record type | 4..15 size in words, header included (large records: 4..35) | the rest by type
//! string reference, 16 bits: 0 empty | 1..0x7fff table index | 0x8000 + length: inline, padded to words
//! thread reference, 8 bits: 0 two words (process, thread) follow | 1..255 table index
//! ```
//!
//! Specification: "Fuchsia trace format" of the Fuchsia project.

/// A field of a word: bits `first..=last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    first: u32,
    last: u32,
}

impl Bits {
    /// Returns the field of bits `first..=last`.
    #[must_use]
    pub(crate) const fn new(first: u32, last: u32) -> Bits {
        Bits { first, last }
    }

    /// Returns the largest value that fits into the field.
    #[must_use]
    pub(crate) const fn max(self) -> u64 {
        u64::MAX >> (63 - (self.last - self.first))
    }

    /// Returns the field's value in `word`.
    #[inline(always)]
    #[must_use]
    pub(crate) const fn get(self, word: u64) -> u64 {
        (word >> self.first) & self.max()
    }

    /// Returns a word with `value` in this field and 0 elsewhere; upper bits of `value` that do not fit are cut off.
    #[inline(always)]
    #[must_use]
    pub(crate) const fn put(self, value: u64) -> u64 {
        (value & self.max()) << self.first
    }

    /// Returns `word` with `value` in this field.
    #[inline(always)]
    #[must_use]
    pub(crate) const fn set(self, word: u64, value: u64) -> u64 {
        word & !(self.max() << self.first) | self.put(value)
    }
}

/// The type of a record.
pub(crate) const RECORD_TYPE: Bits = Bits::new(0, 3);
/// The size of a record in words.
pub(crate) const RECORD_WORDS: Bits = Bits::new(4, 15);
/// Maximum number of words of a record that is not large.
pub(crate) const MOST_RECORD_WORDS: usize = RECORD_WORDS.max() as usize;
/// The first eight bytes of a little-endian file.
pub(crate) const MAGIC: u64 = 0x0016_5478_4604_0010;
/// The bit of a string reference whose text is in the record; the other bits are its length.
pub(crate) const INLINE_TEXT: u16 = 0x8000;

/// Types of records.
pub(crate) mod record_type {
    pub(crate) const METADATA: u64 = 0;
    pub(crate) const INITIALIZATION: u64 = 1;
    pub(crate) const STRING: u64 = 2;
    pub(crate) const THREAD: u64 = 3;
    pub(crate) const EVENT: u64 = 4;
    pub(crate) const BLOB: u64 = 5;
    pub(crate) const USERSPACE_OBJECT: u64 = 6;
    pub(crate) const KERNEL_OBJECT: u64 = 7;
    pub(crate) const SCHEDULING: u64 = 8;
    pub(crate) const LOG: u64 = 9;
    pub(crate) const PROFILER: u64 = 10;
    pub(crate) const LARGE: u64 = 15;
}

/// Metadata records: providers, and events about them.
pub(crate) mod metadata {
    use super::Bits;

    pub(crate) const KIND: Bits = Bits::new(16, 19);
    pub(crate) const PROVIDER: Bits = Bits::new(20, 51);
    pub(crate) const NAME_BYTES: Bits = Bits::new(52, 59);
    pub(crate) const EVENT: Bits = Bits::new(52, 55);
    pub(crate) const INFO_TYPE: Bits = Bits::new(20, 23);

    pub(crate) const PROVIDER_INFO: u64 = 1;
    pub(crate) const PROVIDER_SECTION: u64 = 2;
    pub(crate) const PROVIDER_EVENT: u64 = 3;
    pub(crate) const TRACE_INFO: u64 = 4;
    /// The event of a provider whose buffer was full.
    pub(crate) const BUFFER_FULL: u64 = 0;
}

/// String records: an entry of the string table.
pub(crate) mod string {
    use super::Bits;

    pub(crate) const INDEX: Bits = Bits::new(16, 30);
    pub(crate) const BYTES: Bits = Bits::new(32, 46);
}

/// Thread records: an entry of the thread table; process koid and thread koid follow.
pub(crate) mod thread {
    use super::Bits;

    pub(crate) const INDEX: Bits = Bits::new(16, 23);
}

/// Event records: the time follows, then inline thread, category and name, arguments, and a last word that depends on
/// the event type.
pub(crate) mod event {
    use super::Bits;

    pub(crate) const KIND: Bits = Bits::new(16, 19);
    pub(crate) const ARGS: Bits = Bits::new(20, 23);
    pub(crate) const THREAD: Bits = Bits::new(24, 31);
    pub(crate) const CATEGORY: Bits = Bits::new(32, 47);
    pub(crate) const NAME: Bits = Bits::new(48, 63);

    pub(crate) const INSTANT: u64 = 0;
    pub(crate) const COUNTER: u64 = 1;
    pub(crate) const BEGIN: u64 = 2;
    pub(crate) const END: u64 = 3;
    pub(crate) const COMPLETE: u64 = 4;
    pub(crate) const ASYNC_BEGIN: u64 = 5;
    pub(crate) const ASYNC_INSTANT: u64 = 6;
    pub(crate) const ASYNC_END: u64 = 7;
    pub(crate) const FLOW_BEGIN: u64 = 8;
    pub(crate) const FLOW_STEP: u64 = 9;
    pub(crate) const FLOW_END: u64 = 10;
}

/// Arguments: inline name and value follow the header.
pub(crate) mod argument {
    use super::Bits;

    pub(crate) const KIND: Bits = Bits::new(0, 3);
    pub(crate) const WORDS: Bits = Bits::new(4, 15);
    pub(crate) const NAME: Bits = Bits::new(16, 31);
    /// A value of 32 bits, a string reference, or a count of bytes.
    pub(crate) const HIGH: Bits = Bits::new(32, 63);

    pub(crate) const NULL: u64 = 0;
    pub(crate) const INT32: u64 = 1;
    pub(crate) const UINT32: u64 = 2;
    pub(crate) const INT64: u64 = 3;
    pub(crate) const UINT64: u64 = 4;
    pub(crate) const DOUBLE: u64 = 5;
    pub(crate) const TEXT: u64 = 6;
    pub(crate) const POINTER: u64 = 7;
    pub(crate) const KOID: u64 = 8;
    pub(crate) const BOOL: u64 = 9;
    pub(crate) const BLOB: u64 = 10;

    /// Maximum number of arguments of a record.
    pub(crate) const MOST: usize = super::event::ARGS.max() as usize;
}

/// Blob records: inline name and payload follow.
pub(crate) mod blob {
    use super::Bits;

    pub(crate) const NAME: Bits = Bits::new(16, 31);
    pub(crate) const BYTES: Bits = Bits::new(32, 46);
    pub(crate) const KIND: Bits = Bits::new(48, 55);
}

/// Userspace object records: pointer, process koid (unless there is a thread index), inline name and arguments follow.
pub(crate) mod userspace_object {
    use super::Bits;

    pub(crate) const THREAD: Bits = Bits::new(16, 23);
    pub(crate) const NAME: Bits = Bits::new(24, 39);
    pub(crate) const ARGS: Bits = Bits::new(40, 43);
}

/// Kernel object records: koid, inline name and arguments follow.
pub(crate) mod kernel_object {
    use super::Bits;

    pub(crate) const KIND: Bits = Bits::new(16, 23);
    pub(crate) const NAME: Bits = Bits::new(24, 39);
    pub(crate) const ARGS: Bits = Bits::new(40, 43);

    /// `ZX_OBJ_TYPE_NONE`.
    pub(crate) const NO_TYPE: u64 = 0;
    pub(crate) const PROCESS: u64 = 1;
    pub(crate) const THREAD: u64 = 2;
}

/// Scheduling records: the time and koids follow, then arguments.
pub(crate) mod scheduling {
    use super::Bits;

    pub(crate) const KIND: Bits = Bits::new(60, 63);
    pub(crate) const ARGS: Bits = Bits::new(16, 19);
    pub(crate) const CPU: Bits = Bits::new(20, 35);
    pub(crate) const STATE: Bits = Bits::new(36, 39);

    pub(crate) const LEGACY_SWITCH: u64 = 0;
    pub(crate) const SWITCH: u64 = 1;
    pub(crate) const WAKEUP: u64 = 2;

    /// The weight of an idle thread.
    pub(crate) const IDLE_WEIGHT: i32 = i32::MIN;

    /// Switches of the older form: the time and inline threads follow.
    pub(crate) mod legacy {
        use super::Bits;

        pub(crate) const CPU: Bits = Bits::new(16, 23);
        pub(crate) const STATE: Bits = Bits::new(24, 27);
        pub(crate) const OUTGOING: Bits = Bits::new(28, 35);
        pub(crate) const INCOMING: Bits = Bits::new(36, 43);
        pub(crate) const OUTGOING_PRIORITY: Bits = Bits::new(44, 51);
        pub(crate) const INCOMING_PRIORITY: Bits = Bits::new(52, 59);
    }
}

/// Log records: the time, an inline thread and the message follow.
pub(crate) mod log {
    use super::Bits;

    pub(crate) const BYTES: Bits = Bits::new(16, 30);
    pub(crate) const THREAD: Bits = Bits::new(32, 39);
}

/// Profiler records: the time, an inline thread and a body that depends on the kind follow.
pub(crate) mod profiler {
    use super::Bits;

    pub(crate) const KIND: Bits = Bits::new(16, 19);
    pub(crate) const THREAD: Bits = Bits::new(20, 27);
    pub(crate) const MODULE: Bits = Bits::new(28, 43);
    pub(crate) const NAME_BYTES: Bits = Bits::new(44, 51);
    pub(crate) const BUILD_ID_BYTES: Bits = Bits::new(52, 59);
    pub(crate) const FLAGS: Bits = Bits::new(44, 46);
    pub(crate) const FRAMES: Bits = Bits::new(28, 35);

    pub(crate) const A_MODULE: u64 = 0;
    pub(crate) const A_MAPPING: u64 = 1;
    pub(crate) const A_BACKTRACE: u64 = 2;
}

/// Large records: a second word of fields follows, then the fields of the record's format, and the payload.
pub(crate) mod large {
    use super::Bits;

    pub(crate) const WORDS: Bits = Bits::new(4, 35);
    pub(crate) const KIND: Bits = Bits::new(36, 39);
    pub(crate) const FORMAT: Bits = Bits::new(40, 43);
    /// The format with a time, a thread and arguments.
    pub(crate) const EVENT: u64 = 0;
    /// The format without a time, a thread and arguments.
    pub(crate) const BLOB: u64 = 1;

    // In the second word:
    pub(crate) const CATEGORY: Bits = Bits::new(0, 15);
    pub(crate) const NAME: Bits = Bits::new(16, 31);
    pub(crate) const ARGS: Bits = Bits::new(32, 35);
    pub(crate) const THREAD: Bits = Bits::new(36, 43);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_they_are_written() {
        assert_eq!(RECORD_TYPE.get(MAGIC), record_type::METADATA);
        assert_eq!(RECORD_WORDS.get(MAGIC), 1);
        assert_eq!(metadata::KIND.get(MAGIC), metadata::TRACE_INFO);
        assert_eq!(Bits::new(24, 55).get(MAGIC), 0x1654_7846);
        assert_eq!(Bits::new(0, 63).get(u64::MAX), u64::MAX);
        let word = event::NAME.put(7) | event::CATEGORY.put(0x1_0003);
        assert_eq!((event::NAME.get(word), event::CATEGORY.get(word)), (7, 3));
        let set = event::NAME.set(u64::MAX, 0x8005);
        assert_eq!(event::NAME.get(set), 0x8005);
        assert_eq!(event::CATEGORY.get(set), 0xffff);
    }
}
