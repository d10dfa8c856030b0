//! What the kernel gives to events of probes: the groups (systems) of those whose definitions name no group
//! (`Documentation/trace/kprobetrace.rst` and its neighbours), and the names of the fields that it adds.

/// Returns whether a field has the name of one that the kernel adds to every event of a probe (FIELD_STRING_IP,
/// FIELD_STRING_FUNC and FIELD_STRING_RETIP of `trace_probe.h`).
#[must_use]
#[inline]
pub(crate) fn is_probe_field(name: &[u8]) -> bool {
    name.starts_with(b"__probe_")
}

/// A group of probe events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeGroup {
    /// Probes in the kernel.
    Kprobes,
    /// Probes in programs.
    Uprobes,
    /// Probes on events.
    Eprobes,
    /// Probes at entries and returns of functions.
    Fprobes,
    /// Probes on tracepoints.
    Tracepoints,
}

impl ProbeGroup {
    const ALL: [ProbeGroup; 5] = [
        ProbeGroup::Kprobes,
        ProbeGroup::Uprobes,
        ProbeGroup::Eprobes,
        ProbeGroup::Fprobes,
        ProbeGroup::Tracepoints,
    ];

    /// Returns the kernel's name of the group.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ProbeGroup::Kprobes => "kprobes",
            ProbeGroup::Uprobes => "uprobes",
            ProbeGroup::Eprobes => "eprobes",
            ProbeGroup::Fprobes => "fprobes",
            ProbeGroup::Tracepoints => "tracepoints",
        }
    }

    /// Returns the group with this name; `None` for systems of other events, and for groups that users named.
    #[must_use]
    pub(crate) fn of(system: &[u8]) -> Option<ProbeGroup> {
        let mut all = ProbeGroup::ALL.into_iter();
        all.find(|group| group.name().as_bytes() == system)
    }

    /// Returns whether readers of text assume this group for probes whose text does not contain a group. The form of a
    /// probe's text shows a probe in the kernel, in a program, or on an event.
    #[must_use]
    pub(crate) fn is_of_texts(self) -> bool {
        match self {
            ProbeGroup::Kprobes | ProbeGroup::Uprobes | ProbeGroup::Eprobes => true,
            ProbeGroup::Fprobes | ProbeGroup::Tracepoints => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_their_names() {
        for group in ProbeGroup::ALL {
            assert_eq!(ProbeGroup::of(group.name().as_bytes()), Some(group));
        }
        assert_eq!(ProbeGroup::of(b"sched"), None);
    }
}
