//! Unpacks compressed bytes: single blocks inside a file, and whole files.
//!
//! A block is unpacked to exactly the size that the file declares for it. The size of a whole file is limited by a
//! ratio and an absolute maximum. This module does not interpret the unpacked bytes.

mod rest;

use std::io::{BufRead, Read, Write as _};

use crate::base::{Job, Problem, ReadError, budget};
use rest::LZ4_MAGIC;

/// Maximum unpacked size of a compressed file, bytes.
const MAX_FILE_BYTES: u64 = 64 << 30;
/// Unpacked bytes that are allowed for any compressed file, however small.
const FREE_FILE_BYTES: u64 = 256 << 20;
/// Maximum ratio of unpacked to compressed size, beyond `FREE_FILE_BYTES`.
const MAX_FILE_RATIO: u64 = 2000;

/// Compression of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Not compressed.
    #[default]
    None,
    /// A zlib stream.
    Zlib,
    /// A zstd frame.
    Zstd,
    /// An lz4 block, or an lz4 frame if it starts with a frame's magic.
    Lz4,
}

impl Codec {
    /// Returns the codec with this name (`none`, `zlib`, `zstd`, `lz4`; empty means `none`).
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

/// Unpacks one block into exactly `plain_size` bytes. The caller has checked `plain_size` against a limit.
///
/// # Errors
/// [`Problem::Compression`] if the block is damaged, or shorter or longer than declared; `at` is its offset in bytes.
pub(crate) fn unpack_block(
    codec: Codec,
    block: &[u8],
    plain_size: usize,
    at: u64,
) -> Result<Vec<u8>, ReadError> {
    let mut plain = Vec::new();
    unpack_block_into(codec, block, plain_size, at, &mut plain)?;
    Ok(plain)
}

/// Unpacks like [`unpack_block`], but into `plain`, whose allocation is reused and whose contents are replaced.
///
/// # Errors
/// As [`unpack_block`].
pub(crate) fn unpack_block_into(
    codec: Codec,
    block: &[u8],
    plain_size: usize,
    at: u64,
    plain: &mut Vec<u8>,
) -> Result<(), ReadError> {
    plain.clear();
    let problem =
        |words: String| ReadError::at_byte(at, "compressed block", Problem::Compression(words));
    // Check the declared size against the memory budget before allocating.
    let room = match codec {
        Codec::None => block.len(),
        _ => plain_size,
    };
    budget::grow_exact(plain, room)
        .map_err(|problem| ReadError::at_byte(at, "compressed block", problem))?;
    match codec {
        Codec::None => plain.extend_from_slice(block),
        Codec::Zstd => {
            zstd::bulk::Decompressor::new()
                .and_then(|mut unpacker| unpacker.decompress_to_buffer(block, plain))
                .map_err(|error| problem(error.to_string()))?;
        }
        Codec::Zlib => {
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
            "it contains {} bytes, {plain_size} were declared",
            if plain.len() > plain_size {
                "more".to_owned()
            } else {
                plain.len().to_string()
            }
        )));
    }
    Ok(())
}

/// Packs one block for [`unpack_block`].
///
/// # Errors
/// If there is not enough memory.
pub(crate) fn pack_block(codec: Codec, plain: &[u8]) -> std::io::Result<Vec<u8>> {
    match codec {
        Codec::None => Ok(plain.to_vec()),
        Codec::Zstd => zstd::bulk::compress(plain, zstd::DEFAULT_COMPRESSION_LEVEL),
        Codec::Zlib => {
            let level = flate2::Compression::default();
            let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), level);
            packer.write_all(plain)?;
            packer.finish()
        }
        Codec::Lz4 => Ok(lz4_flex::block::compress(plain)),
    }
}

const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Maximum size of a zstd frame's header, bytes.
const ZSTD_HEAD_BYTES: usize = 18;

/// Returns the compression of a file that starts with `head`, if any: `gzip`, `zstd` or `lz4`.
#[must_use]
pub(crate) fn wrapping(head: &[u8]) -> Option<&'static str> {
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

/// An unpacked file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwrapped {
    /// The unpacked bytes; incomplete if `stopped` is set.
    pub plain: Vec<u8>,
    /// Where unpacking stopped before the end of the file, if it did.
    pub stopped: Option<Stopped>,
}

/// Where and why unpacking a file stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Byte offset in the compressed file.
    pub at: u64,
    /// Message for the user.
    pub words: String,
}

