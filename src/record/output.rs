//! Writes a trace.dat from the pages of all CPUs, which are in one unnamed file per CPU.
//!
//! Copied pages are freed in their unnamed file, so that the disk needs room for the recording only once. Disk space
//! for the head of the file is reserved from the start, because the recording may fill the disk.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use rustix::fs::{FallocateFlags, copy_file_range, fallocate};
use rustix::io::Errno;

use super::trouble::RecordError;
use crate::base::atomic_file::{Overwrite, write_whole_file};
use crate::formats::compression::{Codec, pack_block};
use crate::tracedat::bytes::Bytes;
use crate::tracedat::layout::{CHUNK_PAGES, id};
use crate::tracedat::plan::{
    BufferContents, CpuSize, FileContents, FilePlan, OptionData, SectionBody,
};
use crate::tracedat::sections::{FileHead, Packing};
use crate::tracefs::head::{NATIVE, SectionText};

/// Disk space that is reserved for the head of the file, in bytes: as much of it as there is, but not less than the last.
const RESERVE_BYTES: [u64; 4] = [24 << 20, 18 << 20, 13 << 20, 10 << 20];
/// Number of bytes that are copied at once.
const STEP: usize = 1 << 20;

/// Where and how the file is written.
#[derive(Clone, Debug)]
pub struct Target {
    /// The path of the file.
    pub path: PathBuf,
    /// Whether an existing file is replaced.
    pub overwrite: Overwrite,
    /// Compression of the pages.
    pub packing: Packing,
}

/// Unnamed files in the folder of the output file, and the reserved disk space.
pub(crate) struct Drafts {
    folder: PathBuf,
    reserve: Option<File>,
}

impl Drafts {
    /// Reserves disk space in the folder of the file.
    ///
    /// # Errors
    /// If no file can be created in the folder, or the disk has no room for the head of an uncompressed file.
    pub(crate) fn beside(target: &Target) -> std::io::Result<Drafts> {
        let folder = match target.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let reserve = tempfile::tempfile_in(&folder).map_err(|error| {
            let words = format!("no file can be made in {}: {error}", folder.display());
            std::io::Error::new(error.kind(), words)
        })?;
        // On a file system that cannot reserve space, a recording that fills the disk may be lost.
        let mut held = Err(Errno::NOSPC);
        for bytes in RESERVE_BYTES {
            held = fallocate(&reserve, FallocateFlags::empty(), 0, bytes);
            if held != Err(Errno::NOSPC) {
                break;
            }
        }
        if held == Err(Errno::NOSPC) && target.packing == Packing::Plain {
            let words = format!("less than 10 MB are free in {}", folder.display());
            return Err(std::io::Error::new(ErrorKind::StorageFull, words));
        }
        Ok(Drafts {
            folder,
            reserve: held.is_ok().then_some(reserve),
        })
    }

    /// Creates an unnamed file for the pages of a CPU.
    ///
    /// # Errors
    /// Those of open(2).
    pub(crate) fn file(&self) -> std::io::Result<File> {
        tempfile::tempfile_in(&self.folder)
    }
}

/// The pages of a CPU.
pub(crate) struct CpuDraft {
    /// Number of the CPU.
    pub cpu: u32,
    /// The file with the pages.
    pub pages: File,
    /// Size of all pages in bytes.
    pub size: u64,
}

/// The contents of a trace.dat besides pages.
pub(crate) struct About {
    /// Metadata sections.
    pub sections: Vec<SectionText>,
    /// The text of `trace_clock`.
    pub clocks: String,
    /// Name and version of the machine's kernel: `Linux HOST RELEASE MACHINE`.
    pub machine: String,
    /// The texts of `stats` of each CPU.
    pub stats: Vec<String>,
    /// Size of a page in bytes.
    pub page_size: u32,
}

/// Writes the file; returns its size in bytes.
///
/// # Errors
/// If the file exists and must not be replaced, or cannot be written.
pub(crate) fn write(
    target: &Target,
    about: &About,
    cpus: Vec<CpuDraft>,
    mut drafts: Drafts,
) -> Result<u64, RecordError> {
    drafts.reserve = None;
    let mut chunks = Vec::new();
    let mut data = Vec::new();
    for cpu in cpus.into_iter().filter(|cpu| cpu.size > 0) {
        let (cpu, count) = match target.packing {
            Packing::Plain => (cpu, None),
            Packing::Packed => pack(cpu, about.page_size, drafts.file()?)?,
        };
        chunks.push(count);
        data.push(cpu);
    }
    let plan = plan(target, about, &data, &chunks)?;
    write_whole_file(&target.path, target.overwrite, |mut out| {
        out.write_all(&plan.start)?;
        let mut at = plan.start.len() as u64;
        for buffer in &plan.buffers {
            out.write_all(&buffer.head)?;
            at += buffer.head.len() as u64;
            for ((place, cpu), count) in buffer.cpus.iter().zip(&data).zip(&chunks) {
                let padding = place.offset.saturating_sub(at);
                out.write_all(&vec![0; padding as usize])?;
                if let Some(count) = count {
                    let mut bytes = Bytes::new(NATIVE);
                    out.write_all(&bytes.u32(*count).all)?;
                }
                copy_away(cpu, out)?;
                at = place.offset + place.size;
            }
        }
        out.write_all(&plan.end)?;
        Ok::<u64, RecordError>(plan.size)
    })
    .map_err(|error| match error {
        RecordError::Exists(_) => RecordError::Exists(target.path.clone()),
        other => other,
    })
}

