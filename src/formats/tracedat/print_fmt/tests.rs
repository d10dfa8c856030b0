//! Print formats as kernels write them, and damaged print formats.

use super::raw::{Seen, push_fields_with};
use super::*;
use crate::base::Endian;
use crate::formats::tracedat::event_format::FieldFormat;

struct Names;

impl Lookup for Names {
    fn symbol(&self, address: u64) -> Option<FunctionAt<'_>> {
        (address >= 0xffff_ffff_8100_0000).then_some(FunctionAt {
            name: b"vfs_read",
            start: 0xffff_ffff_8100_0000,
        })
    }
    fn symbol_address(&self, name: &str) -> Option<u64> {
        (name == "vmemmap_base").then_some(0x1000)
    }
    fn printk(&self, address: u64) -> Option<&[u8]> {
        (address == 0x77).then_some(b"a constant")
    }
}

const FIELDS: &str = "name: zoo\nID: 7\nformat:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;
\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;
\tfield:u32 flags;\toffset:20;\tsize:4;\tsigned:0;
\tfield:char comm[8];\toffset:24;\tsize:8;\tsigned:1;
\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:1;
\tfield:__data_loc u16[] words;\toffset:36;\tsize:4;\tsigned:0;
\tfield:u8 addr[6];\toffset:40;\tsize:6;\tsigned:0;
\tfield:s16 small;\toffset:46;\tsize:2;\tsigned:1;
\tfield:char * text;\toffset:48;\tsize:8;\tsigned:0;
\tfield:__u8 v6[16];\toffset:56;\tsize:16;\tsigned:0;
\tfield:__data_loc char[][2] two;\toffset:72;\tsize:8;\tsigned:1;
";

fn format(print_fmt: &str) -> EventFormat {
    let text = format!("{FIELDS}\nprint fmt: {print_fmt}\n");
    EventFormat::parse(text.as_bytes(), "zoo", 8).unwrap()
}

fn record() -> Vec<u8> {
    let mut record = vec![7, 0, 0, 0, 42, 0, 0, 0];
    record.extend(0xffff_ffff_8100_0005_u64.to_le_bytes());
    record.extend((-2_i32).to_le_bytes());
    record.extend(0x15_u32.to_le_bytes());
    record.extend(b"bash\0\0\0\0");
    record.extend((80_u32 | 6 << 16).to_le_bytes());
    record.extend((88_u32 | 4 << 16).to_le_bytes());
    record.extend([0xde, 0xad, 0, 1, 2, 0xff]);
    record.extend((-60_i16).to_le_bytes());
    record.extend(0x77_u64.to_le_bytes());
    record.extend([
        0x20, 0x21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x15, 0x16, 0x17,
    ]);
    record.extend((92_u32 | 2 << 16).to_le_bytes());
    record.extend((94_u32 | 2 << 16).to_le_bytes());
    record.extend(b"hello\0\0\0");
    record.extend([1, 2, 3, 4]);
    record.extend(b"a\0b\0");
    record
}

fn scope<'a>(fields: &'a [FieldFormat], record: &'a [u8], endian: Endian) -> Scope<'a> {
    Scope {
        record,
        fields,
        endian,
        long_size: 8,
        lookup: &Names,
    }
}

fn print(print_fmt: &str) -> String {
    let format = format(print_fmt);
    let parsed = PrintFmt::new(&format, 8);
    let record = record();
    let mut out = Vec::new();
    parsed.push(&mut out, &scope(&format.fields, &record, Endian::Little));
    String::from_utf8(out).unwrap()
}

