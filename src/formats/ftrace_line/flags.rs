//! Converts the latency flags of a line to the `common_flags` and `common_preempt_count` of a binary trace.
//!
//! ```text
//! d N h 2 1
//! | | | | migrate-disable depth, hex
//! | | | preempt depth, hex
//! | | h hardirq, s softirq, H both, z NMI, Z NMI in a hardirq
//! | N n p B b L l: need-resched, preempt-need-resched, lazily
//! d irqs off, b softirqs off, D both, X unknown
//! ```
//!
//! The letters are those of the kernel's `trace_print_lat_fmt`. Kernels with other columns describe them in a legend in
//! the header (`# _-----=> irqs-off`); real-time kernels have had up to eight.
//!
//! Of the 28 kernel texts of the corpus and the samples, 22 have a legend, with the five columns above. 2 reports of
//! trace-cmd, of one recording of a real-time kernel, have a legend with `preempt-lazy-depth`. No text at hand,
//! and no test, has `lock-depth`.

use super::flag_bits::{
    BH_OFF, HARDIRQ, IRQS_OFF, LAZY, NEED_RESCHED, NMI, PREEMPT_RESCHED, SOFTIRQ, words,
};
use crate::base::lines::lines;
use crate::event::{Field, FieldRole, Value};

/// The flags column of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flags<'a> {
    /// Letters, or `-0x5` from `trace-cmd report -R`; empty if the column does not exist.
    Letters(&'a [u8]),
    /// Numbers, as in the verbose latency format.
    Numbers {
        /// The bits of `common_flags`.
        flags: u64,
        /// The preemption depth.
        depth: u64,
    },
}

/// The writer of a text; writers use different letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Writer {
    /// The kernel.
    #[default]
    Kernel,
    /// trace-cmd, which uses one letter for all kinds of rescheduling.
    TraceCmd,
}

/// Meaning of a letter's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    IrqsOff,
    NeedResched,
    LazyResched,
    Interrupt,
    PreemptDepth,
    LazyDepth,
    MigrateDisable,
    LockDepth,
}

/// Meaning of the letters in one file, by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Legend {
    writer: Writer,
    columns: Vec<Column>,
}

/// Values of a line's flags, under the names of a binary trace's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlagValues {
    /// `common_flags`.
    pub flags: Option<u64>,
    /// `common_preempt_count`: the low four bits are the preemption depth, the others the migrate-disable depth.
    pub preempt_count: Option<u64>,
    /// `common_migrate_disable`, if a real-time kernel counts it separately.
    pub migrate_disable: Option<u64>,
    /// `common_preempt_lazy_count` of real-time kernels.
    pub preempt_lazy_count: Option<u64>,
    /// `common_lock_depth` of old kernels.
    pub lock_depth: Option<u64>,
}

/// The names of the fields of a binary trace's event that contain the values of [`FlagValues`], in its order.
pub(crate) const FLAG_FIELDS: [&str; 5] = [
    "common_flags",
    "common_preempt_count",
    "common_migrate_disable",
    "common_preempt_lazy_count",
    "common_lock_depth",
];

impl FlagValues {
    /// Returns the flags column as the kernel prints it.
    #[must_use]
    pub(crate) fn letters(self) -> Vec<u8> {
        let flags = self.flags.unwrap_or(0);
        let count = self.preempt_count.unwrap_or(0);
        let has = |bits: u64| flags & bits == bits;
        let depth = |depth: u64| match depth {
            0 => b'.',
            _ => char::from_digit(depth as u32 & 15, 16).map_or(b'.', |digit| digit as u8),
        };
        vec![
            match (has(IRQS_OFF), has(BH_OFF)) {
                (true, true) => b'D',
                (true, false) => b'd',
                (false, true) => b'b',
                (false, false) => b'.',
            },
            match (has(NEED_RESCHED), has(LAZY), has(PREEMPT_RESCHED)) {
                (true, true, true) => b'B',
                (true, false, true) => b'N',
                (false, true, true) => b'L',
                (true, true, false) => b'b',
                (true, false, false) => b'n',
                (false, false, true) => b'p',
                (false, true, false) => b'l',
                (false, false, false) => b'.',
            },
            match (has(NMI), has(HARDIRQ), has(SOFTIRQ)) {
                (true, true, _) => b'Z',
                (true, false, _) => b'z',
                (false, true, true) => b'H',
                (false, true, false) => b'h',
                (false, false, true) => b's',
                (false, false, false) => b'.',
            },
            depth(count & 15),
            depth(count >> 4 & 15),
        ]
    }

    /// Returns the known values as fields of a binary trace's event.
    pub(crate) fn fields(self) -> impl Iterator<Item = Field> {
        let values = [
            self.flags,
            self.preempt_count,
            self.migrate_disable,
            self.preempt_lazy_count,
            self.lock_depth,
        ];
        let rows = FLAG_FIELDS.into_iter().zip(values);
        rows.filter_map(|(name, value)| {
            let value = value?;
            Some(Field {
                name: name.to_owned(),
                type_name: "unsigned char".to_owned(),
                value: Value::UInt(value),
                shown: match name {
                    "common_flags" => words(value),
                    _ => String::new(),
                },
                role: FieldRole::Common,
            })
        })
    }
}

