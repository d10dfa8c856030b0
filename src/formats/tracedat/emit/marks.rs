//! Begins and ends of slices with their labels, and texts that are marks of atrace.

use super::{FOUND_SHIFT, Found, PartPass, until_nul};
use crate::base::{ByteOrder, StringId};
use crate::event::family::Family;
use crate::event::kernel::{NUMBER_ZERO, exit_status};
use crate::event::syscalls;
use crate::event::{CallDepth, KindId, Label, Life, Mark, MarkOp, Measured, Stated};
use crate::formats::atrace::{self, Atrace, atrace};
use crate::formats::open_calls::Caller;
use crate::formats::tracedat::recipe::{KeyOf, MarkRecipe, NameOf, PrintText, hash_text};

impl PartPass<'_> {
    #[inline]
    pub(super) fn mark<E: ByteOrder>(
        &mut self,
        event: u32,
        kind: KindId,
        recipe: &MarkRecipe,
        payload: &[u8],
    ) -> Option<()> {
        let key = match &recipe.key {
            KeyOf::Fixed(key) => *key,
            KeyOf::Num(num) => num.read::<E>(payload)?,
            KeyOf::Text(field) => hash_text(field.data(payload, self.file.endian())?),
        } ^ recipe.salt;
        // The label of most events is in the cache, so that no name must be interned.
        let slot = (key ^ u64::from(kind.0) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = (slot >> (64 - FOUND_SHIFT)) as usize;
        let found = self.found.get(slot).copied().unwrap_or_default();
        let label = if found.kind == kind.0 + 1
            && found.key == key
            && self.has_name(&recipe.name, found.label, payload)
        {
            found.label
        } else {
            let label = self.label::<E>(kind, recipe, key, payload);
            if let Some(slot) = self.found.get_mut(slot) {
                *slot = Found {
                    kind: kind.0 + 1,
                    label,
                    key,
                };
            }
            label
        };
        self.columns.marks.push(Mark::new(event, label, recipe.op));
        let exit_code = recipe.exit_code.as_ref();
        if let Some(code) = exit_code.and_then(|num| num.read::<E>(payload))
            && let Some(thread) = self.columns.events.thread(event)
        {
            let status = exit_status(code);
            self.live(event, Life::Exiting { thread, status });
        }
        if recipe.family == Family::Functions {
            self.call::<E>(event, kind, recipe, key, payload);
        }
        Some(())
    }

    /// Follows calls of traced functions. Adds the duration that a return states; if the return's entry is not in this
    /// part, also the label that the entry would have had.
    fn call<E: ByteOrder>(
        &mut self,
        event: u32,
        kind: KindId,
        recipe: &MarkRecipe,
        key: u64,
        payload: &[u8],
    ) -> Option<()> {
        let thread = Caller::of(self.columns.events.thread(event), self.cpu);
        if let Some(depth) = recipe.depth.as_ref().and_then(|num| num.read::<E>(payload))
            && let Ok(depth) = u32::try_from(depth)
        {
            let call = CallDepth { event, depth };
            self.columns.call_depths.extend(match recipe.op {
                MarkOp::Begin => self.depths.enter(thread, call),
                MarkOp::End | MarkOp::Over => self.depths.leave(thread, call),
            });
        }
        let Some(call) = &recipe.call else {
            self.open_calls.begin(thread, key);
            return Some(());
        };
        let has_begun = self.open_calls.end(thread, key);
        let (begun, over) = (
            call.begun.read::<E>(payload)?,
            call.over.read::<E>(payload)?,
        );
        let Some(duration) = over.checked_sub(begun) else {
            return Some(());
        };
        self.measured(event, i64::try_from(duration).ok()?, Some(over));
        if !has_begun {
            let label = self.label::<E>(kind, &call.entry, key, payload);
            self.columns.stated.push(Stated { event, label });
        }
        Some(())
    }

    /// Adds the measured duration of the slice that `event` ends, in ns. `over` is the slice's end in ns on the
    /// kernel's local clock.
    pub(super) fn measured(&mut self, event: u32, duration_ns: i64, over: Option<u64>) {
        let time = self.columns.events.time(event).0;
        let ended = over.and_then(|over| self.map.local_time(over));
        let row = Measured::new(event, duration_ns, time, ended);
        self.columns.measured.push(row);
    }

    /// Returns whether a cached label that was found by its key also has this event's name.
    #[inline]
    fn has_name(&self, name: &NameOf, label: u32, payload: &[u8]) -> bool {
        match name {
            NameOf::Text(field) => {
                let text = field.data(payload, self.file.endian()).map(until_nul);
                let label = self.columns.labels.get(label as usize);
                label.is_some_and(|label| {
                    self.columns.strings.bytes(label.name) == text.unwrap_or(b"")
                })
            }
            _ => true,
        }
    }

    #[cold]
    fn label<E: ByteOrder>(
        &mut self,
        kind: KindId,
        recipe: &MarkRecipe,
        key: u64,
        payload: &[u8],
    ) -> u32 {
        let file = self.file;
        let symbols = &file.metadata.kallsyms;
        let strings = &mut self.columns.strings;
        let name = match &recipe.name {
            NameOf::Fixed(name) => strings.intern_text(name),
            NameOf::Text(field) => {
                let text = field.data(payload, file.endian());
                strings.intern(text.map_or(b"", until_nul))
            }
            NameOf::Symbol(num) => {
                let address = num.read::<E>(payload).unwrap_or(0);
                match symbols.lookup(address) {
                    Some(symbol) => strings.intern(symbol.name),
                    None => strings.intern_text(&format!("{address:#x}")),
                }
            }
            NameOf::Probe(num, event) => {
                let address = num.read::<E>(payload).unwrap_or(0);
                match symbols.lookup(address) {
                    // The probe may be a few bytes after the function's start: after endbr64, bti c or powerpc's global
                    // entry.
                    Some(symbol) if matches!(symbol.offset, 0 | 4 | 8) => {
                        strings.intern(symbol.name)
                    }
                    _ => strings.intern_text(event),
                }
            }
            NameOf::Syscall => match syscalls::name(self.recipes.abi, key) {
                Some(name) => strings.intern_text(name),
                None => strings.intern_text(&format!("syscall {}", key as i64)),
            },
            NameOf::Word(num, words) => {
                let number = num.read::<E>(payload).unwrap_or(0);
                match words.get(number as usize) {
                    Some(word) => strings.intern_text(word),
                    None => strings.intern_text(&number.to_string()),
                }
            }
            NameOf::None => StringId::EMPTY,
        };
        let family = match recipe.family {
            _ if !recipe.is_probe => recipe.family,
            _ if symbols.covers(key) => Family::Kprobes,
            _ => Family::Uprobes,
        };
        let system = file.metadata.formats.get(kind.index());
        let category = match recipe.op {
            MarkOp::Begin => strings.intern_text(system.map_or("", |format| &format.system)),
            MarkOp::End | MarkOp::Over => StringId::EMPTY,
        };
        // Key 0 would mean that the name identifies the slice, but an end has no name.
        let key = if key == 0 { NUMBER_ZERO } else { key };
        let label = Label {
            family,
            kind: family.slice_kind(),
            name,
            category,
            key,
        };
        self.number_of(label)
    }

    /// Returns the index of `label` in the part's labels; adds the label if it is new.
    pub(super) fn number_of(&mut self, label: Label) -> u32 {
        let labels = &mut self.columns.labels;
        *self.labels.entry(label).or_insert_with(|| {
            labels.push(label);
            labels.len() as u32 - 1
        })
    }

    /// Reads the text of a print event: marks of atrace become slices and counters, other texts remain instants.
    pub(super) fn print<E: ByteOrder>(
        &mut self,
        event: u32,
        kind: KindId,
        text: PrintText,
        payload: &[u8],
    ) -> Option<()> {
        let file = self.file;
        let is_print = matches!(text, PrintText::Inline(_));
        let mut made = Vec::new();
        let text: &[u8] = match text {
            PrintText::Inline(offset) => {
                // Lines of etrace are not trimmed, because a name may end in spaces.
                let text = until_nul(payload.get(offset as usize..)?);
                if let Some(etrace) = &mut self.etrace {
                    let events = &self.columns.events;
                    etrace.add(text, None, events.time(event), events.thread(event));
                }
                text
            }
            PrintText::Constant(address) => {
                let known = file.metadata.printk.lookup(address.read::<E>(payload)?);
                known.unwrap_or(b"")
            }
            PrintText::Formatted(address) => {
                let format = file.metadata.printk.lookup(address.read::<E>(payload)?);
                if !format.is_some_and(atrace::may_be_mark) {
                    return Some(());
                }
                let decoder = (self.decoder)();
                let kind = decoder.kinds().get(kind.index())?;
                decoder.push_printk(&mut made, kind, payload);
                &made
            }
            PrintText::PrintFmt => {
                let decoder = (self.decoder)();
                let kind = decoder.kinds().get(kind.index())?;
                kind.print_fmt()
                    .push(&mut made, &decoder.scope(kind, payload));
                &made
            }
        };
        let text = text.strip_prefix(b"tracing_mark_write: ").unwrap_or(text);
        if let Some(mark) = atrace(text) {
            let named = match is_print {
                true => atrace::named_kind(&mark, self.kinds),
                false => None,
            };
            let kind = named.or_else(|| match mark {
                Atrace::Instant(_) => None,
                _ => self.recipes.mark_kind(kind),
            });
            if let Some(kind) = kind {
                self.columns.events.set_kind(event, kind);
            }
            let (labels, series) = (&mut self.labels, &mut self.series);
            atrace::emit(mark, event, &mut self.columns, labels, series);
            let (thread, claims) = (self.columns.events.thread(event), &mut self.claims);
            atrace::claim_process(text, thread, event, &mut self.columns, claims);
        }
        Some(())
    }
}
