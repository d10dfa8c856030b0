//! What the passes over all parts of a trace.dat share: which event has which kind and recipe.

use super::TraceFile;
use super::page::Order;
use super::recipe::Recipe;
use crate::event::syscalls::Abi;
use crate::event::{KindId, ThreadKey};

/// Set beside a kind that has a recipe.
pub(super) const HAS_RECIPE: u32 = 1 << 16;

/// What the passes over all parts share: which kind has which number and recipe.
#[derive(Debug)]
pub struct Recipes {
    /// By the event's number: the kind, and whether it has a recipe.
    pub(super) ids: Vec<u32>,
    /// By kind.
    rows: Vec<Option<Recipe>>,
    /// Where `common_type` and `common_pid` are, and the size of the first.
    type_at: usize,
    pid_at: usize,
    /// Where `common_flags` is, a byte.
    flags_at: Option<usize>,
    /// The kind of events that no format describes.
    pub(super) unknown: u16,
    /// Whose system calls they are.
    pub(super) abi: Abi,
    /// Kinds whose events are texts; those of them that are marks have the kinds after `unknown`, in this order.
    prints: Vec<u16>,
}

impl Recipes {
    /// The recipes for all events of `file`.
    #[must_use]
    pub fn new(file: &TraceFile, abi: Abi) -> Recipes {
        let formats = &file.metadata.formats;
        let unknown = formats.len().min(usize::from(u16::MAX)) as u16;
        let rows: Vec<Option<Recipe>> = formats
            .iter()
            .map(|format| super::recipe::recipe_for(file, format))
            .collect();
        let ids = (0..=u16::MAX)
            .map(|id| {
                let kind = file.kind_of_id(id);
                match rows.get(usize::from(kind)) {
                    Some(Some(_)) => u32::from(kind) | HAS_RECIPE,
                    Some(None) => u32::from(kind),
                    None => u32::from(unknown),
                }
            })
            .collect();
        let prints = (0..)
            .zip(&rows)
            .filter(|(_, row)| matches!(row, Some(Recipe::Print(_))))
            .map(|(kind, _)| kind)
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

    /// The kinds that can be marks: each has a second kind for those that are, numbered after
    /// [`Recipes::unknown`] in this order.
    #[must_use]
    pub fn prints(&self) -> &[u16] {
        &self.prints
    }

    /// The kind of those events of `kind` that are marks.
    pub(super) fn mark_kind(&self, kind: KindId) -> Option<KindId> {
        let place = self.prints.iter().position(|&print| print == kind.0)?;
        let number = usize::from(self.unknown) + 1 + place;
        u16::try_from(number).ok().map(KindId)
    }

    /// Whose system calls they are.
    #[must_use]
    pub fn abi(&self) -> Abi {
        self.abi
    }

    /// The kind of events that no format describes.
    #[must_use]
    pub fn unknown(&self) -> KindId {
        KindId(self.unknown)
    }

    /// The recipe of a kind.
    #[must_use]
    pub fn of(&self, kind: usize) -> Option<&Recipe> {
        self.rows.get(kind).and_then(Option::as_ref)
    }

    /// Number and pid of the event in `payload`.
    #[inline(always)]
    pub(super) fn common<E: Order>(&self, payload: &[u8]) -> Option<(u16, u32)> {
        if let (0, 4, Some(head)) = (self.type_at, self.pid_at, payload.first_chunk::<8>()) {
            let [a, b, _, _, pid @ ..] = *head;
            return Some((E::u16([a, b]), E::u32(pid)));
        }
        let id = E::u16(*payload.get(self.type_at..)?.first_chunk()?);
        let pid = payload.get(self.pid_at..).and_then(<[u8]>::first_chunk);
        Some((id, pid.map_or(u32::MAX, |pid| E::u32(*pid))))
    }

    /// `common_flags` of the event in `payload`, if the file has that field.
    #[inline]
    pub(super) fn flags(&self, payload: &[u8]) -> Option<u64> {
        payload.get(self.flags_at?).map(|&flags| u64::from(flags))
    }

    /// Number of the event and its thread.
    #[must_use]
    pub fn thread<E: Order>(&self, payload: &[u8]) -> Option<(u16, ThreadKey)> {
        let (id, pid) = self.common::<E>(payload)?;
        Some((id, ThreadKey(pid)))
    }
}
