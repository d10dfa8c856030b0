//! Virtual machines: the reasons for exits to the host, and the guest's instruction pointer at the exit.

use super::plugin::{Event, Plugin, State, Then};
use crate::formats::tracedat::print_fmt::printf::{push_decimal, push_hex, push_hex_digits};

const ROLE: &[&str] = &["role", "root_count", "unsync", "created", "gfn"];

const fn role(event: &'static str) -> Plugin {
    Plugin {
        system: "kvmmmu",
        event,
        fields: ROLE,
        show: show_role,
    }
}

pub(super) const PLUGINS: &[Plugin] = &[
    Plugin {
        system: "kvm",
        event: "kvm_exit",
        fields: &["exit_reason", "isa", "guest_rip", "info1", "info2"],
        show: show_exit,
    },
    Plugin {
        system: "kvm",
        event: "kvm_entry",
        fields: &["vcpu_id", "rip"],
        show: show_entry,
    },
    Plugin {
        system: "kvm",
        event: "kvm_emulate_insn",
        fields: &["rip", "csbase", "len", "flags", "failed", "insn"],
        show: show_instruction,
    },
    Plugin {
        system: "kvm",
        event: "kvm_nested_vmexit",
        fields: NESTED,
        show: show_nested,
    },
    Plugin {
        system: "kvm",
        event: "kvm_nested_vmexit_inject",
        fields: NESTED,
        show: show_inject,
    },
    Plugin {
        system: "kvmmmu",
        event: "kvm_mmu_get_page",
        fields: ROLE,
        show: show_get_page,
    },
    role("kvm_mmu_sync_page"),
    role("kvm_mmu_unsync_page"),
    role("kvm_mmu_zap_page"),
    role("kvm_mmu_prepare_zap_page"),
];

const NESTED: &[&str] = &[
    "exit_code",
    "isa",
    "rip",
    "exit_info1",
    "exit_info2",
    "exit_int_info",
    "exit_int_info_err",
];

/// Appends `reason NAME`, from the fields 0 (reason) and 1 (kind of processor).
fn push_reason(out: &mut Vec<u8>, event: &Event<'_>) -> Option<()> {
    let value = event.require(out, 0)?;
    let names: &[(u32, &str)] = match event.value(1).unwrap_or(1) {
        1 => &VMX_REASONS,
        2 => &SVM_REASONS,
        _ => {
            out.extend_from_slice(b"reason UNKNOWN-ISA");
            return Some(());
        }
    };
    out.extend_from_slice(b"reason ");
    match names.iter().find(|(number, _)| *number == value as u32) {
        Some((_, name)) => out.extend_from_slice(name.as_bytes()),
        None => {
            out.extend_from_slice(b"UNKNOWN (");
            push_decimal(out, value);
            out.push(b')');
        }
    }
    Some(())
}

fn push_labelled(out: &mut Vec<u8>, label: &str, value: u64) {
    out.extend_from_slice(label.as_bytes());
    push_hex(out, value);
}

fn show_exit(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    if push_reason(out, event).is_none() {
        return Then::PrintFmt;
    }
    let Some(address) = event.require(out, 2) else {
        return Then::PrintFmt;
    };
    push_labelled(out, " rip 0x", address);
    if let (Some(first), Some(second)) = (event.value(3), event.value(4)) {
        push_labelled(out, " info ", first);
        push_labelled(out, " ", second);
    }
    Then::Done
}

fn show_entry(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    match event.value(0) {
        Some(cpu) => {
            out.extend_from_slice(b" vcpu ");
            push_decimal(out, u64::from(cpu as u32));
        }
        None => out.extend_from_slice(b"CAN'T FIND FIELD \"vcpu_id\" IN EVENT \"kvm_entry\""),
    }
    let Some(address) = event.require(out, 1) else {
        return Then::PrintFmt;
    };
    push_labelled(out, " rip 0x", address);
    Then::Done
}

fn show_instruction(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    let values = [0, 1, 2, 3, 4].map(|index| event.require(out, index));
    let [
        Some(address),
        Some(base),
        Some(length),
        Some(_),
        Some(failed),
    ] = values
    else {
        return Then::PrintFmt;
    };
    let Some(bytes) = event
        .field(5)
        .and_then(|field| field.data(event.scope.record, event.scope.endian))
    else {
        return Then::PrintFmt;
    };
    push_labelled(out, "", base);
    push_labelled(out, ":", address);
    out.extend_from_slice(b": ");
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(15);
    for (i, &byte) in bytes.iter().take(length).enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        push_hex_digits(out, u64::from(byte), 2);
    }
    if failed != 0 {
        out.extend_from_slice(b" FAIL");
    }
    Then::Done
}

