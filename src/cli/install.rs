//! `threadline install`: writes the desktop entry, icon, file types, completions, manual page and (with a prefix) the
//! polkit action of this program to the folders where desktops and shells look for them. The Debian package contains the same files, taken from `assets/`.
//! `--print` writes the generated ones; a test checks that they match the table of commands.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use clap_complete::Shell;

use super::command::{CliError, Command, Example, stdout, warn, without_reading_arguments};
use crate::base::user_folder::user_folder;
use crate::export::atomic_file::{FileError, Overwrite, write_whole};

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "install",
    about: "Install icon, file types, completions and manual page, so that a double click opens a trace",
    arguments: |command| {
        without_reading_arguments(command)
            .arg(
                Arg::new("prefix")
                    .long("prefix")
                    .value_name("DIR")
                    .help("Put them under DIR/share (default: $XDG_DATA_HOME, else ~/.local/share)")
                    .value_parser(value_parser!(PathBuf)),
            )
            .arg(
                Arg::new("remove")
                    .long("remove")
                    .help("Remove them again")
                    .action(ArgAction::SetTrue),
            )
            .arg(
                Arg::new("print")
                    .long("print")
                    .value_name("WHAT")
                    .help("Only print the manual page or the completions of a shell")
                    .conflicts_with_all(["prefix", "remove"])
                    .value_parser(GENERATED.iter().map(|row| row.name).collect::<Vec<_>>()),
            )
    },
    examples: &[
        Example {
            line: "--print man",
            about: "The manual page",
        },
        Example {
            line: "--prefix ~/.local",
            about: "Into your home folder",
        },
    ],
    run: install,
};

/// A file that is generated from the table of commands.
struct Generated {
    name: &'static str,
    /// The path below `share`.
    place: &'static str,
    make: fn() -> Result<Vec<u8>, CliError>,
}

const GENERATED: &[Generated] = &[
    Generated {
        name: "man",
        place: "man/man1/threadline.1",
        make: manual,
    },
    Generated {
        name: "bash",
        place: "bash-completion/completions/threadline",
        make: || Ok(completions(Shell::Bash)),
    },
    Generated {
        name: "zsh",
        place: "zsh/site-functions/_threadline",
        make: || Ok(completions(Shell::Zsh)),
    },
    Generated {
        name: "fish",
        place: "fish/vendor_completions.d/threadline.fish",
        make: || Ok(completions(Shell::Fish)),
    },
];

/// The files in `assets/`, with their paths below `share`.
const ASSETS: &[(&str, &[u8])] = &[
    (
        "mime/packages/threadline.xml",
        include_bytes!("../../assets/threadline-mime.xml"),
    ),
    (
        "icons/hicolor/scalable/apps/threadline.svg",
        include_bytes!("../../assets/threadline.svg"),
    ),
];
const DESKTOP: (&str, &str) = (
    "applications/threadline.desktop",
    include_str!("../../assets/threadline.desktop"),
);

/// The polkit action with which the window records. polkit reads such files only in the system's folders.
const POLICY: (&str, &str) = (
    "polkit-1/actions/io.github.threadline.record.policy",
    include_str!("../../assets/io.github.threadline.record.policy"),
);
/// The path of `threadline-tracer` in that file.
const TRACER: &str = "/usr/bin/threadline-tracer";

fn completions(shell: Shell) -> Vec<u8> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut super::command_line(), "threadline", &mut out);
    out
}

/// Writes the examples of a command as a section of the manual page.
fn write_examples(command: &Command, out: &mut Vec<u8>) -> std::io::Result<()> {
    let plain = |text: &str| {
        text.replace('\\', "\\\\")
            .replace('-', "\\-")
            .replace('\'', "\\(aq")
    };
    writeln!(out, ".SH EXAMPLES")?;
    for example in command.examples {
        let line = format!("threadline {} {}", command.name, example.line);
        writeln!(
            out,
            ".TP\n{}\n{}",
            plain(line.trim_end()),
            plain(example.about)
        )?;
    }
    Ok(())
}

