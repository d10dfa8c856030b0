//! Version 7: sections with headers, and options that contain the offsets of sections.
//!
//! ```text
//! section: id u16 | flags u16 (bit 0: packed) | description u32 | size u64 | body
//! packed body: packed size u32 | plain size u32 | one block            (`size` counts these 8 bytes too)
//! BUFFER option: section offset u64 | name NUL | clock NUL | page size u32 | CPUs u32 | (cpu u32, offset u64, size u64) ...
//! ```
//!
//! The sections also form an unbroken chain from the header to the end of the file. The chain is followed if the
//! options do not lead to all sections: a recorder that was killed leaves such files.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::btf::Btf;
use super::buffers::{Buffer, CpuData};
use super::contents::{Contents, RawOption, StoredSection};
use super::header::{Header, MAX_PAGE_SIZE};
use super::options::Options;
use crate::base::{Cursor, Diagnostics, Location, Problem, ReadError, Severity};
use crate::formats::compression::{Codec, unpack_block};
use crate::tracedat::layout::{SECTION_HEAD_BYTES, id};
use crate::tracedat::sections::Packing;

/// Maximum number of bytes of an unpacked metadata section.
const MAX_SECTION_BYTES: u64 = 512 << 20;
/// Maximum compression ratio of a section, beyond the first 16 MiB.
const MAX_SECTION_RATIO: u64 = 5000;
/// Maximum number of sections that are read when the chain is followed.
const MAX_SECTIONS: usize = 1 << 16;

/// The header of a section.
struct SectionHead {
    id: u16,
    packing: Packing,
    /// Size of the body in bytes.
    size: u64,
}

/// One section of the file.
#[derive(Clone, Debug)]
struct Section<'a> {
    id: u16,
    /// File offset of its body.
    body_at: u64,
    body: Cow<'a, [u8]>,
}

struct Walk<'a, 'd> {
    bytes: &'a [u8],
    header: &'a Header,
    diagnostics: &'d mut Diagnostics,
    /// File offset of each kind of section.
    places: BTreeMap<u16, u64>,
    /// File offsets of the options sections that were read.
    seen: Vec<u64>,
    options: Options,
    raw_options: Vec<RawOption>,
    /// BUFFER and BUFFER_TEXT options: (id, file offset of data, data).
    buffers: Vec<(u16, u64, Vec<u8>)>,
}

/// Reads everything after the header.
///
/// # Errors
/// If no event format can be read, neither through the options nor through the chain of sections.
pub(crate) fn read_contents(
    bytes: &[u8],
    header: &Header,
    diagnostics: &mut Diagnostics,
) -> Result<Contents, ReadError> {
    let mut walk = Walk {
        bytes,
        header,
        diagnostics,
        places: BTreeMap::new(),
        seen: Vec::new(),
        options: Options::default(),
        raw_options: Vec::new(),
        buffers: Vec::new(),
    };
    let mut is_broken = header.first_options == 0;
    if let Err(error) = walk.follow_options(header.first_options) {
        is_broken = true;
        walk.diagnostics
            .note("options_broken", Severity::Error, error.at, || {
                format!("the options end early, sections are searched one by one: {error}")
            });
    }
    walk.find_thread_groups();
    let needed = [id::HEADER_INFO, id::FTRACE_EVENTS, id::EVENT_FORMATS];
    if is_broken || walk.buffers.is_empty() || needed.iter().any(|id| !walk.places.contains_key(id))
    {
        walk.follow_sections();
    }
    walk.read_all()
}