fn show_nested(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then {
    let Some(address) = event.require(out, 2) else {
        return Then::PrintFmt;
    };
    push_labelled(out, " rip ", address);
    show_inject(out, event, state)
}

fn show_inject(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    if push_reason(out, event).is_none() {
        return Then::PrintFmt;
    }
    let labels = [" info1 ", " info2 ", " int_info ", " int_info_err "];
    for (label, index) in labels.into_iter().zip(3..) {
        if let Some(value) = event.value(index) {
            push_labelled(out, label, value);
        }
    }
    Then::Done
}

fn show_get_page(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then {
    let Some(created) = event.require(out, 3) else {
        return Then::PrintFmt;
    };
    out.extend_from_slice(if created != 0 { b"new " } else { b"existing " });
    let Some(frame) = event.require(out, 4) else {
        return Then::PrintFmt;
    };
    push_labelled(out, "sp gfn ", frame);
    out.push(b' ');
    show_role(out, event, state)
}

fn show_role(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    let Some(role) = event.require(out, 0) else {
        return Then::PrintFmt;
    };
    let bit = |at: u32| role >> at & 1 != 0;
    const ACCESS: [&str; 8] = ["---", "--x", "w--", "w-x", "-u-", "-ux", "wu-", "wux"];
    let access = ACCESS.get((role >> 8 & 7) as usize).copied().unwrap_or("");
    let word = |is_set: bool, text: &'static str| if is_set { text } else { "" };
    let text = format!(
        "{} q{}{} {}{} {}pae {}nxe {}wp{}{}{} root {} ",
        role & 15,
        role >> 5 & 3,
        word(bit(7), " direct"),
        access,
        word(bit(11), " invalid"),
        word(!bit(4), "!"),
        word(!bit(12), "!"),
        word(!bit(13), "!"),
        word(bit(14), " smep"),
        word(bit(15), " smap"),
        word(role >> 24 & 0xff != 0, " smm"),
        event.value(1).unwrap_or(0) as u32,
    );
    out.extend_from_slice(text.as_bytes());
    let Some(unsync) = event.require(out, 2) else {
        return Then::PrintFmt;
    };
    out.extend_from_slice(if unsync != 0 { b"unsync" } else { b"sync" });
    Then::Done
}

const VMX_REASONS: [(u32, &str); 45] = [
    (0, "EXCEPTION_NMI"),
    (1, "EXTERNAL_INTERRUPT"),
    (2, "TRIPLE_FAULT"),
    (7, "PENDING_INTERRUPT"),
    (8, "NMI_WINDOW"),
    (9, "TASK_SWITCH"),
    (10, "CPUID"),
    (12, "HLT"),
    (13, "INVD"),
    (14, "INVLPG"),
    (15, "RDPMC"),
    (16, "RDTSC"),
    (18, "VMCALL"),
    (19, "VMCLEAR"),
    (20, "VMLAUNCH"),
    (21, "VMPTRLD"),
    (22, "VMPTRST"),
    (23, "VMREAD"),
    (24, "VMRESUME"),
    (25, "VMWRITE"),
    (26, "VMOFF"),
    (27, "VMON"),
    (28, "CR_ACCESS"),
    (29, "DR_ACCESS"),
    (30, "IO_INSTRUCTION"),
    (31, "MSR_READ"),
    (32, "MSR_WRITE"),
    (36, "MWAIT_INSTRUCTION"),
    (39, "MONITOR_INSTRUCTION"),
    (40, "PAUSE_INSTRUCTION"),
    (41, "MCE_DURING_VMENTRY"),
    (43, "TPR_BELOW_THRESHOLD"),
    (44, "APIC_ACCESS"),
    (45, "EOI_INDUCED"),
    (48, "EPT_VIOLATION"),
    (49, "EPT_MISCONFIG"),
    (50, "INVEPT"),
    (52, "PREEMPTION_TIMER"),
    (54, "WBINVD"),
    (55, "XSETBV"),
    (56, "APIC_WRITE"),
    (58, "INVPCID"),
    (62, "PML_FULL"),
    (63, "XSAVES"),
    (64, "XRSTORS"),
];

const SVM_REASONS: [(u32, &str); 91] = [
    (0x0, "EXIT_READ_CR0"),
    (0x3, "EXIT_READ_CR3"),
    (0x4, "EXIT_READ_CR4"),
    (0x8, "EXIT_READ_CR8"),
    (0x10, "EXIT_WRITE_CR0"),
    (0x13, "EXIT_WRITE_CR3"),
    (0x14, "EXIT_WRITE_CR4"),
    (0x18, "EXIT_WRITE_CR8"),
    (0x20, "EXIT_READ_DR0"),
    (0x21, "EXIT_READ_DR1"),
    (0x22, "EXIT_READ_DR2"),
    (0x23, "EXIT_READ_DR3"),
    (0x24, "EXIT_READ_DR4"),
    (0x25, "EXIT_READ_DR5"),
    (0x26, "EXIT_READ_DR6"),
    (0x27, "EXIT_READ_DR7"),
    (0x30, "EXIT_WRITE_DR0"),
    (0x31, "EXIT_WRITE_DR1"),
    (0x32, "EXIT_WRITE_DR2"),
    (0x33, "EXIT_WRITE_DR3"),
    (0x34, "EXIT_WRITE_DR4"),
    (0x35, "EXIT_WRITE_DR5"),
    (0x36, "EXIT_WRITE_DR6"),
    (0x37, "EXIT_WRITE_DR7"),
    (0x40, "EXIT_EXCP_DE"),
    (0x41, "EXIT_EXCP_DB"),
    (0x43, "EXIT_EXCP_BP"),
    (0x44, "EXIT_EXCP_OF"),
    (0x45, "EXIT_EXCP_BR"),
    (0x46, "EXIT_EXCP_UD"),
    (0x47, "EXIT_EXCP_NM"),
    (0x48, "EXIT_EXCP_DF"),
    (0x4a, "EXIT_EXCP_TS"),
    (0x4b, "EXIT_EXCP_NP"),
    (0x4c, "EXIT_EXCP_SS"),
    (0x4d, "EXIT_EXCP_GP"),
    (0x4e, "EXIT_EXCP_PF"),
    (0x50, "EXIT_EXCP_MF"),
    (0x51, "EXIT_EXCP_AC"),
    (0x52, "EXIT_EXCP_MC"),
    (0x53, "EXIT_EXCP_XF"),
    (0x60, "EXIT_INTR"),
    (0x61, "EXIT_NMI"),
    (0x62, "EXIT_SMI"),
    (0x63, "EXIT_INIT"),
    (0x64, "EXIT_VINTR"),
    (0x65, "EXIT_CR0_SEL_WRITE"),
    (0x66, "EXIT_IDTR_READ"),
    (0x67, "EXIT_GDTR_READ"),
    (0x68, "EXIT_LDTR_READ"),
    (0x69, "EXIT_TR_READ"),
    (0x6a, "EXIT_IDTR_WRITE"),
    (0x6b, "EXIT_GDTR_WRITE"),
    (0x6c, "EXIT_LDTR_WRITE"),
    (0x6d, "EXIT_TR_WRITE"),
    (0x6e, "EXIT_RDTSC"),
    (0x6f, "EXIT_RDPMC"),
    (0x70, "EXIT_PUSHF"),
    (0x71, "EXIT_POPF"),
    (0x72, "EXIT_CPUID"),
    (0x73, "EXIT_RSM"),
    (0x74, "EXIT_IRET"),
    (0x75, "EXIT_SWINT"),
    (0x76, "EXIT_INVD"),
    (0x77, "EXIT_PAUSE"),
    (0x78, "EXIT_HLT"),
    (0x79, "EXIT_INVLPG"),
    (0x7a, "EXIT_INVLPGA"),
    (0x7b, "EXIT_IOIO"),
    (0x7c, "EXIT_MSR"),
    (0x7d, "EXIT_TASK_SWITCH"),
    (0x7e, "EXIT_FERR_FREEZE"),
    (0x7f, "EXIT_SHUTDOWN"),
    (0x80, "EXIT_VMRUN"),
    (0x81, "EXIT_VMMCALL"),
    (0x82, "EXIT_VMLOAD"),
    (0x83, "EXIT_VMSAVE"),
    (0x84, "EXIT_STGI"),
    (0x85, "EXIT_CLGI"),
    (0x86, "EXIT_SKINIT"),
    (0x87, "EXIT_RDTSCP"),
    (0x88, "EXIT_ICEBP"),
    (0x89, "EXIT_WBINVD"),
    (0x8a, "EXIT_MONITOR"),
    (0x8b, "EXIT_MWAIT"),
    (0x8c, "EXIT_MWAIT_COND"),
    (0x8d, "EXIT_XSETBV"),
    (0x400, "EXIT_NPF"),
    (0x401, "EXIT_AVIC_INCOMPLETE_IPI"),
    (0x402, "EXIT_AVIC_UNACCELERATED_ACCESS"),
    (0xffffffff, "EXIT_ERR"),
];
