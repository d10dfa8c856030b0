//! Writes the parts of a trace.dat of version 7: the file's head, sections, options, and the texts of the metadata.
//!
//! ```text
//! magic | "7" NUL | endian u8 | long size u8 | page size u32 | codec NUL, its version NUL | offset of the options u64
//! section: id u16 | flags u16 | description u32 | size u64 | body
//! option:  id u16 | size u32 | data                     the last one has id 0 and the offset of the next options
//! ```
//!
//! The caller decides the order of the sections and the positions of the pages, and compresses bodies beforehand.

use super::bytes::Bytes;
use super::layout::{IS_PACKED, MAGIC, id};
use crate::base::Endian;

/// The values in a file's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHead {
    /// Byte order of all numbers and of the pages.
    pub endian: Endian,
    /// Size of `long` in the recording program, in bytes.
    pub long_size: u8,
    /// Page size of the machine, in bytes.
    pub page_size: u32,
    /// Name of the codec: `none`, `zstd` ...
    pub codec: String,
    /// Version of the codec; empty for `none`.
    pub codec_version: String,
}

impl FileHead {
    /// Returns the head's bytes. `first_options` is the file offset of the first section of options.
    #[must_use]
    pub fn bytes(&self, first_options: u64) -> Vec<u8> {
        let mut out = Bytes::new(self.endian);
        let endian = match self.endian {
            Endian::Little => 0,
            Endian::Big => 1,
        };
        out.raw(&MAGIC).text(b"7").raw(&[endian, self.long_size]);
        out.u32(self.page_size);
        out.text(self.codec.as_bytes());
        out.text(self.codec_version.as_bytes());
        out.u64(first_options);
        out.all
    }

    /// Returns the size of the head in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.bytes(0).len() as u64
    }
}

/// Names of sections for people. A section refers to its name by the name's offset in the section `STRINGS`.
#[derive(Clone, Debug, Default)]
pub struct Descriptions {
    bytes: Vec<u8>,
}

impl Descriptions {
    /// Adds a name; returns its offset.
    fn add(&mut self, name: &str) -> u32 {
        let at = self.bytes.len() as u32;
        self.bytes.extend(name.bytes().chain([0]));
        at
    }

    /// Returns the section with all names, which is the last one of a file.
    #[must_use]
    pub fn section(mut self, endian: Endian) -> Vec<u8> {
        let description = self.add("strings");
        let mut out = Bytes::new(endian);
        let body = std::mem::take(&mut self.bytes);
        let size = body.len() as u64;
        push_head(&mut out, id::STRINGS, Packing::Plain, description, size);
        out.raw(&body);
        out.all
    }
}

/// Whether a section's body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// The body is stored as it is.
    Plain,
    /// The body is compressed, with its sizes before it; or the pages of each CPU are.
    Packed,
}

impl Packing {
    /// Returns the compression that the flags of a section's header state.
    #[must_use]
    pub(crate) fn of_flags(flags: u16) -> Packing {
        match flags & IS_PACKED {
            0 => Packing::Plain,
            _ => Packing::Packed,
        }
    }

    fn flags(self) -> u16 {
        match self {
            Packing::Packed => IS_PACKED,
            Packing::Plain => 0,
        }
    }
}

fn push_head(out: &mut Bytes, id: u16, packing: Packing, description: u32, size: u64) {
    out.u16(id).u16(packing.flags());
    out.u32(description).u64(size);
}

/// Returns the header of a section whose body has `size` bytes.
#[must_use]
pub(crate) fn section_head(
    endian: Endian,
    id: u16,
    packing: Packing,
    size: u64,
    names: &mut Descriptions,
) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    let description = names.add(description_of(id));
    push_head(&mut out, id, packing, description, size);
    out.all
}

fn description_of(id: u16) -> &'static str {
    match id {
        id::HEADER_INFO => "headers",
        id::FTRACE_EVENTS => "ftrace events",
        id::EVENT_FORMATS => "events format",
        id::KALLSYMS => "kallsyms",
        id::PRINTK => "printk",
        id::CMDLINES => "command lines",
        id::BTF_FILE => "BTF",
        id::MODULES_FILE => "modules",
        id::BUFFER => "buffer flyrecord",
        id::THREAD_GROUPS => "thread groups",
        _ => "options",
    }
}

/// A list of options.
#[derive(Clone, Debug)]
pub struct OptionList {
    out: Bytes,
}

impl OptionList {
    /// Returns an empty list.
    #[must_use]
    pub fn new(endian: Endian) -> OptionList {
        OptionList {
            out: Bytes::new(endian),
        }
    }

    /// Adds an option with this data.
    pub fn push(&mut self, id: u16, data: &[u8]) {
        self.out.u16(id).u32(data.len() as u32).raw(data);
    }

    /// Adds an option that is a number of 8 bytes, such as the file offset of a section.
    pub(crate) fn push_u64(&mut self, id: u16, number: u64) {
        self.out.u16(id).u32(8).u64(number);
    }

    /// Adds a buffer.
    pub(crate) fn push_buffer(&mut self, endian: Endian, buffer: &BufferPlace) {
        let mut data = Bytes::new(endian);
        data.u64(buffer.section);
        data.text(buffer.name.as_bytes());
        data.text(buffer.clock.as_bytes());
        data.u32(buffer.page_size).u32(buffer.cpus.len() as u32);
        for place in &buffer.cpus {
            data.u32(place.cpu).u64(place.offset).u64(place.size);
        }
        self.push(id::BUFFER, &data.all);
    }

    /// Returns the section with this list; it is the last section of options in its file.
    #[must_use]
    pub fn section(mut self, endian: Endian, names: &mut Descriptions) -> Vec<u8> {
        self.push_u64(id::DONE, 0);
        let size = self.out.all.len() as u64;
        let mut section = section_head(endian, id::DONE, Packing::Plain, size, names);
        section.append(&mut self.out.all);
        section
    }
}

/// The position of a buffer's pages in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferPlace {
    /// File offset of the buffer's section.
    pub section: u64,
    /// Name of the instance; empty for the top-level instance.
    pub name: String,
    /// Name of its clock.
    pub clock: String,
    /// Size of its pages (sub-buffers), in bytes.
    pub page_size: u32,
    /// Its CPUs that have data.
    pub cpus: Vec<CpuPlace>,
}

/// The position of a CPU's pages in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuPlace {
    /// Number of the CPU.
    pub cpu: u32,
    /// File offset of its data, a multiple of the page size.
    pub offset: u64,
    /// Size of its data in the file, in bytes.
    pub size: u64,
}
