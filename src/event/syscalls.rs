//! Names of system calls by number, for each architecture that traces come from.
//!
//! The tables are text files in the folder `syscalls` with the kernel's numbers, one `number name` per line.

use std::sync::OnceLock;

/// An architecture's system call table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Abi {
    /// 64-bit x86.
    #[default]
    X86_64,
    /// 32-bit x86.
    I386,
    /// 64-bit ARM, and the machines that share its numbers.
    Aarch64,
    /// 32-bit ARM.
    Arm,
    /// 64-bit IBM Z.
    S390x,
}

impl Abi {
    /// Returns the table for 32-bit programs on this architecture, if their numbers differ.
    #[must_use]
    pub(crate) fn compat(self) -> Option<Abi> {
        match self {
            Abi::X86_64 => Some(Abi::I386),
            Abi::Aarch64 => Some(Abi::Arm),
            Abi::I386 | Abi::Arm | Abi::S390x => None,
        }
    }
}

/// Numbers from this one on are ignored; all numbers in the tables are smaller.
const MAX_NUMBER: usize = 1024;

type Table = OnceLock<Vec<&'static str>>;

/// Returns the name of system call `number`, or `None` if the table does not contain it.
#[must_use]
pub fn name(abi: Abi, number: u64) -> Option<&'static str> {
    static TABLES: [Table; 5] = [const { Table::new() }; 5];
    let (table, text) = match abi {
        Abi::X86_64 => (&TABLES[0], include_str!("syscalls/x86_64.txt")),
        Abi::I386 => (&TABLES[1], include_str!("syscalls/i386.txt")),
        Abi::Aarch64 => (&TABLES[2], include_str!("syscalls/aarch64.txt")),
        Abi::Arm => (&TABLES[3], include_str!("syscalls/arm.txt")),
        Abi::S390x => (&TABLES[4], include_str!("syscalls/s390x.txt")),
    };
    table
        .get_or_init(|| read_table(text))
        .get(usize::try_from(number).ok()?)
        .copied()
        .filter(|name| !name.is_empty())
}

fn read_table(text: &'static str) -> Vec<&'static str> {
    let mut table = Vec::new();
    for line in text.lines() {
        let Some((number, name)) = line.split_once(' ') else {
            continue;
        };
        if let Some(number) = number.parse().ok().filter(|&number| number < MAX_NUMBER) {
            if table.len() <= number {
                table.resize(number + 1, "");
            }
            table[number] = name;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_count_differently() {
        for (abi, number) in [
            (Abi::X86_64, 257),
            (Abi::I386, 295),
            (Abi::Aarch64, 56),
            (Abi::Arm, 322),
            (Abi::S390x, 288),
        ] {
            assert_eq!(name(abi, number), Some("openat"), "{abi:?}");
            assert_eq!(name(abi, u64::MAX), None);
            assert_eq!(name(abi, 1023), None);
        }
        assert_eq!(name(Abi::X86_64, 0), Some("read"));
    }
}
