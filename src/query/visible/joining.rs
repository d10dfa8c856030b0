//! Joins items that are too thin to be drawn by themselves.

use super::block::Block;
use crate::index::lod::PARTS;
use crate::index::tally::Tally;

/// A stretch of neighbouring items while they are joined.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) times: [f32; PARTS],
    /// How long its labels take.
    pub(super) tally: Tally,
}

impl Piece {
    /// A block as a piece, numbered as the block is.
    #[inline]
    pub(crate) fn of(block: &Block) -> Piece {
        let busy: f32 = block.times.iter().sum();
        Piece {
            first: block.first,
            count: block.count,
            start: block.start,
            end: block.end,
            times: block.times,
            tally: Tally::of(block.label, busy.max(1.0)),
        }
    }

    /// Adds the next piece. The label that takes most of the time becomes the label of the block.
    #[inline]
    pub(crate) fn take_in(&mut self, next: &Piece) {
        self.count += next.count;
        self.end = self.end.max(next.end);
        for (time, more) in self.times.iter_mut().zip(next.times) {
            *time += more;
        }
        self.tally.add_all(&next.tally);
    }

    /// Reduces the times to a part of the piece, from 0 to 1.
    #[inline]
    pub(crate) fn scale(&mut self, part: f32) {
        self.times = self.times.map(|time| time * part);
        self.tally = self.tally.scaled(part);
    }

    /// Returns the piece as a block in a row whose items begin at `base`.
    #[inline]
    pub(crate) fn block(&self, base: u32) -> Block {
        Block {
            start: self.start,
            end: self.end,
            label: self.tally.most(),
            first: base + self.first,
            count: self.count,
            times: self.times,
        }
    }
}

/// Joins thin neighbours of one bucket.
pub(super) struct Joiner<'a> {
    pub(super) width: i64,
    /// The open piece, and where its bucket ends: dividing is slow, and most pieces come into an open bucket.
    open: Option<(i64, Piece)>,
    base: u32,
    out: &'a mut Vec<Block>,
}

impl Joiner<'_> {
    /// Returns a joiner for buckets of `width` ns, in a row whose items begin at `base`.
    pub(super) fn new(width: i64, base: u32, out: &mut Vec<Block>) -> Joiner<'_> {
        Joiner {
            width,
            open: None,
            base,
            out,
        }
    }

    pub(super) fn push(&mut self, piece: Piece) {
        let is_thin = piece.end.saturating_sub(piece.start) < self.width;
        if let Some((bucket_end, open)) = &mut self.open
            && is_thin
            && piece.start < *bucket_end
        {
            open.take_in(&piece);
            return;
        }
        self.flush();
        if is_thin {
            self.open = Some((bucket_end(piece.start, self.width), piece));
        } else {
            self.emit(piece);
        }
    }

    pub(super) fn flush(&mut self) {
        if let Some((_, piece)) = self.open.take() {
            self.emit(piece);
        }
    }

    pub(super) fn emit(&mut self, piece: Piece) {
        self.out.push(piece.block(self.base));
    }
}

/// Returns the end of the bucket that contains `time`, of buckets `width` ns wide.
pub(super) fn bucket_end(time: i64, width: i64) -> i64 {
    let bucket = time.div_euclid(width);
    bucket.saturating_add(1).saturating_mul(width)
}

/// Returns the blocks of a list that was made for finer pixels, joined for pixels of `width` ns: thin neighbours in one
/// bucket become one block.
pub fn joined(blocks: &[Block], width: i64) -> Joined<'_> {
    Joined {
        blocks,
        width: width.max(1),
        bucket_end: i64::MIN,
    }
}

/// See [`joined`].
pub struct Joined<'a> {
    blocks: &'a [Block],
    width: i64,
    /// The end of the last block's bucket.
    bucket_end: i64,
}

impl Joined<'_> {
    /// Returns the end of the bucket that contains a time; times only grow. Dividing is slow, and it is mostly the next
    /// bucket.
    #[inline]
    fn bucket_end_of(&mut self, time: i64) -> i64 {
        if time >= self.bucket_end {
            let next = self.bucket_end.saturating_add(self.width);
            self.bucket_end = match time < next {
                true => next,
                false => bucket_end(time, self.width),
            };
        }
        self.bucket_end
    }
}

impl Iterator for Joined<'_> {
    type Item = Block;

    #[inline]
    fn next(&mut self) -> Option<Block> {
        let (first, mut rest) = self.blocks.split_first()?;
        let width = self.width;
        let is_thin = |it: &Block| it.end.saturating_sub(it.start) < width;
        let end = match is_thin(first) {
            true => self.bucket_end_of(first.start),
            false => i64::MIN,
        };
        let mut open: Option<Piece> = None;
        while let Some((next, after)) = rest.split_first()
            && next.start < end
            && is_thin(next)
        {
            let piece = open.get_or_insert_with(|| Piece::of(first));
            piece.take_in(&Piece::of(next));
            rest = after;
        }
        self.blocks = rest;
        Some(open.map_or(*first, |piece| piece.block(0)))
    }
}
