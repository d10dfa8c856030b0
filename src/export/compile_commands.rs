//! The compilers that a traced build ran, as `compile_commands.json`, which clangd and other tools read.
//!
//! ```text
//! ccache gcc -c a.c        the entry, without `ccache`; compilers that it starts have no entry
//!   gcc -E a.c, gcc -c a.i
//! c99 -c a.c (a script)    no entry: the compiler that it starts has all options
//!   gcc -std=c99 -c a.c    the entry
//!     cc1 a.c              no entry: its driver has one
//! ```
//!
//! There is an entry for each source file with which a C or C++ compiler was started: recognised by its ending, or
//! because it follows `-x`. `cc1` and `cc1plus`, which the driver starts for the real work, have an entry only if no
//! driver names their source (it may be in a response file, `@FILE`, which the trace does not contain). Commands that
//! only link, preprocess or print a version have no entry. Bytes that are not UTF-8 are lone surrogates.
//! Specification: Clang, "JSON Compilation Database".

use std::io::Write;

use rustc_hash::FxHashMap;

use super::rows::write_json_text;
use super::{ExportError, ExportedText, Exporter, Request, Summary};
use crate::trace::{ProcessId, ProgramImage, Trace};

/// This exporter's row.
pub(crate) const EXPORTER: Exporter = Exporter {
    name: "compile-commands",
    title: "compile_commands.json",
    about: "compile_commands.json of a traced build, for clangd and other tools",
    extension: "compile_commands.json",
    text: ExportedText::Json,
    table: None,
    write,
};

const SOURCE_ENDINGS: &[&str] = &[
    "c", "cc", "cp", "cpp", "cxx", "c++", "C", "CPP", "m", "mm", "M", "mi", "mii", "i", "ii", "s",
    "S", "sx", "cu", "cppm", "ccm", "cxxm", "c++m", "ixx",
];
/// The endings of preprocessed files, a subset of the source endings.
const PREPROCESSED_ENDINGS: &[&str] = &["i", "ii", "mi", "mii"];
/// Options whose value is the next argument and may look like a source file.
const OPTIONS_WITH_VALUE: &[&str] = &[
    "-o",
    "--output",
    "-B",
    "--param",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-T",
    "-u",
    "-MF",
    "-MT",
    "-MQ",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-isysroot",
    "-imultilib",
    "-imultiarch",
    "-arch",
    "-target",
    "-Xlinker",
    "-z",
    "--sysroot",
    "-e",
    "-G",
    "-wrapper",
    "-specs",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-auxbase",
    "-auxbase-strip",
    "-main-file-name",
    "-mllvm",
    "-fdebug-compilation-dir",
    "-resource-dir",
    "-internal-isystem",
];
/// Values of `-x` whose input files are themselves made by compilers.
const NO_SOURCES: &[&str] = &["lto", "ir", "ast"];
/// Options that make the compiler do something other than compile.
const OTHER_WORK: &[&str] = &[
    "-E",
    "-M",
    "-MM",
    "-###",
    "--version",
    "-dumpversion",
    "-print-search-dirs",
];
/// Maximum number of parents that are searched for a driver.
const MOST_PARENTS: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Compiler {
    /// `gcc` and similar.
    Driver,
    /// `ccache` and similar, called under a compiler's name or with a compiler as argument.
    Cache,
    /// `cc1` and similar.
    Inner,
}

/// A program run by a process that compiles.
struct Compile<'a> {
    process: ProcessId,
    /// The index of the program among those of its process.
    number: usize,
    image: &'a ProgramImage,
    compiler: Compiler,
    /// The index of the compiler among the arguments: after the name of a cache.
    first: usize,
    arguments: Vec<String>,
    /// The indices of the source files among the arguments.
    sources: Vec<usize>,
    /// Whether another program's entry covers the same source files.
    is_superseded: bool,
}

