//! Writes a large trace of some format for measuring:
//!
//! ```text
//! cargo run --release --example make-big-trace -- tracedat 1GiB [OUT] [--cpus N] [--compression zstd]
//!                                                                [--seed N] [--pace N] [--kernel RELEASE]
//!                                                 fxt 1GiB [OUT] [--seed N] [--kinds N]
//!                                                 etrace 1GiB [OUT] [--cpus N]
//!                                                 ftrace|kprobe|strace|minix|json 1GiB [OUT]
//! ```
//!
//! Sizes are bytes, KiB, MiB, GiB, KB, MB or GB; without OUT the file is called `big`, with the extension of its
//! format.

mod etrace;
mod fxt;
mod text;
mod tracedat;

use std::io::{Error, Result};

const USAGE: &str = "make-big-trace tracedat|fxt|etrace|ftrace|kprobe|strace|minix|json SIZE [OUT] [--cpus N] \
    [--compression zstd|none] [--seed N] [--kinds N] [--pace N] [--kernel RELEASE], SIZE such as 1GiB or 200MB";

/// The options besides format, size and file.
struct Options {
    cpus: u64,
    codec: String,
    seed: u64,
    kinds: Option<u64>,
    pace: u64,
    kernel: String,
}

fn main() -> Result<()> {
    let mut options = Options {
        cpus: 4,
        codec: "none".to_owned(),
        seed: 1,
        kinds: None,
        pace: 1,
        kernel: "6.18.0".to_owned(),
    };
    let mut words = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let number = |text: Option<String>| text?.parse::<u64>().ok();
        match argument.as_str() {
            // `text ftrace` is the same as `ftrace`.
            "text" if words.is_empty() => {}
            "--cpus" => options.cpus = number(arguments.next()).ok_or_else(usage)?,
            "--seed" => options.seed = number(arguments.next()).ok_or_else(usage)?,
            "--kinds" => options.kinds = Some(number(arguments.next()).ok_or_else(usage)?),
            "--pace" => options.pace = number(arguments.next()).ok_or_else(usage)?,
            "--kernel" => options.kernel = arguments.next().ok_or_else(usage)?,
            "--compression" => options.codec = arguments.next().ok_or_else(usage)?,
            _ => words.push(argument),
        }
    }
    let (format, size, path) = match words.as_slice() {
        [format, size] => (format.as_str(), size, format!("big.{}", ending(format))),
        [format, size, path] => (format.as_str(), size, path.clone()),
        _ => return Err(usage()),
    };
    let size = parse_size(size).ok_or_else(usage)?;
    write(format, size, &path, &options)?;
    eprintln!("{path}: {} bytes", std::fs::metadata(&path)?.len());
    Ok(())
}

fn write(format: &str, size: u64, path: &str, options: &Options) -> Result<()> {
    let is_codec = ["none", "zstd"].contains(&options.codec.as_str());
    match format {
        "tracedat" if is_codec && (1..=1024).contains(&options.cpus) => {
            let machine = tracedat::Machine {
                cpus: options.cpus,
                seed: options.seed,
                pace: options.pace,
                kernel: &options.kernel,
            };
            let events = tracedat::write_trace(path, size, &machine, &options.codec)?;
            eprintln!("{events} events");
        }
        "fxt" => {
            let records = fxt::write_trace(path, size, options.seed, options.kinds)?;
            eprintln!("{records} records");
        }
        "etrace" if (1..=64).contains(&options.cpus) => {
            etrace::write_trace(path, size, options.cpus)?;
        }
        kind if text::KINDS.contains(&kind) => text::write_text(kind, path, size)?,
        _ => return Err(usage()),
    }
    Ok(())
}

fn ending(format: &str) -> &str {
    match format {
        "tracedat" => "dat",
        "kprobe" => "ftrace",
        format => format,
    }
}

fn usage() -> Error {
    Error::other(USAGE)
}

/// Parses `512MiB`, `1GiB`, `200MB` or a number of bytes.
fn parse_size(text: &str) -> Option<u64> {
    let units = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ];
    let with_unit = units
        .iter()
        .find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, *bytes)));
    let (digits, unit) = with_unit.unwrap_or((text, 1));
    digits.parse::<u64>().ok()?.checked_mul(unit)
}
