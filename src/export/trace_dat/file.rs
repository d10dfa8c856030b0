//! The exported file: its contents besides the pages, and its bytes in order.

use std::io::Write;
use std::ops::Range;

use super::pages::{CpuPlan, Piece};
use super::{LostInPart, Overwritten};
use crate::base::Job;
use crate::export::ExportError;
use crate::formats::tracedat::TraceFile;
use crate::formats::tracedat::buffers::{CpuData, CpuIndex};
use crate::formats::tracedat::contents::RawOption;
use crate::formats::tracedat::cpu_stats::losses;
use crate::tracedat::bytes::Bytes;
use crate::tracedat::layout::id;
use crate::tracedat::plan::{
    BufferContents, CpuSize, FileContents, FilePlan, OptionData, SectionBody,
};
use crate::tracedat::sections::{FileHead, Packing};

/// Number of bytes that are copied between two checks for cancellation.
const COPY_STEP: usize = 1 << 20;

/// The file with the place of everything in it.
pub(super) struct OutputFile<'a> {
    input: &'a TraceFile,
    plans: &'a [CpuPlan],
    file: FilePlan,
}

impl<'a> OutputFile<'a> {
    /// Returns the file with the positions of everything in it; it has no pages yet.
    pub(super) fn new(
        input: &'a TraceFile,
        plans: &'a [CpuPlan],
        lost: Option<&LostInPart>,
    ) -> OutputFile<'a> {
        let statistics = lost.map(|lost| statistics_of(input, lost));
        let mut cpu_count = Bytes::new(input.endian());
        cpu_count.u32(input.options.cpu_count.unwrap_or(0));
        let contents = FileContents {
            head: head_of(input),
            sections: sections_of(input),
            options: options_of(input, plans, &cpu_count.all, statistics.as_deref()),
            buffers: buffers_of(input, plans),
        };
        let file = FilePlan::new(&contents);
        OutputFile { input, plans, file }
    }

    /// Size of the file in bytes.
    pub(super) fn size(&self) -> u64 {
        self.file.size
    }

    /// Writes the file; reports bytes to `job`.
    pub(super) fn write(&self, out: &mut dyn Write, job: &Job) -> Result<(), ExportError> {
        let mut out = Written { out, job, at: 0 };
        out.push(&self.file.start)?;
        for (index, buffer) in self.file.buffers.iter().enumerate() {
            out.push(&buffer.head)?;
            let plans = plans_of(self.plans, index);
            for (place, plan) in buffer.cpus.iter().zip(plans) {
                let padding = place.offset.saturating_sub(out.at);
                out.push(&vec![0; padding as usize])?;
                if is_packed(self.input, plan) {
                    let mut count = Bytes::new(self.input.endian());
                    count.u32(plan.chunks);
                    out.push(&count.all)?;
                }
                for piece in &plan.pieces {
                    match piece {
                        Piece::New(bytes) => out.push(bytes)?,
                        Piece::Copied(range) => out.push(stored(self.input, range.clone()))?,
                    }
                }
            }
        }
        out.push(&self.file.end)
    }
}

fn head_of(input: &TraceFile) -> FileHead {
    let (codec, version) = match &*input.header.compression {
        "" => ("none", ""),
        both => both.split_once(' ').unwrap_or((both, "")),
    };
    FileHead {
        endian: input.endian(),
        long_size: input.header.long_size as u8,
        page_size: input.header.page_size,
        codec: codec.to_owned(),
        codec_version: version.to_owned(),
    }
}

fn sections_of(input: &TraceFile) -> Vec<SectionBody<'_>> {
    let mut stored_sections: Vec<_> = input.sections.iter().collect();
    stored_sections.sort_by_key(|section| section.body.start);
    let sections = stored_sections.iter().map(|section| SectionBody {
        id: section.id,
        packing: section.packing,
        body: stored(input, section.body.clone()),
    });
    sections.collect()
}

/// Returns the data of the input's options, of which the kernel's statistics state how many events were overwritten in the
/// part. A CPU has statistics for each buffer: the first that state any losses state those of the part.
fn statistics_of(input: &TraceFile, lost: &LostInPart) -> Vec<Vec<u8>> {
    let mut left = lost.clone();
    let data = |option: &RawOption| match option.id {
        id::CPUSTAT => {
            let text = String::from_utf8_lossy(&option.data).into_owned();
            let stated = losses(&[text])
                .into_iter()
                .find(|loss| loss.overwritten > 0);
            let count = stated.and_then(|loss| left.remove(&loss.cpu));
            with_overwritten(&option.data, count.unwrap_or(Overwritten::Known(0)))
        }
        _ => option.data.clone(),
    };
    input.raw_options.iter().map(data).collect()
}