/// Returns the manual page: the program, then each command with its options.
fn manual() -> Result<Vec<u8>, CliError> {
    let mut out = Vec::new();
    let all = super::command_line();
    let page = clap_mangen::Man::new(all.clone());
    page.render_title(&mut out)?;
    page.render_name_section(&mut out)?;
    page.render_synopsis_section(&mut out)?;
    page.render_description_section(&mut out)?;
    page.render_options_section(&mut out)?;
    for command in all.get_subcommands() {
        writeln!(out, ".SH THREADLINE {}", command.get_name().to_uppercase())?;
        let name = format!("threadline {}", command.get_name());
        let full = command.clone().bin_name(&name).display_name(&name);
        let page = clap_mangen::Man::new(full);
        let mut text = Vec::new();
        page.render_synopsis_section(&mut text)?;
        page.render_description_section(&mut text)?;
        page.render_options_section(&mut text)?;
        if let Some(row) = super::COMMANDS
            .iter()
            .find(|row| row.name == command.get_name())
        {
            write_examples(row, &mut text)?;
        }
        // A command is one section of this page: its own sections become subsections.
        out.extend(
            String::from_utf8_lossy(&text)
                .replace(".SH ", ".SS ")
                .bytes(),
        );
    }
    Ok(out)
}

fn install(matches: &ArgMatches) -> Result<(), CliError> {
    if let Some(name) = matches.get_one::<String>("print") {
        if let Some(row) = GENERATED.iter().find(|row| row.name == name) {
            let mut out = stdout();
            out.write_all(&(row.make)()?)?;
            out.flush()?;
        }
        return Ok(());
    }
    let prefix = matches.get_one::<PathBuf>("prefix");
    let share = match prefix {
        Some(prefix) => prefix.join("share"),
        // The folder in which desktops look for the user's own files.
        None => user_folder("XDG_DATA_HOME", ".local/share").ok_or_else(|| {
            CliError::Usage("HOME is not set: choose a folder with --prefix DIR".to_owned())
        })?,
    };
    let mut files: Vec<(PathBuf, Vec<u8>)> = vec![(share.join(DESKTOP.0), desktop_entry()?)];
    files.extend(
        ASSETS
            .iter()
            .map(|(place, bytes)| (share.join(place), bytes.to_vec())),
    );
    // A policy in a user's folder would have no effect.
    if prefix.is_some() {
        match policy()? {
            Some(bytes) => files.push((share.join(POLICY.0), bytes)),
            None => warn(
                "the polkit action is left out: threadline-tracer may be changed by others than root; install the \
                 package, or copy both programs to /usr/local/bin first",
            ),
        }
    }
    for row in GENERATED {
        files.push((share.join(row.place), (row.make)()?));
    }
    // Files are written after all of them were generated: an error must not leave half of them.
    let mut done = Vec::new();
    for (path, bytes) in files {
        if matches.get_flag("remove") {
            match std::fs::remove_file(&path) {
                Ok(()) => writeln!(done, "removed {}", path.display())?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(cannot("remove", &path, &error)),
            }
        } else {
            put(&path, &bytes)?;
            writeln!(done, "wrote {}", path.display())?;
        }
    }
    update_desktop(&share);
    let mut out = stdout();
    out.write_all(&done)?;
    Ok(out.flush()?)
}

/// Returns the desktop entry with the path of this program, which may be in no folder that the desktop searches.
fn desktop_entry() -> Result<Vec<u8>, CliError> {
    let program = std::env::current_exe()?;
    let program = program
        .to_str()
        .ok_or_else(|| no_entry(&program, "is not UTF-8"))?;
    let exec = exec_value(program).map_err(|why| no_entry(Path::new(program), why))?;
    let exec = format!("Exec={exec} %F");
    Ok(DESKTOP.1.replace("Exec=threadline %F", &exec).into_bytes())
}

/// Returns the polkit action with the path of the `threadline-tracer` beside this program; `None` if others than root
/// may change that program, which gets root's rights.
fn policy() -> Result<Option<Vec<u8>>, CliError> {
    let tracer = std::env::current_exe()?.with_file_name("threadline-tracer");
    if !belongs_to_root(&tracer) {
        return Ok(None);
    }
    let path = tracer
        .to_str()
        .ok_or_else(|| no_entry(&tracer, "is not UTF-8"))?;
    let path = path
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    Ok(Some(POLICY.1.replace(TRACER, &path).into_bytes()))
}