#[test]
fn numbers_follow_the_rules_of_c() {
    assert_eq!(print("\"%d %u\", REC->ret, REC->ret"), "-2 4294967294");
    assert_eq!(print("\"%ld\", (long)REC->ret"), "-2");
    assert_eq!(print("\"%d\", REC->ret < 0"), "1");
    assert_eq!(print("\"%d\", REC->ret < 0 ? -REC->ret : 5"), "2");
    assert_eq!(print("\"%d\", REC->flags & (1 | 2 | 8)"), "1");
    assert_eq!(print("\"%d\", 10 - REC->flags / 3 - 1"), "2");
    assert_eq!(print("\"%d\", REC->flags % 0"), "0");
    assert_eq!(print("\"%d\", REC->small"), "-60");
    assert_eq!(print("\"%hhu\", REC->small"), "196");
    assert_eq!(print("\"%u\", (u8)REC->ret"), "254");
    assert_eq!(print("\"%lx\", ~0UL << 4"), "fffffffffffffff0");
    assert_eq!(print("\"%d%%\", sizeof(u64)"), "8%");
    assert_eq!(print("\"%x\", REC->words[1]"), print("\"%x\", 0x0403"));
    assert_eq!(print("\"%d\", __get_dynamic_array_len(words)"), "4");
    assert_eq!(print("\"%c|%3c\", REC->comm[0], 'x'"), "b|  x");
}

#[test]
fn texts_and_tables() {
    assert_eq!(print("\"%s\\n\", REC->comm"), "bash\n");
    assert_eq!(
        print("\"[%6s|%-6s|%.2s]\", REC->comm, REC->comm, REC->comm"),
        "[  bash|bash  |ba]"
    );
    assert_eq!(print("\"%.*s\", 3, __get_str(name)"), "hel");
    assert_eq!(print("\"%s\", REC->text"), "a constant");
    assert_eq!(
        print("\"%s\", __print_flags(REC->flags, \"|\", {1, \"A\"}, {4, \"B\"}, {8, \"C\"})"),
        "A|B|0x10"
    );
    assert_eq!(
        print("\"%s\", __print_symbolic(REC->ret, {0, \"OK\"}, {-2, \"ENO\" \"ENT\"})"),
        "ENOENT"
    );
    assert_eq!(
        print("\"%s\", __print_symbolic(REC->flags, {0, \"OK\"})"),
        "0x15"
    );
    assert_eq!(
        print("\"%s\", REC->flags ? __print_flags(REC->flags, \"\", {21, \"all\"}) : \"none\""),
        "all"
    );
    assert_eq!(
        print(
            "\"%s\", __print_array(__get_dynamic_array(words), __get_dynamic_array_len(words) / 2, sizeof(u16))"
        ),
        "{0x201,0x403}"
    );
    assert_eq!(
        print("\"%s %s\", __print_hex(REC->addr, 3), __print_hex_str(REC->addr, 3)"),
        "de ad 00 dead00"
    );
    assert_eq!(
        print("\"%s,%s\", __get_str(two[0]), __get_str(two[1])"),
        "a,b"
    );
}

#[test]
fn what_has_no_name_has_the_bits_of_its_field() {
    // The kernel sign-extends a field, trace-cmd does not: only the number of f's differs.
    assert_eq!(
        print("\"%s\", __print_symbolic(REC->ret, {0, \"OK\"})"),
        "0xfffffffe"
    );
    assert_eq!(
        print("\"%s\", __print_flags((unsigned long)REC->small, \"|\", {4, \"four\"})"),
        "four|0xffc0"
    );
    assert_eq!(
        print("\"%s\", __print_symbolic(REC->ret << 1, {0, \"OK\"})"),
        "0xfffffffc"
    );
}

#[test]
fn arrays_are_decimal_where_trace_cmd_can_print_them() {
    let array = |count: &str, size: &str| {
        print(&format!(
            "\"%s\", __print_array(__get_dynamic_array(words), {count}, {size})"
        ))
    };
    assert_eq!(array("2", "2"), "513 1027");
    assert_eq!(array("4", "1"), "1 2 3 4");
    assert_eq!(array("1", "sizeof(unsigned int)"), "67305985");
    // trace-cmd's library cannot print these formats: the kernel's form is used.
    assert_eq!(array("1", "sizeof(u32)"), "{0x4030201}");
    assert_eq!(
        array("__get_rel_dynamic_array_len(words)", "1"),
        "{0x1,0x2,0x3,0x4}"
    );
}

