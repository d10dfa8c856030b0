//! A large trace.dat that trace-cmd can read as well.
//!
//! Each CPU has its own threads, of which one runs at a time: it makes system calls, calls functions, wakes others, is
//! interrupted, and is switched away when it sleeps or has run long enough. The events between two switches match the
//! switches. The event formats in `formats.txt` are those of a Linux 6 kernel.

use std::fs::File;
use std::io::{BufWriter, Error, Result, Seek, SeekFrom, Write};

const PAGE: usize = 4096;
const THREADS_PER_CPU: usize = 50;
const CHUNK_PAGES: u64 = 10;
const FUNCTIONS: u64 = 400;
const FIRST_FUNCTION: u64 = 0xffff_ffff_8100_0000;
const START_NS: u64 = 5_000_000_000_000;
const SYSCALLS: [u64; 12] = [0, 1, 3, 7, 9, 16, 35, 44, 45, 202, 232, 257];
const COMMS: [&str; 8] = [
    "nginx",
    "postgres",
    "redis-server",
    "java",
    "python3",
    "node",
    "containerd",
    "bash",
];

/// What distinguishes one generated trace from another.
pub struct Machine<'a> {
    pub cpus: u64,
    /// The same seed makes the same trace.
    pub seed: u64,
    /// Every duration is multiplied by this.
    pub pace: u64,
    /// The release of the kernel, as `uname -r` prints it.
    pub kernel: &'a str,
}

/// Writes a trace of about `bytes` bytes of the usual machine, with four CPUs and without compression.
#[allow(dead_code, reason = "for the benches that include this file")]
pub fn write_usual(path: &str, bytes: u64) -> Result<u64> {
    let machine = Machine {
        cpus: 4,
        seed: 1,
        pace: 1,
        kernel: "6.18.0",
    };
    write_trace(path, bytes, &machine, "none")
}

/// Numbers of the events, in the order of `formats.txt`.
#[derive(Clone, Copy)]
#[repr(u16)]
enum Id {
    Switch = 301,
    Wakeup = 302,
    Waking = 303,
    SysEnter = 304,
    SysExit = 305,
    IrqEntry = 306,
    IrqExit = 307,
    SoftirqEntry = 308,
    SoftirqExit = 309,
    SoftirqRaise = 310,
    Function = 1,
}

/// Makes one CPU's pages.
struct Cpu {
    number: u64,
    time: u64,
    page: Vec<u8>,
    page_time: u64,
    last_time: u64,
    random: u64,
    /// 0: idle, else index + 1 of the running thread.
    running: usize,
    /// The system call that each thread is in.
    inside: [Option<u64>; THREADS_PER_CPU],
    ready: std::collections::VecDeque<usize>,
    asleep: Vec<usize>,
    until: u64,
    pace: u64,
    pages_left: u64,
    events: u64,
}

fn pid(cpu: u64, thread: usize) -> u32 {
    1000 + cpu as u32 * THREADS_PER_CPU as u32 + thread as u32
}

fn comm(cpu: u64, running: usize) -> String {
    match running {
        0 => format!("swapper/{cpu}"),
        thread => format!("{}-{thread}", COMMS[thread % COMMS.len()]),
    }
}

impl Cpu {
    fn new(number: u64, pages: u64, machine: &Machine<'_>) -> Cpu {
        let seed = machine
            .seed
            .wrapping_sub(1)
            .wrapping_mul(0xd134_2543_de82_ef95);
        Cpu {
            number,
            time: START_NS + number * 300,
            page: Vec::with_capacity(PAGE),
            page_time: 0,
            last_time: 0,
            random: (0x9e37_79b9_7f4a_7c15 ^ (number + 1) << 20 ^ seed).max(1),
            running: 0,
            inside: [None; THREADS_PER_CPU],
            ready: (0..THREADS_PER_CPU / 2).collect(),
            asleep: (THREADS_PER_CPU / 2..THREADS_PER_CPU).collect(),
            until: 0,
            pace: machine.pace,
            pages_left: pages,
            events: 0,
        }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % below
    }

    fn running_pid(&self) -> u32 {
        match self.running {
            0 => 0,
            running => pid(self.number, running - 1),
        }
    }

