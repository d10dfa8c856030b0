use super::definition::{Fetch, FetchType, Space};
use super::*;

/// Returns the error of one line. `^` in the line marks the column that the error must name.
fn refused(marked: &str) -> Fault {
    let column = marked.chars().position(|c| c == '^').unwrap() as u32 + 1;
    let line = marked.replacen('^', "", 1);
    let parsed = parse(&line);
    match &parsed.lines[0].command {
        Err(error) => {
            assert_eq!(error.column, column, "{marked}: {error}");
            error.fault
        }
        Ok(command) => panic!("{line} was taken as {command:?}"),
    }
}

fn probe(line: &str) -> ProbeDefinition {
    match parse(line).lines[0].command.clone() {
        Ok(Command::Define(probe)) => probe,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_kernels_own_examples_are_read() {
    let entry = probe("p:myprobe do_sys_open dfd=%ax filename=%dx flags=%cx mode=+4($stack)");
    assert_eq!(
        (entry.group.as_str(), entry.event.as_str()),
        ("kprobes", "myprobe")
    );
    assert_eq!(entry.sort, ProbeSort::Entry);
    let names: Vec<_> = entry.arguments.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["dfd", "filename", "flags", "mode"]);
    assert_eq!(
        entry.arguments[3].fetch,
        Fetch::Memory {
            offset: 4,
            space: Space::Kernel,
            address: Box::new(Fetch::Stack),
        }
    );
    let back = probe("r:myretprobe do_sys_open $retval");
    assert_eq!(back.sort, ProbeSort::Return);
    assert_eq!(back.arguments[0].fetch, Fetch::ReturnValue);
    assert_eq!(back.arguments[0].name, "arg1");
    assert!(back.argument("$retval").is_some(), "old kernels call it so");
    assert_eq!(probe("r10:g-1/x vfs_read").max_active, Some(10));
    assert_eq!(probe("r0:e /bin/sh:0x10").max_active, None);
}

#[test]
fn places_and_generated_names() {
    for (line, event, place) in [
        ("p vfs_read", "p_vfs_read_0", "vfs_read"),
        ("r vfs_read+0", "r_vfs_read_0", "vfs_read"),
        ("p vfs_read%return", "r_vfs_read_0", "vfs_read"),
        ("p:fs/ vfs_read+0x10", "p_vfs_read_16", "vfs_read+16"),
        (
            "p ext4:ext4_sync.isra.0+4",
            "p_ext4_ext4_sync_isra_0_4",
            "ext4:ext4_sync.isra.0+4",
        ),
        (
            "p 0xffffffff81000000",
            "p_0xffffffff81000000",
            "0xffffffff81000000",
        ),
        (
            "p /bin/bash:0x4245c0(0x10)",
            "p_bash_0x4245c0",
            "/bin/bash:0x4245c0(0x10)",
        ),
        (
            "r /usr/lib/libc.so.6:4096",
            "p_libc_0x1000",
            "/usr/lib/libc.so.6:0x1000",
        ),
    ] {
        let probe = probe(line);
        assert_eq!(probe.event, event, "{line}");
        assert_eq!(probe.place.to_string(), place, "{line}");
    }
    assert_eq!(probe("p /bin/bash:1").group, "uprobes");
    assert_eq!(probe("p f%return").sort, ProbeSort::Return);
    assert_eq!(probe("p:fs/ f").group, "fs");
}

#[test]
fn every_fetch_and_type() {
    let all = probe(
        "p:a f a=%di b=@0xffff8000 c=@jiffies+8:u64 d=$stack0 e=$stack f=$arg1:s32 g=$comm \
         h=-8(%sp):x8[64] i=+u0(+u-16($arg2)):ustring[3] j=\\42 k=\\-1:s8 l=\\\"hi\" \
         m=+0($arg1):b3@5/32 n=$arg1:symbol o=$arg1:symstr p=+0($arg1):char[4] q=+0(+8(%si)):string",
    );
    let types: Vec<_> = all.arguments.iter().map(|it| it.type_).collect();
    assert_eq!(types[2], FetchType::Unsigned(64));
    assert_eq!(types[6], FetchType::Text);
    assert_eq!(
        (types[7], all.arguments[7].count),
        (FetchType::Hex(8), Some(64))
    );
    assert_eq!(
        types[12],
        FetchType::Bits {
            width: 3,
            offset: 5,
            size: 32
        }
    );
    let Fetch::Memory {
        space: Space::User,
        address,
        ..
    } = &all.arguments[8].fetch
    else {
        panic!("{:?}", all.arguments[8]);
    };
    assert!(matches!(**address, Fetch::Memory { offset: -16, .. }));
    assert_eq!(all.arguments[9].fetch, Fetch::Immediate(42));
    // A definition that the kernel prints back parses as the same probe.
    assert_eq!(probe(&all.to_string()), all);
    let event = probe(
        "e:eprb/openat syscalls.sys_enter_openat file=+0($filename):ustring fl=$flags:x32 if flags > 3",
    );
    assert_eq!(event.arguments.len(), 2);
    assert_eq!(
        probe("p /bin/sh:4 @+8:u32").arguments[0].fetch,
        Fetch::FileOffset(8)
    );
}

#[test]
fn mistakes_are_found_at_their_columns() {
    let long = "n".repeat(64);
    for (line, fault) in [
        ("^x vfs_read", Fault::UnknownCommand),
        ("p^", Fault::NoPlace),
        ("p vfs_read $arg* ^$arg*", Fault::AllTwice),
        ("p vfs_read a=^$arg*", Fault::AllNotAlone),
        ("p vfs_read ^$arg*:u8", Fault::AllNotAlone),
        ("p vfs_read+8 ^$arg*", Fault::ArgumentNotAtEntry),
        ("e ^syscalls", Fault::BadEventPlace),
        ("e syscalls.sys_enter_read $comm if^", Fault::NoFilter),
        ("p^9 vfs_read", Fault::MaxActiveOnEntry),
        ("r^9x9 vfs_read", Fault::BadMaxActive),
        ("r^4097 vfs_read", Fault::MaxActiveTooBig),
        ("r^0 vfs_read", Fault::NoneActive),
        ("r^0x0:e vfs_read", Fault::NoneActive),
        ("p ^ext4:foo.isra.0+0x10/0x20", Fault::PlaceWithSize),
        ("r ^foo+0/0x20", Fault::PlaceWithSize),
        ("p /lib/a+1/2:^x", Fault::BadFileOffset),
        ("p ^one-two", Fault::BadPlace),
        ("p ^one+9-9", Fault::BadPlace),
        ("p ^vfs_read-4", Fault::BadPlace),
        ("r ^vfs_read+16", Fault::ReturnNotAtEntry),
        ("p ^vfs_read+16%return", Fault::ReturnNotAtEntry),
        ("p vfs_read^%back", Fault::BadPlaceSuffix),
        ("p:^/e vfs_read", Fault::NoGroup),
        (&format!("p:^{long}/e vfs_read"), Fault::GroupTooLong),
        ("p:^a.b/e vfs_read", Fault::BadGroup),
        ("p:^ vfs_read", Fault::NoEvent),
        (&format!("p:g/^{long} vfs_read"), Fault::EventTooLong),
        ("p:g/^e.1 vfs_read", Fault::BadEvent),
        ("p:^1e vfs_read", Fault::BadEvent),
        ("p /bin/sh:^x", Fault::BadFileOffset),
        ("p /bin/sh:4(8^", Fault::CounterNotClosed),
        ("p /bin/sh:4(^z)", Fault::BadCounter),
        ("p /bin/sh:4(8)^9", Fault::CounterSuffix),
        ("p vfs_read ^$retval", Fault::ReturnValueOnEntry),
        ("p vfs_read a=^$stack2049", Fault::BadStackNumber),
        ("p vfs_read ^$arg0", Fault::BadArgumentNumber),
        ("r vfs_read ^$arg1", Fault::ArgumentNotAtEntry),
        ("p vfs_read+4 ^$arg1", Fault::ArgumentNotAtEntry),
        ("p vfs_read ^$nothing", Fault::BadVariable),
        ("p vfs_read ^%nothing", Fault::BadRegister),
        ("p vfs_read ^@12ab", Fault::BadAddress),
        ("p vfs_read ^@+8", Fault::FileOffsetInKernel),
        ("p /bin/sh:4 ^@sym", Fault::SymbolInProgram),
        ("p /bin/sh:4 ^@+z", Fault::BadOffsetInFile),
        ("p vfs_read a=\\^z", Fault::BadImmediate),
        ("p vfs_read a=\\\"open^", Fault::ImmediateNotClosed),
        ("p vfs_read ^+0@0)", Fault::NoBracket),
        ("p vfs_read ^+0z(@0)", Fault::BadOffset),
        ("p vfs_read +0(+0(@0^", Fault::BracketNotClosed),
        ("p vfs_read +0(^$comm)", Fault::CommNotFollowed),
        ("p vfs_read ^&1", Fault::BadFetch),
        ("p vfs_read +0(^)", Fault::BadFetch),
        ("p vfs_read +0(@9):u8[9^", Fault::ArrayNotClosed),
        ("p vfs_read +0(@9):u8[9]^z", Fault::ArraySuffix),
        ("p vfs_read +0(@9):u8[^9z]", Fault::BadArrayNumber),
        ("p vfs_read +0(@9):u8[^0]", Fault::BadArrayNumber),
        ("p vfs_read +0(@9):u8[^65]", Fault::ArrayTooBig),
        ("p vfs_read @9:^word", Fault::BadType),
        ("p vfs_read @9:^u24", Fault::BadType),
        ("p vfs_read $stack0:^string", Fault::NotInMemory),
        ("p vfs_read %di:^x8[4]", Fault::NotInMemory),
        ("p vfs_read $stack1:^x8[8]", Fault::NotInMemory),
        ("p vfs_read \\5:^u8[2]", Fault::NotInMemory),
        ("p vfs_read $comm:^u8", Fault::NeedsText),
        ("p vfs_read $comm:^symstr", Fault::NeedsText),
        ("p vfs_read \\5:^symstr", Fault::BadSymbolText),
        ("p vfs_read @9:^b9@z/16", Fault::BadBits),
        ("p vfs_read @9:^b9@8/16", Fault::BadBits),
        ("p vfs_read @9:^b0@8/16", Fault::BadBits),
        ("p vfs_read @9:^b1@8/24", Fault::BadType),
        (
            "p vfs_read ^abcdefghijklmnopqrstuvwxyz0123456=@9",
            Fault::ArgumentNameTooLong,
        ),
        ("p vfs_read ^=@9", Fault::NoArgumentName),
        ("p vfs_read ^a.1=@9", Fault::BadArgumentName),
        ("p vfs_read a=@9 ^a=@8", Fault::ArgumentNameUsed),
        ("p vfs_read ^common_pid=@9", Fault::ArgumentNameUsed),
        ("p vfs_read @9 ^arg1=@8", Fault::ArgumentNameUsed),
        ("p vfs_read a=^", Fault::NoArgumentBody),
        ("p vfs_read+4 ^count", Fault::NoDeclaration),
        ("p /bin/sh:4 ^count", Fault::NoDeclaration),
        ("p vfs_read file^-f_pos", Fault::LoneHyphen),
        ("p vfs_read file.^f_pos", Fault::FieldOfNoPointer),
        ("p vfs_read file->^", Fault::UnknownName),
        ("p vfs_read count:^u8[4]", Fault::NotInMemory),
        ("p vfs_read +u0($arg1):^u8[4]", Fault::UserArray),
        ("p vfs_read +u0($arg1):^symstr", Fault::BadSymbolText),
        ("p vfs_read ^$retval->f_pos", Fault::ReturnValueOnEntry),
        ("p /bin/sh:4 %ax:^symbol", Fault::BadType),
        ("p /bin/sh:4 ^$arg1", Fault::ArgumentNotAtEntry),
        ("p /bin/sh:4(8)^%return", Fault::CounterSuffix),
        ("p /bin/sh:4%return(^z)", Fault::BadCounter),
        ("f^4:x vfs_read", Fault::NumberOnFunction),
        ("f:x ^vfs_read+4", Fault::BadPlace),
        ("f:x vfs_read^%back", Fault::BadPlaceSuffix),
        ("f:x vfs_read ^%ax", Fault::BadVariable),
        ("t:x sched^-switch", Fault::BadTracepoint),
        ("t:x sched_switch ^$retval", Fault::ReturnValueOnEntry),
        ("t:x sched_switch ^%ax", Fault::BadVariable),
        ("^-vfs_read", Fault::BadRemoval),
        ("^-:gone", Fault::NothingToRemove),
        (
            "kprobe_event=p,vfs_read,^%no;r,vfs_read",
            Fault::BadRegister,
        ),
        (
            "echo 'p:a vfs_read ^%no' >> kprobe_events",
            Fault::BadRegister,
        ),
    ] {
        assert_eq!(refused(line), fault, "{line}");
    }
    let deep = |depth: usize| {
        let text = format!("{}@0{}", "+0(".repeat(depth), ")".repeat(depth));
        parse(&format!("p f {text}")).lines[0].command.clone()
    };
    assert!(deep(12).is_ok());
    assert_eq!(deep(15).unwrap_err().fault, Fault::TooDeep);
    let long = format!("p f ^+0(@{})", "1".repeat(60));
    assert_eq!(refused(&long), Fault::ArgumentTooLong);
}

#[test]
fn all_arguments_of_a_function_can_be_asked_for() {
    let all = probe("p vfs_read $arg* $stack");
    assert_eq!(all.arguments[0].fetch, Fetch::AllArguments);
    assert_eq!(
        all.to_string(),
        "p:kprobes/p_vfs_read_0 vfs_read $arg* $stack"
    );
}

#[test]
fn functions_tracepoints_and_names_that_the_kernel_knows_are_read() {
    for (line, printed) in [
        (
            "f vfs_read count",
            "f:fprobes/vfs_read__entry vfs_read count",
        ),
        (
            "f:x ext4:sync%return ret=$retval:s32 $arg1",
            "f:fprobes/x ext4:sync%return ret=$retval:s32 $arg1",
        ),
        // Fetching the return value makes it a return probe.
        (
            "f:x vfs_read $retval",
            "f:fprobes/x vfs_read%return $retval",
        ),
        (
            "t:x sched_switch prev->pid next=next->comm:string",
            "t:tracepoints/x sched_switch prev->pid next=next->comm:string",
        ),
        ("t 9p_x", "t:tracepoints/_9p_x 9p_x"),
        (
            "p:x vfs_read file=file count n=+0(file->f_path.dentry):x32 $arg1:%pD",
            "p:kprobes/x vfs_read file=file count n=+0(file->f_path.dentry):x32 $arg1:%pD",
        ),
        (
            "r:x vfs_open $retval->f_pos path=path:%pd",
            "r:kprobes/x vfs_open $retval->f_pos path=path:%pd",
        ),
    ] {
        let read = probe(line);
        assert_eq!(read.to_string(), printed);
        assert_eq!(probe(printed), read, "what is printed reads as the same");
    }
    let known = probe("p:x vfs_read count pos:u8");
    let names: Vec<_> = known.arguments.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["count", "pos"]);
    assert_eq!(known.arguments[0].type_, FetchType::Declared);
    assert_eq!(
        known.arguments[0].type_.number_text(7),
        None,
        "it is shown as the kernel printed it"
    );
}

