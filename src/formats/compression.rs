//! Compressed bytes in, plain bytes out: single blocks inside a file, and whole files that somebody wrapped.
//!
//! Blocks are unpacked into exactly the size that the file declares for them, never more. Whole files are
//! bounded by a ratio and an absolute limit. Does not decide what the bytes are.

use std::io::{BufRead, Read};

use crate::base::{Job, Location, Problem, ReadError};

/// Most bytes that a wrapped file may unpack to.
const MAX_FILE_BYTES: u64 = 64 << 30;
/// What any wrapped file may unpack to, however small it is.
const FREE_FILE_BYTES: u64 = 256 << 20;
/// How many times larger than the wrapped file the plain one may be beyond that.
const MAX_FILE_RATIO: u64 = 2000;

/// How a block is packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Not at all.
    #[default]
    None,
    /// A zlib stream.
    Zlib,
    /// A zstd frame.
    Zstd,
    /// An lz4 block (or frame, if it starts as one).
    Lz4,
}

impl Codec {
    /// The codec of that name (`none`, `zlib`, `zstd`, `lz4`; empty is `none`).
    #[must_use]
    pub fn by_name(name: &[u8]) -> Option<Codec> {
        match name {
            b"" | b"none" => Some(Codec::None),
            b"zlib" => Some(Codec::Zlib),
            b"zstd" => Some(Codec::Zstd),
            b"lz4" => Some(Codec::Lz4),
            _ => None,
        }
    }
}

/// Unpacks one block into exactly `plain_size` bytes. The caller has held `plain_size` against a limit.
///
/// # Errors
/// [`Problem::Compression`] if the block is damaged, or shorter or longer than declared; `at` is its place.
pub fn unpack_block(
    codec: Codec,
    block: &[u8],
    plain_size: usize,
    at: u64,
) -> Result<Vec<u8>, ReadError> {
    let mut plain = Vec::new();
    unpack_block_into(codec, block, plain_size, at, &mut plain)?;
    Ok(plain)
}

/// As [`unpack_block`], into a vector whose memory is used again (what was in it is gone).
///
/// # Errors
/// As [`unpack_block`].
pub fn unpack_block_into(
    codec: Codec,
    block: &[u8],
    plain_size: usize,
    at: u64,
    plain: &mut Vec<u8>,
) -> Result<(), ReadError> {
    plain.clear();
    let problem =
        |words: String| ReadError::at_byte(at, "compressed block", Problem::Compression(words));
    match codec {
        Codec::None => plain.extend_from_slice(block),
        Codec::Zstd => {
            plain.reserve_exact(plain_size);
            zstd::bulk::Decompressor::new()
                .and_then(|mut unpacker| unpacker.decompress_to_buffer(block, plain))
                .map_err(|error| problem(error.to_string()))?;
        }
        Codec::Zlib => {
            plain.reserve_exact(plain_size);
            flate2::read::ZlibDecoder::new(block)
                .take(plain_size as u64 + 1)
                .read_to_end(plain)
                .map_err(|error| problem(error.to_string()))?;
        }
        Codec::Lz4 if block.starts_with(&LZ4_MAGIC) => {
            lz4_flex::frame::FrameDecoder::new(block)
                .take(plain_size as u64 + 1)
                .read_to_end(plain)
                .map_err(|error| problem(error.to_string()))?;
        }
        Codec::Lz4 => {
            plain.resize(plain_size, 0);
            let written = lz4_flex::block::decompress_into(block, plain)
                .map_err(|error| problem(error.to_string()))?;
            plain.truncate(written);
        }
    }
    if plain.len() != plain_size {
        return Err(problem(format!(
            "it holds {} bytes, {plain_size} were declared",
            if plain.len() > plain_size {
                "more".to_owned()
            } else {
                plain.len().to_string()
            }
        )));
    }
    Ok(())
}

const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const LZ4_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// Which wrapping a file that starts with `head` has, if any: `gzip`, `zstd` or `lz4`.
#[must_use]
pub fn wrapping(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(&GZIP_MAGIC) {
        Some("gzip")
    } else if head.starts_with(&ZSTD_MAGIC) {
        Some("zstd")
    } else if head.starts_with(&LZ4_MAGIC) {
        Some("lz4")
    } else {
        None
    }
}

/// Unpacks a whole file that was wrapped with gzip, zstd or lz4 (several members one after the other are one
/// file). `None` if it is not wrapped. Says on `job` how many wrapped bytes were read.
///
/// # Errors
/// [`Problem::Compression`] if it is damaged or cut short, [`Problem::TooLarge`] if it unpacks to more than
/// any honest file would, [`Problem::Cancelled`].
pub fn unwrap_file(bytes: &[u8], job: &Job) -> Result<Option<Vec<u8>>, ReadError> {
    let failed = |error: std::io::Error| {
        ReadError::at_byte(
            0,
            "compressed file",
            Problem::Compression(error.to_string()),
        )
    };
    let plain = match wrapping(bytes) {
        None => return Ok(None),
        Some("gzip") => {
            let mut source = flate2::bufread::MultiGzDecoder::new(bytes);
            read_all(&mut source, |source| source.get_ref().len(), bytes, job)?
        }
        Some("zstd") => {
            let mut source = zstd::stream::read::Decoder::with_buffer(bytes).map_err(failed)?;
            read_all(&mut source, |source| source.get_ref().len(), bytes, job)?
        }
        Some(_) => {
            let mut source = Lz4Members(Some(lz4_flex::frame::FrameDecoder::new(bytes)));
            read_all(&mut source, Lz4Members::left, bytes, job)?
        }
    };
    Ok(Some(plain))
}