    /// Appends an event `after` ns after the last one, multiplied by the pace.
    fn event(
        &mut self,
        id: Id,
        flags: u8,
        after: u64,
        body: &[u8],
        out: &mut dyn Write,
    ) -> Result<()> {
        self.time += after * self.pace;
        let length = 8 + body.len().next_multiple_of(4);
        let needed = length + if length > 112 { 8 } else { 4 } + 8;
        if self.page.is_empty() || self.page.len() + needed > PAGE {
            self.flush(out)?;
            if self.pages_left == 0 {
                return Ok(());
            }
            self.page_time = self.time;
            self.last_time = self.time;
            self.page.extend(self.time.to_le_bytes());
            self.page.extend([0; 8]);
        }
        let delta = self.time - self.last_time;
        self.last_time = self.time;
        let mut small = delta as u32;
        if delta >> 27 != 0 {
            let head = 30 | (delta as u32 & 0x07ff_ffff) << 5;
            self.page.extend(head.to_le_bytes());
            self.page.extend(((delta >> 27) as u32).to_le_bytes());
            small = 0;
        }
        let head = (length as u32 / 4) | small << 5;
        self.page.extend(head.to_le_bytes());
        self.page.extend((id as u16).to_le_bytes());
        self.page.extend([flags, 0]);
        self.page.extend(self.running_pid().to_le_bytes());
        self.page.extend(body);
        self.page.resize(self.page.len().next_multiple_of(4), 0);
        self.events += 1;
        Ok(())
    }

    fn flush(&mut self, out: &mut dyn Write) -> Result<()> {
        if self.page.is_empty() {
            return Ok(());
        }
        let used = (self.page.len() - 16) as u64;
        self.page[8..16].copy_from_slice(&used.to_le_bytes());
        self.page.resize(PAGE, 0);
        out.write_all(&self.page)?;
        self.page.clear();
        self.pages_left -= 1;
        Ok(())
    }

    fn function(&mut self, out: &mut dyn Write) -> Result<()> {
        let mut body = [0; 16];
        let function = FIRST_FUNCTION + self.random(FUNCTIONS) * 256;
        let caller = FIRST_FUNCTION + self.random(FUNCTIONS) * 256 + 40;
        body[..8].copy_from_slice(&function.to_le_bytes());
        body[8..].copy_from_slice(&caller.to_le_bytes());
        let after = 60 + self.random(200);
        self.event(Id::Function, 0, after, &body, out)
    }

    fn interrupt(&mut self, out: &mut dyn Write) -> Result<()> {
        let irq = 24 + self.random(4) as u32;
        let vec = [1_u32, 3, 7, 9][self.random(4) as usize].to_le_bytes();
        let mut entry = irq.to_le_bytes().to_vec();
        entry.extend((16 | 8_u32 << 16).to_le_bytes());
        entry.extend(format!("dev-{irq}\0").bytes().chain([0]).take(8));
        let mut exit = irq.to_le_bytes().to_vec();
        exit.extend(1_u32.to_le_bytes());
        let long = 2000 + self.random(9000);
        self.event(Id::IrqEntry, 8 | 1, 700, &entry, out)?;
        self.event(Id::SoftirqRaise, 8 | 1, 600, &vec, out)?;
        self.event(Id::IrqExit, 8 | 1, 900, &exit, out)?;
        self.event(Id::SoftirqEntry, 16, 300, &vec, out)?;
        self.wake(16, out)?;
        self.event(Id::SoftirqExit, 16, long, &vec, out)
    }

    fn wake(&mut self, flags: u8, out: &mut dyn Write) -> Result<()> {
        if self.asleep.is_empty() {
            return Ok(());
        }
        let at = self.random(self.asleep.len() as u64) as usize;
        let thread = self.asleep.swap_remove(at);
        let mut body = [0; 28];
        let name = comm(self.number, thread + 1);
        body[..name.len()].copy_from_slice(name.as_bytes());
        body[16..20].copy_from_slice(&pid(self.number, thread).to_le_bytes());
        body[20..24].copy_from_slice(&120_u32.to_le_bytes());
        body[24..].copy_from_slice(&(self.number as u32).to_le_bytes());
        self.event(Id::Waking, flags | 1, 400, &body, out)?;
        self.event(Id::Wakeup, flags | 1, 500, &body, out)?;
        self.ready.push_back(thread);
        Ok(())
    }

