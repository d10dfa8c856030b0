//! Puts probe definitions in the group of their recording, so that the recording can find and remove them at its end.

/// Returns the definition with this group. `index` makes the name of a probe without a name unique.
///
/// # Errors
/// If the definition removes a probe, or chooses a group itself.
pub(crate) fn with_group(text: &str, group: &str, index: usize) -> Result<String, &'static str> {
    let (head, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let (sort, name) = match head.split_once(':') {
        Some((sort, name)) => (sort, Some(name)),
        None => (head, None),
    };
    if sort.starts_with('-') {
        return Err("a recording takes its own probes away at its end");
    }
    let name = match name {
        Some(name) if name.contains('/') => {
            return Err("the group is chosen by the recording: give a name without one");
        }
        Some(name) => name.to_owned(),
        None => default_name(sort, rest.trim(), index),
    };
    Ok(format!("{sort}:{group}/{name} {}", rest.trim()))
}

/// Returns a name made from the location of a probe, as the kernel makes it, and a number.
fn default_name(sort: &str, rest: &str, index: usize) -> String {
    let place = rest.split_whitespace().next().unwrap_or("");
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let place = place.rsplit('/').next().unwrap_or(place);
    let word: String = place
        .chars()
        .map(|letter| if is_word(letter) { letter } else { '_' })
        .take(40)
        .collect();
    let sort = sort.chars().next().unwrap_or('p');
    format!("{sort}_{word}_{index}")
}

#[cfg(test)]
mod tests {
    use super::with_group;

    #[test]
    fn groups_and_names_are_added() {
        for (text, expected) in [
            (
                "p vfs_read count=%dx",
                "p:g/p_vfs_read_0 vfs_read count=%dx",
            ),
            ("r8:back vfs_read $retval", "r8:g/back vfs_read $retval"),
            ("p /bin/sh:0x40", "p:g/p_sh_0x40_0 /bin/sh:0x40"),
        ] {
            assert_eq!(with_group(text, "g", 0).as_deref(), Ok(expected));
        }
        assert!(with_group("p:mine/x vfs_read", "g", 0).is_err());
        assert!(with_group("-:x", "g", 0).is_err());
    }
}