/// Up to `most` of the first bytes that a file with this head holds, unpacked as far as the head goes; the head
/// itself, if it is not wrapped.
#[must_use]
pub fn unwrapped_head(head: Vec<u8>, most: usize) -> Vec<u8> {
    let source: Box<dyn Read + '_> = match wrapping(&head) {
        None => return head,
        Some("gzip") => Box::new(flate2::bufread::MultiGzDecoder::new(&head[..])),
        Some("zstd") => match zstd::stream::read::Decoder::with_buffer(&head[..]) {
            Ok(source) => Box::new(source),
            Err(_) => return Vec::new(),
        },
        Some(_) => Box::new(Lz4Members(Some(lz4_flex::frame::FrameDecoder::new(&head)))),
    };
    let mut plain = Vec::new();
    // The end of the head is (mostly) an error: what came before it counts.
    let _is_cut = source.take(most as u64).read_to_end(&mut plain);
    plain
}

/// lz4 frames one after the other.
struct Lz4Members<'a>(Option<lz4_flex::frame::FrameDecoder<&'a [u8]>>);

impl Lz4Members<'_> {
    fn left(&self) -> usize {
        self.0.as_ref().map_or(0, |frame| frame.get_ref().len())
    }
}

impl Read for Lz4Members<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while let Some(frame) = &mut self.0 {
            let count = frame.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            let left = *frame.get_ref();
            self.0 = left
                .starts_with(&LZ4_MAGIC)
                .then(|| lz4_flex::frame::FrameDecoder::new(left));
        }
        Ok(0)
    }
}

fn read_all<R: Read>(
    source: &mut R,
    left: impl Fn(&R) -> usize,
    wrapped: &[u8],
    job: &Job,
) -> Result<Vec<u8>, ReadError> {
    let limit = (wrapped.len() as u64)
        .saturating_mul(MAX_FILE_RATIO)
        .clamp(FREE_FILE_BYTES, MAX_FILE_BYTES);
    let mut plain = Vec::new();
    let mut before = wrapped.len();
    let mut limited = std::io::BufReader::with_capacity(1 << 20, source);
    loop {
        job.check()?;
        let piece = limited.fill_buf().map_err(|error| ReadError {
            at: Location::Byte((wrapped.len() - before) as u64),
            item: "compressed file",
            problem: Problem::Compression(error.to_string()),
        })?;
        if piece.is_empty() {
            job.advance(before as u64);
            return Ok(plain);
        }
        let count = piece.len();
        if plain.len() as u64 + count as u64 > limit {
            return Err(ReadError::at_byte(
                0,
                "compressed file",
                Problem::TooLarge {
                    field: "unpacked size",
                    value: plain.len() as u64 + count as u64,
                    max: limit,
                },
            ));
        }
        plain.extend_from_slice(piece);
        limited.consume(count);
        let now = left(limited.get_ref());
        job.advance(before.saturating_sub(now) as u64);
        before = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    fn lz4(bytes: &[u8]) -> Vec<u8> {
        let mut packer = lz4_flex::frame::FrameEncoder::new(Vec::new());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn wrapped_files_with_several_members_are_unpacked() {
        let text: Vec<u8> = (0..3_000_000_u32).map(|i| (i / 7 % 251) as u8).collect();
        let (first, second) = text.split_at(1_234_567);
        for pack in [gzip, lz4, |bytes: &[u8]| {
            zstd::encode_all(bytes, 1).unwrap()
        }] {
            let mut file = pack(first);
            file.extend(pack(second));
            let job = Job::default();
            assert!(unwrap_file(&file, &job).unwrap().unwrap() == text);
            assert_eq!(job.progress().0, file.len() as u64);
            file.truncate(file.len() - 20);
            assert!(unwrapped_head(file.clone(), 5000) == text[..5000]);
            file.truncate(file.len() - 20);
            assert!(unwrap_file(&file, &job).is_err());
            job.cancel();
            assert!(unwrap_file(&file, &job).is_err());
        }
        assert_eq!(unwrap_file(b"plain", &Job::default()), Ok(None));
        assert_eq!(unwrapped_head(b"plain".to_vec(), 3), b"plain");
    }

    #[test]
    fn a_bomb_is_stopped() {
        let bomb = zstd::encode_all(&vec![0; 300 << 20][..], 1).unwrap();
        let error = unwrap_file(&bomb, &Job::default()).unwrap_err();
        assert!(matches!(error.problem, Problem::TooLarge { .. }), "{error}");
    }

    #[test]
    fn blocks_must_have_the_size_they_declare() {
        let text = b"0123456789".repeat(100);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&text).unwrap();
        for (codec, block) in [
            (Codec::None, text.clone()),
            (Codec::Zlib, zlib.finish().unwrap()),
            (Codec::Zstd, zstd::encode_all(&text[..], 1).unwrap()),
            (Codec::Lz4, lz4(&text)),
            (Codec::Lz4, lz4_flex::block::compress(&text)),
        ] {
            assert_eq!(unpack_block(codec, &block, 1000, 0).unwrap(), text);
            assert!(unpack_block(codec, &block, 999, 0).is_err(), "{codec:?}");
            assert!(unpack_block(codec, &block, 1001, 0).is_err(), "{codec:?}");
            assert!(unpack_block(codec, &block[..20], 1000, 0).is_err());
        }
    }
}