impl<'a> Walk<'a, '_> {
    fn endian(&self) -> crate::base::Endian {
        self.header.endian
    }

    fn cursor_at(&self, at: u64, item: &'static str) -> Result<Cursor<'a>, ReadError> {
        let rest = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..));
        let rest = rest.ok_or_else(|| {
            let problem = Problem::TooLarge {
                field: "offset",
                value: at,
                max: self.bytes.len() as u64,
            };
            ReadError::at_byte(at, item, problem)
        })?;
        Ok(Cursor::new(rest, at, self.endian()))
    }

    /// Reads the header of the section at `at`.
    fn head(&self, at: u64) -> Result<SectionHead, ReadError> {
        let mut cursor = self.cursor_at(at, "section")?;
        let id = cursor.u16("section id")?;
        let flags = cursor.u16("section flags")?;
        cursor.skip(4, "section description")?;
        Ok(SectionHead {
            id,
            packing: Packing::of_flags(flags),
            size: cursor.u64("section size")?,
        })
    }

    /// Reads the section at `at` and unpacks its body.
    fn section(&self, at: u64) -> Result<Section<'a>, ReadError> {
        let SectionHead { id, packing, size } = self.head(at)?;
        let mut cursor = self.cursor_at(at.saturating_add(SECTION_HEAD_BYTES), "section body")?;
        let body_at = cursor.file_offset();
        if packing == Packing::Plain {
            let body = Cow::Borrowed(cursor.take(size, "section body")?);
            return Ok(Section { id, body_at, body });
        }
        let packed = u64::from(cursor.u32("packed size of a section")?);
        let plain = u64::from(cursor.u32("plain size of a section")?);
        let block = cursor.take(packed, "packed section")?;
        let max = packed
            .saturating_mul(MAX_SECTION_RATIO)
            .clamp(16 << 20, MAX_SECTION_BYTES);
        if plain > max {
            let problem = Problem::TooLarge {
                field: "plain size",
                value: plain,
                max,
            };
            return Err(ReadError::at_byte(at, "section", problem));
        }
        let body = unpack_block(self.header.codec, block, plain as usize, body_at)?;
        Ok(Section {
            id,
            body_at,
            body: Cow::Owned(body),
        })
    }

    /// Reads the options sections that are chained by their DONE options, starting at the file offset `next`.
    fn follow_options(&mut self, mut next: u64) -> Result<(), ReadError> {
        while next != 0 {
            if self.seen.contains(&next) {
                let problem = Problem::Other("the chain of options runs in a circle".into());
                return Err(ReadError::at_byte(next, "options", problem));
            }
            next = self.read_options(next)?;
        }
        Ok(())
    }

    /// Reads one options section; returns the file offset of the next one, or 0 after the last.
    fn read_options(&mut self, at: u64) -> Result<u64, ReadError> {
        let section = self.section(at)?;
        if section.id != 0 {
            let problem = Problem::Other(format!("section {} is there instead", section.id));
            return Err(ReadError::at_byte(at, "options", problem));
        }
        self.seen.push(at);
        let mut cursor = Cursor::new(&section.body, section.body_at, self.endian());
        while cursor.left() >= 6 {
            let option = cursor.u16("option")?;
            let size = u64::from(cursor.u32("size of an option")?);
            let at = cursor.file_offset();
            let data = cursor.take(size, "option")?;
            match option {
                id::DONE => return Cursor::new(data, at, self.endian()).u64("next options"),
                id::BUFFER | id::BUFFER_TEXT => self.buffers.push((option, at, data.to_vec())),
                id::STRINGS..=id::CMDLINES | id::BTF_FILE | id::MODULES_FILE => {
                    let place = Cursor::new(data, at, self.endian()).u64("place of a section")?;
                    self.places.entry(option).or_insert(place);
                }
                _ => {
                    let endian = self.header.endian;
                    self.options
                        .read(option, data, at, endian, self.diagnostics);
                    self.raw_options.push(RawOption {
                        id: option,
                        data: data.to_vec(),
                    });
                }
            }
        }
        Ok(0)
    }

    /// Returns the sections with their file offsets: the chain from the header to the end of the file.
    fn chain(&self) -> impl Iterator<Item = (u64, SectionHead)> {
        let mut next = Some(self.header.end);
        let sections = std::iter::from_fn(move || {
            let at = next?;
            let head = self.head(at).ok()?;
            let body = at.checked_add(SECTION_HEAD_BYTES);
            let end = body.and_then(|body| body.checked_add(head.size));
            next = end.filter(|&end| end < self.bytes.len() as u64);
            Some((at, head))
        });
        sections.take(MAX_SECTIONS)
    }

    /// Finds the section to which no option leads.
    fn find_thread_groups(&mut self) {
        let found = self.chain().find(|(_, head)| head.id == id::THREAD_GROUPS);
        (self.places).extend(found.map(|(at, head)| (head.id, at)));
    }

    /// Follows the chain of sections, and reads those to which the options did not lead.
    fn follow_sections(&mut self) {
        let chain: Vec<_> = self.chain().map(|(at, head)| (at, head.id)).collect();
        for (at, id) in chain {
            match id {
                0 if !self.seen.contains(&at) => {
                    // A damaged options section does not end the walk: the chain needs only section headers.
                    if let Err(error) = self.read_options(at) {
                        let code = "options_broken";
                        self.diagnostics
                            .note(code, Severity::Error, error.at, || error.to_string());
                    }
                }
                id::STRINGS..=id::CMDLINES | id::BTF_FILE | id::MODULES_FILE => {
                    self.places.entry(id).or_insert(at);
                }
                0 | id::BUFFER | id::BUFFER_TEXT | id::LAST_BOOT_INFO | id::THREAD_GROUPS => {}
                _ => self.diagnostics.note(
                    "unknown_section",
                    Severity::Info,
                    Location::Byte(at),
                    || format!("section {id} is not known and was skipped"),
                ),
            }
        }
    }

    fn read_all(mut self) -> Result<Contents, ReadError> {
        let mut contents = Contents::default();
        // HEADER_INFO first: the formats are parsed with its size of `long`.
        for id in (id::HEADER_INFO..=id::CMDLINES).chain([id::BTF_FILE, id::THREAD_GROUPS]) {
            if let Some(&at) = self.places.get(&id) {
                let result = self.read_metadata(id, at, &mut contents);
                if let Err(error) = result {
                    let code = "section_damaged";
                    self.diagnostics.note(code, Severity::Error, error.at, || {
                        format!("section {id} of the file could not be read to its end: {error}")
                    });
                }
            }
        }
        if let Some(&at) = self.places.get(&id::MODULES_FILE)
            && let Ok(head) = self.head(at)
        {
            contents.sections.push(stored_section(at, &head));
        }
        contents.metadata.resolve_enums();
        if contents.metadata.formats.is_empty() {
            let problem = Problem::Other("there is no description of any event".into());
            return Err(ReadError::at_byte(self.header.end, "trace.dat", problem));
        }
        let buffers = std::mem::take(&mut self.buffers);
        for (option, at, data) in &buffers {
            let result = if *option == id::BUFFER {
                self.read_buffer(data, *at)
                    .map(|buffer| contents.buffers.push(buffer))
            } else {
                self.read_text(data, *at)
                    .map(|text| contents.latency_texts.push(text))
            };
            if let Err(error) = result {
                let code = "buffer_damaged";
                self.diagnostics.note(code, Severity::Error, error.at, || {
                    format!("a buffer of the file cannot be read: {error}")
                });
            }
        }
        if buffers.is_empty() {
            let at = Location::Byte(self.bytes.len() as u64);
            self.diagnostics.note("file_cut", Severity::Error, at, || {
                "the file ends before its events".into()
            });
        }
        contents.options = self.options;
        contents.raw_options = self.raw_options;
        Ok(contents)
    }

    fn read_metadata(
        &mut self,
        id: u16,
        at: u64,
        contents: &mut Contents,
    ) -> Result<(), ReadError> {
        let section = self.section(at)?;
        if section.id != id {
            let problem = Problem::Other(format!("section {} is there instead", section.id));
            return Err(ReadError::at_byte(at, "section", problem));
        }
        contents.sections.push(stored_section(at, &self.head(at)?));
        let metadata = &mut contents.metadata;
        if id == id::BTF_FILE {
            metadata.btf = Btf::parse(&section.body, self.endian());
            return Ok(());
        }
        let mut cursor = Cursor::new(&section.body, section.body_at, self.endian());
        metadata.read_section(id, &mut cursor, self.diagnostics)
    }

    fn read_buffer(&mut self, data: &[u8], at: u64) -> Result<Buffer, ReadError> {
        let mut cursor = Cursor::new(data, at, self.endian());
        let section_at = cursor.u64("offset of a buffer")?;
        let name = String::from_utf8_lossy(cursor.until_nul("name of a buffer")?).into_owned();
        let clock = String::from_utf8_lossy(cursor.until_nul("clock of a buffer")?).into_owned();
        let page_size = cursor.u32("page size of a buffer")?;
        if !(64..=MAX_PAGE_SIZE).contains(&page_size) {
            let problem = Problem::TooLarge {
                field: "page size",
                value: u64::from(page_size),
                max: u64::from(MAX_PAGE_SIZE),
            };
            return Err(ReadError::at_byte(at, "BUFFER option", problem));
        }
        let cpu_count = cursor.u32("CPUs of a buffer")?;
        // Only the header of the buffer's section states whether the pages of its CPUs are packed.
        let packing = match self.head(section_at) {
            Ok(head) => head.packing,
            Err(error) if cpu_count > 0 => return Err(error),
            Err(_) => Packing::Plain,
        };
        let mut cpus: Vec<CpuData> = Vec::new();
        for _ in 0..cpu_count {
            let cpu = cursor.u32("CPU of a buffer")?;
            let offset = cursor.u64("offset of a CPU")?;
            let size = cursor.u64("size of a CPU")?;
            if size == 0 {
                continue;
            }
            if cpus.iter().any(|other| other.cpu == cpu) {
                let code = "cpu_twice";
                self.diagnostics
                    .note(code, Severity::Error, Location::Byte(at), || {
                        format!("CPU {cpu} is listed twice in one buffer")
                    });
                continue;
            }
            cpus.push(
                if packing == Packing::Packed && self.header.codec != Codec::None {
                    let endian = self.header.endian;
                    CpuData::packed(self.bytes, cpu, offset, page_size, endian, self.diagnostics)
                } else {
                    CpuData::plain(self.bytes, cpu, offset, size, self.diagnostics)
                },
            );
        }
        Ok(Buffer {
            name,
            clock,
            page_size,
            cpus,
        })
    }

    /// Reads the text of a BUFFER_TEXT section. Its body is either chunks, like a CPU's data, or one block, like other
    /// sections.
    fn read_text(&mut self, data: &[u8], at: u64) -> Result<Vec<u8>, ReadError> {
        let place = Cursor::new(data, at, self.endian()).u64("place of a text buffer")?;
        let SectionHead { packing, size, .. } = self.head(place)?;
        if packing == Packing::Packed {
            let mut cursor =
                self.cursor_at(place.saturating_add(SECTION_HEAD_BYTES), "text buffer")?;
            let at = cursor.file_offset();
            let body = cursor.take(size.min(cursor.left() as u64), "text buffer")?;
            if let Ok(text) = self.read_chunks(Cursor::new(body, at, self.endian())) {
                return Ok(text);
            }
        }
        Ok(self.section(place)?.body.into_owned())
    }

    fn read_chunks(&self, mut cursor: Cursor<'_>) -> Result<Vec<u8>, ReadError> {
        let mut text = Vec::new();
        for _ in 0..cursor.u32("number of chunks")? {
            let packed = u64::from(cursor.u32("packed size of a chunk")?);
            let plain = u64::from(cursor.u32("plain size of a chunk")?);
            let at = cursor.file_offset();
            let block = cursor.take(packed, "chunk")?;
            if plain
                > packed
                    .saturating_mul(MAX_SECTION_RATIO)
                    .min(MAX_SECTION_BYTES)
            {
                let problem = Problem::TooLarge {
                    field: "plain size",
                    value: plain,
                    max: MAX_SECTION_BYTES,
                };
                return Err(ReadError::at_byte(at, "chunk", problem));
            }
            text.extend(unpack_block(self.header.codec, block, plain as usize, at)?);
        }
        Ok(text)
    }
}

fn stored_section(at: u64, head: &SectionHead) -> StoredSection {
    let start = at.saturating_add(SECTION_HEAD_BYTES);
    StoredSection {
        id: head.id,
        packing: head.packing,
        body: start..start.saturating_add(head.size),
    }
}
