//! The compilers that a traced build ran, as `compile_commands.json`: what clangd and other tools ask for.
//!
//! An entry for each source file that a C or C++ compiler was started with. `cc1` and `cc1plus`, which the driver
//! starts for the real work, count only where no driver that compiles was seen above them. What only links,
//! preprocesses or asks for a version has no entry. Specification: Clang, "JSON Compilation Database".

use std::io::Write;

use super::rows::write_json_text;
use super::{ExportError, Exporter, Request, Summary};
use crate::trace::{Process, ProcessId, ProgramImage, Trace};

/// This exporter's row.
pub const EXPORTER: Exporter = Exporter {
    name: "compile-commands",
    about: "compile_commands.json of a traced build, for clangd and other tools",
    extension: "compile_commands.json",
    table: None,
    write,
};

const SOURCE_ENDINGS: &[&str] = &[
    "c", "cc", "cpp", "cxx", "c++", "C", "CPP", "m", "mm", "i", "ii", "s", "S", "cu",
];
/// Options whose value is the next argument and may look like a source file.
const OPTIONS_WITH_VALUE: &[&str] = &[
    "-o",
    "-x",
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
/// With one of these nothing is compiled.
const OTHER_WORK: &[&str] = &[
    "-E",
    "-M",
    "-MM",
    "-###",
    "--version",
    "-v",
    "-dumpversion",
    "-print-search-dirs",
];
/// How many parents are looked at for a driver.
const MOST_PARENTS: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Compiler {
    /// `gcc` and the like.
    Driver,
    /// `cc1` and the like.
    Inner,
}

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Summary, ExportError> {
    let (trace, chosen, job) = (request.loaded.trace.as_ref(), request.chosen, request.job);
    let mut count = 0;
    let mut responses = 0_u64;
    for (index, process) in trace.processes.iter().enumerate() {
        if index % 1024 == 0 {
            job.check()?;
        }
        if !chosen.has_process(ProcessId(index as u32)) {
            continue;
        }
        for image in process
            .images
            .iter()
            .filter(|image| chosen.span.contains(image.start))
        {
            let arguments = arguments_of(trace, image);
            let Some(compiler) = compiler_of(trace, image, &arguments) else {
                continue;
            };
            if compiler == Compiler::Inner && has_driver_above(trace, process) {
                continue;
            }
            responses += u64::from(arguments.iter().any(|word| word.starts_with('@')));
            let output = value_of(&arguments, "-o");
            for file in sources(&arguments) {
                out.write_all(if count == 0 { b"[\n" } else { b",\n" })?;
                entry(out, trace, image, file, output)?;
                count += 1;
            }
        }
    }
    if count == 0 {
        return Err(ExportError::Nothing(
            "no C or C++ compiler was started in this trace, or its arguments are not known"
                .to_owned(),
        ));
    }
    out.write_all(b"\n]\n")?;
    let mut summary = Summary::default();
    summary.count("compile commands", count);
    if responses > 0 {
        summary.notes.push(format!(
            "{responses} compilers were started with response files (@FILE), whose contents the trace does not have"
        ));
    }
    Ok(summary)
}

/// One entry, with the exact bytes of the arguments at `file` and `output`.
fn entry(
    out: &mut dyn Write,
    trace: &Trace,
    image: &ProgramImage,
    file: usize,
    output: Option<usize>,
) -> std::io::Result<()> {
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
    for at in 0..image.arguments.len() {
        out.write_all(if at == 0 { b"\n    " } else { b",\n    " })?;
        write_json_text(out, argument(at))?;
    }
    out.write_all(b"\n  ],\n  \"file\": ")?;
    write_json_text(out, argument(file))?;
    if let Some(output) = output {
        out.write_all(b",\n  \"output\": ")?;
        write_json_text(out, argument(output))?;
    }
    out.write_all(b"\n}")
}

fn arguments_of(trace: &Trace, image: &ProgramImage) -> Vec<String> {
    image
        .arguments
        .iter()
        .map(|&id| trace.text(id).into_owned())
        .collect()
}

/// What kind of compiler an image is, if it is one that compiles something.
fn compiler_of(trace: &Trace, image: &ProgramImage, arguments: &[String]) -> Option<Compiler> {
    let by_name = arguments.first().and_then(|name| compiler_named(name));
    let compiler = by_name.or_else(|| compiler_named(&trace.text(image.program)))?;
    let works_otherwise = arguments
        .iter()
        .any(|argument| OTHER_WORK.contains(&argument.as_str()));
    let is_inner =
        compiler == Compiler::Inner || arguments.get(1).is_some_and(|first| first == "-cc1");
    if is_inner {
        return Some(Compiler::Inner);
    }
    (!works_otherwise || arguments.iter().any(|argument| argument == "-c"))
        .then_some(Compiler::Driver)
}

/// `/usr/bin/x86_64-linux-gnu-gcc-12` is `gcc`.
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
        "ccache" | "distcc" | "sccache" => return None,
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

/// The places of the source files among the arguments.
fn sources(arguments: &[String]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut is_value = false;
    for (at, argument) in arguments.iter().enumerate().skip(1) {
        let skip = std::mem::replace(
            &mut is_value,
            OPTIONS_WITH_VALUE.contains(&argument.as_str()),
        );
        if skip || argument.starts_with('-') || argument.starts_with('@') {
            continue;
        }
        let ending = argument.rsplit_once('.').map(|(_, ending)| ending);
        if ending.is_some_and(|ending| SOURCE_ENDINGS.contains(&ending)) {
            found.push(at);
        }
    }
    found
}

/// The place of an option's value among the arguments.
fn value_of(arguments: &[String], option: &str) -> Option<usize> {
    let at = arguments.iter().position(|argument| argument == option)?;
    (at + 1 < arguments.len()).then_some(at + 1)
}

/// Whether a driver that compiles is among a process's own earlier programs or its ancestors.
fn has_driver_above(trace: &Trace, process: &Process) -> bool {
    let mut at = Some(process);
    for _ in 0..MOST_PARENTS {
        let Some(process) = at else {
            return false;
        };
        let is_driver = process.images.iter().any(|image| {
            let arguments = arguments_of(trace, image);
            compiler_of(trace, image, &arguments) == Some(Compiler::Driver)
                && !sources(&arguments).is_empty()
        });
        if is_driver {
            return true;
        }
        at = process
            .parent
            .and_then(|id| trace.processes.get(id.0 as usize));
    }
    false
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
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let line =
            words("gcc -Iinc -MT a.c -include pre.c -c src/a.c b.S -o out.c x.o -dumpbase q.c");
        let found: Vec<&str> = sources(&line).into_iter().map(|at| &*line[at]).collect();
        assert_eq!(found, ["src/a.c", "b.S"]);
        assert_eq!(value_of(&line, "-o").map(|at| &*line[at]), Some("out.c"));
    }
}