impl Compile<'_> {
    fn has_response(&self) -> bool {
        self.arguments.iter().any(|word| word.starts_with('@'))
    }

    fn has_source(&self, name: &str) -> bool {
        let words = self.sources.iter().filter_map(|&at| self.arguments.get(at));
        words.into_iter().any(|word| word == name)
    }

    fn has_only_preprocessed(&self) -> bool {
        let words = self.sources.iter().filter_map(|&at| self.arguments.get(at));
        words.into_iter().all(|word| {
            let ending = word.rsplit_once('.').map(|(_, ending)| ending);
            ending.is_some_and(|ending| PREPROCESSED_ENDINGS.contains(&ending))
        })
    }

    fn shares_source(&self, other: &Compile<'_>) -> bool {
        let words = self.sources.iter().filter_map(|&at| self.arguments.get(at));
        words.into_iter().any(|word| other.has_source(word))
    }
}

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Summary, ExportError> {
    let (trace, chosen, job) = (request.loaded.trace.as_ref(), request.chosen, request.job);
    let mut all = Vec::new();
    for (index, process) in trace.processes.iter().enumerate() {
        if index % 1024 == 0 {
            job.check()?;
        }
        let id = ProcessId(index as u32);
        let images = process.images.iter().enumerate();
        all.extend(images.filter_map(|(number, image)| compile_of(trace, id, number, image)));
    }
    mark_superseded(trace, &mut all);
    let mut count = 0;
    let (mut responses, mut hidden) = (Vec::new(), 0_u64);
    for compile in &all {
        let is_chosen =
            chosen.has_process(compile.process) && chosen.span.contains(compile.image.start);
        if !is_chosen || compile.is_superseded {
            continue;
        }
        // The trace does not contain response files: sources in them have no entry, which a note reports.
        if compile.has_response() {
            let words = compile.arguments.iter().filter(|it| it.starts_with('@'));
            responses.extend(words.cloned());
            hidden += u64::from(compile.sources.is_empty());
        }
        for &file in &compile.sources {
            out.write_all(if count == 0 { b"[\n" } else { b",\n" })?;
            entry(out, trace, compile, file)?;
            count += 1;
        }
    }
    responses.sort_unstable();
    responses.dedup();
    let files = named(&responses);
    if count == 0 {
        return Err(ExportError::Nothing(match hidden {
            0 => "no C or C++ compiler was started in this trace, or its arguments are not known"
                .to_owned(),
            _ => format!(
                "no compiler in this trace has a source among its arguments; there may be some in response files, whose contents the trace does not contain: {files}"
            ),
        }));
    }
    out.write_all(b"\n]\n")?;
    let mut summary = Summary::default();
    summary.count("compile commands", count);
    if !responses.is_empty() {
        summary.notes.push(format!(
            "some arguments are in response files, whose contents the trace does not contain; the entries name the files: {files}"
        ));
    }
    if hidden > 0 {
        summary.notes.push(match hidden {
            1 => "one compiler has no entry: if it had sources, they are in a response file"
                .to_owned(),
            _ => format!(
                "{hidden} compilers have no entry: if they had sources, these are in response files"
            ),
        });
    }
    summary.notes.extend(lost_arguments(trace));
    Ok(summary)
}

/// Returns a note if the recording lost arguments of programs; which programs is unknown.
fn lost_arguments(trace: &Trace) -> Option<String> {
    let programs = match trace.diagnostics.count_of("arguments_lost") {
        0 => return None,
        1 => "one program".to_owned(),
        count => format!("{count} programs"),
    };
    Some(format!(
        "arguments of {programs} were lost in the recording (see its diagnostics): their commands may be incomplete"
    ))
}

/// Lists the first few files, and the number of the others.
fn named(files: &[String]) -> String {
    const MOST: usize = 5;
    let shown = files.iter().take(MOST).map(String::as_str);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns one entry, with the exact bytes of the arguments.
fn entry(
    out: &mut dyn Write,
    trace: &Trace,
    compile: &Compile<'_>,
    file: usize,
) -> std::io::Result<()> {
    let image = compile.image;
    let argument = |at: usize| {
        let id = image.arguments.get(at).copied().unwrap_or_default();
        trace.strings.bytes(id)
    };
    let directory = match trace.strings.bytes(image.directory) {
        b"" => b".",
        known => known,
    };
    out.write_all(b"{\n  \"directory\": ")?;
    write_json_text(out, directory)?;
    out.write_all(b",\n  \"arguments\": [")?;
    for at in compile.first..image.arguments.len() {
        let is_first = at == compile.first;
        out.write_all(if is_first { b"\n    " } else { b",\n    " })?;
        write_json_text(out, argument(at))?;
    }
    out.write_all(b"\n  ],\n  \"file\": ")?;
    write_json_text(out, argument(file))?;
    if let Some(output) = output_of(image, &argument) {
        out.write_all(b",\n  \"output\": ")?;
        write_json_text(out, output)?;
    }
    out.write_all(b"\n}")
}

/// Returns the output file of the last output option: `-o x`, `-ox`, `--output=x`, `--output x`.
fn output_of<'a>(image: &ProgramImage, argument: &dyn Fn(usize) -> &'a [u8]) -> Option<&'a [u8]> {
    let mut output = None;
    let mut at = 1;
    while at < image.arguments.len() {
        let word = argument(at);
        let value = match word {
            // After `--` there are files only.
            b"--" => break,
            b"-o" | b"--output" => {
                at += 1;
                argument(at)
            }
            _ if std::str::from_utf8(word).is_ok_and(|it| OPTIONS_WITH_VALUE.contains(&it)) => {
                at += 1;
                b""
            }
            // Clang's options `-objc...` also begin with `-o`.
            _ if word.starts_with(b"-objc") => b"",
            _ => (word.strip_prefix(b"--output="))
                .or_else(|| word.strip_prefix(b"-o"))
                .unwrap_or(b""),
        };
        if !value.is_empty() {
            output = Some(value);
        }
        at += 1;
    }
    output
}

