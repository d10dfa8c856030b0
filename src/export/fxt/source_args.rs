//! Arguments of an FXT file's own events, from record to record: values as they stand, names by what an index of
//! that file is here.
//!
//! What an index means is asked once for as long as it means it. The records that come out are those that the same
//! arguments give as fields.

use std::borrow::Cow;

use super::args::{self, Fitted, MOST_ARG_WORDS};
use super::encode::Name;
use super::indices::Indices;
use super::records::{Arg, ArgValue, MOST_ARGS, Records, TextRef};
use crate::formats::fxt::{self, FxtSource, ProviderSpan, SourceArgs, SourceEvent, SourceText};

/// As many arguments a scheduling record of ours has room for beside its own.
const MOST_OWN_ARGS: usize = MOST_ARGS - 6;

/// A record of a file, and who wrote it.
type AskedAt<'s, 'a> = (&'s FxtSource<'a>, fxt::ProviderSlot, &'s SourceEvent<'a>);

/// The type of arguments that are texts.
const TEXT: u64 = 6;

/// A string index of the file that is read.
#[derive(Clone, Copy, Debug)]
struct Known<'a> {
    text: SourceText<'a>,
    /// Its index in the file that is written, if that holds in the whole of it; else 0.
    lasting: u16,
}

impl Known<'_> {
    const UNKNOWN: Known<'static> = Known {
        text: SourceText {
            from: u64::MAX,
            until: 0,
            text: &[],
        },
        lasting: 0,
    };
}

/// What indices of the file that is read mean, as far as it was asked.
#[derive(Debug)]
pub struct SourceNames<'a> {
    /// By provider and index.
    known: Vec<Vec<Known<'a>>>,
    /// Which provider wrote what stands at the places that were asked for lately, each at [`near`].
    providers: [ProviderSpan; NEAR],
    /// The same of indices for records that are copied.
    pub(super) indices: Indices,
}

impl Default for SourceNames<'_> {
    fn default() -> Self {
        SourceNames {
            known: Vec::new(),
            providers: [ProviderSpan::default(); NEAR],
            indices: Indices::default(),
        }
    }
}

const NEAR: usize = 64;

/// Where the provider of a place is remembered.
fn near(place: u64) -> usize {
    (place >> 10) as usize % NEAR
}

