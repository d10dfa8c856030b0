//! The options of a trace.dat: small numbered items that describe the recording.
//!
//! ```text
//! id u16 | size u32 | data          version 6 ends its list with id 0 and no size,
//!                                   version 7 chains its lists with id 0, size 8, next offset u64
//! ```
//!
//! `v6` and `v7` read the options with file offsets of sections and buffers; unknown options are skipped by their size.

use crate::base::{Cursor, Diagnostics, Endian, Location, ReadError, Severity};
use crate::tracedat::layout::id;

/// Maximum number of entries of any list inside an option.
const MAX_ENTRIES: u32 = 1 << 20;

/// The values of all options, except file offsets of sections and buffers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// DATE: wall-clock time of the trace clock's zero, in ns.
    pub date_ns: Option<i64>,
    /// OFFSET: number of ns that is added to every time.
    pub offset_ns: i64,
    /// CPUSTAT: the texts of per_cpu/cpuN/stats, in order.
    pub cpu_stats: Vec<String>,
    /// TRACECLOCK: the text of trace_clock.
    pub trace_clock: String,
    /// UNAME: `Linux HOST RELEASE MACHINE`.
    pub uname: String,
    /// HOOK: pairs of events that the user gave to `trace-cmd record -H`.
    pub hooks: Vec<String>,
    /// CPUCOUNT: number of CPUs of the machine.
    pub cpu_count: Option<u32>,
    /// VERSION: version of the trace-cmd that recorded the file.
    pub version: String,
    /// PROCMAPS: mapped libraries of traced processes.
    pub proc_maps: Vec<String>,
    /// TRACEID: number of this trace, by which guests' traces refer to it.
    pub trace_id: Option<u64>,
    /// TIME_SHIFT: conversion of a guest's times to its host's.
    pub time_shift: Option<TimeShift>,
    /// GUEST: the guests traced together with this host.
    pub guests: Vec<Guest>,
    /// TSC2NSEC: conversion of cycles to ns.
    pub tsc_to_ns: Option<TscToNs>,
    /// LAST_BOOT_INFO: texts about an instance that survived a reboot.
    pub last_boot: Vec<String>,
}

/// Offsets of a guest's clock from its host's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeShift {
    /// TRACEID of the other trace.
    pub peer: u64,
    /// Bit 0: interpolate between samples.
    pub flags: u32,
    /// Samples of each CPU, sorted by time.
    pub cpus: Vec<Vec<ShiftSample>>,
}

/// One measurement: host time = guest time * scaling / 2^fraction + offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShiftSample {
    /// Guest time of the measurement, raw.
    pub time: u64,
    /// Added after the scaling.
    pub offset: i64,
    /// Factor of the guest time.
    pub scaling: u64,
    /// Number of fraction bits in `scaling`.
    pub fraction: u32,
}

/// A guest machine traced together with this host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guest {
    /// Name of the guest.
    pub name: String,
    /// TRACEID of its trace.
    pub trace_id: u64,
    /// (guest CPU, pid of the host thread that runs it; -1 if there is none).
    pub cpus: Vec<(u32, i32)>,
}

/// The conversion of cycles to ns: ns = (cycles * mult) >> shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TscToNs {
    /// Multiplier.
    pub mult: u32,
    /// Number of bits of the right shift.
    pub shift: u32,
    /// Stored in the file, but not used by trace-cmd.
    pub offset: u64,
}

impl Options {
    /// Reads one option, except those with file offsets of sections and buffers. `at` is the file offset of `data`. A
    /// damaged or unknown option becomes a diagnostic.
    pub fn read(
        &mut self,
        id: u16,
        data: &[u8],
        at: u64,
        endian: Endian,
        diagnostics: &mut Diagnostics,
    ) {
        let mut cursor = Cursor::new(data, at, endian);
        let result = match id {
            id::TRACEID => cursor.u64("TRACEID").map(|it| self.trace_id = Some(it)),
            id::CPUCOUNT => cursor.u32("CPUCOUNT").map(|it| self.cpu_count = Some(it)),
            id::TSC2NSEC => read_tsc_to_ns(&mut cursor).map(|it| self.tsc_to_ns = Some(it)),
            id::TIME_SHIFT => read_time_shift(&mut cursor).map(|it| self.time_shift = Some(it)),
            id::GUEST => read_guest(&mut cursor).map(|it| self.guests.push(it)),
            _ => {
                self.read_text(id, data, at, diagnostics);
                Ok(())
            }
        };
        if let Err(error) = result {
            let code = "option_damaged";
            diagnostics.note(code, Severity::Error, error.at, || {
                format!("an option of the file was left out: {error}")
            });
        }
    }

    fn read_text(&mut self, id: u16, data: &[u8], at: u64, diagnostics: &mut Diagnostics) {
        let text = text_of(data);
        match id {
            id::DATE => {
                let digits = text.trim().trim_start_matches("0x");
                let micros = i64::from_str_radix(digits, 16).ok();
                self.date_ns = micros.and_then(|micros| micros.checked_mul(1000));
            }
            id::OFFSET => self.offset_ns = text.trim().parse().unwrap_or(0),
            id::CPUSTAT => self.cpu_stats.push(text),
            id::TRACECLOCK => self.trace_clock = text,
            id::UNAME => self.uname = text,
            id::HOOK => self.hooks.push(text),
            id::VERSION => self.version = text,
            id::PROCMAPS => self.proc_maps.push(text),
            id::LAST_BOOT_INFO => self.last_boot.push(text),
            _ => diagnostics.note("unknown_option", Severity::Info, Location::Byte(at), || {
                format!("option {id} is not known and was skipped")
            }),
        }
    }