/// Copies the pages of a CPU to `out`, and frees each copied piece in its file.
fn copy_away(cpu: &CpuDraft, mut out: &File) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    let mut at = 0;
    while at < cpu.size {
        let mut length = STEP.min((cpu.size - at) as usize);
        let mut from = at;
        // Inside the kernel where the file system supports it, without a copy in this process.
        match copy_file_range(&cpu.pages, Some(&mut from), out, None, length) {
            Ok(copied @ 1..) => length = copied,
            Err(Errno::NOSPC) => return Err(ErrorKind::StorageFull.into()),
            _ => {
                buffer.resize(length, 0);
                cpu.pages.read_exact_at(&mut buffer, at)?;
                out.write_all(&buffer)?;
            }
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // If the space cannot be freed, the disk needs more room, but the file is the same.
        let _kept = fallocate(&cpu.pages, flags, at, length as u64);
        at += length as u64;
    }
    Ok(())
}

/// Compresses the pages of a CPU into the file `to`; returns the new file and the number of its chunks.
fn pack(cpu: CpuDraft, page_size: u32, to: File) -> std::io::Result<(CpuDraft, Option<u32>)> {
    let mut out = std::io::BufWriter::new(&to);
    let (mut at, mut size, mut count) = (0, 0, 0);
    let mut plain = vec![0; page_size as usize * CHUNK_PAGES];
    while at < cpu.size {
        let length = plain.len().min((cpu.size - at) as usize);
        let chunk = plain.get_mut(..length).unwrap_or(&mut []);
        cpu.pages.read_exact_at(chunk, at)?;
        let packed = pack_block(Codec::Zstd, chunk)?;
        let mut head = Bytes::new(NATIVE);
        head.u32(packed.len() as u32).u32(length as u32);
        out.write_all(&head.all)?;
        out.write_all(&packed)?;
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let _kept = fallocate(&cpu.pages, flags, at, length as u64);
        at += length as u64;
        size += 8 + packed.len() as u64;
        count += 1;
    }
    out.flush()?;
    drop(out);
    let cpu = CpuDraft {
        cpu: cpu.cpu,
        pages: to,
        size,
    };
    Ok((cpu, Some(count)))
}

/// Returns the metadata sections with their bodies as they are stored: compressed, if the file is.
fn stored_sections(target: &Target, about: &About) -> std::io::Result<Vec<SectionText>> {
    let sections = about.sections.iter();
    sections
        .map(|SectionText { id, body }| {
            let body = match target.packing {
                Packing::Plain => body.clone(),
                Packing::Packed => {
                    let packed = pack_block(Codec::Zstd, body)?;
                    let mut stored = Bytes::new(NATIVE);
                    stored.u32(packed.len() as u32).u32(body.len() as u32);
                    stored.raw(&packed);
                    stored.all
                }
            };
            Ok(SectionText { id: *id, body })
        })
        .collect()
}

fn plan(
    target: &Target,
    about: &About,
    data: &[CpuDraft],
    chunks: &[Option<u32>],
) -> std::io::Result<FilePlan> {
    let (codec, codec_version) = match target.packing {
        Packing::Plain => ("none", String::new()),
        Packing::Packed => ("zstd", zstd_version()),
    };
    let options = options(about);
    let stored = stored_sections(target, about)?;
    let sections = stored.iter().map(|section| SectionBody {
        id: section.id,
        packing: target.packing,
        body: &section.body,
    });
    let cpus = data.iter().zip(chunks).map(|(cpu, count)| CpuSize {
        cpu: cpu.cpu,
        size: cpu.size + if count.is_some() { 4 } else { 0 },
    });
    Ok(FilePlan::new(&FileContents {
        head: FileHead {
            endian: NATIVE,
            long_size: size_of::<usize>() as u8,
            page_size: about.page_size,
            codec: codec.to_owned(),
            codec_version,
        },
        sections: sections.collect(),
        options: options
            .iter()
            .map(|(id, data)| OptionData { id: *id, data })
            .collect(),
        buffers: vec![BufferContents {
            name: String::new(),
            clock: active_clock(&about.clocks).to_owned(),
            page_size: about.page_size,
            packing: target.packing,
            cpus: cpus.collect(),
        }],
    }))
}

fn zstd_version() -> String {
    let number = zstd::zstd_safe::version_number();
    format!(
        "{}.{}.{}",
        number / 10_000,
        number / 100 % 100,
        number % 100
    )
}

/// Returns the clock in brackets, the active one.
pub(super) fn active_clock(clocks: &str) -> &str {
    let inside = clocks
        .split_once('[')
        .and_then(|(_, it)| it.split_once(']'));
    inside.map_or("local", |(name, _)| name)
}

fn options(about: &About) -> Vec<(u16, Vec<u8>)> {
    let text = |text: &str| [text.as_bytes(), &[0]].concat();
    let mut options: Vec<(u16, Vec<u8>)> = Vec::new();
    let stats = about.stats.iter();
    options.extend(stats.map(|stats| (id::CPUSTAT, text(stats))));
    options.push((id::TRACECLOCK, text(&about.clocks)));
    options.push((id::UNAME, text(&about.machine)));
    let version = format!("threadline {}", env!("CARGO_PKG_VERSION"));
    options.push((id::VERSION, text(&version)));
    let mut count = Bytes::new(NATIVE);
    let cpus = about.stats.len() as u32;
    options.push((id::CPUCOUNT, std::mem::take(&mut count.u32(cpus).all)));
    let mut number = Bytes::new(NATIVE);
    options.push((id::TRACEID, std::mem::take(&mut number.u64(new_id()).all)));
    options
}

/// Returns a random number that identifies the recording.
fn new_id() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_the_one_in_brackets() {
        assert_eq!(active_clock("local global [mono] boot\n"), "mono");
        assert_eq!(active_clock(""), "local");
    }
}