    fn switch(&mut self, state: u64, out: &mut dyn Write) -> Result<()> {
        let next = self.ready.pop_front().map_or(0, |thread| thread + 1);
        if next == self.running {
            return Ok(());
        }
        let mut body = [0; 56];
        let name = comm(self.number, self.running);
        body[..name.len()].copy_from_slice(name.as_bytes());
        body[16..20].copy_from_slice(&self.running_pid().to_le_bytes());
        body[20..24].copy_from_slice(&120_u32.to_le_bytes());
        body[24..32].copy_from_slice(&state.to_le_bytes());
        let name = comm(self.number, next);
        body[32..32 + name.len()].copy_from_slice(name.as_bytes());
        let next_pid = if next == 0 {
            0
        } else {
            pid(self.number, next - 1)
        };
        body[48..52].copy_from_slice(&next_pid.to_le_bytes());
        body[52..].copy_from_slice(&120_u32.to_le_bytes());
        self.event(Id::Switch, 1, 800, &body, out)?;
        match (self.running, state & 0xff) {
            (0, _) => {}
            (running, 0) => self.ready.push_back(running - 1),
            (running, _) => self.asleep.push(running - 1),
        }
        self.running = next;
        self.until = self.time + (50_000 + self.random(2_000_000)) * self.pace;
        Ok(())
    }

    fn syscall_enter(&mut self, number: u64, out: &mut dyn Write) -> Result<()> {
        let mut body = [0; 56];
        body[..8].copy_from_slice(&number.to_le_bytes());
        for argument in 1..4 {
            let value = self.random(1 << 20).to_le_bytes();
            body[argument * 8..argument * 8 + 8].copy_from_slice(&value);
        }
        let after = 300 + self.random(3000);
        self.event(Id::SysEnter, 0, after, &body, out)?;
        self.inside[self.running - 1] = Some(number);
        Ok(())
    }

    fn syscall_exit(&mut self, number: u64, out: &mut dyn Write) -> Result<()> {
        let mut body = [0; 16];
        body[..8].copy_from_slice(&number.to_le_bytes());
        let result = self.random(4096).to_le_bytes();
        body[8..].copy_from_slice(&result);
        self.event(Id::SysExit, 0, 300, &body, out)?;
        self.inside[self.running - 1] = None;
        Ok(())
    }

    /// Writes the next events of this CPU.
    fn step(&mut self, out: &mut dyn Write) -> Result<()> {
        if self.running == 0 {
            if self.ready.is_empty() {
                self.time += (20_000 + self.random(400_000)) * self.pace;
                self.interrupt(out)?;
            }
            return self.switch(0, out);
        }
        if self.time >= self.until {
            return self.switch(0x100, out);
        }
        if self.random(64) == 0 {
            return self.interrupt(out);
        }
        match self.inside[self.running - 1] {
            None => {
                let number = SYSCALLS[self.random(12) as usize];
                self.syscall_enter(number, out)
            }
            Some(number) => match self.random(16) {
                0 => {
                    let state = 1 + u64::from(self.random(4) == 0);
                    self.switch(state, out)
                }
                1 => self.wake(0, out),
                2..=6 => self.syscall_exit(number, out),
                _ => {
                    for _ in 0..3 {
                        self.function(out)?;
                    }
                    Ok(())
                }
            },
        }
    }

    fn write_all(&mut self, out: &mut dyn Write) -> Result<()> {
        while self.pages_left > 0 {
            self.step(out)?;
        }
        Ok(())
    }
}

/// Compresses the written bytes in chunks of 40 KiB.
struct Packer<'a, W: Write> {
    out: &'a mut W,
    plain: Vec<u8>,
    written: u64,
}

impl<W: Write> Packer<'_, W> {
    fn pack(&mut self) -> Result<()> {
        if !self.plain.is_empty() {
            let packed = zstd::bulk::compress(&self.plain, 3)?;
            self.out.write_all(&(packed.len() as u32).to_le_bytes())?;
            self.out
                .write_all(&(self.plain.len() as u32).to_le_bytes())?;
            self.out.write_all(&packed)?;
            self.written += packed.len() as u64 + 8;
            self.plain.clear();
        }
        Ok(())
    }
}