/// Unpacks a whole file that was compressed with gzip, zstd or lz4 (several members in a row are one file). A damaged
/// or cut file is unpacked as far as possible. `None` if the file is not compressed. Advances `job` by the compressed
/// bytes read.
///
/// # Errors
/// [`Problem::Compression`] if nothing can be unpacked, [`Problem::TooLarge`] if the unpacked size exceeds the limit,
/// [`Problem::Cancelled`].
pub fn unwrap_file(bytes: &[u8], job: &Job) -> Result<Option<Unwrapped>, ReadError> {
    let Some(wrapping) = wrapping(bytes) else {
        return Ok(None);
    };
    let failed = |at: usize, words: String| {
        ReadError::at_byte(at as u64, "compressed file", Problem::Compression(words))
    };
    let unpacker = || unpacker(wrapping, bytes).map_err(|error| failed(0, error.to_string()));
    let mut source = unpacker()?;
    let mut plain = Vec::new();
    let failure = read_all(&mut *source, &mut plain, bytes, job)?;
    let is_cut = |error: &std::io::Error| error.kind() == std::io::ErrorKind::UnexpectedEof;
    let mut stop = failure.as_ref().map(|_| bytes.len() - source.left());
    if wrapping == "lz4" {
        // An lz4 block with a wrong checksum is dropped as a whole.
        if failure
            .as_ref()
            .is_none_or(|error| is_cut(error) || is_bad_block(error))
        {
            let damaged_end = stop.filter(|_| failure.as_ref().is_some_and(is_bad_block));
            stop = rest::rest_of_lz4(bytes, damaged_end, &mut plain).or(stop);
        }
    } else if failure.is_some() {
        let mut again = unpacker()?;
        rest::read_to_failure(&mut again, &mut plain, job)?;
        stop = Some(bytes.len() - again.left());
    }
    let stopped = stop.map(|at| {
        let why = match failure {
            Some(error) if at < bytes.len() || !is_cut(&error) => format!("it is damaged there ({error})"),
            _ => "it ends there too early".to_owned(),
        };
        let size = bytes.len();
        let words = format!(
            "the {wrapping} file could be unpacked only up to its byte {at} of {size}: {why}; what came after is missing"
        );
        let at = at as u64;
        Stopped { at, words }
    });
    match stopped {
        Some(stopped) if plain.is_empty() => {
            let is_block = wrapping == "zstd" && bytes.len() > ZSTD_HEAD_BYTES;
            let words = match is_block {
                true => {
                    "damaged or cut inside its first block, and zstd can unpack blocks, of up to 128 KB, only whole: nothing can be read"
                }
                false => "damaged or cut before anything could be unpacked",
            };
            Err(failed(stopped.at as usize, words.to_owned()))
        }
        stopped => Ok(Some(Unwrapped { plain, stopped })),
    }
}

/// Returns whether the error is about an lz4 block that cannot be unpacked to its end.
fn is_bad_block(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(inner, Some(lz4_flex::frame::Error::DecompressionError(_)))
}

/// An unpacker that reports how many compressed bytes are left to read.
trait Unpacker: Read {
    fn left(&self) -> usize;
}

impl Unpacker for flate2::bufread::MultiGzDecoder<&[u8]> {
    fn left(&self) -> usize {
        self.get_ref().len()
    }
}

impl Unpacker for zstd::stream::read::Decoder<'_, &[u8]> {
    fn left(&self) -> usize {
        self.get_ref().len()
    }
}

fn unpacker<'a>(wrapping: &str, bytes: &'a [u8]) -> std::io::Result<Box<dyn Unpacker + 'a>> {
    Ok(match wrapping {
        "gzip" => Box::new(flate2::bufread::MultiGzDecoder::new(bytes)),
        "zstd" => Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?),
        _ => Box::new(Lz4Members(Some(lz4_flex::frame::FrameDecoder::new(bytes)))),
    })
}

/// Returns a reader that unpacks a stream while it is read. A reader of lz4 may end before the stream does.
///
/// # Errors
/// If the unpacker cannot be made.
pub(crate) fn stream_unpacker<'a>(
    wrapping: &str,
    stream: impl BufRead + 'a,
) -> std::io::Result<Box<dyn Read + 'a>> {
    Ok(match wrapping {
        "gzip" => Box::new(flate2::bufread::MultiGzDecoder::new(stream)),
        "zstd" => Box::new(zstd::stream::read::Decoder::with_buffer(stream)?),
        _ => Box::new(lz4_flex::frame::FrameDecoder::new(stream)),
    })
}

/// Returns up to `most` unpacked bytes of a compressed file's head, or the head itself if the file is not compressed.
#[must_use]
pub(crate) fn unwrapped_head(head: Vec<u8>, most: usize) -> Vec<u8> {
    let Some(wrapping) = wrapping(&head) else {
        return head;
    };
    let Ok(source) = unpacker(wrapping, &head) else {
        return Vec::new();
    };
    let mut plain = Vec::new();
    // Usually an error, because the head is cut: the bytes before the cut are valid.
    let _is_cut = source.take(most as u64).read_to_end(&mut plain);
    plain
}

/// Reads consecutive lz4 frames as one stream.
struct Lz4Members<'a>(Option<lz4_flex::frame::FrameDecoder<&'a [u8]>>);

impl Unpacker for Lz4Members<'_> {
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

