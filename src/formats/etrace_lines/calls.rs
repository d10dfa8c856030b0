//! Joins the lines of one task into calls with whole texts.
//!
//! ```text
//! Open|fnamesize=..,..   FN|whole text                     short
//!                        FN|line 1   Cont|line 2   Cont_end|        short, with newlines
//!                        FN[0]..  FN[1]..  FN_end|                  900 bytes and more
//!                        FN[0]..  Cont|..  Cont_end|  FN[1]..  FN_end|    long, with newlines
//! New_proc|argsize=..    A[0]..  A[1]..  A[1]..  End_of_args|       the number counts arguments
//! ```
//!
//! One rule joins all of them: a text in pieces is appended unchanged, `Cont` appends a newline and its text,
//! `Cont_end` appends nothing, and a text ends with its `_end` or with the next line that is none of these. An empty
//! argument has no line: a gap in the argument numbers shows it, unless the announced size shows that more is missing.
//! After lost events, texts may belong to another call: this is assumed for a text that occurs twice or has another
//! length than announced.
//!
//! Of the 21 etrace files of the corpus, 2 contain incomplete calls (because they are cut), 1 contains a text
//! without its call, and 1 a text of another length than announced.

use super::line::{Payload, Word};
use super::sorts::{SizedText, Slot, Sort};
use super::values::{Key, Values};
use crate::base::Maybe;

/// Maximum number of texts of a call.
pub(crate) const MOST_TEXTS: usize = 4;
/// Maximum number of empty arguments without a line in one call.
const MOST_GAPS: usize = 1024;

/// A call whose lines are being read.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    /// Type of the call.
    pub sort: Sort,
    /// For [`Sort::Lone`]: the slot of the text that has no call.
    pub lone: Slot,
    /// The call's numbers.
    pub values: Values,
    /// Byte offset of its first line.
    pub place: u64,
    /// For unknown tags: the tag; otherwise empty.
    tag: &'a [u8],
    /// The kinds of its texts in the order of its row in the table, each with the key of the announced size.
    texts: &'static [SizedText],
    /// Length of each text so far in bytes, if it has started.
    lengths: [Maybe<u64>; MOST_TEXTS],
    current: Option<Slot>,
    /// Index of `current` in `texts`.
    current_index: usize,
    current_number: u64,
    next_argument: u64,
    /// Number of arguments that were passed on or are being read.
    argument_count: u32,
    /// Indices of the arguments that are assumed to be empty because their numbers are missing.
    gaps: Vec<u32>,
    text: Text<'a>,
    is_complete: bool,
    /// Whether events were lost after a line of the call.
    is_behind_hole: bool,
}

/// A text that is being joined; a text of one line is not copied.
#[derive(Clone, Debug, Default)]
struct Text<'a> {
    whole: &'a [u8],
    joined: Vec<u8>,
    is_joined: bool,
}

impl<'a> Text<'a> {
    #[inline]
    fn start(&mut self, text: &'a [u8]) {
        self.whole = text;
        self.is_joined = false;
    }

    fn append(&mut self, separator: &[u8], text: &[u8]) {
        if !self.is_joined {
            self.joined.clear();
            self.joined.extend_from_slice(self.whole);
            self.is_joined = true;
        }
        self.joined.extend_from_slice(separator);
        self.joined.extend_from_slice(text);
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        if self.is_joined {
            &self.joined
        } else {
            self.whole
        }
    }
}

/// How a line relates to the call before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The line belongs to the call.
    Belongs,
    /// The line is a text that the call does not have.
    Alone,
    /// The line continues or ends a text that does not exist.
    Stray,
}

