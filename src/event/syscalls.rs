//! Names of system calls by number, for each machine that traces come from.

/// The machine's system call table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Abi {
    /// 64-bit x86.
    #[default]
    X86_64,
    /// 32-bit x86.
    I386,
}

/// The name of system call `number`, if the table has it.
#[must_use]
pub fn name(abi: Abi, number: u64) -> Option<&'static str> {
    let table: &[&str] = match abi {
        Abi::X86_64 | Abi::I386 => &[],
    };
    table
        .get(usize::try_from(number).ok()?)
        .copied()
        .filter(|name| !name.is_empty())
}