/// Returns the program as a compilation; `None` if it does not compile.
fn compile_of<'a>(
    trace: &Trace,
    process: ProcessId,
    number: usize,
    image: &'a ProgramImage,
) -> Option<Compile<'a>> {
    let words = image.arguments.iter();
    let arguments: Vec<String> = words.map(|&id| trace.text(id).into_owned()).collect();
    let program = trace.text(image.program);
    let by_name = |at: usize| compiler_named(arguments.get(at)?);
    let (mut compiler, first) = match is_cache(&program) {
        // Called under a compiler's name, or with a compiler as argument.
        true => match (by_name(0), behind_caches(&arguments)) {
            (Some(_), _) => (Compiler::Cache, 0),
            (None, at) => {
                by_name(at)?;
                (Compiler::Cache, at)
            }
        },
        false => (by_name(0).or_else(|| compiler_named(&program))?, 0),
    };
    if arguments
        .get(1)
        .is_some_and(|first| ["-cc1", "-cc1as"].contains(&first.as_str()))
    {
        compiler = Compiler::Inner;
    }
    if arguments.iter().any(|it| OTHER_WORK.contains(&it.as_str())) {
        return None;
    }
    let sources = sources(&arguments, first);
    Some(Compile {
        process,
        number,
        image,
        compiler,
        first,
        arguments,
        sources,
        is_superseded: false,
    })
}

fn is_cache(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    ["ccache", "distcc", "sccache", "icecc"].contains(&name)
}

/// Returns the index of the compiler after caches (`ccache distcc gcc`) and their settings (`CCACHE_DIR=/x gcc`).
fn behind_caches(arguments: &[String]) -> usize {
    let words = arguments.iter().skip(1);
    let more = words.take_while(|word| {
        let is_setting = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && !name.starts_with('-') && !name.contains('/')
        });
        is_setting || is_cache(word)
    });
    1 + more.count()
}

