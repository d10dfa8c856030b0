//! Tests of tables on a terminal: which columns are aligned, shortened and left out.

use super::*;

const COLUMNS: &[ColumnDef<'static>] = &[
    ColumnDef::text("name", "Name", "What it is."),
    ColumnDef::count("count", "Count", "How many."),
    ColumnDef::duration("sum", "Sum", "How long."),
    ColumnDef::text("note", "Note", "Anything.").minor(),
];

fn table(width: usize, rows: &[[Cell; 4]]) -> String {
    let look = Look {
        width,
        colours: Colours::Plain,
        start: Timestamp(0),
        clock: ClockUnit::Nanoseconds,
    };
    let mut table = Aligned::new(COLUMNS, look);
    let mut out = Vec::new();
    for row in rows {
        table.row(&mut out, row).unwrap();
    }
    table.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn row(name: &str, count: i64, sum: i64, note: &str) -> [Cell<'static>; 4] {
    [name.into(), count.into(), sum.into(), note.into()].map(Cell::into_owned)
}

#[test]
fn numbers_stand_right_with_their_units_and_texts_left() {
    let rows = [
        row("read", 12_345, 1_500_000, "a"),
        row("日本", 7, 2_000_000_000, "b"),
    ];
    let expected = "\
Name   Count       Sum  Note
read  12 345  1.500 ms  a
日本       7  2.000 s   b
";
    assert_eq!(table(80, &rows), expected);
}

#[test]
fn texts_are_cut_before_columns_are_left_out() {
    let rows = [row(&"n".repeat(60), 1, 1, &"m".repeat(30))];
    let cut = table(50, &rows);
    assert!(cut.contains("nn…") && cut.contains("mm…"), "{cut}");
    assert!(!cut.contains("not shown"), "{cut}");
    let narrow = table(32, &rows);
    assert!(
        narrow.ends_with("not shown (--format tsv): note\n"),
        "{narrow}"
    );
    for width in 1..100 {
        for line in table(width, &rows).lines() {
            assert!(width_of(line) <= width, "{width}: {line:?}");
        }
    }
}

#[test]
fn what_names_the_row_is_cut_after_minor_texts() {
    let rows = [row(&"n".repeat(20), 1, 1, &"m".repeat(30))];
    let text = table(50, &rows);
    assert!(
        text.contains(&"n".repeat(20)) && text.contains("mm…"),
        "{text}"
    );
}

#[test]
fn paths_keep_their_ends() {
    assert_eq!(cut_front("/usr/lib/libc.so", 8), "…libc.so");
    assert_eq!(cut_front("日本語", 4), "…語");
    assert_eq!(cut_front("abc", 0), "");
}

#[test]
fn columns_without_values_leave_first() {
    let rows = [["n".repeat(70).into(), Cell::None, 5.into(), Cell::None]];
    let text = table(79, &rows);
    assert!(text.contains(&"n".repeat(70)), "{text}");
    assert!(
        text.ends_with("2 not shown (--format tsv): count, note\n"),
        "{text}"
    );
}

#[test]
fn later_rows_keep_to_the_width_and_numbers_stay_whole() {
    let mut rows: Vec<[Cell; 4]> = (0..MEASURED).map(|_| row("abcdef", 1, 1, "xyz")).collect();
    rows.push(row("longer than any before", 1_234_567_890, 1, "xyzxyz"));
    let text = table(80, &rows);
    let last = text.lines().last().unwrap();
    assert!(
        last.starts_with("abc") || last.starts_with("longe…"),
        "{last}"
    );
    assert!(
        last.replace(|c: char| !c.is_ascii_digit(), "")
            .starts_with("1234567890"),
        "{last}"
    );
    let narrow = table(24, &rows);
    for line in narrow.lines() {
        assert!(width_of(line) <= 24, "{line:?}");
    }
}

#[test]
fn colour_is_only_around_the_text() {
    let look = Look {
        width: 80,
        colours: Colours::Ansi,
        start: Timestamp(0),
        clock: ClockUnit::Nanoseconds,
    };
    let mut table = Aligned::new(&COLUMNS[..2], look);
    let mut out = Vec::new();
    table
        .row(&mut out, &["\u{1b}[31m".into(), Cell::None])
        .unwrap();
    table.finish(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let expected =
        "\u{1b}[1mName\u{1b}[0m      \u{1b}[1mCount\u{1b}[0m\n\\x1b[31m      \u{1b}[2m–\u{1b}[0m\n";
    assert_eq!(text, expected);
}

#[test]
fn an_empty_table_says_so() {
    assert_eq!(table(80, &[]), "Name  Count  Sum  Note\nno rows\n");
}
