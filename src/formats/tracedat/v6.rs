//! Version 6: everything in a fixed order, no section headers, no compression.
//!
//! ```text
//! metadata (see `metadata`) | CPU count u32 | ["options  \0" options] | "flyrecord\0" | CPU count x (offset u64, size u64)
//!                                                               or    | "latency  \0" | text to the end
//! ```
//! Option 3 contains the name of an instance and the file offset of its own "flyrecord\0" table.
//!
//! Of the 99 trace.dat files of the corpus and the samples, 14 are of this version.

use super::buffers::{Buffer, CpuData};
use super::contents::{Contents, RawOption, StoredSection};
use super::header::Header;
use crate::base::{Cursor, Diagnostics, Location, Problem, ReadError, Severity};
use crate::tracedat::layout::id;
use crate::tracedat::sections::Packing;

/// Maximum number of CPUs of a file; a larger number is an error.
const MAX_CPUS: u32 = 1 << 16;

/// Reads everything after the header.
///
/// # Errors
/// If the metadata is cut: without it no event can be read.
pub(crate) fn read_contents(
    bytes: &[u8],
    header: &Header,
    diagnostics: &mut Diagnostics,
) -> Result<Contents, ReadError> {
    let start = usize::try_from(header.end).unwrap_or(usize::MAX);
    let rest = bytes.get(start..).unwrap_or(&[]);
    let mut cursor = Cursor::new(rest, header.end, header.endian);
    let mut contents = Contents::default();
    read_metadata(&mut contents, &mut cursor, diagnostics)?;
    let at = cursor.file_offset();
    let mut cpu_count = cursor.u32("number of CPUs")?;
    if cpu_count > MAX_CPUS {
        return Err(ReadError::at_byte(
            at,
            "trace.dat",
            Problem::TooLarge {
                field: "number of CPUs",
                value: u64::from(cpu_count),
                max: u64::from(MAX_CPUS),
            },
        ));
    }
    let mut instances = Vec::new();
    let mut tag = cursor.take(10, "tag of options or data")?;
    if tag == b"options  \0" {
        read_options(&mut contents, &mut instances, &mut cursor, diagnostics)?;
        tag = cursor.take(10, "tag of data")?;
    }
    // The table has as many rows as the larger of both numbers of CPUs.
    if let Some(more) = contents.options.cpu_count {
        cpu_count = cpu_count.max(more.min(MAX_CPUS));
    }
    contents.options.cpu_count.get_or_insert(cpu_count);
    match tag {
        b"latency  \0" => contents.latency_texts.push(cursor.rest().to_vec()),
        b"flyrecord\0" => {
            let mut read = |name: &str, cursor: &mut Cursor<'_>| {
                let clock = contents.options.active_clock().unwrap_or("").to_owned();
                let cpus = read_table(bytes, cursor, cpu_count, diagnostics);
                contents.buffers.push(Buffer {
                    name: name.to_owned(),
                    clock,
                    page_size: header.page_size,
                    cpus,
                });
            };
            read("", &mut cursor);
            for InstanceAt { offset, name } in instances {
                let table = usize::try_from(offset).ok().and_then(|at| bytes.get(at..));
                match table.and_then(|table| table.strip_prefix(b"flyrecord\0")) {
                    Some(table) => {
                        let at = offset.saturating_add(10);
                        read(&name, &mut Cursor::new(table, at, header.endian));
                    }
                    None => contents.missing.push((offset, name)),
                }
            }
        }
        _ => {
            let problem = Problem::Other("neither flyrecord nor latency follows".into());
            return Err(ReadError::at_byte(
                cursor.file_offset(),
                "trace.dat",
                problem,
            ));
        }
    }
    for (offset, name) in &contents.missing {
        let at = Location::Byte(*offset);
        diagnostics.note("instance_damaged", Severity::Error, at, || {
            format!("the data of instance {name} is not at the offset in the file")
        });
    }
    Ok(contents)
}

fn read_metadata(
    contents: &mut Contents,
    cursor: &mut Cursor<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<(), ReadError> {
    for id in id::HEADER_INFO..=id::CMDLINES {
        let start = cursor.file_offset();
        contents.metadata.read_section(id, cursor, diagnostics)?;
        contents.sections.push(StoredSection {
            id,
            packing: Packing::Plain,
            body: start..cursor.file_offset(),
        });
    }
    Ok(())
}

/// The position of an instance's buffer in the file.
struct InstanceAt {
    /// The offset in bytes.
    offset: u64,
    name: String,
}

fn read_options(
    contents: &mut Contents,
    instances: &mut Vec<InstanceAt>,
    cursor: &mut Cursor<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<(), ReadError> {
    loop {
        let option = cursor.u16("option")?;
        if option == id::DONE {
            return Ok(());
        }
        let size = u64::from(cursor.u32("size of an option")?);
        let at = cursor.file_offset();
        let data = cursor.take(size, "option")?;
        if option == id::BUFFER {
            let mut body = Cursor::new(data, at, cursor.endian());
            let offset = body.u64("offset of an instance")?;
            let name = body.until_nul("name of an instance").unwrap_or(b"");
            instances.push(InstanceAt {
                offset,
                name: String::from_utf8_lossy(name).into_owned(),
            });
        } else {
            let endian = cursor.endian();
            contents.options.read(option, data, at, endian, diagnostics);
            contents.raw_options.push(RawOption {
                id: option,
                data: data.to_vec(),
            });
        }
    }
}

/// Reads the table of CPUs. If the end of the file cuts the table or the data, both are shortened, with a diagnostic.
fn read_table(
    bytes: &[u8],
    cursor: &mut Cursor<'_>,
    cpu_count: u32,
    diagnostics: &mut Diagnostics,
) -> Vec<CpuData> {
    let mut cpus = Vec::new();
    for cpu in 0..cpu_count {
        let (Ok(offset), Ok(size)) = (cursor.u64("CPU offset"), cursor.u64("CPU size")) else {
            let at = Location::Byte(cursor.file_offset());
            diagnostics.note("file_cut", Severity::Error, at, || {
                format!("the table of CPUs ends before CPU {cpu}")
            });
            break;
        };
        if size > 0 {
            cpus.push(CpuData::plain(bytes, cpu, offset, size, diagnostics));
        }
    }
    cpus
}