#[test]
fn events_that_are_no_probes_are_said() {
    let all = parse("s:synthetic/lat u64 lat; pid_t pid\np:a f\nu:from_program u32 count\n");
    let said: Vec<_> = all.unchecked().collect();
    assert_eq!(
        said,
        [
            "line 1: a synthetic event; only probes are checked",
            "line 3: an event of programs (user_events); only probes are checked",
        ]
    );
    assert_eq!(all.errors().count(), 0);
}

#[test]
fn a_probe_has_128_arguments_at_most() {
    let many = |count: usize| {
        let arguments: Vec<_> = (0..count).map(|i| format!("a{i}=%ax")).collect();
        parse(&format!("p f {}", arguments.join(" ")))
    };
    assert_eq!(many(128).errors().count(), 0);
    let error = many(129).errors().next().unwrap().clone();
    assert_eq!(error.fault, Fault::TooManyArguments);
    let column_of_last = parse_column_of_word(129);
    assert_eq!(error.column, column_of_last);
}

fn parse_column_of_word(count: usize) -> u32 {
    let arguments: Vec<_> = (0..count - 1).map(|i| format!("a{i}=%ax")).collect();
    "p f ".len() as u32 + arguments.join(" ").len() as u32 + 2
}

#[test]
fn lines_mean_something_to_each_other() {
    let all = parse(
        "# a comment\np:a f x=%ax\n\np:a g x=%ax\np:a f x=%ax\nr:a f x=%ax\np:a h x=%ax:u8\n-:a\np:a f\n-:kprobes/\n",
    );
    let faults: Vec<_> = all
        .lines
        .iter()
        .map(|line| (line.number, line.command.as_ref().err().map(|it| it.fault)))
        .collect();
    assert_eq!(
        faults,
        [
            (2, None),
            (4, None),
            (5, Some(Fault::SameProbe)),
            (6, Some(Fault::OtherSort)),
            (7, Some(Fault::OtherArguments)),
            (8, None),
            (9, None),
            (10, None),
        ]
    );
    assert_eq!(all.standing().count(), 0);
    assert_eq!(all.lines[4].command.as_ref().unwrap_err().column, 7);
}

