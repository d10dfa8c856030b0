//! Checks a filter of an event before the kernel does: its grammar, and its fields if the event's format is known.
//!
//! ```text
//! FILTER     COMPARISON, joined by && and ||, with ! and ( )
//! COMPARISON FIELD OP VALUE
//! OP         == != < <= > >= & for numbers; == != ~ for texts
//! VALUE      a number as in C, or a text; "quoted" if it has blanks; ~ compares with a glob
//! ```
//!
//! Described in the kernel's Documentation/trace/events.rst. The kernel has the last word: what it refuses, it refuses
//! when the recording starts, and its own message is shown.

use std::fmt;

/// An error in a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterFault {
    /// Offset of the wrong byte.
    pub at: usize,
    /// A sentence for the user.
    pub message: String,
}

impl fmt::Display for FilterFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (column {})", self.message, self.at + 1)
    }
}

/// A field of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventField {
    /// Its name.
    pub name: String,
    /// Whether its values are texts.
    pub is_text: bool,
}

/// Returns the fields in the text of an event's `format`.
#[must_use]
pub fn fields_of(format: &str) -> Vec<EventField> {
    let lines = format.lines().filter_map(|line| {
        let (_, after) = line.split_once("field:")?;
        let declaration = after.split(';').next()?;
        // `__data_loc char[] name`, `char comm[16]`, `const char * file`
        let without = declaration.replacen("[]", "", 1);
        let before = without.split('[').next().unwrap_or(&without);
        let (kind, name) = before.trim_end().rsplit_once([' ', '*'])?;
        Some(EventField {
            name: name.to_owned(),
            is_text: kind.contains("char") && declaration.contains(['[', '*']),
        })
    });
    let mut fields: Vec<EventField> = lines.collect();
    // The kernel adds these to every event.
    for (name, is_text) in [
        ("cpu", false),
        ("CPU", false),
        ("comm", true),
        ("COMM", true),
    ] {
        let name = name.to_owned();
        if !fields.iter().any(|field| field.name == name) {
            fields.push(EventField { name, is_text });
        }
    }
    fields
}

/// Checks a filter. `fields` are those of the event; `None` if they are not known.
///
/// # Errors
/// With the first fault.
pub fn check(text: &str, fields: Option<&[EventField]>) -> Result<(), FilterFault> {
    let mut check = Check {
        text,
        at: 0,
        fields,
        depth: 0,
    };
    check.alternatives()?;
    match check.peek() {
        None => Ok(()),
        Some(')') => Err(check.fault("there is no ( for this )")),
        Some(_) => Err(check.fault("expected && or || before the next comparison")),
    }
}

/// Deeper parentheses are refused.
const MOST_DEPTH: u32 = 64;

struct Check<'a> {
    text: &'a str,
    at: usize,
    fields: Option<&'a [EventField]>,
    depth: u32,
}

