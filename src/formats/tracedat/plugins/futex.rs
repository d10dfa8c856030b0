//! The futex system call: operations by name, with only the arguments that each operation has.

use super::plugin::{Event, Plugin, State, Then};
use crate::formats::tracedat::print_fmt::printf::{push_decimal, push_hex_digits};

pub(super) const PLUGINS: &[Plugin] = &[Plugin {
    system: "syscalls",
    event: "sys_enter_futex",
    fields: &["uaddr", "op", "val", "utime", "uaddr2", "val3"],
    show,
}];

/// How an argument is printed.
#[derive(Clone, Copy)]
enum Shown {
    Hex(usize, &'static str),
    Decimal(usize, &'static str),
}

use Shown::{Decimal, Hex};

const VALUE: Shown = Decimal(2, " val=");
const EXPECTED: Shown = Hex(2, " val=0x");
const TIME: Shown = Hex(3, " utime=0x");
const VALUE2: Shown = Decimal(3, " val2=");
const ADDRESS2: Shown = Hex(4, " uaddr2=0x");
const VALUE3: Shown = Hex(5, " val3=0x");

const OPERATIONS: [(&str, &[Shown]); 13] = [
    ("FUTEX_WAIT", &[EXPECTED, TIME]),
    ("FUTEX_WAKE", &[VALUE]),
    ("FUTEX_FD", &[VALUE]),
    ("FUTEX_REQUEUE", &[VALUE, VALUE2, ADDRESS2]),
    ("FUTEX_CMP_REQUEUE", &[VALUE, VALUE2, ADDRESS2, VALUE3]),
    ("FUTEX_WAKE_OP", &[VALUE, VALUE2, ADDRESS2, VALUE3]),
    ("FUTEX_LOCK_PI", &[TIME]),
    ("FUTEX_UNLOCK_PI", &[]),
    ("FUTEX_TRYLOCK_PI", &[]),
    ("FUTEX_WAIT_BITSET", &[EXPECTED, TIME, VALUE3]),
    ("FUTEX_WAKE_BITSET", &[VALUE, VALUE3]),
    ("FUTEX_WAIT_REQUEUE_PI", &[EXPECTED, TIME, ADDRESS2, VALUE3]),
    ("FUTEX_CMP_REQUEUE_PI", &[VALUE, VALUE2, ADDRESS2, VALUE3]),
];

fn show(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    for index in 0..6 {
        if event.require(out, index).is_none() {
            return Then::PrintFmt;
        }
    }
    let value = |index| event.value(index).unwrap_or(0);
    let operation = value(1);
    let Some((name, arguments)) = usize::try_from(operation & !0x180)
        .ok()
        .and_then(|command| OPERATIONS.get(command))
    else {
        return Then::PrintFmt;
    };
    out.extend_from_slice(b"op=");
    out.extend_from_slice(name.as_bytes());
    if operation & 0x80 != 0 {
        out.extend_from_slice(b"|FUTEX_PRIVATE_FLAG");
    }
    if operation & 0x100 != 0 {
        out.extend_from_slice(b"|FUTEX_CLOCK_REALTIME");
    }
    let mut push = |shown: Shown| match shown {
        Hex(index, label) => {
            out.extend_from_slice(label.as_bytes());
            let value = value(index);
            let digits = 16 - value.leading_zeros() as usize / 4;
            push_hex_digits(out, value, digits.max(8));
        }
        Decimal(index, label) => {
            out.extend_from_slice(label.as_bytes());
            push_decimal(out, value(index));
        }
    };
    push(Hex(0, " uaddr=0x"));
    arguments.iter().copied().for_each(push);
    Then::Done
}