fn raw(print_fmt: &str) -> String {
    let format = format(print_fmt);
    let parsed = PrintFmt::new(&format, 8);
    let record = record();
    let mut out = Vec::new();
    push_fields_with(
        &mut out,
        &scope(&format.fields, &record, Endian::Little),
        &parsed,
        &mut Seen::default(),
        Addresses::Named,
    );
    String::from_utf8(out).unwrap()
}

#[test]
fn raw_fields_are_bare_where_trace_cmd_gives_up_on_the_print_fmt() {
    for (print_fmt, flags) in [
        ("\"%08x\", REC->flags", "00000015"),
        ("\"a\tb %08x\", REC->flags", "21"),
        ("\"%08x %lu\", REC->flags, sizeof(long)", "00000015"),
        ("\"%08x %lu\", REC->flags, sizeof(u64)", "21"),
        (
            "\"%08x %s\", REC->flags, __print_symbolic(REC->ret, { })",
            "21",
        ),
        (
            "\"%08x %s\", REC->flags, __print_symbolic(REC->ret, { 2 * 2, \"x\" })",
            "21",
        ),
        (
            "\"%08x %s\", REC->flags, __print_flags_u64(REC->ret, \"|\", { 2, \"x\" })",
            "21",
        ),
    ] {
        let text = raw(print_fmt);
        assert!(
            text.contains(&format!(" flags={flags} ")),
            "{print_fmt}: {text}"
        );
    }
}

#[test]
fn pointers_of_all_kinds() {
    assert_eq!(
        print("\"%pS %ps %p\", (void *)REC->ip, (void *)REC->ip, ((void *)0)"),
        "vfs_read+0x5 vfs_read (nil)"
    );
    assert_eq!(
        print("\"%pM %pMR %pMF %pm\", REC->addr, REC->addr, &REC->addr, REC->addr"),
        "de:ad:00:01:02:ff ff:02:01:00:ad:de de-ad-00-01-02-ff dead000102ff"
    );
    assert_eq!(
        print("\"%pI6c %pI4 %pi4\", REC->v6, REC->v6 , &REC->flags"),
        "2021::15:1617 INVALID".replace("INVALID", "32.33.0.0 021.000.000.000")
    );
    assert_eq!(
        print("\"%pUb\", REC->v6"),
        "20210000-0000-0000-0000-000000151617"
    );
    assert_eq!(
        print("\"%5phD %*phN\", REC->addr, 2, REC->addr"),
        "de-ad-00-01-02 dead"
    );
    assert_eq!(
        print("\"%p\", ((struct page *)vmemmap_base) + REC->flags"),
        "0x1015"
    );
}

#[test]
fn what_cannot_be_evaluated_shows_its_fields() {
    let fields = print("\"%d\", ({ int x = REC->ret; x; })");
    assert!(fields.starts_with("ip=0xffffffff81000005 ret=-2 flags=21 comm=bash name=hello "));
    assert!(fields.contains("addr=ARRAY[de, ad, 00, 01, 02, ff] small=-60 text=0x77"));
    assert!(fields.ends_with("two={\"a\",\"b\"}"));
    assert_eq!(print("\"%d %d\", REC->ret"), fields);
    assert_eq!(print("\"%d\", secret(REC->ret)"), fields);
    assert_eq!(print(""), fields);
}