impl<'a> Check<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn fault(&self, message: impl Into<String>) -> FilterFault {
        FilterFault {
            at: self.at,
            message: message.into(),
        }
    }

    /// Returns the next letter that is no blank, without passing it.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    /// Passes `sign` if it is next.
    fn takes(&mut self, sign: &str) -> bool {
        self.peek();
        let is_next = self.rest().starts_with(sign);
        if is_next {
            self.at += sign.len();
        }
        is_next
    }

    fn alternatives(&mut self) -> Result<(), FilterFault> {
        loop {
            self.operand()?;
            if !self.takes("&&") && !self.takes("||") {
                return Ok(());
            }
        }
    }

    fn operand(&mut self) -> Result<(), FilterFault> {
        while self.takes("!") {}
        if !self.takes("(") {
            return self.comparison();
        }
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(self.fault("too many parentheses"));
        }
        self.alternatives()?;
        if !self.takes(")") {
            return Err(self.fault("expected )"));
        }
        self.depth -= 1;
        Ok(())
    }

    fn comparison(&mut self) -> Result<(), FilterFault> {
        let Some(first) = self.peek() else {
            return Err(self.fault("expected a comparison: FIELD == VALUE"));
        };
        if !first.is_ascii_alphabetic() && first != '_' {
            return Err(self.fault("expected the name of a field"));
        }
        let start = self.at;
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
        let name = self.word(is_name);
        // `CPUS{..}` compares with a list of CPUs, `FIELD.function` with the name of a function.
        let plain = name.split('.').next().unwrap_or(name);
        let field = match self.fields {
            None => None,
            Some(fields) => match fields.iter().find(|field| field.name == plain) {
                Some(field) => Some(field),
                None => return Err(no_such_field(start, plain, fields)),
            },
        };
        self.peek();
        let sign_at = self.at;
        let signs = ["==", "!=", "<=", ">=", "<", ">", "~", "&"];
        let sign = signs.into_iter().find(|sign| {
            // `&&` joins comparisons.
            (*sign != "&" || !self.rest().starts_with("&&")) && self.rest().starts_with(sign)
        });
        let Some(sign) = sign else {
            return Err(self.fault("expected == != < <= > >= & or ~"));
        };
        self.at += sign.len();
        let wrong_sign = |message: String| FilterFault {
            at: sign_at,
            message,
        };
        if let Some(field) = field.filter(|_| plain == name) {
            let is_for_texts = ["==", "!=", "~"].contains(&sign);
            if field.is_text && !is_for_texts {
                let words = format!("{plain} is a text: compare it with == != or ~");
                return Err(wrong_sign(words));
            }
            if !field.is_text && sign == "~" {
                return Err(wrong_sign(format!("{plain} is a number: ~ is for texts")));
            }
        }
        self.value(field.filter(|_| plain == name))
    }

    fn value(&mut self, field: Option<&EventField>) -> Result<(), FilterFault> {
        let Some(first) = self.peek() else {
            return Err(self.fault("expected a value"));
        };
        if first == '"' || first == '\'' {
            let start = self.at;
            self.at += 1;
            let Some(length) = self.rest().find(first) else {
                self.at = start;
                return Err(self.fault("the text has no closing quote"));
            };
            self.at += length + 1;
            return match field {
                Some(field) if !field.is_text => Err(FilterFault {
                    at: start,
                    message: format!("{} is a number", field.name),
                }),
                _ => Ok(()),
            };
        }
        let start = self.at;
        let is_value = |letter: char| !letter.is_whitespace() && !"()&|<>=!\"'".contains(letter);
        let word = self.word(is_value);
        if word.is_empty() {
            return Err(self.fault("expected a value"));
        }
        match field {
            Some(field) if !field.is_text && !is_number(word) => Err(FilterFault {
                at: start,
                message: format!(
                    "the field {} is a number; '{word}' is not a number",
                    field.name
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Passes the longest text of such letters.
    fn word(&mut self, is_in: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|letter| !is_in(letter)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or("")
    }
}

/// Returns whether a word is a number as in C, with a sign.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '~']).unwrap_or(word);
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_hexdigit()),
        None => !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()),
    }
}

fn no_such_field(at: usize, name: &str, fields: &[EventField]) -> FilterFault {
    let own = fields
        .iter()
        .filter(|field| !field.name.starts_with("common_"));
    let names: Vec<&str> = own.map(|field| field.name.as_str()).collect();
    FilterFault {
        at,
        message: format!("the event has no field {name}; it has {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "name: sched_switch\nID: 314\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
        \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
        \tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n\
        \tfield:const char * file;\toffset:44;\tsize:8;\tsigned:0;\n";

    #[test]
    fn fields_are_numbers_or_texts() {
        let fields = fields_of(SWITCH);
        let is_text = |name: &str| {
            fields
                .iter()
                .find(|field| field.name == name)
                .unwrap()
                .is_text
        };
        assert!(is_text("prev_comm") && is_text("file") && is_text("comm"));
        assert!(!is_text("prev_pid") && !is_text("common_pid") && !is_text("CPU"));
    }

    #[test]
    fn right_filters_pass() {
        let fields = fields_of(SWITCH);
        for text in [
            "prev_pid == 1",
            "prev_pid==-1&&prev_state&0x3",
            "!(prev_comm ~ \"sh*\") || prev_comm != bash",
            "( (common_pid > 10) )  ",
            "CPU == 1 && comm == 'a b'",
            "prev_pid.function == schedule",
        ] {
            assert_eq!(check(text, Some(&fields)), Ok(()), "{text}");
            assert_eq!(check(text, None), Ok(()), "{text}");
        }
    }

    #[test]
    fn wrong_filters_are_marked_where_they_are_wrong() {
        let fields = fields_of(SWITCH);
        for (text, at, words) in [
            ("", 0, "expected a comparison"),
            ("prev_pid", 8, "expected =="),
            ("prev_pid ==", 11, "expected a value"),
            ("prev_pid == x", 12, "is a number"),
            ("prev_pid ~ 1*", 9, "is for texts"),
            ("prev_comm < 3", 10, "is a text"),
            ("prev_pid == 1 &&", 16, "expected a comparison"),
            ("prev_pid == 1 prev_pid == 2", 14, "expected && or ||"),
            ("(prev_pid == 1", 14, "expected )"),
            ("prev_pid == 1)", 13, "no ("),
            (
                "next == 1",
                0,
                "has no field next; it has prev_comm, prev_pid",
            ),
            ("prev_comm == \"a", 13, "closing quote"),
            ("5 == 5", 0, "name of a field"),
        ] {
            let fault = check(text, Some(&fields)).unwrap_err();
            assert_eq!(fault.at, at, "{text}: {fault}");
            assert!(fault.message.contains(words), "{text}: {fault}");
        }
    }
}