impl<'a> SourceNames<'a> {
    /// Prepares the arguments of `event` and `more` as those of the next record, which has room for `words` of them.
    /// `false`: they do not fit.
    pub fn prepare(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        (more, words): (&[Arg<'_>], usize),
        records: &mut Records<'_>,
    ) -> bool {
        records.prepare(&[]);
        if event.arg_count() + more.len() > MOST_ARGS {
            return false;
        }
        if event.arg_count() > 0 && self.prepare_own(source, event, &[], records).is_none() {
            return false;
        }
        for arg in more {
            let name = records.exact_name(&arg.name);
            records.prepare_one(name, &arg.value);
        }
        records.prepared_bytes() <= words * 8
    }

    /// Category and name of an event. `None`: an index of theirs means nothing.
    pub fn names(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        records: &Records<'_>,
    ) -> Option<(Name<'a>, Name<'a>)> {
        let provider = self.provider(source, event);
        let mut name = |text: fxt::TextRef<'a>| match text {
            fxt::TextRef::Inline(bytes) => Some(Name { index: 0, bytes }),
            fxt::TextRef::Index(0) => Some(Name {
                index: 0,
                bytes: &[],
            }),
            fxt::TextRef::Index(index) => {
                let known = self.find(source, provider, index, event, records)?;
                Some(Name {
                    index: known.lasting,
                    bytes: known.text.text,
                })
            }
        };
        let (category, own_name) = event.names();
        Some((name(category)?, name(own_name)?))
    }

    /// The arguments one by one, for whoever has to make them fit.
    pub fn list(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        records: &Records<'_>,
    ) -> Vec<Arg<'a>> {
        let provider = self.provider(source, event);
        let mut text = |text: fxt::TextRef<'a>| -> Cow<'a, [u8]> {
            match text {
                fxt::TextRef::Inline(bytes) => bytes.into(),
                fxt::TextRef::Index(0) => Cow::default(),
                fxt::TextRef::Index(index) => {
                    match self.find(source, provider, index, event, records) {
                        Some(known) => known.text.text.into(),
                        None => fxt::unresolved_text(index).into_bytes().into(),
                    }
                }
            }
        };
        let known = |arg: &fxt::Arg<'_>| !matches!(arg.value, fxt::ArgValue::Unknown(_));
        let args = event.args().filter(known).map(|arg| Arg {
            name: text(arg.name),
            value: match arg.value {
                fxt::ArgValue::Text(value) => ArgValue::Text(text(value)),
                fxt::ArgValue::Null | fxt::ArgValue::Unknown(_) => ArgValue::Null,
                fxt::ArgValue::Int32(value) => ArgValue::Int32(value),
                fxt::ArgValue::UInt32(value) => ArgValue::UInt32(value),
                fxt::ArgValue::Int64(value) => ArgValue::Int64(value),
                fxt::ArgValue::UInt64(value) => ArgValue::UInt64(value),
                fxt::ArgValue::Double(value) => ArgValue::Double(value),
                fxt::ArgValue::Pointer(value) => ArgValue::Pointer(value),
                fxt::ArgValue::Koid(value) => ArgValue::Koid(value),
                fxt::ArgValue::Bool(value) => ArgValue::Bool(value),
                fxt::ArgValue::Blob(bytes) => ArgValue::Blob(bytes.into()),
            },
        });
        args.collect()
    }

    /// Prepares the arguments of a scheduling record but for those called as `others` are. Those that are too many beside
    /// what is said anyhow go into `more`; what is too long is cut.
    pub fn prepare_but(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        others: &[&str],
        records: &mut Records<'_>,
    ) {
        records.prepare(&[]);
        let is_prepared = self.prepare_own(source, event, others, records).is_some();
        let fits = records.argument_count <= MOST_OWN_ARGS as u64
            && records.prepared_bytes() <= MOST_ARG_WORDS * 8;
        if is_prepared && fits {
            return;
        }
        let mut args = self.list(source, event, records);
        args.retain(|arg| !is_among(&arg.name, others));
        let room = (MOST_OWN_ARGS, MOST_ARG_WORDS);
        let Fitted { is_packed, cut } = args::fit_among(&mut args, room);
        records.counts.packed += u64::from(is_packed);
        records.counts.cut_scheduling += cut.len() as u64;
        records.prepare(&args);
    }

    /// Prepares all arguments of a scheduling record.
    pub fn prepare_all(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        records: &mut Records<'_>,
    ) {
        records.prepare(&[]);
        if self.prepare_own(source, event, &[], records).is_none() {
            let args = self.list(source, event, records);
            records.prepare(&args);
        }
    }

    /// The koid that the argument of that name says.
    pub fn koid_of(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        name: &str,
        records: &Records<'_>,
    ) -> Option<u64> {
        let of = |value| match value {
            fxt::ArgValue::Koid(koid) => Some(koid),
            _ => None,
        };
        self.value_of(source, event, (name.as_bytes(), of), records)
    }