/// Marks compilations that the entry of another program covers: of a program around them, or of one that they started.
fn mark_superseded(trace: &Trace, all: &mut [Compile<'_>]) {
    let mut of_process: FxHashMap<ProcessId, Vec<usize>> = FxHashMap::default();
    for (index, compile) in all.iter().enumerate() {
        of_process.entry(compile.process).or_default().push(index);
    }
    for index in 0..all.len() {
        let mut at = Some(all[index].process);
        for _ in 0..MOST_PARENTS {
            let Some(process) = at else { break };
            for &above in of_process.get(&process).into_iter().flatten() {
                let is_own = process == all[index].process;
                if !is_own || all[above].number < all[index].number {
                    settle(all, above, index);
                }
            }
            let process = trace.processes.get(process.0 as usize);
            at = process.and_then(|process| process.parent);
        }
    }
}

/// Decides which of two compilations is covered by the other: `above` came first, and started or became `below`.
fn settle(all: &mut [Compile<'_>], above: usize, below: usize) {
    let (outer, inner) = (&all[above], &all[below]);
    if outer.sources.is_empty() {
        if outer.has_response() {
            settle_response(all, above, below);
        }
        return;
    }
    match (outer.compiler, inner.compiler) {
        (Compiler::Cache, _) => all[below].is_superseded = true,
        (Compiler::Driver, Compiler::Inner)
            if !outer.has_response() || outer.shares_source(inner) =>
        {
            all[below].is_superseded = true;
        }
        (Compiler::Driver, Compiler::Inner) => {}
        // `above` is a script or a wrapper: the compiler that it starts has all options.
        (Compiler::Driver, _) if outer.shares_source(inner) => all[above].is_superseded = true,
        _ => {}
    }
}

/// The decision of `settle` if `above` has its sources in a response file: the compilation that names sources of the
/// build keeps its entry.
fn settle_response(all: &mut [Compile<'_>], above: usize, below: usize) {
    let inner = &all[below];
    if inner.sources.is_empty() {
        return;
    }
    let is_cache = all[above].compiler == Compiler::Cache;
    // A file that a cache preprocessed is not a source of the build.
    let other = if is_cache && inner.has_only_preprocessed() {
        below
    } else {
        above
    };
    all[other].is_superseded = true;
}

/// Returns the compiler of a program's name: `/usr/bin/x86_64-linux-gnu-gcc-12` is `gcc`.
fn compiler_named(program: &str) -> Option<Compiler> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let is_version =
        |tail: &str| !tail.is_empty() && tail.chars().all(|c| c.is_ascii_digit() || c == '.');
    let name = match name.rsplit_once('-') {
        Some((stem, tail)) if is_version(tail) => stem,
        _ => name,
    };
    match name {
        "cc1" | "cc1plus" | "cc1obj" | "cc1objplus" => return Some(Compiler::Inner),
        _ => {}
    }
    let last = name.rsplit('-').next().unwrap_or(name);
    [
        "gcc", "g++", "clang", "clang++", "cc", "c++", "c99", "c89", "icc", "icx", "icpx", "tcc",
        "nvcc",
    ]
    .contains(&last)
    .then_some(Compiler::Driver)
}

/// Returns the indices of the source files among the arguments; `first` is the index of the compiler's name.
fn sources(arguments: &[String], first: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut is_value = false;
    // The value of the last `-x`: the language of all inputs after it.
    let mut language: Option<String> = None;
    let mut has_options = true;
    for (at, argument) in arguments.iter().enumerate().skip(first + 1) {
        let given = match arguments.get(at - 1) {
            Some(before) if has_options && before == "-x" => Some(argument.as_str()),
            _ => argument.strip_prefix("-x").filter(|_| has_options),
        };
        if let Some(given) = given {
            language = (!given.is_empty() && given != "none").then(|| given.to_owned());
            is_value = false;
            continue;
        }
        let has_value = has_options && OPTIONS_WITH_VALUE.contains(&argument.as_str());
        if std::mem::replace(&mut is_value, has_value) {
            continue;
        }
        if has_options && (argument.starts_with('-') || argument.starts_with('@')) {
            has_options = argument != "--";
            continue;
        }
        let ending = argument.rsplit_once('.').map(|(_, ending)| ending);
        let is_source = match &language {
            // Inputs after `-x lto` are object files.
            Some(language) => {
                !language.ends_with("-header") && !NO_SOURCES.contains(&language.as_str())
            }
            None => ending.is_some_and(|ending| SOURCE_ENDINGS.contains(&ending)),
        };
        if is_source {
            found.push(at);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_any_of_their_names() {
        for name in [
            "gcc",
            "/usr/bin/x86_64-linux-gnu-gcc-12",
            "clang++-19",
            "cc",
            "aarch64-none-elf-g++",
            "c++",
        ] {
            assert!(compiler_named(name) == Some(Compiler::Driver), "{name}");
        }
        assert!(
            compiler_named("/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus") == Some(Compiler::Inner)
        );
        for name in [
            "ccache",
            "ld",
            "gcc-ar",
            "make",
            "clang-format",
            "as",
            "cc-wrapper-helper",
        ] {
            assert!(compiler_named(name).is_none(), "{name}");
        }
    }

    #[test]
    fn sources_are_not_values_of_options() {
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let places = sources(&words, 0).into_iter();
            let found: Vec<String> = places.map(|at| words[at].clone()).collect();
            found.join(" ")
        };
        let line = "gcc -Iinc -MT a.c -include pre.c -c src/a.c b.S -o out.c x.o -dumpbase q.c";
        assert_eq!(of(line), "src/a.c b.S");
        assert_eq!(of("gcc -x c -c noext.inc -x none b.o"), "noext.inc");
        assert_eq!(
            of("gcc -xc++ noext -xc++-header h.h -xnone a.c"),
            "noext a.c"
        );
        assert_eq!(of("gcc -x c -c - -o stdin.o"), "");
        assert_eq!(of("gcc @/tmp/ccLTO -xlto -fltrans x.o"), "");
        assert_eq!(of("g++ --sysroot sr.c -z z.c -c a.cp"), "a.cp");
        assert_eq!(of("gcc -B dir.c --param x.c -c -- -dash.c"), "-dash.c");
    }

    #[test]
    fn compilers_are_found_behind_caches_and_their_settings() {
        for (line, at) in [
            ("ccache gcc -c a.c", 1),
            ("ccache distcc gcc -c a.c", 2),
            ("ccache CCACHE_X=1 /opt/bin/gcc -c a.c", 2),
            ("ccache gcc -DX=1", 1),
            ("ccache --max-size=1", 1),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(behind_caches(&words), at, "{line}");
        }
    }
}
