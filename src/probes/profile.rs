//! Parses `kprobe_profile` and `uprobe_profile`: how often each probe was hit and missed.
//!
//! ```text
//!   EVENT   hits   misses               kprobe_profile
//!   PATH EVENT   hits                   uprobe_profile (without misses)
//! ```

/// The kernel's counts of one probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRow {
    /// The event's name; the file does not contain its group.
    pub event: String,
    /// How often the probe was hit.
    pub hits: u64,
    /// How often the probe was missed; `None` for uprobes, whose misses the kernel does not count.
    pub misses: Option<u64>,
}

/// Parses a profile; lines of another form are skipped.
#[must_use]
pub fn parse_profile(text: &str) -> Vec<ProfileRow> {
    text.lines().filter_map(row).collect()
}

/// Parses one line of a profile; `None` if it has another form.
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