#[test]
fn boot_parameters_and_pasted_shell_lines() {
    let boot = parse("quiet kprobe_event=p,vfs_read,$arg1;r4:back,vfs_read,$retval ro");
    let probes: Vec<_> = boot.standing().map(ToString::to_string).collect();
    assert_eq!(
        probes,
        [
            "p:kprobes/p_vfs_read_0 vfs_read $arg1",
            "r4:kprobes/back vfs_read $retval"
        ]
    );
    let shell = parse("echo 'p:mine do_sys_open dfd=%ax' > /sys/kernel/tracing/kprobe_events");
    assert_eq!(shell.standing().next().unwrap().event, "mine");
}

#[test]
fn texts_are_recognised() {
    assert!(sniff(
        b"p:myprobe do_sys_open dfd=%ax\nr:back do_sys_open $retval\n"
    ));
    assert!(sniff(b"# mine\n\np vfs_read\n"));
    for line in [
        "quiet kprobe_event=\"p,vfs_read,arg1=%di;p:b,vfs_write\" ro",
        "quiet \"kprobe_event=p vfs_read arg1=%di;p:b,vfs_write\" ro",
        "\"kprobe_event=p,vfs_read,arg1=%di;p:b,vfs_write\"",
        "kprobe_event=p,vfs_open kprobe_event=p,vfs_read,arg1=%di;p:b,vfs_write",
    ] {
        let probes: Vec<_> = parse(line).standing().map(ToString::to_string).collect();
        assert_eq!(probes.len(), 2, "{line}: {probes:?}");
        assert!(probes[1].contains("vfs_write"), "{probes:?}");
    }
    assert!(sniff(b"BOOT_IMAGE=/vmlinuz kprobe_event=p,vfs_read ro\n"));
    assert!(sniff(
        b"BOOT_IMAGE=/vmlinuz \"kprobe_event=p vfs_read\" ro\n"
    ));
    assert!(sniff(b"p:a f\np:b f %nothing\n"), "one line may be wrong");
    assert!(
        sniff(b"probes of today:\np:a f\nr:b f $retval\n"),
        "the first line, too"
    );
    assert!(sniff(b"s:lat u64 lat\nf:a vfs_read\nt:b sched_switch\n"));
    assert!(sniff(
        b"cd /sys/kernel/tracing\necho 'p:a f' > kprobe_events\necho 'r:b f' >> kprobe_events\n"
    ));
    for text in [
        &b""[..],
        b"pretty text\nthat says nothing\n",
        b"p\n",
        b"some words\np:a f\n",
        b"some words\nand others\nand then\np:a f\n",
        b"p:a\0 f\n",
        b"read(3, \"\", 4) = 0\n",
        b"            bash-96      [001] .....    69.626109: myprobe: (f+0x0/0x1)\n",
    ] {
        assert!(!sniff(text), "{}", String::from_utf8_lossy(text));
    }
    let profile = b"  myprobe                          35               2\n";
    assert!(sniff_profile(profile) && !sniff(profile));
    let rows = parse_profile("  a   35  2\n  /bin/sh b 7\nnonsense\n");
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].hits, rows[0].misses), (35, Some(2)));
    assert_eq!((rows[1].event.as_str(), rows[1].misses), ("b", None));
}

