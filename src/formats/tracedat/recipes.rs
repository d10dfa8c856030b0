//! Data that the passes over all parts of a trace.dat share: the kind and recipe for each event number.

use super::TraceFile;
use super::recipe::Recipe;
use crate::base::ByteOrder;
use crate::event::syscalls::Abi;
use crate::event::{KindId, ThreadKey};

/// Bit that is set together with a kind that has a recipe.
pub(super) const HAS_RECIPE: u32 = 1 << 31;

/// Data that the passes over all parts share: the kind and recipe for each event number.
#[derive(Debug)]
pub(crate) struct Recipes {
    /// The kind for each event number, with `HAS_RECIPE` if the kind has a recipe.
    pub(super) ids: Vec<u32>,
    /// The recipe of each kind.
    rows: Vec<Option<Recipe>>,
    /// Offsets of `common_type` and `common_pid` in an event, in bytes.
    type_at: usize,
    pid_at: usize,
    /// Offset of `common_flags`, one byte.
    flags_at: Option<usize>,
    /// The kind of events whose number is in no format.
    pub(super) unknown: KindId,
    /// The table of system calls.
    pub(super) abi: Abi,
    /// Kinds whose events are texts. Each has a second kind for texts that are marks; the second kinds follow `unknown`
    /// in the same order.
    prints: Vec<KindId>,
}

/// The fields that all events have.
#[derive(Clone, Copy)]
pub(super) struct CommonFields {
    /// The number of the event's format.
    pub(super) id: u16,
    pub(super) thread: Option<ThreadKey>,
}

impl Recipes {
    /// Creates the recipes for all events of `file`.
    #[must_use]
    pub(crate) fn new(file: &TraceFile, abi: Abi) -> Recipes {
        let formats = &file.metadata.formats;
        let unknown = KindId(formats.len() as u32);
        let rows: Vec<Option<Recipe>> = formats
            .iter()
            .map(|format| super::recipe::recipe_for(file, format))
            .collect();
        let ids = (0..=u16::MAX)
            .map(|id| {
                let kind = file.kind_of_id(id).unwrap_or(unknown.0);
                match rows.get(kind as usize) {
                    Some(Some(_)) => kind | HAS_RECIPE,
                    Some(None) => kind,
                    None => unknown.0,
                }
            })
            .collect();
        let prints = (0..)
            .zip(&rows)
            .filter(|(_, row)| matches!(row, Some(Recipe::Print(_))))
            .map(|(kind, _)| KindId(kind))
            .collect();
        let place = |name: &str, usual: usize| {
            let field = formats.first().and_then(|format| format.field(name));
            field.map_or(usual, |field| field.offset as usize)
        };
        let flags = formats
            .first()
            .and_then(|format| format.field("common_flags"));
        Recipes {
            ids,
            rows,
            flags_at: flags.map(|field| field.offset as usize),
            type_at: place("common_type", 0),
            pid_at: place("common_pid", 4),
            unknown,
            abi,
            prints,
        }
    }

    /// Returns the kinds whose events are texts. Each has a second kind for texts that are marks, numbered after
    /// [`Recipes::unknown`] in this order.
    #[must_use]
    pub(crate) fn prints(&self) -> &[KindId] {
        &self.prints
    }

    /// Returns the second kind of `kind`, for texts that are marks.
    pub(super) fn mark_kind(&self, kind: KindId) -> Option<KindId> {
        let place = self.prints.iter().position(|&print| print == kind)?;
        let number = self.unknown.0 + 1 + u32::try_from(place).ok()?;
        Some(KindId(number))
    }

    /// Returns the table of system calls.
    #[must_use]
    pub(crate) fn abi(&self) -> Abi {
        self.abi
    }

    /// Returns the recipe of a kind.
    #[must_use]
    pub(crate) fn of(&self, kind: usize) -> Option<&Recipe> {
        self.rows.get(kind).and_then(Option::as_ref)
    }

    /// Returns the common fields of the event in `payload`; `None` if it is too short for the event's number.
    #[inline(always)]
    pub(super) fn common<E: ByteOrder>(&self, payload: &[u8]) -> Option<CommonFields> {
        if let (0, 4, Some(head)) = (self.type_at, self.pid_at, payload.first_chunk::<8>()) {
            let [a, b, _, _, pid @ ..] = *head;
            return Some(CommonFields {
                id: E::u16([a, b]),
                thread: Some(ThreadKey(E::u32(pid))),
            });
        }
        let id = E::u16(*payload.get(self.type_at..)?.first_chunk()?);
        let pid = payload.get(self.pid_at..).and_then(<[u8]>::first_chunk);
        Some(CommonFields {
            id,
            thread: pid.map(|pid| ThreadKey(E::u32(*pid))),
        })
    }

    /// Returns `common_flags` of the event in `payload`, if the file has that field.
    #[inline]
    pub(super) fn flags(&self, payload: &[u8]) -> Option<u64> {
        payload.get(self.flags_at?).map(|&flags| u64::from(flags))
    }
}