/// The lines of the kernel's statistics with the numbers of overwritten events. The number of dropped ones stays that of the
/// whole recording: nothing says when they were dropped.
const OVERWRITTEN: [&[u8]; 2] = [b"overrun: ", b"commit overrun: "];

/// Returns the kernel's statistics of a CPU with this number of overwritten events; without a number if it is not known.
fn with_overwritten(statistics: &[u8], overwritten: Overwritten) -> Vec<u8> {
    let line = |line: &[u8]| {
        let name = OVERWRITTEN.into_iter().find(|name| line.starts_with(name));
        match (name, overwritten) {
            (None, _) => line.to_vec(),
            (Some(_), Overwritten::Unknown) => Vec::new(),
            (Some(name), Overwritten::Known(count)) => {
                let count = if name == OVERWRITTEN[0] { count } else { 0 };
                [name, count.to_string().as_bytes(), b"\n"].concat()
            }
        }
    };
    let lines = statistics.split_inclusive(|&byte| byte == b'\n');
    lines.flat_map(line).collect()
}

/// The input's options, without the statistics of CPUs that are not exported. `statistics`: the data of all options, if it
/// is not the input's.
fn options_of<'a>(
    input: &'a TraceFile,
    plans: &[CpuPlan],
    cpu_count: &'a [u8],
    statistics: Option<&'a [Vec<u8>]>,
) -> Vec<OptionData<'a>> {
    let is_exported = |number: u32| {
        let mut exported = plans.iter().filter_map(|plan| data_of(input, plan));
        exported.any(|data| data.cpu == number)
    };
    let is_kept = |id: u16, data: &[u8]| {
        let cpu = (id == id::CPUSTAT).then(|| cpu_of_statistics(data));
        cpu.flatten().is_none_or(is_exported)
    };
    let all = input.raw_options.iter().enumerate();
    let options = all.map(|(at, option)| OptionData {
        id: option.id,
        data: statistics
            .and_then(|data| data.get(at))
            .unwrap_or(&option.data),
    });
    let mut options: Vec<OptionData<'_>> = options
        .filter(|option| is_kept(option.id, option.data))
        .collect();
    let has_count = options.iter().any(|option| option.id == id::CPUCOUNT);
    if !has_count && input.options.cpu_count.is_some() {
        options.push(OptionData {
            id: id::CPUCOUNT,
            data: cpu_count,
        });
    }
    options
}

/// Returns the CPU whose statistics a CPUSTAT option contains.
fn cpu_of_statistics(data: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(data).ok()?;
    text.strip_prefix("CPU: ")?.lines().next()?.parse().ok()
}

fn buffers_of(input: &TraceFile, plans: &[CpuPlan]) -> Vec<BufferContents> {
    let buffers = input.buffers.iter().enumerate().map(|(index, buffer)| {
        let cpus = plans_of(plans, index).filter_map(|plan| {
            // The number of chunks comes first.
            let count = if is_packed(input, plan) { 4 } else { 0 };
            Some(CpuSize {
                cpu: data_of(input, plan)?.cpu,
                size: plan.size() + count,
            })
        });
        BufferContents {
            name: buffer.name.clone(),
            clock: buffer.clock.clone(),
            page_size: buffer.page_size,
            packing: match buffer.cpus.iter().any(|data| data.chunks.is_some()) {
                true => Packing::Packed,
                false => Packing::Plain,
            },
            cpus: cpus.collect(),
        }
    });
    buffers.collect()
}

/// The plans of the CPUs of a buffer.
fn plans_of(plans: &[CpuPlan], buffer: usize) -> impl Iterator<Item = &CpuPlan> {
    plans.iter().filter(move |plan| plan.index.buffer == buffer)
}

fn data_of<'a>(input: &'a TraceFile, plan: &CpuPlan) -> Option<&'a CpuData> {
    let CpuIndex { buffer, cpu } = plan.index;
    input.buffers.get(buffer)?.cpus.get(cpu)
}

fn is_packed(input: &TraceFile, plan: &CpuPlan) -> bool {
    data_of(input, plan).is_some_and(|data| data.chunks.is_some())
}

/// Returns the input's bytes in a range; those after its end are missing.
fn stored(input: &TraceFile, range: Range<u64>) -> &[u8] {
    let bytes = input.input.bytes();
    let end = usize::try_from(range.end).unwrap_or(usize::MAX);
    let end = end.min(bytes.len());
    let start = usize::try_from(range.start).unwrap_or(usize::MAX);
    bytes.get(start..end).unwrap_or(&[])
}

/// The bytes that were written so far.
struct Written<'a> {
    out: &'a mut dyn Write,
    job: &'a Job,
    at: u64,
}

impl Written<'_> {
    fn push(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        for step in bytes.chunks(COPY_STEP) {
            self.job.check()?;
            self.out.write_all(step)?;
            self.at += step.len() as u64;
            self.job.advance(step.len() as u64);
        }
        Ok(())
    }
}