    /// The number of that name and value, as its record has it.
    pub fn number_of(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        (name, value): (&[u8], f64),
        records: &Records<'_>,
    ) -> Option<ArgValue<'static>> {
        let of = |own| {
            let (number, own) = match own {
                fxt::ArgValue::Int32(own) => (f64::from(own), ArgValue::Int32(own)),
                fxt::ArgValue::UInt32(own) => (f64::from(own), ArgValue::UInt32(own)),
                fxt::ArgValue::Int64(own) => (own as f64, ArgValue::Int64(own)),
                fxt::ArgValue::UInt64(own) => (own as f64, ArgValue::UInt64(own)),
                fxt::ArgValue::Double(own) => (own, ArgValue::Double(own)),
                _ => return None,
            };
            (number.to_bits() == value.to_bits()).then_some(own)
        };
        self.value_of(source, event, (name, of), records)
    }

    /// The value of the 32-bit argument of that name.
    pub fn int32_of(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        name: &str,
        records: &Records<'_>,
    ) -> Option<i32> {
        let of = |value| match value {
            fxt::ArgValue::Int32(value) => Some(value),
            _ => None,
        };
        self.value_of(source, event, (name.as_bytes(), of), records)
    }

    /// The yes or no of the argument of that name.
    pub fn bool_of(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        name: &str,
        records: &Records<'_>,
    ) -> Option<bool> {
        let of = |value| match value {
            fxt::ArgValue::Bool(value) => Some(value),
            _ => None,
        };
        self.value_of(source, event, (name.as_bytes(), of), records)
    }

    fn value_of<T>(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        (name, of): (&[u8], impl Fn(fxt::ArgValue<'a>) -> Option<T>),
        records: &Records<'_>,
    ) -> Option<T> {
        let provider = self.provider(source, event);
        for arg in event.args() {
            let Some(value) = of(arg.value) else {
                continue;
            };
            let is_it = match arg.name {
                fxt::TextRef::Index(0) => name.is_empty(),
                fxt::TextRef::Index(index) => {
                    let known = self.find(source, provider, index, event, records)?;
                    known.text.text == name
                }
                fxt::TextRef::Inline(bytes) => bytes == name,
            };
            if is_it {
                return Some(value);
            }
        }
        None
    }

    fn prepare_own(
        &mut self,
        source: &FxtSource<'a>,
        event: &SourceEvent<'a>,
        but: &[&str],
        records: &mut Records<'_>,
    ) -> Option<()> {
        // Each byte order has its own loop.
        match event.args() {
            SourceArgs::Little(args) => self.prepare_each(args, (source, event), but, records),
            SourceArgs::Big(args) => self.prepare_each(args, (source, event), but, records),
        }
    }

    #[inline]
    fn prepare_each<O: fxt::Order>(
        &mut self,
        mut args: fxt::Args<'a, O>,
        (source, event): (&FxtSource<'a>, &SourceEvent<'a>),
        but: &[&str],
        records: &mut Records<'_>,
    ) -> Option<()> {
        let at = (source, self.provider(source, event), event);
        while !args.is_done() {
            if let Some(arg) = args.next_plain() {
                let name = fxt::TextRef::Index(arg.name);
                let Some(name) = self.name(at, name, but, records)? else {
                    continue;
                };
                if arg.kind == TEXT {
                    let text = fxt::TextRef::Index(arg.high as u16);
                    let text = self.value(at, text, records)?;
                    records.prepare_text(name, text);
                } else {
                    records.prepare_value(name, (arg.kind, arg.high), arg.word);
                }
                continue;
            }
            let Some(arg) = args.next() else { break };
            if matches!(arg.value, fxt::ArgValue::Unknown(_)) {
                // What it may refer to is not known.
                continue;
            }
            let Some(name) = self.name(at, arg.name, but, records)? else {
                continue;
            };
            let (kind, high, word) = match arg.value {
                fxt::ArgValue::Text(text) => {
                    let text = self.value(at, text, records)?;
                    records.prepare_text(name, text);
                    continue;
                }
                fxt::ArgValue::Null | fxt::ArgValue::Unknown(_) => (0, 0, None),
                fxt::ArgValue::Int32(value) => (1, value as u32, None),
                fxt::ArgValue::UInt32(value) => (2, value, None),
                fxt::ArgValue::Int64(value) => (3, 0, Some(value as u64)),
                fxt::ArgValue::UInt64(value) => (4, 0, Some(value)),
                fxt::ArgValue::Double(value) => (5, 0, Some(value.to_bits())),
                fxt::ArgValue::Pointer(value) => (7, 0, Some(value)),
                fxt::ArgValue::Koid(value) => (8, 0, Some(value)),
                fxt::ArgValue::Bool(value) => (9, u32::from(value), None),
                fxt::ArgValue::Blob(bytes) => {
                    records.prepare_blob(name, bytes);
                    continue;
                }
            };
            records.prepare_value(name, (kind, high), word);
        }
        Some(())
    }

    /// An argument's name in the file that is written: `Some(None)` if it is among `but`, `None` if it means nothing.
    #[inline]
    fn name(
        &mut self,
        (source, provider, event): AskedAt<'_, 'a>,
        name: fxt::TextRef<'a>,
        but: &[&str],
        records: &mut Records<'_>,
    ) -> Option<Option<TextRef<'a>>> {
        let (bytes, lasting) = match name {
            fxt::TextRef::Index(0) => return Some(Some(TextRef::EMPTY)),
            fxt::TextRef::Index(index) => {
                let known = self.find(source, provider, index, event, records)?;
                (known.text.text, known.lasting)
            }
            fxt::TextRef::Inline(bytes) => (bytes, 0),
        };
        if is_among(bytes, but) {
            return Some(None);
        }
        Some(Some(match lasting {
            0 => records.exact_name(bytes),
            index => TextRef::index(index),
        }))
    }

    /// The same of a text that is a value.
    #[inline]
    fn value(
        &mut self,
        (source, provider, event): AskedAt<'_, 'a>,
        text: fxt::TextRef<'a>,
        records: &mut Records<'_>,
    ) -> Option<TextRef<'a>> {
        Some(match text {
            fxt::TextRef::Index(0) => TextRef::EMPTY,
            fxt::TextRef::Index(index) => {
                let known = self.find(source, provider, index, event, records)?;
                match known.lasting {
                    0 => records.value(known.text.text),
                    index => TextRef::index(index),
                }
            }
            fxt::TextRef::Inline(bytes) => records.value(bytes),
        })
    }

    fn provider(&mut self, source: &FxtSource<'_>, event: &SourceEvent<'_>) -> fxt::ProviderSlot {
        let place = event.place();
        let Some(entry) = self.providers.get_mut(near(place)) else {
            return 0;
        };
        if !(entry.from < place && place <= entry.until) {
            *entry = source.provider(place);
        }
        entry.provider
    }

    /// What an index means at an event.
    #[inline]
    fn find(
        &mut self,
        source: &FxtSource<'a>,
        provider: fxt::ProviderSlot,
        index: u16,
        event: &SourceEvent<'a>,
        records: &Records<'_>,
    ) -> Option<Known<'a>> {
        let (provider, index) = (provider as usize, usize::from(index));
        let place = event.place();
        let of_provider = self.known.get(provider);
        match of_provider.and_then(|known| known.get(index)) {
            Some(known) if known.text.from < place && place <= known.text.until => Some(*known),
            _ => self.ask(source, provider, index, event, records),
        }
    }

    #[cold]
    fn ask(
        &mut self,
        source: &FxtSource<'a>,
        provider: usize,
        index: usize,
        event: &SourceEvent<'a>,
        records: &Records<'_>,
    ) -> Option<Known<'a>> {
        let text = source.text(provider as fxt::ProviderSlot, index as u16, event.place())?;
        let lasting = records.fixed_index(text.text);
        let providers = self.known.len().max(provider + 1);
        self.known.resize_with(providers, Vec::new);
        let list = self.known.get_mut(provider)?;
        if list.len() <= index {
            list.resize(index + 1, Known::UNKNOWN);
        }
        let known = Known { text, lasting };
        *list.get_mut(index)? = known;
        Some(known)
    }
}

fn is_among(text: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| name.as_bytes() == text)
}
