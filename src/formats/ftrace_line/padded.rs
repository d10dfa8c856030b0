//! The columns of most lines: those that the kernel and trace-cmd pad to the same places.
//!
//! ```text
//! |            bash|-96      [001] d..2.    69.626109: sched_switch: ...
//! |--- 16 bytes ---|
//! ```
//!
//! What is read here, [`any_columns`](super::prefix::any_columns) reads in the same way from a line of any form, with more
//! instructions. Of 108 texts of the corpus and the samples, 98 have most of their lines in this form.

use super::flags::Flags;
use super::prefix::{
    Group, MOST_FLAGS, Prefix, StepAndBody, TASK_WIDTH, Task, Time, body_behind, cpu_of, pid_of,
    time,
};
use super::short::find_short;
use crate::base::Leading;
use crate::base::leading::digits;

/// Parses the columns of a line of the usual form; `None` for all others.
#[inline]
pub(super) fn padded_columns(line: &[u8]) -> Option<Prefix<'_>> {
    let (column, rest) = line.split_first_chunk::<TASK_WIDTH>()?;
    let comm = column.get(name_at(column)?..)?;
    let Leading { value: pid, length } = digits(rest.strip_prefix(b"-")?)?;
    let rest = rest.get(1 + length..)?.trim_ascii_start();
    let Leading { value: cpu, length } = digits(rest.strip_prefix(b"[")?)?;
    let rest = rest.get(1 + length..)?.strip_prefix(b"]")?;
    let rest = rest.trim_ascii_start();
    let end = match rest.first()? {
        b'(' => return None,
        b'0'..=b'9' => 0,
        _ => {
            let near = rest.get(..=MOST_FLAGS)?;
            near.iter().position(|byte| *byte == b' ')?
        }
    };
    let (flags, rest) = rest.split_at_checked(end)?;
    let rest = rest.trim_ascii_start();
    let Leading {
        value: time,
        length,
    }: Leading<Time> = time(rest)?;
    let StepAndBody { step, body } = body_behind(rest.get(length..)?);
    let task = Task {
        instance: &[],
        comm,
        pid: pid_of(pid)?,
        group: Group::NoColumn,
    };
    Some(Prefix {
        step,
        body,
        ..task.columns(cpu_of(cpu)?, Flags::Letters(flags), time)
    })
}

/// Returns where the name in a padded column begins; `None` if the column begins with the name, or if there may be more
/// than a name.
#[inline]
fn name_at(column: &[u8; TASK_WIDTH]) -> Option<usize> {
    const ONES: u128 = u128::from_ne_bytes([1; TASK_WIDTH]);
    const HIGHS: u128 = ONES << 7;
    let word = u128::from_le_bytes(*column);
    let has = |byte: u8| {
        let other = word ^ (ONES * u128::from(byte));
        other.wrapping_sub(ONES) & !other & HIGHS != 0
    };
    let spaces = (word ^ (ONES * u128::from(b' '))).trailing_zeros() / u8::BITS;
    let at = spaces as usize;
    let is_name = (1..TASK_WIDTH).contains(&at)
        && !column[at].is_ascii_whitespace()
        && !has(b'[')
        && (!has(b':') || find_short(column, b": ").is_none());
    is_name.then_some(at)
}

#[cfg(test)]
mod tests {
    use super::super::prefix::any_columns;
    use super::*;

    #[test]
    fn columns_are_those_of_any_line() {
        let names = [
            "            bash",
            "          <idle>",
            "     kworker/0:1",
            " fifteen letters",
            "sixteen_letters!",
            "         a: b(c)",
            "        x [001] ",
            "                ",
            "      \t   tabbed",
            "         ends-in",
        ];
        let pids = [
            "-96      ",
            "-4194304 ",
            "-1-2 ",
            "-12 (  77) ",
            "-7",
            "- 1 ",
        ];
        let cpus = [
            "[001] ",
            "[8191]",
            "[8192] ",
            "[] ",
            "[000]  ",
            "(  77) [0] ",
            "[0] (1) ",
        ];
        let flags = [
            "",
            "..... ",
            "d..2.   ",
            "d.h1.1",
            "0.... ",
            "12345 ",
            "-0x5 ",
            "toolongflags.. ",
        ];
        let times = [
            "69.626109: ",
            "64.608890070: (+24)  ",
            "4631252878692: ",
            "1.: ",
            ".5: ",
            "99999999999999999999.1: ",
            "7.5 ",
        ];
        let mut read = 0;
        for name in names {
            for pid in pids {
                for cpu in cpus {
                    for flags in flags {
                        for time in times {
                            let line = format!("{name}{pid}{cpu}{flags}{time}a: b");
                            let found = padded_columns(line.as_bytes());
                            read += usize::from(found.is_some());
                            if found.is_some() {
                                assert_eq!(found, any_columns(line.as_bytes()), "{line}");
                            }
                        }
                    }
                }
            }
        }
        assert!(read > 300, "{read}");
    }
}