impl<'a> Call<'a> {
    /// Returns the state before the first call.
    #[must_use]
    pub(crate) fn none() -> Call<'a> {
        Call {
            sort: Sort::Lone,
            lone: Slot::Other,
            values: Values::default(),
            place: 0,
            tag: &[],
            texts: &[],
            lengths: [Maybe::NONE; MOST_TEXTS],
            current: None,
            current_index: 0,
            current_number: 0,
            next_argument: 0,
            argument_count: 0,
            gaps: Vec::new(),
            text: Text::default(),
            is_complete: true,
            is_behind_hole: false,
        }
    }

    /// Starts the call of a line, reusing the allocations.
    #[inline]
    pub(crate) fn start(&mut self, sort: Sort, line: &Payload<'a>, place: u64) {
        self.sort = sort;
        match sort.has_values() {
            true => self.values.read(line.text, sort.usual_values()),
            false => self.values.clear(),
        }
        self.texts = sort.texts();
        self.place = place;
        self.lengths = [Maybe::NONE; MOST_TEXTS];
        self.current = None;
        self.next_argument = 0;
        self.argument_count = 0;
        self.gaps.clear();
        self.is_complete = false;
        self.is_behind_hole = false;
        match sort {
            Sort::Env => self.start_text(Slot::Variable, 0, line.text),
            Sort::Unknown => {
                self.tag = line.tag;
                self.start_text(Slot::Other, line.number.unwrap_or(0), line.text);
            }
            _ => {}
        }
    }

    /// Starts a text whose call is missing.
    pub(crate) fn start_lone(&mut self, slot: Slot, line: &Payload<'a>, place: u64) {
        self.start(Sort::Lone, line, place);
        self.lone = slot;
        self.next_argument = line.number.unwrap_or(0);
        self.start_text(slot, line.number.unwrap_or(0), line.text);
        if slot == Slot::Argument {
            self.next_argument = self.next_argument.saturating_add(1);
        }
    }

    fn start_text(&mut self, slot: Slot, number: u64, text: &'a [u8]) {
        let index = self.index_of(slot).unwrap_or(MOST_TEXTS);
        self.start_text_at(index, slot, number, text);
    }

    #[inline]
    fn start_text_at(&mut self, index: usize, slot: Slot, number: u64, text: &'a [u8]) {
        self.current = Some(slot);
        self.current_index = index;
        self.current_number = number;
        self.text.start(text);
    }

    /// Notes that events were lost after the latest line.
    pub(crate) fn meet_hole(&mut self) {
        self.is_behind_hole |= !self.is_complete;
    }

    /// Returns the tag of a call with an unknown tag.
    #[must_use]
    pub(crate) fn unknown_tag(&self) -> &'a [u8] {
        self.tag
    }

    fn index_of(&self, slot: Slot) -> Option<usize> {
        self.texts.iter().position(|text| text.slot == slot)
    }

    fn has(&self, slot: Slot) -> bool {
        match self.sort {
            Sort::Lone => self.lone == slot,
            _ => self.index_of(slot).is_some(),
        }
    }

    /// Reads the next line of the same task, which does not start a call. Each text that this line completes is passed
    /// to `done`, with its slot.
    #[inline]
    pub(super) fn read(&mut self, line: &Payload<'a>, done: &mut impl FnMut(Slot, &[u8])) -> Fit {
        match line.word {
            Word::Text(slot) => {
                if self.is_complete {
                    return Fit::Alone;
                }
                let number = line.number.unwrap_or(0);
                if slot == Slot::Argument {
                    return match self.has(slot) {
                        true => self.argument(number, line, done),
                        false => Fit::Alone,
                    };
                }
                if self.current == Some(slot) {
                    // A second piece 0 of the same text belongs to another call.
                    if number == 0 {
                        return Fit::Alone;
                    }
                    self.text.append(b"", line.text);
                    return Fit::Belongs;
                }
                match self.index_of(slot) {
                    Some(index) if number == 0 && self.expects(index, line) => {
                        self.finish_text(done);
                        self.start_text_at(index, slot, number, line.text);
                        Fit::Belongs
                    }
                    _ => Fit::Alone,
                }
            }
            Word::Cont if self.current.is_some() => {
                self.text.append(b"\n", line.text);
                Fit::Belongs
            }
            Word::ContEnd if self.current.is_some() => Fit::Belongs,
            Word::TextEnd if self.current.is_some() => {
                self.finish_text(done);
                Fit::Belongs
            }
            Word::EndOfArgs if self.has(Slot::Argument) && !self.is_complete => {
                self.finish_text(done);
                self.is_complete = true;
                Fit::Belongs
            }
            Word::Call(Sort::Env) if self.sort == Sort::Env && line.number.unwrap_or(0) > 0 => {
                self.text.append(b"", line.text);
                Fit::Belongs
            }
            Word::Unknown
                if self.sort == Sort::Unknown
                    && self.tag == line.tag
                    && line.number.unwrap_or(0) > 0 =>
            {
                self.text.append(b"", line.text);
                Fit::Belongs
            }
            _ => Fit::Stray,
        }
    }

    fn argument(
        &mut self,
        number: u64,
        line: &Payload<'a>,
        done: &mut impl FnMut(Slot, &[u8]),
    ) -> Fit {
        if self.current == Some(Slot::Argument) && self.current_number == number {
            self.text.append(b"", line.text);
            return Fit::Belongs;
        }
        if number < self.next_argument {
            return Fit::Alone;
        }
        self.finish_text(done);
        while self.next_argument < number && self.gaps.len() < MOST_GAPS {
            self.gaps.push(self.argument_count);
            self.argument_count += 1;
            self.next_argument += 1;
            if let Some(index) = self.index_of(Slot::Argument) {
                self.add_length(index, Slot::Argument, 0);
            }
            done(Slot::Argument, b"");
        }
        self.next_argument = number.saturating_add(1);
        self.argument_count = self.argument_count.saturating_add(1);
        self.start_text(Slot::Argument, number, line.text);
        Fit::Belongs
    }

    /// Returns whether the text at `index` is missing and may start with this line.
    #[inline]
    fn expects(&self, index: usize, line: &Payload<'a>) -> bool {
        self.length(index).is_none() && (!self.is_behind_hole || self.fits(index, line))
    }

    /// Returns whether a text that starts with this line can have the announced length.
    #[cold]
    fn fits(&self, index: usize, line: &Payload<'a>) -> bool {
        let key = self.texts.get(index).map(|text| text.size);
        let size = key.and_then(|key| self.values.get(key));
        let Some(size) = size.and_then(|size| usize::try_from(size).ok()) else {
            return true;
        };
        match line.number {
            Some(_) => line.text.len() <= size,
            None => line.text.len() == size,
        }
    }

    /// Returns the indices of arguments without a line that were lost, not empty. They count as lost if more bytes are
    /// missing than newlines at the ends of the other arguments can explain.
    #[must_use]
    pub(crate) fn lost_arguments(&self) -> &[u32] {
        match self.lacks_arguments() {
            true => &self.gaps,
            false => &[],
        }
    }

    fn lacks_arguments(&self) -> bool {
        let Some(index) = self.index_of(Slot::Argument) else {
            return false;
        };
        let size = self.values.get(Key::ArgumentsSize).unwrap_or(0);
        let size = u64::try_from(size).unwrap_or(0);
        let missing = size.saturating_sub(self.length(index).unwrap_or(0));
        let present = u64::from(self.argument_count).saturating_sub(self.gaps.len() as u64);
        match (self.gaps.is_empty(), self.is_behind_hole) {
            (false, true) => missing > 0,
            (false, false) | (true, true) => self.is_complete && missing > present,
            (true, false) => false,
        }
    }

    #[inline]
    fn add_length(&mut self, index: usize, slot: Slot, length: usize) {
        if let Some(entry) = self.lengths.get_mut(index) {
            // The announced size of all arguments includes a NUL for each.
            let more = length as u64 + u64::from(slot == Slot::Argument);
            *entry = Maybe::new(entry.get().unwrap_or(0).saturating_add(more));
        }
    }

    /// Returns the length in bytes of the text at `index` so far, if it has started.
    #[inline]
    fn length(&self, index: usize) -> Option<u64> {
        self.lengths.get(index)?.get()
    }

    /// Ends the text that is being joined, if any.
    #[inline]
    pub(crate) fn finish_text(&mut self, done: &mut impl FnMut(Slot, &[u8])) {
        if let Some(slot) = self.current.take() {
            self.add_length(self.current_index, slot, self.text.bytes().len());
            done(slot, self.text.bytes());
        }
    }

    /// Returns whether more lines may belong to the call.
    #[must_use]
    pub(crate) fn may_go_on(&self) -> bool {
        matches!(self.sort, Sort::Env | Sort::Unknown | Sort::Lone) || !self.is_settled()
    }

    /// Returns whether the call is complete according to its announced sizes.
    #[must_use]
    pub(crate) fn is_settled(&self) -> bool {
        let texts = self.texts;
        match self.sort {
            _ if self.is_complete => true,
            Sort::NewProc | Sort::Mount | Sort::Umount | Sort::Lone => false,
            _ => texts
                .iter()
                .enumerate()
                .all(|(index, SizedText { slot, size: key })| {
                    let read = match self.length(index) {
                        Some(length) => length,
                        None if self.current == Some(*slot) => self.text.bytes().len() as u64,
                        None => 0,
                    };
                    match self.values.get(*key) {
                        Some(size) => u64::try_from(size).is_ok_and(|size| read >= size),
                        None => matches!(key, Key::ResolvedSize | Key::SourceSize),
                    }
                }),
        }
    }

    /// Returns the flaw of a call that gets no more lines.
    #[must_use]
    pub(crate) fn flaw(&self) -> Option<Flaw> {
        if self.sort == Sort::NewProc && !self.is_complete {
            return Some(Flaw::Incomplete);
        }
        let texts = self.texts;
        texts
            .iter()
            .enumerate()
            .find_map(|(index, SizedText { slot, size: key })| {
                let size = u64::try_from(self.values.get(*key)?).ok()?;
                let length = self.length(index);
                match length {
                    _ if *slot == Slot::Argument => {
                        let length = length.unwrap_or(0);
                        if self.lacks_arguments() {
                            let length = length.saturating_sub(self.gaps.len() as u64);
                            return Some(Flaw::LostArguments { size, length });
                        }
                        (length != size).then_some(Flaw::Arguments { size, length })
                    }
                    None => Some(Flaw::Incomplete),
                    Some(length) => (length != size).then_some(Flaw::Size {
                        slot: *slot,
                        size,
                        length,
                    }),
                }
            })
    }
}

