//! A large etrace file: a build with many compilers on several CPUs.
//!
//! One make forks a shell per source file on each CPU; the shell runs gcc, and gcc runs cc1 and as. Every program opens
//! libraries, headers and its output file as a real one does. Lines of the CPUs interleave by time, but the CPUs'
//! clocks differ a little, so that times in the file sometimes decrease.

use std::collections::VecDeque;
use std::io::{BufWriter, Write};

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

/// One CPU with the lines that it will print.
struct Cpu {
    clock: u64,
    lines: VecDeque<(u64, String)>,
}

struct Build {
    random: Random,
    serial: u64,
    source: u64,
}

const ROOT: u64 = 1 << 22 | 300;
const MAKE: u64 = 2 << 22 | 301;

impl Build {
    fn new_upid(&mut self) -> u64 {
        self.serial += 1;
        self.serial << 22 | (300 + self.serial % 32_000)
    }

    fn exec(lines: &mut VecDeque<(u64, String)>, upid: u64, program: &str, arguments: &[String]) {
        let size: usize = arguments.iter().map(|argument| argument.len() + 1).sum();
        let length = program.len();
        lines.push_back((
            upid,
            format!(
                "New_proc|argsize={size},prognameisize={length},prognamepsize={length},cwdsize=9"
            ),
        ));
        lines.push_back((upid, format!("PI|{program}")));
        lines.push_back((upid, format!("PP|{program}")));
        lines.push_back((upid, "CW|/home/dev".to_owned()));
        for (index, argument) in arguments.iter().enumerate() {
            lines.push_back((upid, format!("A[{index}]{argument}")));
        }
        lines.push_back((upid, "End_of_args|".to_owned()));
    }

    fn open(lines: &mut VecDeque<(u64, String)>, upid: u64, path: &str, flags: u32) {
        let length = path.len();
        lines.push_back((
            upid,
            format!("Open|fnamesize={length},forigsize={length},flags={flags},mode=438,fd=3"),
        ));
        lines.push_back((upid, format!("FN|{path}")));
        lines.push_back((upid, format!("FO|{path}")));
        lines.push_back((upid, "Close|fd=3".to_owned()));
    }

    fn fork(&mut self, lines: &mut VecDeque<(u64, String)>, parent: u64) -> u64 {
        let child = self.new_upid();
        lines.push_back((parent, "SysClone|flags=18874385".to_owned()));
        lines.push_back((parent, format!("SchedFork|pid={child}")));
        child
    }

    fn libraries(lines: &mut VecDeque<(u64, String)>, upid: u64) {
        Build::open(lines, upid, "/etc/ld.so.cache", 524_288);
        Build::open(lines, upid, "/usr/lib/x86_64-linux-gnu/libc.so.6", 524_288);
    }

    /// Makes the lines of the compilation of one source file.
    fn compile(&mut self) -> VecDeque<(u64, String)> {
        self.source += 1;
        let (folder, file) = (self.source % 97, self.source);
        let source = format!("src/part{folder}/file{file}.c");
        let object = format!("out/part{folder}/file{file}.o");
        let mut lines = VecDeque::new();
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let shell = self.fork(&mut lines, MAKE);
        Build::exec(
            &mut lines,
            shell,
            "/usr/bin/dash",
            &[
                "/bin/sh".to_owned(),
                "-c".to_owned(),
                format!("gcc -O2 -c {source} -o {object}"),
            ],
        );
        Build::libraries(&mut lines, shell);
        let gcc = self.fork(&mut lines, shell);
        let line = format!("gcc -O2 -Wall -Iinclude -Isrc/part{folder} -c {source} -o {object}");
        Build::exec(
            &mut lines,
            gcc,
            "/usr/bin/x86_64-linux-gnu-gcc-12",
            &words(&line),
        );
        Build::libraries(&mut lines, gcc);
        let cc1 = self.fork(&mut lines, gcc);
        let line = format!(
            "/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet -I include {source} -o /tmp/cc{file}.s"
        );
        Build::exec(
            &mut lines,
            cc1,
            "/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
            &words(&line),
        );
        Build::libraries(&mut lines, cc1);
        Build::open(&mut lines, cc1, &format!("/home/dev/{source}"), 256);
        for _ in 0..20 + self.random.below(40) {
            let header = self.random.below(4000);
            Build::open(
                &mut lines,
                cc1,
                &format!("/home/dev/include/lib{}/header{header}.h", header % 31),
                256,
            );
        }
        Build::open(&mut lines, cc1, &format!("/tmp/cc{file}.s"), 577);
        lines.push_back((cc1, "Exit|status=0".to_owned()));
        let assembler = self.fork(&mut lines, gcc);
        let line = format!("as --64 -o {object} /tmp/cc{file}.s");
        Build::exec(
            &mut lines,
            assembler,
            "/usr/bin/x86_64-linux-gnu-as",
            &words(&line),
        );
        Build::libraries(&mut lines, assembler);
        Build::open(&mut lines, assembler, &format!("/tmp/cc{file}.s"), 0);
        Build::open(&mut lines, assembler, &format!("/home/dev/{object}"), 578);
        for upid in [assembler, gcc, shell] {
            lines.push_back((upid, "Exit|status=0".to_owned()));
        }
        lines
    }
}

/// Writes a file of about `size` bytes, of `cpu_count` CPUs.
pub fn write_trace(path: &str, size: u64, cpu_count: u64) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    let mut build = Build {
        random: Random(0x2545_f491_4f6c_dd1d),
        serial: 2,
        source: 0,
    };
    let start = 38_000_000_000_u64;
    let mut cpus: Vec<Cpu> = (0..cpu_count)
        .map(|_| Cpu {
            clock: start + 1_000_000,
            lines: VecDeque::new(),
        })
        .collect();
    let mut head = VecDeque::from([(ROOT, format!("SchedFork|pid={MAKE}"))]);
    Build::exec(
        &mut head,
        MAKE,
        "/usr/bin/make",
        &["make".to_owned(), "-j4".to_owned()],
    );
    cpus[0].clock = start;
    cpus[0].lines = head;
    out.write_all(b"INITCWD=/home/dev\n")?;
    let mut written = 0_u64;
    while written < size {
        let Some(at) = (0..cpus.len()).min_by_key(|&at| cpus[at].clock) else {
            break;
        };
        if cpus[at].lines.is_empty() {
            cpus[at].lines = build.compile();
        }
        // The lines of one CPU's buffer that are read at once are adjacent in the file.
        for _ in 0..1 + build.random.below(4) {
            let Some((upid, payload)) = cpus[at].lines.pop_front() else {
                break;
            };
            cpus[at].clock += 2_000 + build.random.below(60_000);
            let clock = cpus[at].clock;
            let (seconds, nanos) = (clock / 1_000_000_000, clock % 1_000_000_000);
            let line = format!("0: {upid},{at},{seconds},{nanos}!{payload}\n");
            out.write_all(line.as_bytes())?;
            written += line.len() as u64;
        }
    }
    out.flush()
}