#[cfg(unix)]
fn belongs_to_root(program: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let only_roots = |path: &Path| {
        let found = std::fs::metadata(path);
        found.is_ok_and(|it| it.uid() == 0 && it.mode() & 0o022 == 0)
    };
    only_roots(program) && program.parent().is_some_and(only_roots)
}

#[cfg(not(unix))]
fn belongs_to_root(_program: &Path) -> bool {
    false
}

fn no_entry(program: &Path, why: &str) -> CliError {
    CliError::Input(format!(
        "the path of this program {why}, which a desktop entry cannot contain; move the program ({})",
        program.display()
    ))
}

/// Returns a program's path as the value of an `Exec` key.
///
/// The Desktop Entry Specification decodes such a value in three steps: the escapes of all strings, then the quotes of
/// arguments, then field codes such as `%F`. This function encodes in the reverse order.
///
/// # Errors
/// If the path contains a character that cannot be written in such a key; the error names it.
fn exec_value(program: &str) -> Result<String, &'static str> {
    if program.contains('=') {
        return Err("contains an equals sign");
    }
    if program.contains(|c: char| c.is_ascii_control() && !"\n\t\r".contains(c)) {
        return Err("contains a control character");
    }
    let is_reserved =
        |c: char| c.is_whitespace() || c.is_control() || "\"'\\><~|&;$*?#()`".contains(c);
    let mut argument = String::new();
    for c in program.chars() {
        match c {
            '%' => argument.push_str("%%"),
            '"' | '`' | '$' | '\\' => argument.extend(['\\', c]),
            _ => argument.push(c),
        }
    }
    if program.contains(is_reserved) {
        argument = format!("\"{argument}\"");
    }
    // GLib looks for the program before it reads field codes, and hides entries whose program is not there.
    if program.contains('%') {
        argument = format!("env {argument}");
    }
    let escaped = argument.replace('\\', "\\\\");
    let escaped = escaped.replace('\n', "\\n").replace('\t', "\\t");
    Ok(escaped.replace('\r', "\\r"))
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|error| cannot("make", folder, &error))?;
    let write = |out: &mut dyn Write| -> Result<(), FileError> { Ok(out.write_all(bytes)?) };
    write_whole(path, Overwrite::Replace, write).map_err(|error| match error {
        FileError::Exists => CliError::Input(format!(
            "a folder of that name exists already ({})",
            path.display()
        )),
        FileError::Io(error) => cannot("write", path, &error),
    })
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> CliError {
    CliError::Input(format!("cannot {what} it: {error} ({})", path.display()))
}

/// Runs the desktop's own tools, if they exist, so that it reads the new file types and entries.
fn update_desktop(share: &Path) {
    for (tool, folder) in [
        ("update-mime-database", "mime"),
        ("update-desktop-database", "applications"),
    ] {
        // Desktops without these tools read the folders themselves.
        let _missing = std::process::Command::new(tool)
            .arg(share.join(folder))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status();
    }
}

#[cfg(test)]
mod tests {
    use super::exec_value;

    #[test]
    fn paths_are_quoted_as_the_specification_of_desktop_entries_says() {
        for (path, exec) in [
            ("/usr/bin/threadline", "/usr/bin/threadline"),
            ("/opt/my tools/threadline", "\"/opt/my tools/threadline\""),
            ("/opt/100%/threadline", "env /opt/100%%/threadline"),
            ("/opt/100 %/threadline", "env \"/opt/100 %%/threadline\""),
            ("/o'/t", "\"/o'/t\""),
            ("/a$b`c/t", "\"/a\\\\$b\\\\`c/t\""),
            ("/a\\b/t", "\"/a\\\\\\\\b/t\""),
            ("/a\"b/t", "\"/a\\\\\"b/t\""),
            ("/a\nb/t", "\"/a\\nb/t\""),
            ("/a;(b)/t", "\"/a;(b)/t\""),
        ] {
            assert_eq!(exec_value(path).as_deref(), Ok(exec), "{path}");
        }
        assert!(exec_value("/a=b/t").is_err());
        assert!(exec_value("/a\u{1}b/t").is_err());
    }
}
