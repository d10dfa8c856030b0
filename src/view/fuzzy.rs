//! Fuzzy match of typed letters against a name: they must occur in the name in order; letters at word starts and
//! adjacent letters score higher.

/// Returns how well `typed` matches `name`, higher is better; `None` if it does not. Ignores case and spaces.
#[must_use]
pub(crate) fn score(typed: &str, name: &str) -> Option<i32> {
    let lower = |c: char| c.to_lowercase().next().unwrap_or(c);
    let wanted: Vec<char> = typed
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(lower)
        .collect();
    let letters: Vec<char> = name.chars().collect();
    // Best score of all ways to place the letters typed so far, indexed by the position of the last one.
    let mut best: Vec<Option<i32>> = Vec::new();
    for (number, &wanted) in wanted.iter().enumerate() {
        let mut row = vec![None; letters.len()];
        let mut before: Option<i32> = None;
        for (at, &letter) in letters.iter().enumerate() {
            if at > 0 && number > 0 {
                before = before.max(best[at - 1]);
            }
            if lower(letter) != wanted {
                continue;
            }
            let is_start = at == 0 || !letters[at - 1].is_alphanumeric();
            let own = if is_start { 18 } else { 8 };
            row[at] = if number == 0 {
                Some(own)
            } else {
                let beside = at.checked_sub(1).and_then(|at| best[at]).map(|it| it + 12);
                beside.max(before).map(|it| it + own)
            };
        }
        best = row;
    }
    let length = letters.len().min(90) as i32 / 6;
    if wanted.is_empty() {
        return Some(-length);
    }
    best.into_iter().flatten().max().map(|it| it - length)
}

/// Nearness first, then score; greater is better.
pub(crate) type Rank = (Nearness, i32);

/// How closely the typed text matches a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Nearness {
    /// The letters occur in the name or its text.
    Letters,
    /// The name starts with the typed text.
    Start,
    /// The typed text is the whole name.
    Whole,
}

/// Returns the rank of a name; `text` (the name and what follows it) is searched. `None` if it does not match.
#[must_use]
pub(crate) fn rank(typed: &str, name: &str, text: &str) -> Option<Rank> {
    let score = score(typed, text)?;
    let (typed, name) = (typed.trim().to_lowercase(), name.to_lowercase());
    let nearness = match name.strip_prefix(&typed) {
        _ if typed.is_empty() => Nearness::Letters,
        Some("") => Nearness::Whole,
        Some(_) => Nearness::Start,
        None => Nearness::Letters,
    };
    Some((nearness, score))
}

#[cfg(test)]
mod tests {
    use super::{rank, score};

    fn best<'a>(typed: &str, names: &[&'a str]) -> Option<&'a str> {
        let scored = names
            .iter()
            .filter_map(|name| Some((score(typed, name)?, *name)));
        scored.max_by_key(|(score, _)| *score).map(|(_, name)| name)
    }

    #[test]
    fn letters_in_their_order_fit_and_starts_of_words_fit_best() {
        let names = [
            "Unfold all",
            "Fold all",
            "Zoom to the selection",
            "kworker/0:1",
            "kworker/1:0",
        ];
        assert_eq!(best("fold", &names), Some("Fold all"));
        assert_eq!(best("zts", &names), Some("Zoom to the selection"));
        assert_eq!(best("kw10", &names), Some("kworker/1:0"));
        assert_eq!(best("FA", &names), Some("Fold all"));
        assert_eq!(best("xyz", &names), None);
        let nearest = |typed: &str, names: &[&'static str]| {
            let ranked = names
                .iter()
                .filter_map(|it| Some((rank(typed, it, it)?, *it)));
            ranked.max_by_key(|(rank, _)| *rank).map(|(_, name)| name)
        };
        let threads = ["1 thread-17", "thread-1704", "thread-17", "thread-170"];
        assert_eq!(nearest("thread-17", &threads), Some("thread-17"));
        assert_eq!(nearest("Thread-170", &threads), Some("thread-170"));
        assert_eq!(nearest("thread-170", &threads[..2]), Some("thread-1704"));
        assert!(score("", "anything").is_some());
    }
}
