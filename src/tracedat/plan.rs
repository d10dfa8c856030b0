//! Computes the position of everything in a file of version 7: takes the contents and the sizes of the pages, and
//! returns the bytes around the pages.
//!
//! ```text
//! head | metadata sections | per buffer: section head, pages of each CPU, aligned to the page size
//! | options | names of sections
//! ```

use super::layout::{SECTION_HEAD_BYTES, id};
use super::sections::{
    BufferPlace, CpuPlace, Descriptions, FileHead, OptionList, Packing, section_head,
};

/// The contents of a file, except the pages.
#[derive(Clone, Debug)]
pub struct FileContents<'a> {
    /// The values in the file's head.
    pub head: FileHead,
    /// The metadata.
    pub sections: Vec<SectionBody<'a>>,
    /// All options except the positions of sections and buffers.
    pub options: Vec<OptionData<'a>>,
    /// The buffers.
    pub buffers: Vec<BufferContents>,
}

/// A metadata section.
#[derive(Clone, Copy, Debug)]
pub struct SectionBody<'a> {
    /// Its id.
    pub id: u16,
    /// Whether the body is compressed.
    pub packing: Packing,
    /// The body as it is stored.
    pub body: &'a [u8],
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct OptionData<'a> {
    /// Its id.
    pub id: u16,
    /// Its data.
    pub data: &'a [u8],
}

/// A buffer.
#[derive(Clone, Debug)]
pub struct BufferContents {
    /// Name of the instance; empty for the top-level instance.
    pub name: String,
    /// Name of its clock.
    pub clock: String,
    /// Size of its pages (sub-buffers), in bytes.
    pub page_size: u32,
    /// Whether the pages are compressed in chunks.
    pub packing: Packing,
    /// The CPUs with data.
    pub cpus: Vec<CpuSize>,
}

/// The size of a CPU's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSize {
    /// Number of the CPU.
    pub cpu: u32,
    /// Size of its data in the file, in bytes.
    pub size: u64,
}

/// A file with the position of everything in it.
#[derive(Clone, Debug)]
pub struct FilePlan {
    /// The bytes before the first buffer.
    pub start: Vec<u8>,
    /// The buffers, in the order of the contents.
    pub buffers: Vec<PlannedBuffer>,
    /// The bytes after the last buffer.
    pub end: Vec<u8>,
    /// Size of the file in bytes.
    pub size: u64,
}

/// A buffer with its position in the file.
#[derive(Clone, Debug)]
pub struct PlannedBuffer {
    /// The head of its section.
    pub head: Vec<u8>,
    /// The positions of its CPUs' data; the gap before each is filled with zeros.
    pub cpus: Vec<CpuPlace>,
}

impl FilePlan {
    /// Computes the positions.
    #[must_use]
    pub fn new(contents: &FileContents<'_>) -> FilePlan {
        let endian = contents.head.endian;
        let mut names = Descriptions::default();
        let mut options = OptionList::new(endian);
        let mut start = vec![0; contents.head.size() as usize];
        for section in &contents.sections {
            if section.id != id::THREAD_GROUPS {
                options.push_u64(section.id, start.len() as u64);
            }
            let SectionBody { id, packing, body } = *section;
            let size = body.len() as u64;
            start.extend(section_head(endian, id, packing, size, &mut names));
            start.extend_from_slice(body);
        }
        for OptionData { id, data } in &contents.options {
            options.push(*id, data);
        }
        let mut at = start.len() as u64;
        let mut buffers = Vec::new();
        for buffer in &contents.buffers {
            let section = at;
            at += SECTION_HEAD_BYTES;
            let mut cpus = Vec::new();
            for &CpuSize { cpu, size } in &buffer.cpus {
                let offset = at.next_multiple_of(u64::from(buffer.page_size.max(1)));
                cpus.push(CpuPlace { cpu, offset, size });
                at = offset + size;
            }
            let size = at - section - SECTION_HEAD_BYTES;
            let head = section_head(endian, id::BUFFER, buffer.packing, size, &mut names);
            let place = BufferPlace {
                section,
                name: buffer.name.clone(),
                clock: buffer.clock.clone(),
                page_size: buffer.page_size,
                cpus,
            };
            options.push_buffer(endian, &place);
            let cpus = place.cpus;
            buffers.push(PlannedBuffer { head, cpus });
        }
        let head = contents.head.bytes(at);
        if let Some(place) = start.get_mut(..head.len()) {
            place.copy_from_slice(&head);
        }
        let mut end = options.section(endian, &mut names);
        end.extend(names.section(endian));
        FilePlan {
            start,
            buffers,
            size: at + end.len() as u64,
            end,
        }
    }
}
