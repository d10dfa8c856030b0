//! Large text traces.
//!
//! `ftrace` is `cat trace` of context switches, wakeups and system calls on 4 CPUs; `kprobe` entries and returns of
//! one function with arguments; `strace` is `strace -f -ttt -T` of 200 processes, one call in eight on two lines;
//! `minix` is `trace -f -tt` of 40 processes whose calls preempt each other; `json` is Chrome JSON as browsers and profilers
//! write it: slices of eight threads with and without arguments, begins and ends, instants, counters and arrows.

use std::io::{BufWriter, Result, Write};

/// A fixed sequence of numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Counts the bytes that are written.
struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Counted<W> {
    fn line(&mut self, text: &str) -> Result<()> {
        self.bytes += text.len() as u64 + 1;
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")
    }
}

/// The kinds of text that can be written.
pub const KINDS: &[&str] = &["ftrace", "kprobe", "strace", "minix", "json"];

/// Writes about `size` bytes of `kind` to `path`.
///
/// # Errors
/// Errors of the file.
pub fn write_text(kind: &str, path: &str, size: u64) -> Result<()> {
    let mut out = Counted {
        out: BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?),
        bytes: 0,
    };
    let mut random = Random(0x1234_5678_9abc_def1);
    match kind {
        "ftrace" => ftrace(&mut out, &mut random, size)?,
        "kprobe" => kprobe(&mut out, &mut random, size)?,
        "strace" => strace(&mut out, &mut random, size)?,
        "json" => json(&mut out, &mut random, size)?,
        _ => minix(&mut out, &mut random, size)?,
    }
    out.out.flush()
}

fn ftrace<W: Write>(out: &mut Counted<W>, random: &mut Random, size: u64) -> Result<()> {
    out.line("# tracer: nop\n#")?;
    let mut micros = 1_000_000_000_u64;
    let mut running = [0_u64; 4];
    while out.bytes < size {
        let cpu = random.below(4) as usize;
        micros += 1 + random.below(8);
        let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
        let pid = running[cpu];
        let name = if pid == 0 {
            "<idle>".to_owned()
        } else {
            format!("worker/{pid}")
        };
        let head = format!("{name:>16}-{pid:<7} [{cpu:03}] d..2. {seconds:5}.{rest:06}: ");
        let line = match random.below(5) {
            0 => {
                let next = if pid == 0 {
                    1000 + cpu as u64 * 50 + random.below(50)
                } else {
                    0
                };
                running[cpu] = next;
                let comm = |pid: u64| match pid {
                    0 => format!("swapper/{cpu}"),
                    pid => format!("worker/{pid}"),
                };
                let (from, to) = (comm(pid), comm(next));
                format!(
                    "{head}sched_switch: prev_comm={from} prev_pid={pid} prev_prio=120 prev_state=S ==> next_comm={to} next_pid={next} next_prio=120"
                )
            }
            1 => {
                let woken = 1000 + cpu as u64 * 50 + random.below(50);
                format!(
                    "{head}sched_wakeup: comm=worker/{woken} pid={woken} prio=120 target_cpu={cpu:03}"
                )
            }
            2 => format!(
                "{head}sys_read(fd: {}, buf: 7ffd{:08x}, count: 200)",
                random.below(64),
                random.below(1 << 32)
            ),
            3 => format!("{head}sys_read -> 0x{:x}", random.below(512)),
            _ => format!(
                "{head}softirq_raise: vec={} [action=TIMER]",
                random.below(10)
            ),
        };
        out.line(&line)?;
    }
    Ok(())
}

fn kprobe<W: Write>(out: &mut Counted<W>, random: &mut Random, size: u64) -> Result<()> {
    let mut micros = 1_000_000_000_u64;
    while out.bytes < size {
        let cpu = random.below(4);
        let pid = 1000 + cpu * 50 + random.below(50);
        micros += 1 + random.below(20);
        let at = |micros: u64| format!("{:5}.{:06}", micros / 1_000_000, micros % 1_000_000);
        let head = format!("{:>16}-{pid:<7} [{cpu:03}] ..... ", format!("worker/{pid}"));
        out.line(&format!(
            "{head}{}: myprobe: (do_sys_open+0x0/0xd6) dfd={:x} filename={:x} flags=8000 mode=0",
            at(micros),
            random.below(100),
            0x7fff_0000_0000 + random.below(1 << 32),
        ))?;
        micros += 1 + random.below(100);
        out.line(&format!(
            "{head}{}: myretprobe: (sys_openat+0xc/0xe <- do_sys_open) $retval={:x}",
            at(micros),
            random.below(100)
        ))?;
    }
    Ok(())
}

