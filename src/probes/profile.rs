//! `kprobe_profile` and `uprobe_profile`: how often each probe hit, and how often it could not.
//!
//! ```text
//!   EVENT   hits   misses               kprobe_profile
//!   PATH EVENT   hits                   uprobe_profile (nothing is missed)
//! ```

/// What the kernel counted of one probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRow {
    /// The event's name; its group is not said.
    pub event: String,
    /// How often it hit.
    pub hits: u64,
    /// How often it was missed; `None` where the kernel does not count that.
    pub misses: Option<u64>,
}

/// Reads a profile; lines of another form are left out.
#[must_use]
pub fn parse_profile(text: &str) -> Vec<ProfileRow> {
    text.lines().filter_map(row).collect()
}

/// One line.
pub(super) fn row(line: &str) -> Option<ProfileRow> {
    let mut words: Vec<&str> = line.split_ascii_whitespace().collect();
    let last: u64 = words.pop()?.parse().ok()?;
    match words.as_slice() {
        [event, hits] if !event.contains('/') => Some(ProfileRow {
            event: (*event).to_owned(),
            hits: hits.parse().ok()?,
            misses: Some(last),
        }),
        [path @ .., event] if path.first().is_some_and(|it| it.starts_with('/')) => {
            Some(ProfileRow {
                event: (*event).to_owned(),
                hits: last,
                misses: None,
            })
        }
        _ => None,
    }
}
