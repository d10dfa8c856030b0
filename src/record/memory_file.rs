//! A small trace.dat in memory: pages of a running recording come in, the bytes of a file that opens like any other go
//! out. It contains only the formats of the events that occur in the pages, so that opening it costs little.

use std::collections::BTreeMap;

use super::output::active_clock;
use crate::base::{ByteOrder, Endian};
use crate::formats::tracedat::event_format::HeaderPage;
use crate::formats::tracedat::page::{Records, layout_of, read_head};
use crate::tracedat::bytes::Bytes;
use crate::tracedat::layout::{Layout, id};
use crate::tracedat::plan::{
    BufferContents, CpuSize, FileContents, FilePlan, OptionData, SectionBody,
};
use crate::tracedat::sections::{FileHead, Packing};
use crate::tracefs::head::{NATIVE, SectionText};

/// The format of an event.
struct FormatText {
    system: String,
    text: Vec<u8>,
}

/// Whole pages, oldest first, by CPU.
pub(crate) type PagesByCpu = BTreeMap<u32, Vec<u8>>;

/// The recording whose pages are put in files.
pub(crate) struct Stage<'a> {
    /// The sections with the formats of all events.
    pub sections: &'a [SectionText],
    /// The text of `trace_clock`.
    pub clocks: &'a str,
    /// Size of a page in bytes.
    pub page_size: u32,
}

/// Makes files in memory of one recording.
pub(crate) struct MemoryFile {
    headers: Vec<u8>,
    own_formats: Vec<u8>,
    formats: BTreeMap<u16, FormatText>,
    clocks: String,
    page_size: u32,
    layout: Layout,
}

impl MemoryFile {
    /// Returns a maker of files for a recording.
    #[must_use]
    pub(crate) fn new(stage: &Stage<'_>) -> MemoryFile {
        let body = |id| {
            let section = stage.sections.iter().find(|section| section.id == id);
            section.map_or(Vec::new(), |section| section.body.clone())
        };
        let headers = body(id::HEADER_INFO);
        let page = header_page(&headers);
        MemoryFile {
            layout: layout_of(page.as_ref()),
            headers,
            own_formats: body(id::FTRACE_EVENTS),
            formats: formats_in(&body(id::EVENT_FORMATS)),
            clocks: stage.clocks.to_owned(),
            page_size: stage.page_size,
        }
    }

    /// Returns the ids of all events of the kernel.
    #[must_use]
    pub(crate) fn all_ids(&self) -> Vec<u16> {
        self.formats.keys().copied().collect()
    }

    /// Returns the ids of all events in the pages.
    #[must_use]
    pub(crate) fn ids_in(&self, pages: &PagesByCpu) -> Vec<u16> {
        match NATIVE {
            Endian::Little => self.ids_as::<crate::base::Little>(pages),
            Endian::Big => self.ids_as::<crate::base::Big>(pages),
        }
    }

    fn ids_as<E: ByteOrder>(&self, pages: &PagesByCpu) -> Vec<u16> {
        let mut is_there = vec![false; 1 << 16];
        for page in pages
            .values()
            .flat_map(|it| it.chunks(self.page_size as usize))
        {
            let Some(head) = read_head::<E>(page, self.layout) else {
                continue;
            };
            for record in Records::<E>::new(page, self.layout, &head) {
                let id = record.payload.first_chunk().map(|bytes| E::u16(*bytes));
                if let Some(entry) = id.and_then(|id| is_there.get_mut(usize::from(id))) {
                    *entry = true;
                }
            }
        }
        let ids = (0..=u16::MAX).zip(is_there);
        ids.filter(|(_, is_there)| *is_there)
            .map(|(id, _)| id)
            .collect()
    }

