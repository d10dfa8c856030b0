//! Reads the kernel's texts for the start of a trace.dat, as the bodies of its sections.
//!
//! ```text
//! "header_page" NUL | size u64 | text | "header_event" NUL | size u64 | text
//! count u32 | (size u64 | format text) of system ftrace ...
//! systems u32 | (name NUL | events u32 | (size u64 | format text) ...) ...
//! size u32 | kallsyms        size u32 | printk formats        size u64 | "PID COMM" lines
//! ```

use std::collections::BTreeMap;

use super::folder::{Folder, Trouble};
use crate::base::Endian;
use crate::tracedat::bytes::Bytes;
use crate::tracedat::layout::id;

/// The byte order of this machine.
pub(crate) const NATIVE: Endian = match cfg!(target_endian = "big") {
    true => Endian::Big,
    false => Endian::Little,
};

/// A section's id and body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionText {
    /// Its id.
    pub id: u16,
    /// Its body.
    pub body: Vec<u8>,
}

/// Reads the layout of pages, and the formats of all current events.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn read_formats(top: &Folder) -> Result<Vec<SectionText>, Trouble> {
    let mut headers = Bytes::new(NATIVE);
    for name in ["header_page", "header_event"] {
        let text = top.read(&format!("events/{name}"))?;
        headers.text(name.as_bytes()).u64(text.len() as u64);
        headers.raw(text.as_bytes());
    }
    let files = top.event_files("format");
    let texts = top.read_all(&files);
    let mut by_system: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, text) in files.iter().zip(&texts) {
        if let Some(system) = file.split('/').nth(1)
            && !text.is_empty()
        {
            by_system.entry(system).or_default().push(text);
        }
    }
    let mut own = Bytes::new(NATIVE);
    push_formats(&by_system.remove("ftrace").unwrap_or_default(), &mut own);
    let mut all = Bytes::new(NATIVE);
    all.u32(by_system.len() as u32);
    for (system, texts) in by_system {
        all.text(system.as_bytes());
        push_formats(&texts, &mut all);
    }
    let section = |id, bytes: Bytes| SectionText {
        id,
        body: bytes.all,
    };
    Ok(vec![
        section(id::HEADER_INFO, headers),
        section(id::FTRACE_EVENTS, own),
        section(id::EVENT_FORMATS, all),
    ])
}

fn push_formats(texts: &[&str], out: &mut Bytes) {
    out.u32(texts.len() as u32);
    for text in texts {
        out.u64(text.len() as u64).raw(text.as_bytes());
    }
}

/// Reads the names of kernel functions, `trace_printk` formats, thread names and the processes of threads, the last two
/// as lines of the kernel. A file that cannot be read is empty.
#[must_use]
pub(crate) fn read_names(top: &Folder) -> Vec<SectionText> {
    let mut sections = Vec::new();
    let symbols = top.read("/proc/kallsyms").unwrap_or_default().into_bytes();
    let printk = top.read("printk_formats").unwrap_or_default().into_bytes();
    for (id, text) in [(id::KALLSYMS, symbols), (id::PRINTK, printk)] {
        let mut body = Bytes::new(NATIVE);
        body.u32(text.len() as u32).raw(&text);
        let body = body.all;
        sections.push(SectionText { id, body });
    }
    let lists = [
        (id::CMDLINES, "saved_cmdlines"),
        (id::THREAD_GROUPS, "saved_tgids"),
    ];
    sections.extend(lists.map(|(id, name)| SectionText {
        id,
        body: top.read(name).unwrap_or_default().into_bytes(),
    }));
    sections
}

/// Returns the sections one after the other, as bytes; [`unpack`] reads them.
#[must_use]
pub(crate) fn pack(sections: &[SectionText]) -> Vec<u8> {
    let mut out = Bytes::new(NATIVE);
    for SectionText { id, body } in sections {
        out.u16(*id).u64(body.len() as u64).raw(body);
    }
    out.all
}

/// Returns the sections in the bytes that [`pack`] made.
#[must_use]
pub(crate) fn unpack(mut bytes: &[u8]) -> Vec<SectionText> {
    let mut sections = Vec::new();
    while let Some((head, rest)) = bytes.split_first_chunk::<10>() {
        let [a, b, size @ ..] = *head;
        let size = u64::from_ne_bytes(size);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let Some((body, rest)) = rest.split_at_checked(size) else {
            break;
        };
        sections.push(SectionText {
            id: u16::from_ne_bytes([a, b]),
            body: body.to_vec(),
        });
        bytes = rest;
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_the_same_after_the_way_between_processes() {
        let section = |id, body: &[u8]| SectionText {
            id,
            body: body.to_vec(),
        };
        let sections = [
            section(16, b"abc"),
            section(17, b""),
            section(21, &[1; 300]),
        ];
        let packed = pack(&sections);
        assert_eq!(unpack(&packed), sections);
        assert_eq!(unpack(&packed[..20]), sections[..1]);
    }
}