#[test]
fn numbers_are_shown_as_their_types_say() {
    for (type_, raw, text) in [
        (FetchType::Word, 0xff, "0xff"),
        (FetchType::Signed(32), 0xffff_ffff, "-1"),
        (FetchType::Unsigned(8), 0x1ff, "255"),
        (FetchType::Hex(16), 0xffff_0001, "0x1"),
        (FetchType::Signed(64), u64::MAX, "-1"),
        (FetchType::Char, 65, "'A'"),
    ] {
        assert_eq!(type_.number_text(raw).as_deref(), Some(text));
    }
    assert_eq!(FetchType::Text.number_text(1), None);
}

#[test]
fn a_capture_script_defines_records_and_cleans_up() {
    let all =
        parse("p:a do_sys_open dfd=%ax\nr:b do_sys_open $retval\np:sh /bin/sh:0x10 it=\\\"it's\"");
    let probes: Vec<_> = all.standing().collect();
    let script = script::capture_script(&probes, "probes.dat");
    assert!(script.contains("define kprobe_events kprobes/a 'p:kprobes/a do_sys_open dfd=%ax'"));
    assert!(script.contains("define uprobe_events uprobes/sh"));
    assert!(script.contains("-e kprobes:a") && script.contains("-e uprobes:sh"));
    assert!(script.contains("'\\''"), "quotes are kept from the shell");
    assert!(script.contains("trap clean_up EXIT"));
    assert!(script.contains("for file in kprobe_events uprobe_events; do"));
    // A kernel without kprobes can still have uprobes.
    let users = parse("p:sh /bin/sh:0x10");
    let probes: Vec<_> = users.standing().collect();
    let script = script::capture_script(&probes, "probes.dat");
    assert!(script.contains("for file in uprobe_events; do"), "{script}");
}

#[test]
fn nothing_breaks_on_odd_text() {
    let mut seed = 12345_u64;
    let letters: Vec<char> = "pre-:/%$@+u(\\\")[]=.,; #0x9sbä\n".chars().collect();
    for _ in 0..20_000 {
        let mut text = String::from("p:a f ");
        for _ in 0..24 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push(letters[(seed >> 33) as usize % letters.len()]);
        }
        for error in parse(&text).errors() {
            assert!(error.column > 0);
        }
        let _ = sniff(text.as_bytes());
    }
}