/// Unpacks to the end or to the first error of the unpacker, which is returned as a value.
fn read_all(
    source: &mut dyn Unpacker,
    plain: &mut Vec<u8>,
    wrapped: &[u8],
    job: &Job,
) -> Result<Option<std::io::Error>, ReadError> {
    let limit = (wrapped.len() as u64)
        .saturating_mul(MAX_FILE_RATIO)
        .clamp(FREE_FILE_BYTES, MAX_FILE_BYTES);
    let mut before = wrapped.len();
    let mut buffer = vec![0; 1 << 20];
    loop {
        job.check()?;
        let piece = match source.read(&mut buffer) {
            Ok(count) => &buffer[..count],
            Err(error) => {
                job.advance(before as u64);
                return Ok(Some(error));
            }
        };
        if piece.is_empty() {
            job.advance(before as u64);
            return Ok(None);
        }
        let size = plain.len() as u64 + piece.len() as u64;
        if size > limit {
            return Err(ReadError::at_byte(
                0,
                "compressed file",
                Problem::TooLarge {
                    field: "unpacked size",
                    value: size,
                    max: limit,
                },
            ));
        }
        budget::grow(plain, piece.len())
            .map_err(|problem| ReadError::at_byte(0, "compressed file", problem))?;
        plain.extend_from_slice(piece);
        let now = source.left();
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
            let whole = unwrap_file(&file, &job).unwrap().unwrap();
            assert!(whole.plain == text && whole.stopped.is_none());
            assert_eq!(job.progress().done, file.len() as u64);
            file.truncate(file.len() - 20);
            assert!(unwrapped_head(file.clone(), 5000) == text[..5000]);
            job.cancel();
            assert!(unwrap_file(&file, &job).is_err());
        }
        assert_eq!(unwrap_file(b"plain", &Job::default()), Ok(None));
        assert_eq!(unwrapped_head(b"plain".to_vec(), 3), b"plain");
    }

    /// Returns text that packs to about a tenth, and not as one repeated run.
    fn lines(count: u32) -> Vec<u8> {
        (0..count)
            .flat_map(|i| {
                format!("{} line {i} of {}\n", i.wrapping_mul(2_654_435_761), i % 97).into_bytes()
            })
            .collect()
    }

    #[test]
    fn a_cut_of_which_nothing_can_be_had_says_why() {
        let file = zstd::encode_all(&lines(500)[..], 3).unwrap();
        let cut = &file[..file.len() / 2];
        let problem = unwrap_file(cut, &Job::default()).unwrap_err().to_string();
        assert!(
            problem.contains("blocks, of up to 128 KB, only whole"),
            "{problem}"
        );
        let file = gzip(&lines(500));
        let got = unwrap_file(&file[..file.len() / 2], &Job::default());
        assert!(!got.unwrap().unwrap().plain.is_empty());
    }

    #[test]
    fn cut_files_are_unpacked_as_far_as_they_go() {
        let text = lines(40_000);
        for pack in [gzip, lz4, |bytes: &[u8]| {
            zstd::encode_all(bytes, 1).unwrap()
        }] {
            let mut file = pack(&text[..700_000]);
            file.extend(pack(&text[700_000..]));
            let mut before = 0;
            for tenths in 4..10 {
                let cut = file.len() * tenths / 10;
                let got = unwrap_file(&file[..cut], &Job::default()).unwrap().unwrap();
                assert!(text.starts_with(&got.plain), "{cut}");
                // zstd has blocks of up to 128 KB, which can be unpacked only whole.
                assert!(
                    got.plain.len() + 140_000 > text.len() * tenths / 10,
                    "{cut}"
                );
                assert!(got.plain.len() >= before);
                before = got.plain.len();
                let stopped = got.stopped.unwrap();
                assert_eq!(stopped.at, cut as u64);
                assert!(stopped.words.contains("too early"), "{}", stopped.words);
            }
            for short in 1..12 {
                let cut = file.len() - short;
                let got = unwrap_file(&file[..cut], &Job::default()).unwrap().unwrap();
                assert!(text.starts_with(&got.plain), "{short}");
                assert_eq!(got.stopped.unwrap().at, cut as u64, "{short}");
            }
            for cut in 4..12 {
                assert!(unwrap_file(&file[..cut], &Job::default()).is_err(), "{cut}");
            }
        }
    }

    #[test]
    fn damaged_files_are_unpacked_up_to_the_damage() {
        let text = lines(40_000);
        let checked_lz4 = |bytes: &[u8]| {
            let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
            let mut packer = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        };
        for pack in [gzip, checked_lz4, |bytes: &[u8]| {
            let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
            packer.include_checksum(true).unwrap();
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        }] {
            let mut file = pack(&text);
            let at = file.len() * 2 / 3;
            file[at..at + 300].fill(0xff);
            let got = unwrap_file(&file, &Job::default()).unwrap().unwrap();
            let same = text.iter().zip(&got.plain).take_while(|(a, b)| a == b);
            assert!(same.count() + 140_000 > text.len() * 2 / 3);
            let stopped = got.stopped.unwrap();
            assert!(stopped.at + 20_000 > at as u64, "{stopped:?} {at}");
            assert!(stopped.words.contains("damaged"), "{stopped:?}");
        }
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
