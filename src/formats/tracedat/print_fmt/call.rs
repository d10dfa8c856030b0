//! Functions of the kernel that print formats call: SCSI commands, Xen hypercalls, device numbers.

use super::eval::Scope;
use super::expr::{Expr, Function};
use super::printf::{push_decimal, push_signed};

/// Appends the text of a call of `function`, for conversions that print text.
pub(crate) fn push(out: &mut Vec<u8>, scope: &Scope<'_>, function: Function, arguments: &[Expr]) {
    let number = |index: usize| arguments.get(index).map_or(0, |a| scope.number(a));
    match function {
        Function::Jbd2DevToName => {
            let device = number(0) as u32;
            push_decimal(out, u64::from(device >> 20));
            out.push(b':');
            push_decimal(out, u64::from(device & 0xf_ffff));
        }
        Function::XenHypercallName => {
            let name = usize::try_from(number(0))
                .ok()
                .and_then(|op| XEN_HYPERCALLS.get(op))
                .copied()
                .unwrap_or("");
            if !name.is_empty() {
                out.push(b'(');
                out.extend_from_slice(name.as_bytes());
                out.push(b')');
            }
        }
        Function::ScsiTraceParseCdb => {
            let bytes = arguments.get(1).and_then(|a| scope.bytes(a)).unwrap_or(&[]);
            push_scsi_command(out, bytes);
        }
        Function::JiffiesToMsecs => push_signed(out, number(0) as i64),
        Function::Le16ToCpup | Function::IsWritablePte => {}
    }
}

/// Returns the value of a call of `function` as a number; 0 for functions that only print text.
#[must_use]
pub(crate) fn number(scope: &Scope<'_>, function: Function, arguments: &[Expr]) -> u64 {
    let Some(first) = arguments.first() else {
        return 0;
    };
    match function {
        Function::Le16ToCpup => scope
            .bytes(first)
            .and_then(|bytes| bytes.first_chunk())
            .map_or(0, |b| u64::from(u16::from_le_bytes(*b))),
        // The file does not contain the number of jiffies per second: jiffies are printed unconverted.
        Function::JiffiesToMsecs => scope.number(first),
        Function::IsWritablePte => scope.number(first) & 2,
        _ => 0,
    }
}

/// Appends the block address and other parameters of a SCSI command, in the kernel's wording.
fn push_scsi_command(out: &mut Vec<u8>, cdb: &[u8]) {
    let byte = |at: usize| u64::from(cdb.get(at).copied().unwrap_or(0));
    let big = |at: usize, count: usize| (at..at + count).fold(0, |n, i| n << 8 | byte(i));
    // Sign-extended, as the kernel computes these addresses in an int.
    let long = |at: usize| big(at, 4) as u32 as i32 as i64 as u64;
    let operation = byte(0);
    let service = byte(8) << 8 | byte(9);
    let text = match operation {
        0x08 | 0x0a => {
            let block = (byte(1) & 0x1f) << 16 | big(2, 2);
            format!("lba={block} txlen={}", byte(4))
        }
        0x28 | 0x2f | 0x2a | 0x41 => {
            let mut text = format!(
                "lba={} txlen={} protect={}",
                long(2),
                big(7, 2),
                byte(1) >> 5
            );
            if operation == 0x41 {
                text += &format!(" unmap={}", byte(1) >> 3 & 1);
            }
            text
        }
        0xa8 | 0xaf | 0xaa => format!("lba={} txlen={} protect={}", long(2), long(6), byte(1) >> 5),
        0x88 | 0x8f | 0x8a | 0x93 => {
            let mut text = format!(
                "lba={} txlen={} protect={}",
                big(2, 4) << 32 | long(6),
                long(10),
                byte(1) >> 5
            );
            if operation == 0x93 {
                text += &format!(" unmap={}", byte(1) >> 3 & 1);
            }
            text
        }
        0x42 => {
            let regions = (big(7, 2) as u32).wrapping_sub(8) / 16;
            format!("regions={regions}")
        }
        0x9e => match byte(1) & 0x1f {
            action @ (0x10 | 0x12) => format!(
                "{} lba={} alloc_len={}",
                if action == 0x10 {
                    "READ_CAPACITY_16"
                } else {
                    "GET_LBA_STATUS"
                },
                big(2, 4) << 32 | long(6),
                big(10, 4)
            ),
            _ => "UNKNOWN".to_owned(),
        },
        0x7f => match service {
            0x09 | 0x0a | 0x0b | 0x0d => {
                let name = match service {
                    0x09 => "READ",
                    0x0a => "VERIFY",
                    0x0b => "WRITE",
                    _ => "WRITE_SAME",
                };
                let mut text = format!(
                    "{name}_32 lba={} txlen={} protect={} ei_lbrt={}",
                    big(12, 4) << 32 | long(16),
                    long(28),
                    byte(10) >> 5,
                    big(20, 4)
                );
                if service == 0x0d {
                    text += &format!(" unmap={}", byte(10) >> 3 & 1);
                }
                text
            }
            _ => "-".to_owned(),
        },
        _ => "-".to_owned(),
    };
    out.extend_from_slice(text.as_bytes());
}

/// Names of Xen's hypercalls, by number.
const XEN_HYPERCALLS: [&str; 56] = [
    "set_trap_table",
    "mmu_update",
    "set_gdt",
    "stack_switch",
    "set_callbacks",
    "fpu_taskswitch",
    "sched_op_compat",
    "dom0_op",
    "set_debugreg",
    "get_debugreg",
    "update_descriptor",
    "",
    "memory_op",
    "multicall",
    "update_va_mapping",
    "set_timer_op",
    "event_channel_op_compat",
    "xen_version",
    "console_io",
    "physdev_op_compat",
    "grant_table_op",
    "vm_assist",
    "update_va_mapping_otherdomain",
    "iret",
    "vcpu_op",
    "set_segment_base",
    "mmuext_op",
    "acm_op",
    "nmi_op",
    "sched_op",
    "callback_op",
    "xenoprof_op",
    "event_channel_op",
    "physdev_op",
    "hvm_op",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "arch_0",
    "arch_1",
    "arch_2",
    "arch_3",
    "arch_4",
    "arch_5",
    "arch_6",
    "arch_7",
];
