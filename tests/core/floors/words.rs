//! Splits Rust source into words and signs, without comments, strings and character literals.

/// The words and signs of `text` in their order; `::` is one sign, every other sign is one character.
pub fn words_of(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let rest = &chars[at..];
        at += if rest.starts_with(&['/', '/']) {
            length_until(rest, &['\n'])
        } else if rest.starts_with(&['/', '*']) {
            length_until(rest, &['*', '/'])
        } else if let Some(length) = raw_string_length(rest) {
            length
        } else if c == '"' {
            string_length(rest)
        } else if c == '\'' {
            quote_length(rest)
        } else if is_word_char(c) {
            let length = rest.iter().take_while(|c| is_word_char(**c)).count();
            words.push(rest[..length].iter().collect());
            length
        } else if rest.starts_with(&[':', ':']) {
            words.push("::".to_owned());
            2
        } else {
            if !c.is_whitespace() {
                words.push(c.to_string());
            }
            1
        };
    }
    words
}

/// Whether a word is a name or keyword rather than a number.
pub fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The number of characters up to and including the first `end` behind the first two characters.
fn length_until(rest: &[char], end: &[char]) -> usize {
    (2..rest.len())
        .find(|at| rest[*at..].starts_with(end))
        .map_or(rest.len(), |at| at + end.len())
}

/// The length of a raw string such as `r"..."` or `br#"..."#`, if `rest` begins with one.
fn raw_string_length(rest: &[char]) -> Option<usize> {
    let prefix = match rest {
        ['r', ..] => 1,
        ['b' | 'c', 'r', ..] => 2,
        _ => return None,
    };
    let hash_count = rest[prefix..].iter().take_while(|c| **c == '#').count();
    let start = prefix + hash_count;
    if rest.get(start) != Some(&'"') {
        return None;
    }
    let mut end = vec!['"'];
    end.resize(1 + hash_count, '#');
    let text = &rest[start + 1..];
    let length = (0..text.len()).find(|at| text[*at..].starts_with(&end));
    Some(length.map_or(rest.len(), |length| start + 1 + length + end.len()))
}

/// The length of a string with its quotes.
fn string_length(rest: &[char]) -> usize {
    let mut at = 1;
    while let Some(c) = rest.get(at) {
        at += match c {
            '"' => return at + 1,
            '\\' => 2,
            _ => 1,
        };
    }
    rest.len()
}

/// The length of a character literal with its quotes, or of a lifetime.
fn quote_length(rest: &[char]) -> usize {
    match rest {
        [_, '\\', _, more @ ..] => {
            let length = more.iter().position(|c| *c == '\'');
            length.map_or(rest.len(), |length| 3 + length + 1)
        }
        [_, _, '\'', ..] => 3,
        _ => 1 + rest[1..].iter().take_while(|c| is_word_char(**c)).count(),
    }
}

#[test]
fn comments_and_literals_are_no_words() {
    let text = r##"use a::b; // c::d
        let x: &'static str = "e::f\"g"; /* h::i */ br#"j"k"#; ('"', '\'', '\u{1f}', b'l') r"m" 2"##;
    let words = words_of(text);
    assert_eq!(
        words.join(" "),
        "use a :: b ; let x : & str = ; ; ( , , , b ) 2"
    );
}