#[test]
fn raw_fields_take_the_form_of_the_print_fmt() {
    let format = format("\"at 0x%lx by %pS, flags %08x\", REC->ip, (void *)REC->ip, REC->flags");
    let parsed = PrintFmt::new(&format, 8);
    let record = record();
    let mut out = Vec::new();
    let scope = scope(&format.fields, &record, Endian::Little);
    push_fields_with(
        &mut out,
        &scope,
        &parsed,
        &mut Seen::default(),
        Addresses::Shown,
    );
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.starts_with(" ip=0xffffffff81000005 ret=-2 flags=00000015 comm=bash"),
        "{text}"
    );
}

/// A small random number generator (xorshift) with the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}

#[test]
fn nothing_breaks_on_damaged_formats_and_records() {
    let formats = [
        "\"%d %s %pS\", REC->ret < 0 ? -REC->ret : (u8)(REC->flags >> 3), REC->comm, (void *)REC->ip",
        "\"%-8s|%.*s|%*phD\", __print_flags(REC->flags & ((1 | 2) << 1), \"|\", {1U << 2, \"A\"}, {0x8, \"B\" \"C\"}), REC->ret, __get_str(name), 5, REC->addr",
        "\"%s %s %pI6c %pISpc\", __print_array(__get_dynamic_array(words), __get_dynamic_array_len(words) / sizeof(u16), sizeof(u16)), __get_str(two[1]), REC->v6, __get_sockaddr(words)",
        "\"%c %lld %#x %pU %*pbl\", REC->comm[REC->flags % 8], (long long)REC->small * REC->ip, ~REC->flags, REC->v6, 48, REC->addr",
    ];
    let pieces = [
        "(",
        ")",
        "REC->",
        "%",
        "*",
        "\"",
        ",",
        "{",
        "}",
        "[",
        "]",
        "?",
        ":",
        "(((((",
        "-1",
        "<<",
        "99999999999",
        "\0",
    ];
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut longest = 0;
    for round in 0..20_000 {
        let mut text =
            format!("{FIELDS}\nprint fmt: {}\n", formats[round % formats.len()]).into_bytes();
        for _ in 0..=dice.roll(4) {
            let at = dice.roll(text.len());
            match dice.roll(5) {
                0 => text[at] = dice.roll(256) as u8,
                1 => {
                    let piece = pieces[dice.roll(pieces.len())].bytes();
                    text.splice(at..at, piece);
                }
                2 => text.truncate(at.max(40)),
                3 => {
                    let end = (at + dice.roll(60)).min(text.len());
                    let copy = text[at..end].to_vec();
                    text.splice(at..at, copy);
                }
                _ => {
                    let end = (at + dice.roll(12)).min(text.len());
                    text.drain(at..end);
                }
            }
            if text.is_empty() {
                break;
            }
        }
        let Some(format) = EventFormat::parse(&text, "zoo", if round % 2 == 0 { 8 } else { 4 })
        else {
            continue;
        };
        let parsed = PrintFmt::new(&format, 8);
        let mut record = record();
        for _ in 0..dice.roll(6) {
            let at = dice.roll(record.len());
            record[at] = dice.roll(256) as u8;
        }
        record.truncate(dice.roll(record.len() + 30).max(2));
        for endian in [Endian::Little, Endian::Big] {
            let scope = scope(&format.fields, &record, endian);
            let mut out = Vec::new();
            parsed.push(&mut out, &scope);
            push_fields_with(
                &mut out,
                &scope,
                &parsed,
                &mut Seen::default(),
                Addresses::Shown,
            );
            longest = longest.max(out.len());
        }
    }
    assert!(longest < 1 << 20, "{longest} bytes of text");
}

#[test]
fn deep_and_long_expressions_end() {
    for text in [
        format!("\"%d\", {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("\"%d\", {}1", "-".repeat(100_000)),
        format!("\"%d\", REC->ret{}", " + REC->ret".repeat(100_000)),
        format!("\"%d\", {}1", "REC->ret ? 1 : ".repeat(50_000)),
        format!("\"%d\", REC->comm{}", "[REC->comm".repeat(50_000)),
    ] {
        assert!(print(&text).starts_with("ip="));
    }
}