/// Returns whether a text can be a flags column.
#[must_use]
pub(crate) fn is_flags(text: &[u8]) -> bool {
    let [irqs, resched, third, rest @ ..] = text else {
        return false;
    };
    let is_interrupt = |byte: &u8| b".hHszZ".contains(byte);
    b".dDbX".contains(irqs)
        && b".NnpBbLl".contains(resched)
        && (is_interrupt(third)
            || (b".lL".contains(third) && rest.first().is_some_and(is_interrupt)))
        && (1..=6).contains(&rest.len())
        && rest
            .iter()
            .all(|byte| *byte == b'.' || byte.is_ascii_hexdigit() || is_interrupt(byte))
}

impl Legend {
    /// Returns the legend in the head of a file, or that of a kernel without a legend.
    #[must_use]
    pub(crate) fn of(head: &[u8]) -> Legend {
        let mut columns = Vec::new();
        let mut writer = None;
        for line in lines(head, 1, 0) {
            let Some(comment) = line.bytes.strip_prefix(b"#") else {
                if line.bytes.trim_ascii_start().starts_with(b"cpus=")
                    || line.bytes.starts_with(b"version = ")
                {
                    writer = writer.or(Some(Writer::TraceCmd));
                }
                continue;
            };
            writer = writer.or(Some(Writer::Kernel));
            if let Some(at) = memchr::memmem::find(comment, b"=> ") {
                columns.extend(comment.get(at + 3..).and_then(column_of));
            }
        }
        // Use the default if there is no legend, or if the file contains the legends of several tracers.
        let is_whole = columns.first() == Some(&Column::IrqsOff)
            && columns.iter().filter(|it| **it == Column::IrqsOff).count() == 1;
        if !is_whole {
            columns.clear();
        }
        Legend {
            writer: writer.unwrap_or_default(),
            columns,
        }
    }

    /// Returns the meaning of the letters for a flags column of `length` letters.
    fn columns(&self, length: usize) -> &[Column] {
        use Column::{
            Interrupt, IrqsOff, LazyDepth, LazyResched, MigrateDisable, NeedResched, PreemptDepth,
        };
        const USUAL: &[Column] = &[
            IrqsOff,
            NeedResched,
            Interrupt,
            PreemptDepth,
            MigrateDisable,
        ];
        const REAL_TIME: &[Column] = &[
            IrqsOff,
            NeedResched,
            LazyResched,
            Interrupt,
            PreemptDepth,
            LazyDepth,
            MigrateDisable,
        ];
        match self.columns.len() {
            0 if length < 7 => USUAL,
            0 => REAL_TIME,
            _ => &self.columns,
        }
    }

    /// Parses the flags of a line.
    #[must_use]
    pub(crate) fn read(&self, flags: Flags<'_>) -> FlagValues {
        let letters = match flags {
            Flags::Numbers { flags, depth } => {
                return FlagValues {
                    flags: Some(flags),
                    preempt_count: Some(depth),
                    ..FlagValues::default()
                };
            }
            Flags::Letters(letters) => letters,
        };
        if letters.is_empty() {
            return FlagValues::default();
        }
        let number = letters.strip_prefix(b"-").unwrap_or(letters);
        if let Some(number) = number.strip_prefix(b"0x") {
            return FlagValues {
                flags: hex(number),
                ..FlagValues::default()
            };
        }
        let columns = self.columns(letters.len());
        let is_real_time = columns.contains(&Column::LazyDepth);
        let mut values = FlagValues::default();
        let mut bits = 0;
        for (at, column) in columns.iter().enumerate() {
            let Some(letter) = letters.get(at).copied() else {
                break;
            };
            let depth = || match (column, at + 1 == columns.len()) {
                // Old kernels print the whole preemption count in the last column.
                (Column::PreemptDepth, true) => letters.get(at..).and_then(hex),
                _ => hex(&[letter]),
            };
            match column {
                Column::IrqsOff => bits |= irqs_bits(letter),
                Column::NeedResched => bits |= resched_bits(letter, self.writer),
                Column::LazyResched => bits |= if letter == b'.' { 0 } else { LAZY },
                Column::Interrupt => bits |= interrupt_bits(letter),
                Column::PreemptDepth => values.preempt_count = Some(depth().unwrap_or(0)),
                Column::LazyDepth => values.preempt_lazy_count = Some(depth().unwrap_or(0)),
                Column::MigrateDisable if is_real_time => {
                    values.migrate_disable = Some(depth().unwrap_or(0));
                }
                Column::MigrateDisable => {
                    let count = values.preempt_count.unwrap_or(0);
                    values.preempt_count = Some(count | (depth().unwrap_or(0) << 4));
                }
                Column::LockDepth => values.lock_depth = depth(),
            }
        }
        values.flags = Some(bits);
        values
    }
}