    /// Returns the active clock in the text of TRACECLOCK: the name in brackets.
    #[must_use]
    pub(crate) fn active_clock(&self) -> Option<&str> {
        let (_, after) = self.trace_clock.split_once('[')?;
        Some(after.split_once(']')?.0)
    }
}

fn text_of(data: &[u8]) -> String {
    let end = memchr::memchr(0, data).unwrap_or(data.len());
    String::from_utf8_lossy(data.get(..end).unwrap_or(data)).into_owned()
}

fn read_tsc_to_ns(cursor: &mut Cursor<'_>) -> Result<TscToNs, ReadError> {
    Ok(TscToNs {
        mult: cursor.u32("TSC2NSEC multiplier")?,
        shift: cursor.u32("TSC2NSEC shift")?,
        offset: cursor.u64("TSC2NSEC offset")?,
    })
}

fn read_guest(cursor: &mut Cursor<'_>) -> Result<Guest, ReadError> {
    let name = String::from_utf8_lossy(cursor.until_nul("GUEST name")?).into_owned();
    let trace_id = cursor.u64("GUEST trace id")?;
    let count = cursor.u32("GUEST CPU count")?.min(MAX_ENTRIES);
    let mut cpus = Vec::new();
    for _ in 0..count {
        let cpu = cursor.u32("GUEST CPU")?;
        cpus.push((cpu, cursor.u32("GUEST pid")? as i32));
    }
    Ok(Guest {
        name,
        trace_id,
        cpus,
    })
}

fn read_time_shift(cursor: &mut Cursor<'_>) -> Result<TimeShift, ReadError> {
    let item = "TIME_SHIFT";
    let mut shift = TimeShift {
        peer: cursor.u64(item)?,
        flags: cursor.u32(item)?,
        cpus: Vec::new(),
    };
    for _ in 0..cursor.u32(item)?.min(MAX_ENTRIES) {
        let count = cursor.u32(item)? as usize;
        // Before memory is allocated, the bytes of all samples (three numbers of 8 bytes each) must be left.
        if count > cursor.left() / 24 {
            cursor.skip(count as u64 * 24, item)?;
        }
        let mut samples = vec![ShiftSample::default(); count];
        for sample in &mut samples {
            sample.time = cursor.u64(item)?;
        }
        for sample in &mut samples {
            sample.offset = cursor.u64(item)? as i64;
        }
        for sample in &mut samples {
            sample.scaling = cursor.u64(item)?;
        }
        shift.cpus.push(samples);
    }
    // Options of older versions end here, without fractions. Of the 99 trace.dat files of the corpus and the samples, 1
    // has this option, with fractions; a test was made for the older form.
    'all: for samples in &mut shift.cpus {
        for sample in samples {
            match cursor.u64(item) {
                Ok(fraction) => sample.fraction = fraction.min(63) as u32,
                Err(_) => break 'all,
            }
        }
    }
    for samples in &mut shift.cpus {
        samples.sort_by_key(|sample| sample.time);
        samples.dedup_by_key(|sample| sample.time);
    }
    Ok(shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(id: u16, data: &[u8]) -> (Options, Diagnostics) {
        let (mut options, mut diagnostics) = (Options::default(), Diagnostics::default());
        options.read(id, data, 100, Endian::Little, &mut diagnostics);
        (options, diagnostics)
    }

    #[test]
    fn options_are_understood() {
        assert_eq!(read(id::DATE, b"0xff\0").0.date_ns, Some(255_000));
        assert_eq!(read(id::OFFSET, b"-1500\0").0.offset_ns, -1500);
        let clock = read(id::TRACECLOCK, b"local [mono] boot\n\0").0;
        assert_eq!(clock.active_clock(), Some("mono"));
        assert_eq!(read(id::TRACECLOCK, b"").0.active_clock(), None);
        assert_eq!(read(99, b"x").1.count_of("unknown_option"), 1);
        assert_eq!(read(id::TRACEID, b"1234").1.count_of("option_damaged"), 1);
    }

    #[test]
    fn a_time_shift_may_lack_its_fractions() {
        let mut data = 7_u64.to_le_bytes().to_vec();
        data.extend([1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
        for number in [20_u64, 10, 5, -6_i64 as u64, 1, 2] {
            data.extend(number.to_le_bytes());
        }
        let shift = read(id::TIME_SHIFT, &data).0.time_shift.unwrap();
        let sample = shift.cpus[0][0];
        assert_eq!((shift.peer, sample.time, sample.offset), (7, 10, -6));
        assert_eq!((sample.scaling, sample.fraction), (2, 0));
        // A count that exceeds the data must not allocate memory.
        data[16..20].copy_from_slice(&[255; 4]);
        assert_eq!(read(id::TIME_SHIFT, &data).1.count_of("option_damaged"), 1);
    }
}
