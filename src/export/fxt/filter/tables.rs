//! The string and thread tables of an FXT file during a walk over its records: the record to which an index refers at
//! that point. The rules are those of the reader (`formats/fxt/tables`), for one walk from front to back.

use rustc_hash::FxHashMap;

use crate::fxt::layout::metadata;

/// The provider of the following records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Section {
    /// No provider was announced yet.
    #[default]
    Implicit,
    /// The provider of that number.
    Of(u32),
}

/// The entries of one provider: by index, the places of their records.
#[derive(Clone, Debug, Default)]
struct Registered {
    strings: FxHashMap<u16, u64>,
    threads: FxHashMap<u8, u64>,
}

/// The entries of all providers at one point of the walk.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// The provider of the records that follow.
    pub section: Section,
    implicit: Registered,
    /// The entries that were registered before the first provider was announced: providers that have
    /// registered nothing of their own use them.
    inherited: Registered,
    /// By number; a provider that is announced again starts empty.
    providers: FxHashMap<u32, Registered>,
    /// Whether anything was registered before the first provider was announced, and one was announced after that.
    pub has_inheritance: bool,
    has_implicit: bool,
}

impl Tables {
    /// Applies a metadata record, given its header.
    pub(super) fn metadata(&mut self, header: u64) {
        let number = metadata::PROVIDER.get(header) as u32;
        match metadata::KIND.get(header) {
            metadata::PROVIDER_INFO => self.announce(number),
            metadata::PROVIDER_SECTION if self.providers.contains_key(&number) => {
                self.section = Section::Of(number);
            }
            metadata::PROVIDER_SECTION if number == 0 => self.section = Section::Implicit,
            metadata::PROVIDER_SECTION => self.announce(number),
            _ => {}
        }
    }

    fn announce(&mut self, number: u32) {
        if self.providers.is_empty() {
            self.inherited = self.implicit.clone();
            self.has_inheritance = self.has_implicit;
        }
        self.providers.insert(number, Registered::default());
        self.section = Section::Of(number);
    }

    /// Records that the current provider set its tick rate.
    pub(crate) fn add_rate(&mut self) {
        self.has_implicit |= self.section == Section::Implicit;
    }

    /// Sets an entry to the string record at `place`.
    pub(crate) fn add_string(&mut self, index: u16, place: u64) {
        if index != 0 {
            self.own().strings.insert(index, place);
        }
    }

    /// Sets an entry to the thread record at `place`.
    pub(crate) fn add_thread(&mut self, index: u8, place: u64) {
        if index != 0 {
            self.own().threads.insert(index, place);
        }
    }

    fn own(&mut self) -> &mut Registered {
        match self.section {
            Section::Implicit => {
                self.has_implicit = true;
                &mut self.implicit
            }
            Section::Of(number) => self.providers.entry(number).or_default(),
        }
    }

    /// Returns the place of the string record to which an index refers.
    pub(crate) fn string(&self, index: u16) -> Option<u64> {
        let tables = self.tables(|tables| !tables.strings.is_empty())?;
        tables.strings.get(&index).copied()
    }

    /// Returns the place of the thread record to which an index refers.
    pub(super) fn thread(&self, index: u8) -> Option<u64> {
        let tables = self.tables(|tables| !tables.threads.is_empty())?;
        tables.threads.get(&index).copied()
    }

    fn tables(&self, has_own: impl Fn(&Registered) -> bool) -> Option<&Registered> {
        match self.section {
            Section::Implicit => Some(&self.implicit),
            Section::Of(number) => {
                let own = self.providers.get(&number)?;
                Some(if has_own(own) { own } else { &self.inherited })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: u64, number: u64) -> u64 {
        metadata::KIND.put(kind) | metadata::PROVIDER.put(number)
    }

    #[test]
    fn providers_use_what_came_before_them_until_they_have_their_own() {
        let mut tables = Tables::default();
        tables.add_string(3, 8);
        tables.metadata(header(metadata::PROVIDER_INFO, 1));
        assert!(tables.has_inheritance);
        assert_eq!(tables.string(3), Some(8));
        tables.add_string(4, 24);
        assert_eq!((tables.string(3), tables.string(4)), (None, Some(24)));
        tables.metadata(header(metadata::PROVIDER_SECTION, 0));
        tables.add_thread(5, 40);
        assert_eq!(
            (tables.section, tables.thread(5)),
            (Section::Implicit, Some(40))
        );
        tables.metadata(header(metadata::PROVIDER_SECTION, 1));
        assert_eq!((tables.string(4), tables.thread(5)), (Some(24), None));
        // A provider that is announced again starts empty; a section announces a provider that was not announced.
        tables.metadata(header(metadata::PROVIDER_INFO, 1));
        assert_eq!((tables.string(3), tables.string(4)), (Some(8), None));
        tables.metadata(header(metadata::PROVIDER_SECTION, 9));
        assert_eq!(tables.section, Section::Of(9));
    }
}
