use super::parse::Op;
use super::*;

fn error(text: &str) -> (usize, usize, String) {
    let error = Expression::parse(text).unwrap_err();
    (error.at, error.length, error.message)
}

fn shape(text: &str) -> String {
    fn of(node: &Node) -> String {
        let list = |nodes: &[Node]| nodes.iter().map(of).collect::<Vec<_>>().join(" ");
        match node {
            Node::Text(_) => "text".to_owned(),
            Node::Compare {
                field, op, value, ..
            } => match op {
                Op::Values(comparison) => format!("{field:?}{comparison:?}{}", value.text),
                _ => format!("{field:?}{op:?}{}", value.text),
            },
            Node::Event(names, inner) => format!("{}:[{}]", names.join("+"), of(inner)),
            Node::Not(inner) => format!("not[{}]", of(inner)),
            Node::All(nodes) => format!("all[{}]", list(nodes)),
            Node::Any(nodes) => format!("any[{}]", list(nodes)),
        }
    }
    of(Expression::parse(text).unwrap().root())
}

#[test]
fn a_text_without_operators_is_plain() {
    for text in [
        "sched",
        "a b c",
        "irq/9-acpi",
        "foo::bar (const)",
        "!",
        "/usr/bin/gcc",
        "tid 5",
        "don't",
    ] {
        assert_eq!(shape(text), "text", "{text}");
    }
    assert_eq!(shape("\"a < b\""), "text");
    assert_eq!(shape("/a<b/i"), "text");
}

#[test]
fn operators_bind_as_in_c() {
    assert_eq!(
        shape(r#"name ~ "sched.*" && prev_prio < 100 || !(dur > 1ms)"#),
        r#"any[all[NameLikesched.* Argument("prev_prio")Less100] not[DurationMore1ms]]"#
    );
    assert_eq!(
        shape("cpu=0x1f&&bash||tid!=-5"),
        "any[all[CpuEqual0x1f text] TidDiffers-5]"
    );
    assert_eq!(shape("arg.name == x"), r#"Argument("name")Equalx"#);
    assert_eq!(
        shape("common_flags & 4"),
        r#"Argument("common_flags")Bits4"#
    );
}

#[test]
fn an_event_stands_before_its_fields() {
    let inner = r#"[all[Argument("next_prio")Less100 CpuEqual1]]"#;
    assert_eq!(
        shape("sched_switch: next_prio < 100 && cpu == 1"),
        format!("sched_switch:{inner}")
    );
    assert_eq!(
        shape("sched_switch:next_prio<100&&cpu==1"),
        format!("sched_switch:{inner}")
    );
    assert_eq!(
        shape("sched/a, b,c: next_prio<100&&cpu==1"),
        format!("sched/a+b+c:{inner}")
    );
    assert_eq!(
        shape("(a: x == 1) || (b: y == kworker/0:1)"),
        r#"any[a:[Argument("x")Equal1] b:[Argument("y")Equalkworker/0:1]]"#
    );
}

#[test]
fn another_event_after_or_stands_for_itself() {
    assert_eq!(
        shape("a: x == 1 || y == 2 || b: x == 3"),
        r#"any[a:[any[Argument("x")Equal1 Argument("y")Equal2]] b:[Argument("x")Equal3]]"#
    );
    assert_eq!(
        shape("cpu == 1 && !a: x == 1"),
        r#"all[CpuEqual1 not[a:[Argument("x")Equal1]]]"#
    );
}

#[test]
fn errors_say_where_they_are() {
    assert_eq!(
        error("cpu == x"),
        (7, 1, "'cpu' can only be compared with a number".to_owned())
    );
    assert_eq!(error("name < 5").0, 0);
    assert_eq!(
        error("dur > 1ms tid == 2"),
        (10, 3, error("dur > 1ms tid == 2").2)
    );
    assert_eq!(
        error("(cpu == 1"),
        (0, 1, "this ( has no partner".to_owned())
    );
    assert_eq!(
        error("cpu == 1)"),
        (8, 1, "this ) has no partner".to_owned())
    );
    assert_eq!(
        error("cpu =="),
        (6, 0, "a value is missing at the end".to_owned())
    );
    assert_eq!(error("cpu == 1 &&").0, 11);
    let place = |text: &str| (error(text).0, error(text).1);
    assert_eq!(place("name ~ \"(\""), (8, 1));
    assert_eq!(place("name ~ \"ab(c\" && cpu == 1"), (10, 1));
    assert_eq!(place("name ~ ab[c"), (9, 1));
    // With a backslash before a quote, the position inside the pattern is not reported.
    assert_eq!(place(r#"name ~ "a\"(b""#), (7, 7));
    assert_eq!(place("name ~ /a{2,1}/i").0, 9);
    assert_eq!(place("  /a(b/"), (4, 1));
    assert_eq!(place("/é[b/i"), (3, 1));
    assert_eq!(place("cpu == 1 && /a(b/i"), (14, 1));
    assert_eq!(error("name ~ \"abc").0, 7);
    assert_eq!(error("/a(/").0, 2);
    assert_eq!(error("  "), (0, 0, "nothing to look for".to_owned()));
    assert_eq!(error("ts > soon").0, 5);
    assert_eq!(error("cpu == 1 | 2").0, 9);
    let deep = format!("{}cpu == 1{}", "(".repeat(5000), ")".repeat(5000));
    assert!(error(&deep).2.contains("parentheses"));
    let text = "cpu == x";
    let pointed = Expression::parse(text).unwrap_err().pointed(text);
    assert_eq!(
        pointed,
        "cpu == x\n       ^ 'cpu' can only be compared with a number"
    );
}

#[test]
fn nothing_that_is_typed_panics() {
    let words = [
        "(", ")", "!", "&&", "||", "==", "~", "/", "\"", "'", "a", "a:", ":", ",", "1ms", "0x",
        "-", "@", "é", " ", "|", "&", "<", "\\",
    ];
    let mut seed = 7_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(words[(seed >> 33) as usize % words.len()]);
        }
        if let Err(error) = Expression::parse(&text) {
            assert!(error.at + error.length <= text.len(), "{text}: {error:?}");
            assert!(text.is_char_boundary(error.at), "{text}");
            let _drawn = error.pointed(&text);
        }
    }
}

#[test]
fn any_text_can_be_asked_for_exactly() {
    for text in [
        "plain",
        "a \"quoted\" one",
        "C:\\",
        "C:\\temp",
        "two\\\\",
        "a\\\"b",
        "+[x].*$\\",
        "",
    ] {
        let expression = Expression::parse(&equals("name", text)).unwrap();
        let Node::Compare { value, op, .. } = expression.root() else {
            panic!("{text}: {expression:?}");
        };
        match op {
            Op::Like => assert!(
                regex::Regex::new(&value.text).unwrap().is_match(text),
                "{text}: {}",
                value.text
            ),
            _ => assert_eq!(value.text, text),
        }
    }
}