fn strace<W: Write>(out: &mut Counted<W>, random: &mut Random, size: u64) -> Result<()> {
    let mut micros = 1_795_231_677_000_000_u64;
    let mut pending: [bool; 200] = [false; 200];
    while out.bytes < size {
        let process = random.below(200);
        let pid = 15_000 + process;
        micros += 1 + random.below(30);
        let head = format!("{pid} {}.{:06} ", micros / 1_000_000, micros % 1_000_000);
        let took = format!("<0.{:06}>", random.below(3000));
        let waits = &mut pending[process as usize];
        let line = if std::mem::take(waits) {
            format!(
                "{head}<... read resumed>\"\\0\\0\\0\", 4096) = {} {took}",
                random.below(4096)
            )
        } else {
            match random.below(8) {
                0 => {
                    *waits = true;
                    format!("{head}read({}, <unfinished ...>", random.below(40))
                }
                1 => format!(
                    "{head}openat(AT_FDCWD, \"/usr/lib/x86_64-linux-gnu/lib{}.so\", O_RDONLY|O_CLOEXEC) = {} {took}",
                    random.below(500),
                    3 + random.below(40)
                ),
                2 => format!("{head}close({}) = 0 {took}", 3 + random.below(40)),
                3 => format!(
                    "{head}access(\"/etc/ld.so.preload\", R_OK) = -1 ENOENT (No such file or directory) {took}"
                ),
                _ => format!(
                    "{head}write(1, \"{}\"..., {}) = {} {took}",
                    "some text that a program writes",
                    64,
                    random.below(64)
                ),
            }
        };
        out.line(&line)?;
    }
    Ok(())
}

fn minix<W: Write>(out: &mut Counted<W>, random: &mut Random, size: u64) -> Result<()> {
    let mut micros = 0_u64;
    let mut pending: [bool; 40] = [false; 40];
    for pid in 0..40_u64 {
        out.line(&format!(
            "00:00:00.000000 Tracing worker (pid {})",
            100 + pid
        ))?;
    }
    while out.bytes < size {
        let process = random.below(40);
        micros = (micros + 1 + random.below(30)) % 86_400_000_000;
        let seconds = micros / 1_000_000;
        let head = format!(
            "{:02}:{:02}:{:02}.{:06} {:5}|",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            micros % 1_000_000,
            100 + process
        );
        let waits = &mut pending[process as usize];
        let line = if std::mem::take(waits) {
            format!("{head}*read(0, \"abc\", 4096) = {}", random.below(4096))
        } else {
            match random.below(4) {
                0 => {
                    *waits = true;
                    format!("{head} read(0, <..>")
                }
                1 => format!(
                    "{head} open(\"/usr/lib/lib{}.so\", O_RDONLY) = {}",
                    random.below(500),
                    3 + random.below(40)
                ),
                2 => format!("{head} close({}) = 0", 3 + random.below(40)),
                _ => format!("{head} write(1, \"some text that a program writes\", 31) = 31"),
            }
        };
        out.line(&line)?;
    }
    Ok(())
}

fn json<W: Write>(out: &mut Counted<W>, random: &mut Random, size: u64) -> Result<()> {
    out.line("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    // For each thread: the end of its last slice or event, in ns, and the number of its open slices.
    let mut threads = [(1_000_000_000_000_u64, 0_u32); 8];
    let mut flow = 0;
    while out.bytes < size {
        let number = random.below(8) as usize;
        let (from, open) = threads[number];
        let from = from + random.below(3000);
        let length = 100 + random.below(20_000);
        let until = from + length;
        let owner = format!("\"pid\":{},\"tid\":{}", 100 + number / 4, 1000 + number);
        let micros = |ns: u64| format!("{}.{:03}", ns / 1000, ns % 1000);
        let name = format!("Function{}::run", random.below(400));
        let head = format!(
            "\"name\":\"{name}\",\"cat\":\"cat{}\",\"ts\":{},{owner}",
            random.below(6),
            micros(from)
        );
        let (line, open) = match random.below(16) {
            0..6 => (
                format!("{{\"ph\":\"X\",{head},\"dur\":{}}},", micros(length)),
                open,
            ),
            6..9 => {
                let args = format!(
                    "{{\"url\":\"https://example.org/{}\",\"bytes\":{}}}",
                    random.below(100_000),
                    random.below(1 << 30)
                );
                (
                    format!(
                        "{{\"ph\":\"X\",{head},\"dur\":{},\"args\":{args}}},",
                        micros(length)
                    ),
                    open,
                )
            }
            9 | 10 if open < 20 => (format!("{{\"ph\":\"B\",{head}}},"), open + 1),
            11 | 12 if open > 0 => {
                let end = format!("{{\"ph\":\"E\",\"ts\":{},{owner}}},", micros(until));
                (end, open - 1)
            }
            13 => (format!("{{\"ph\":\"i\",\"s\":\"t\",{head}}},"), open),
            14 => {
                let value = random.below(1_000_000);
                let counter = format!(
                    "{{\"ph\":\"C\",\"name\":\"memory\",\"ts\":{},{owner},\"args\":{{\"used\":{value}}}}},",
                    micros(from)
                );
                (counter, open)
            }
            _ => {
                flow += 1;
                let phase = if flow % 2 == 1 { "s" } else { "f" };
                let id = (flow + 1) / 2;
                let mark = format!(
                    "{{\"ph\":\"{phase}\",\"name\":\"task\",\"cat\":\"ipc\",\"id\":{id},\"bp\":\"e\",\"ts\":{},{owner}}},",
                    micros(from)
                );
                (mark, open)
            }
        };
        threads[number] = (until, open);
        out.line(&line)?;
    }
    out.line(
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":100,\"args\":{\"name\":\"browser\"}}\n]}",
    )
}
