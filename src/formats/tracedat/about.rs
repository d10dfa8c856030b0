//! Facts from the metadata of a file about its machine, its clock, and the program that recorded it.

use super::TraceFile;
use super::cpu_stats::losses;
use crate::base::Endian;
use crate::event::syscalls::Abi;
use crate::event::{Fact, FirstDay, TraceInfo};

/// Returns the file's system call table: by the machine in UNAME or, if that is unknown, by byte order and size of
/// `long`.
#[must_use]
pub(crate) fn abi_of(file: &TraceFile) -> Abi {
    let machine = file.options.uname.split_whitespace().last().unwrap_or("");
    match machine {
        "x86_64" | "amd64" => Abi::X86_64,
        "i386" | "i486" | "i586" | "i686" => Abi::I386,
        "aarch64" | "arm64" | "riscv64" | "loongarch64" => Abi::Aarch64,
        "s390x" => Abi::S390x,
        machine if machine.starts_with("arm") => Abi::Arm,
        _ => match (file.endian(), file.metadata.kernel_long_size()) {
            (Endian::Big, _) => Abi::S390x,
            (_, 4) => Abi::I386,
            _ => Abi::X86_64,
        },
    }
}

/// Returns the facts that the file states about itself.
pub(crate) fn info_of(file: &TraceFile) -> TraceInfo {
    let options = &file.options;
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: &str| {
        if !value.trim().is_empty() {
            facts.push(Fact::new(name, value.trim()));
        }
    };
    fact("uname", &options.uname);
    fact("recorded with", &format!("trace-cmd {}", options.version));
    fact("compression", &file.header.compression);
    for buffer in file.buffers.iter().filter(|it| !it.name.is_empty()) {
        fact(
            "instance",
            &format!("{} (clock {})", buffer.name, buffer.clock),
        );
    }
    for hook in &options.hooks {
        fact("hook", hook);
    }
    if let Some(id) = options.trace_id {
        fact("trace id", &format!("{id:#x}"));
    }
    for guest in &options.guests {
        let text = format!("{} with {} CPUs", guest.name, guest.cpus.len());
        fact("guest", &text);
    }
    if options.time_shift.is_some() {
        fact("times", "shifted to the clock of the host");
    }
    for stat in &options.cpu_stats {
        fact("statistics", stat);
    }
    TraceInfo {
        format: format!("trace.dat {}", file.header.version),
        is_of_kernel: true,
        clock: file.clock().to_owned(),
        clock_unit: file.clock_unit(),
        wall_clock_zero_ns: options.date_ns.map(|_| 0),
        first_day: FirstDay::OfFile,
        trace_id: options.trace_id,
        shifted_to: options.time_shift.as_ref().map(|shift| shift.peer),
        uname: Some(options.uname.trim().to_owned()).filter(|uname| !uname.is_empty()),
        cpu_count: options.cpu_count,
        losses: losses(&options.cpu_stats),
        facts,
        ..TraceInfo::default()
    }
}