impl<W: Write> Write for Packer<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.plain.extend_from_slice(bytes);
        if self.plain.len() as u64 >= CHUNK_PAGES * PAGE as u64 {
            self.pack()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A file of sections.
struct Sections {
    bytes: Vec<u8>,
    strings: Vec<u8>,
    places: Vec<(u16, u64)>,
}

impl Sections {
    fn head(&mut self, id: u16, flags: u16, name: &str, size: u64) {
        self.places.push((id, self.bytes.len() as u64));
        self.bytes.extend(id.to_le_bytes());
        self.bytes.extend(flags.to_le_bytes());
        self.bytes.extend((self.strings.len() as u32).to_le_bytes());
        self.bytes.extend(size.to_le_bytes());
        self.strings.extend(name.bytes().chain([0]));
    }

    fn section(&mut self, id: u16, name: &str, body: &[u8]) {
        self.head(id, 0, name, body.len() as u64);
        self.bytes.extend(body);
    }
}

fn option(options: &mut Vec<u8>, id: u16, data: &[u8]) {
    options.extend(id.to_le_bytes());
    options.extend((data.len() as u32).to_le_bytes());
    options.extend(data);
}

fn sized(text: &[u8]) -> Vec<u8> {
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text);
    bytes
}

/// Returns the format texts with our own numbers, as the sections FTRACE EVENTS and EVENT FORMATS contain them.
fn event_formats() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let texts = include_str!("formats.txt");
    let entries: Vec<(&str, &str)> = texts
        .split("=== ")
        .filter_map(|entry| entry.split_once('\n'))
        .collect();
    let mut headers = b"header_page\0".to_vec();
    headers.extend(sized(entries[0].1.as_bytes()));
    headers.extend(b"header_event\0");
    headers.extend(sized(entries[1].1.as_bytes()));
    let mut number = 300;
    let mut systems: Vec<(&str, Vec<Vec<u8>>)> = Vec::new();
    for &(system, text) in &entries[2..] {
        number += 1;
        let (before, after) = text.split_once("ID: ").unwrap_or((text, ""));
        let (old, after) = after.split_once('\n').unwrap_or(("0", after));
        let id = match system {
            "ftrace" => old.to_owned(),
            _ => number.to_string(),
        };
        let text = sized(format!("{before}ID: {id}\n{after}").as_bytes());
        match systems.iter_mut().find(|(name, _)| *name == system) {
            Some((_, texts)) => texts.push(text),
            None => systems.push((system, vec![text])),
        }
    }
    let mut ftrace = Vec::new();
    let mut others = (systems.len() as u32 - 1).to_le_bytes().to_vec();
    for (system, texts) in systems {
        let list = (texts.len() as u32)
            .to_le_bytes()
            .into_iter()
            .chain(texts.concat());
        if system == "ftrace" {
            ftrace.extend(list);
        } else {
            others.extend(system.bytes().chain([0]));
            others.extend(list);
        }
    }
    (headers, ftrace, others)
}