    /// Returns a trace.dat with these pages, the formats of the events with these ids, and `names`: the sections of
    /// symbols, printk formats and thread names that are known.
    #[must_use]
    pub(crate) fn file(&self, pages: &PagesByCpu, ids: &[u16], names: &[SectionText]) -> Vec<u8> {
        let mut systems: BTreeMap<&str, Vec<&[u8]>> = BTreeMap::new();
        for format in ids.iter().filter_map(|id| self.formats.get(id)) {
            systems
                .entry(&format.system)
                .or_default()
                .push(&format.text);
        }
        let mut formats = Bytes::new(NATIVE);
        formats.u32(systems.len() as u32);
        for (system, texts) in systems {
            formats.text(system.as_bytes()).u32(texts.len() as u32);
            for text in texts {
                formats.u64(text.len() as u64).raw(text);
            }
        }
        let empty = [0; 8];
        let section = |id, body| SectionBody {
            id,
            packing: Packing::Plain,
            body,
        };
        let mut sections = vec![
            section(id::HEADER_INFO, &self.headers[..]),
            section(id::FTRACE_EVENTS, &self.own_formats),
            section(id::EVENT_FORMATS, &formats.all),
        ];
        match names {
            [] => sections.push(section(id::CMDLINES, &empty)),
            names => sections.extend(names.iter().map(|it| section(it.id, &it.body))),
        }
        let clocks = [self.clocks.as_bytes(), &[0]].concat();
        let cpus = pages.iter().map(|(cpu, pages)| CpuSize {
            cpu: *cpu,
            size: pages.len() as u64,
        });
        let plan = FilePlan::new(&FileContents {
            head: FileHead {
                endian: NATIVE,
                long_size: size_of::<usize>() as u8,
                page_size: self.page_size,
                codec: "none".to_owned(),
                codec_version: String::new(),
            },
            sections,
            options: vec![OptionData {
                id: id::TRACECLOCK,
                data: &clocks,
            }],
            buffers: vec![BufferContents {
                name: String::new(),
                clock: active_clock(&self.clocks).to_owned(),
                page_size: self.page_size,
                packing: Packing::Plain,
                cpus: cpus.collect(),
            }],
        });
        let mut file = plan.start;
        for buffer in plan.buffers {
            file.extend(buffer.head);
            for (place, pages) in buffer.cpus.iter().zip(pages.values()) {
                file.resize(place.offset as usize, 0);
                file.extend_from_slice(pages);
            }
        }
        file.extend(plan.end);
        file
    }
}

/// Returns the layout of pages, from the body of the section that contains `header_page`.
fn header_page(headers: &[u8]) -> Option<HeaderPage> {
    let text = headers.strip_prefix(b"header_page\0")?;
    let (size, text) = text.split_first_chunk::<8>()?;
    HeaderPage::parse(text.get(..u64::from_ne_bytes(*size) as usize)?)
}

/// Returns the event formats in `body`, the section with the formats of all systems, by event id.
fn formats_in(body: &[u8]) -> BTreeMap<u16, FormatText> {
    let mut found = BTreeMap::new();
    // This program wrote the bytes itself: bytes that do not match end the list.
    let _end = read_formats(body, &mut found);
    found
}

fn read_formats(mut body: &[u8], found: &mut BTreeMap<u16, FormatText>) -> Option<()> {
    let (systems, rest) = body.split_first_chunk::<4>()?;
    body = rest;
    for _ in 0..u32::from_ne_bytes(*systems) {
        let end = memchr::memchr(0, body)?;
        let system = String::from_utf8_lossy(body.get(..end)?).into_owned();
        body = body.get(end + 1..)?;
        let (count, rest) = body.split_first_chunk::<4>()?;
        body = rest;
        for _ in 0..u32::from_ne_bytes(*count) {
            let (size, rest) = body.split_first_chunk::<8>()?;
            let (text, rest) = rest.split_at_checked(u64::from_ne_bytes(*size) as usize)?;
            body = rest;
            let shown = String::from_utf8_lossy(text);
            let id = shown.lines().find_map(|line| line.strip_prefix("ID: "));
            if let Some(id) = id.and_then(|id| id.trim().parse().ok()) {
                let system = system.clone();
                let text = text.to_vec();
                found.insert(id, FormatText { system, text });
            }
        }
    }
    Some(())
}