/// Returns the meaning for the words of a legend, like `irqs-off/BH-disabled`.
fn column_of(words: &[u8]) -> Option<Column> {
    let has = |word: &[u8]| memchr::memmem::find(words, word).is_some();
    Some(if has(b"irqs-off") {
        Column::IrqsOff
    } else if has(b"need-resched") {
        match has(b"lazy") {
            true => Column::LazyResched,
            false => Column::NeedResched,
        }
    } else if has(b"hardirq") {
        Column::Interrupt
    } else if has(b"preempt-lazy") {
        Column::LazyDepth
    } else if has(b"preempt-depth") {
        Column::PreemptDepth
    } else if has(b"migrate-disable") {
        Column::MigrateDisable
    } else if has(b"lock-depth") {
        Column::LockDepth
    } else {
        return None;
    })
}

fn irqs_bits(letter: u8) -> u64 {
    match letter {
        b'd' => IRQS_OFF,
        b'b' => BH_OFF,
        b'D' => IRQS_OFF | BH_OFF,
        b'X' => LAZY,
        _ => 0,
    }
}

fn resched_bits(letter: u8, writer: Writer) -> u64 {
    match (letter, writer) {
        (b'N', Writer::TraceCmd) | (b'n', _) => NEED_RESCHED,
        (b'N', Writer::Kernel) => NEED_RESCHED | PREEMPT_RESCHED,
        (b'p', _) => PREEMPT_RESCHED,
        (b'B', _) => NEED_RESCHED | LAZY | PREEMPT_RESCHED,
        (b'b', _) => NEED_RESCHED | LAZY,
        (b'L', _) => LAZY | PREEMPT_RESCHED,
        (b'l', _) => LAZY,
        _ => 0,
    }
}

fn interrupt_bits(letter: u8) -> u64 {
    match letter {
        b'h' => HARDIRQ,
        b's' => SOFTIRQ,
        b'H' => HARDIRQ | SOFTIRQ,
        b'z' => NMI,
        b'Z' => NMI | HARDIRQ,
        _ => 0,
    }
}

fn hex(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(head: &str, letters: &str) -> (Option<u64>, Option<u64>) {
        let values = Legend::of(head.as_bytes()).read(Flags::Letters(letters.as_bytes()));
        (values.flags, values.preempt_count)
    }

    #[test]
    fn every_letter_of_the_kernel_is_its_bit() {
        for (letters, flags, count) in [
            (".....", 0, 0),
            ("d..2.", 0x01, 2),
            ("dNs1.", 0x35, 1),
            ("DNh21", 0xad, 0x12),
            ("b.H.3", 0x98, 0x30),
            ("XpZ..", 0x62 | 0x08, 0),
            (".nz..", 0x44, 0),
            (".B...", 0x26, 0),
            (".b...", 0x06, 0),
            (".L...", 0x22, 0),
            (".l...", 0x02, 0),
            ("d.h1", 0x09, 1),
            ("...a.", 0, 10),
        ] {
            assert_eq!(values("", letters), (Some(flags), Some(count)), "{letters}");
        }
        assert_eq!(values("", ""), (None, None));
        assert_eq!(values("", "-0x15"), (Some(0x15), None));
        // trace-cmd uses a single letter for need-resched.
        assert_eq!(values("cpus=2\n", "dN.1."), (Some(0x05), Some(1)));
        assert_eq!(values("# tracer: nop\n", "dN.1."), (Some(0x25), Some(1)));
        let verbose = Flags::Numbers {
            flags: 37,
            depth: 2,
        };
        let verbose = Legend::of(b"").read(verbose);
        assert_eq!((verbose.flags, verbose.preempt_count), (Some(37), Some(2)));
    }

    #[test]
    fn a_legend_says_what_the_columns_are() {
        let old = "#  _-----=> irqs-off\n# / _----=> need-resched\n#| / _---=> hardirq/softirq\n#|| / _--=> preempt-depth\n#||| /     delay\n";
        assert_eq!(values(old, "d.h12"), (Some(0x09), Some(0x12)));
        let real_time = "#  _-------=> irqs-off\n# / _------=> need-resched\n#| / _-----=> need-resched_lazy\n#|| / _----=> hardirq/softirq\n#||| / _---=> preempt-depth\n#|||| / _--=> preempt-lazy-depth\n#||||| / _-=> migrate-disable\n";
        for head in [real_time, ""] {
            let found = Legend::of(head.as_bytes()).read(Flags::Letters(b"dNLh123"));
            assert_eq!((found.flags, found.preempt_count), (Some(0x2f), Some(1)));
            assert_eq!(
                (found.preempt_lazy_count, found.migrate_disable),
                (Some(2), Some(3))
            );
        }
        assert!(
            is_flags(b"d..2.") && is_flags(b"dn.h5..") && is_flags(b"DNh21") && is_flags(b"....")
        );
        assert!(!is_flags(b"hello") && !is_flags(b"d..") && !is_flags(b"12345"));
    }
}