fn metadata(machine: &Machine<'_>, codec: &str) -> (Sections, usize) {
    let mut file = Sections {
        bytes: b"\x17\x08\x44tracing7\0\0\x08".to_vec(),
        strings: Vec::new(),
        places: Vec::new(),
    };
    file.bytes.extend((PAGE as u32).to_le_bytes());
    file.bytes.extend(codec.bytes().chain([0]));
    file.bytes.extend(if codec == "zstd" {
        &b"1.5\0"[..]
    } else {
        b"\0"
    });
    let first_options = file.bytes.len();
    file.bytes.extend([0; 8]);
    let (headers, ftrace, others) = event_formats();
    file.section(16, "headers", &headers);
    file.section(17, "ftrace events", &ftrace);
    file.section(18, "events format", &others);
    let mut symbols = String::new();
    for function in 0..FUNCTIONS {
        let address = FIRST_FUNCTION + function * 256;
        symbols += &format!("{address:016x} t kernel_function_{function}\n");
    }
    let mut kallsyms = (symbols.len() as u32).to_le_bytes().to_vec();
    kallsyms.extend(symbols.bytes());
    file.section(19, "kallsyms", &kallsyms);
    file.section(20, "printk", &[0; 4]);
    let mut names = String::new();
    for cpu in 0..machine.cpus {
        for thread in 0..THREADS_PER_CPU {
            names += &format!("{} {}\n", pid(cpu, thread), comm(cpu, thread + 1));
        }
    }
    file.section(21, "command lines", &sized(names.as_bytes()));
    let mut options = Vec::new();
    for (id, place) in file.places.clone() {
        option(&mut options, id, &place.to_le_bytes());
    }
    option(&mut options, 4, b"[local] global mono\0");
    let uname = format!("Linux generated {} x86_64\0", machine.kernel);
    option(&mut options, 5, uname.as_bytes());
    option(&mut options, 9, b"generated\0");
    let trace_id = 0x1234_5678_9abb_u64.wrapping_add(machine.seed);
    option(&mut options, 11, &trace_id.to_le_bytes());
    option(&mut options, 8, &(machine.cpus as u32).to_le_bytes());
    let size = options.len() as u64 + 14;
    let second_options = file.bytes.len() as u64;
    file.bytes[first_options..first_options + 8].copy_from_slice(&second_options.to_le_bytes());
    option(&mut options, 0, &[0; 8]);
    assert_eq!(size, options.len() as u64);
    file.section(0, "options", &options);
    let done = file.bytes.len() - 8;
    (file, done)
}

/// Writes a trace of about `bytes` bytes to `path`.
pub fn write_trace(path: &str, bytes: u64, machine: &Machine<'_>, codec: &str) -> Result<u64> {
    let cpus = machine.cpus;
    let (mut head, done) = metadata(machine, codec);
    let is_packed = codec == "zstd";
    let buffer_at = head.bytes.len() as u64;
    head.head(3, u16::from(is_packed), "buffer flyrecord", 0);
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    out.write_all(&head.bytes)?;
    let mut at = head.bytes.len() as u64;
    let pages = (bytes / cpus / PAGE as u64).max(1);
    let mut table = Vec::new();
    let mut events = 0;
    for number in 0..cpus {
        let padding = at.next_multiple_of(PAGE as u64) - at;
        out.write_all(&vec![0; padding as usize])?;
        at += padding;
        let mut cpu = Cpu::new(number, pages, machine);
        let size = if is_packed {
            let chunks = pages.div_ceil(CHUNK_PAGES) as u32;
            out.write_all(&chunks.to_le_bytes())?;
            let mut packer = Packer {
                out: &mut out,
                plain: Vec::new(),
                written: 4,
            };
            cpu.write_all(&mut packer)?;
            packer.pack()?;
            packer.written
        } else {
            cpu.write_all(&mut out)?;
            pages * PAGE as u64
        };
        events += cpu.events;
        table.push((number as u32, at, size));
        at += size;
    }
    let mut buffer = buffer_at.to_le_bytes().to_vec();
    buffer.extend(b"\0local\0");
    buffer.extend((PAGE as u32).to_le_bytes());
    buffer.extend((cpus as u32).to_le_bytes());
    for (cpu, offset, size) in table {
        buffer.extend(cpu.to_le_bytes());
        buffer.extend(offset.to_le_bytes());
        buffer.extend(size.to_le_bytes());
    }
    let mut options = Vec::new();
    option(&mut options, 3, &buffer);
    option(&mut options, 0, &[0; 8]);
    let mut tail = Sections {
        bytes: Vec::new(),
        strings: head.strings,
        places: Vec::new(),
    };
    tail.section(0, "options", &options);
    let strings = tail.strings.clone();
    tail.section(15, "strings", &strings);
    out.write_all(&tail.bytes)?;
    let mut file = out
        .into_inner()
        .map_err(|error| Error::other(error.to_string()))?;
    file.seek(SeekFrom::Start(done as u64))?;
    file.write_all(&at.to_le_bytes())?;
    file.seek(SeekFrom::Start(buffer_at + 8))?;
    file.write_all(&(at - buffer_at - 16).to_le_bytes())?;
    Ok(events)
}