/// Removes the entries at `places`, in ascending order, from a list.
pub(crate) fn remove_at<T>(list: &mut Vec<T>, places: &[u32]) {
    let mut places = places.iter().map(|&place| place as usize).peekable();
    let mut at = 0;
    list.retain(|_| {
        let is_there = places.next_if_eq(&at).is_some();
        at += 1;
        !is_there
    });
}

/// Flaw of a call's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Some texts are missing.
    Incomplete,
    /// The length of a text differs from the announced size.
    Size {
        /// The text.
        slot: Slot,
        /// Announced size, in bytes.
        size: u64,
        /// Length that was read, in bytes.
        length: u64,
    },
    /// The total size of the arguments differs, because some arguments were lost.
    LostArguments {
        /// Announced size, in bytes.
        size: u64,
        /// Length that was read, in bytes.
        length: u64,
    },
    /// The total size of the arguments differs: the tracer does not print empty arguments at the end, and newlines at
    /// the ends of arguments.
    Arguments {
        /// Announced size, in bytes.
        size: u64,
        /// Length that was read, in bytes.
        length: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::etrace_lines::parse_payload;

    fn texts(lines: &[&str]) -> Vec<(Slot, String)> {
        let mut out = Vec::new();
        let mut call = Call::none();
        let mut done =
            |slot, bytes: &[u8]| out.push((slot, String::from_utf8_lossy(bytes).into_owned()));
        for text in lines {
            let owned: &'static str = Box::leak(format!("1,0,0,1!{text}").into_boxed_str());
            let line = parse_payload(owned.as_bytes()).unwrap();
            match line.word {
                Word::Call(sort) => call.start(sort, &line, 0),
                _ => assert_eq!(call.read(&line, &mut done), Fit::Belongs, "{text}"),
            }
        }
        call.finish_text(&mut done);
        assert_eq!(call.flaw(), None);
        out
    }

    #[test]
    fn texts_are_joined_in_all_their_forms() {
        let path = |text: &str| vec![(Slot::Path, text.to_owned())];
        let rest = "forigsize=0,flags=0,mode=0,fd=3";
        let mut whole = texts(&[&format!("Open|fnamesize=1,{rest}"), "FN|x", "FO|"]);
        whole.truncate(1);
        assert_eq!(whole, path("x"));
        let mut lines = texts(&[
            &format!("Open|fnamesize=3,{rest}"),
            "FN|a",
            "Cont|b",
            "Cont_end|",
            "FO|",
        ]);
        lines.truncate(1);
        assert_eq!(lines, path("a\nb"));
        let mut parts = texts(&[
            &format!("Open|fnamesize=9,{rest}"),
            "FN[0]ab",
            "FN[1]c",
            "Cont|d",
            "Cont_end",
            "FN[2]ef",
            "Cont|g",
            "Cont_end|",
            "FN_end|",
            "FO|",
        ]);
        parts.truncate(1);
        assert_eq!(parts, path("abc\ndef\ng"));
    }

    #[test]
    fn a_gap_in_the_numbers_is_an_empty_argument() {
        let all = texts(&[
            "New_proc|argsize=9,prognameisize=1,prognamepsize=1,cwdsize=1",
            "PI|i",
            "PP|p",
            "CW|c",
            "A[0]x",
            "A[2]a[",
            "A[2]b|",
            "A[3]",
            "End_of_args|",
        ]);
        let arguments: Vec<&str> = all.iter().skip(3).map(|(_, text)| text.as_str()).collect();
        assert_eq!(arguments, vec!["x", "", "a[b|", ""]);
    }
}
