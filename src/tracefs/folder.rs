//! Finds, reads and writes files of tracefs; each possible failure has a sentence for the user.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::shell::{Shell, quoted};

/// Where tracefs usually is.
const USUAL: &str = "/sys/kernel/tracing";
/// The line that a shell prints between the texts of two files.
const BETWEEN: &str = "@@next";
/// Number of bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// A folder of tracefs: its top folder, or an instance.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
    /// The shell on another machine; `None`: this machine.
    shell: Option<Arc<Shell>>,
}

/// Why the kernel's tracing could not be set up.
#[derive(Debug)]
pub enum Trouble {
    /// No tracefs is mounted.
    NotMounted,
    /// The file cannot be opened without more rights.
    NotAllowed(PathBuf),
    /// tracefs is mounted read-only.
    ReadOnly,
    /// The kernel is locked down: even root may not open the file.
    Locked(PathBuf),
    /// The tracer works only in the top folder of tracefs, which another program uses.
    InUse,
    /// No event matches the pattern.
    NoSuchEvent {
        /// The pattern of the user.
        pattern: String,
        /// Events with similar names.
        near: Vec<String>,
    },
    /// The kernel has no such file, because it was built without a feature.
    Absent {
        /// What the user wanted.
        what: String,
        /// What the kernel lacks.
        lacks: String,
    },
    /// The kernel refused a value that was written to a file.
    Refused {
        /// What the value is, for example `filter of sched:sched_switch`.
        what: String,
        /// The value.
        value: String,
        /// The kernel's own error message, if there is one.
        words: Option<String>,
    },
    /// A line in the shell of another machine failed.
    Shell {
        /// What the line was for.
        what: String,
        /// The shell's error message.
        words: String,
    },
    /// Another error of the system.
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        error: std::io::Error,
    },
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NotMounted => write!(
                f,
                "tracefs is not mounted; mount it with: sudo mount -t tracefs nodev {USUAL}"
            ),
            Trouble::ReadOnly => write!(
                f,
                "tracefs is mounted read-only; mount it again with: sudo mount -o remount,rw {USUAL}"
            ),
            Trouble::NotAllowed(path) => {
                let user = std::env::var("USER").unwrap_or_else(|_| "$USER".into());
                write!(
                    f,
                    "no right to use tracefs ({}); run `sudo threadline record ...`, or grant it to {user} until the \
                     next boot: sudo chown -R {user} {USUAL}",
                    path.display()
                )
            }
            Trouble::Locked(path) => write!(
                f,
                "the kernel is locked down (see /sys/kernel/security/lockdown): it does not let even root record; \
                 boot without lockdown (Secure Boot turns it on): {}",
                path.display()
            ),
            Trouble::InUse => f.write_str(
                "this kernel traces functions only at the top of tracefs, which another program uses now; stop that one \
                 first (`cat current_tracer set_event` there shows what it does)",
            ),
            Trouble::NoSuchEvent { pattern, near } => {
                write!(f, "this kernel has no event '{pattern}'")?;
                match near.as_slice() {
                    [] => f.write_str("; `threadline record --list` shows those it has"),
                    near => write!(f, "; did you mean {}?", near.join(" or ")),
                }
            }
            Trouble::Absent { what, lacks } => {
                write!(f, "{what} cannot be recorded: this kernel has no {lacks}")
            }
            Trouble::Refused { what, value, words } => {
                write!(f, "the kernel refused the {what}: {value}")?;
                match words {
                    Some(words) => write!(f, "\n{words}"),
                    None => Ok(()),
                }
            }
            Trouble::Shell { what, words } => write!(f, "{what}: {}", words.trim()),
            Trouble::Io { path, error } => write!(f, "{error}: {}", path.display()),
        }
    }
}

impl std::error::Error for Trouble {}

impl Folder {
    /// Finds tracefs: at its usual path, otherwise where it is mounted.
    ///
    /// # Errors
    /// If it is not mounted, or this process may not read it.
    pub fn find() -> Result<Folder, Trouble> {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let mounted: Vec<&str> = mounts
            .lines()
            .filter_map(|line| {
                let mut words = line.split(' ').skip(1);
                let folder = words.next()?;
                (words.next()? == "tracefs").then_some(folder)
            })
            .collect();
        let usual = mounted.iter().find(|folder| **folder == USUAL);
        let Some(root) = usual.or(mounted.first()) else {
            return Err(Trouble::NotMounted);
        };
        let folder = Folder {
            root: PathBuf::from(root),
            shell: None,
        };
        folder.read("current_tracer").map(|_| folder)
    }

    /// Checks whether this process may set up a recording.
    ///
    /// # Errors
    /// If it may read tracefs, but not write to it.
    pub(crate) fn may_be_used(&self) -> Result<(), Trouble> {
        let path = self.path("instances");
        match rustix::fs::access(&path, rustix::fs::Access::WRITE_OK) {
            Ok(()) => Ok(()),
            Err(error) => Err(io_trouble(&path, error.into())),
        }
    }

    /// Finds tracefs on the machine on which the shell runs.
    ///
    /// # Errors
    /// If it is not mounted there, or the shell's user may not read it.
    pub(crate) fn find_by(shell: &Arc<Shell>) -> Result<Folder, Trouble> {
        for root in [USUAL, "/sys/kernel/debug/tracing"] {
            let folder = Folder {
                root: PathBuf::from(root),
                shell: Some(Arc::clone(shell)),
            };
            if folder.has("current_tracer") {
                return Ok(folder);
            }
        }
        let words = shell.run("id; ls -ld /sys/kernel/tracing");
        Err(Trouble::Shell {
            what: "tracefs cannot be used there: it must be mounted, and the shell be root's"
                .into(),
            words: words.map_or_else(|error| error.to_string(), |answer| answer.text),
        })
    }

    /// Returns whether the folder is on another machine.
    #[must_use]
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.shell.is_some()
    }

    /// Runs `line` in the shell, with the path of the file `name` as its last word; returns the output.
    fn ask(&self, shell: &Shell, line: &str, name: &str) -> Result<String, Trouble> {
        let path = quoted(&self.path(name).to_string_lossy());
        match shell.run(&format!("{line} {path}")) {
            Ok(answer) if answer.is_success => Ok(answer.text),
            Ok(answer) => Err(Trouble::Shell {
                what: format!("{name} cannot be used there"),
                words: answer.text,
            }),
            Err(error) => Err(Trouble::Shell {
                what: "the other machine does not answer any more".into(),
                words: error.to_string(),
            }),
        }
    }

    /// Returns the folder of an instance.
    #[must_use]
    pub(crate) fn instance(&self, name: &str) -> Folder {
        Folder {
            root: self.root.join("instances").join(name),
            shell: self.shell.clone(),
        }
    }

    /// Returns the path of a file.
    #[must_use]
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns whether a file exists.
    #[must_use]
    pub(crate) fn has(&self, name: &str) -> bool {
        match &self.shell {
            None => self.path(name).exists(),
            Some(shell) => self.ask(shell, "test -e", name).is_ok(),
        }
    }

    /// Creates a folder.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub(crate) fn make_folder(&self, name: &str) -> Result<(), Trouble> {
        let path = self.path(name);
        match &self.shell {
            None => std::fs::create_dir(&path).map_err(|error| io_trouble(&path, error)),
            Some(shell) => self.ask(shell, "mkdir", name).map(|_| ()),
        }
    }

    /// Removes a folder. It is no error if the folder does not exist.
    ///
    /// # Errors
    /// If the folder cannot be removed.
    pub(crate) fn remove_folder(&self, name: &str) -> Result<(), Trouble> {
        let path = self.path(name);
        match &self.shell {
            None => match std::fs::remove_dir(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(io_trouble(&path, error)),
                _ => Ok(()),
            },
            Some(_) if !self.has(name) => Ok(()),
            Some(shell) => self.ask(shell, "rmdir", name).map(|_| ()),
        }
    }

    /// Returns the paths of all events' files with this name, sorted.
    #[must_use]
    pub(crate) fn event_files(&self, file: &str) -> Vec<String> {
        if let Some(shell) = &self.shell {
            let root = quoted(&self.root.to_string_lossy());
            let list = format!("cd {root} && for f in events/*/*/{file}; do echo \"$f\"; done");
            let text = shell.run(&list).map_or(String::new(), |answer| answer.text);
            return text.lines().map(str::to_owned).collect();
        }
        let mut found = Vec::new();
        for system in self.names("events") {
            for event in self.names(&format!("events/{system}")) {
                let path = format!("events/{system}/{event}/{file}");
                if self.has(&path) {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Returns the texts of files; the text of a file that cannot be read is empty. A shell reads many files at once.
    #[must_use]
    pub(crate) fn read_all(&self, files: &[String]) -> Vec<String> {
        let Some(shell) = &self.shell else {
            let texts = files.iter().map(|file| self.read(file).unwrap_or_default());
            return texts.collect();
        };
        let root = quoted(&self.root.to_string_lossy());
        let mut texts = Vec::new();
        for some in files.chunks(100) {
            let words = some.iter().map(|file| format!(" {}", quoted(file)));
            let list: String = words.collect();
            let line = format!("cd {root} && for f in{list}; do cat $f; echo {BETWEEN}; done");
            let text = shell.run(&line).map_or(String::new(), |answer| answer.text);
            let end = format!("{BETWEEN}\n");
            let text = format!("{text}\n");
            let mut pieces: Vec<String> = text.split(&end).map(str::to_owned).collect();
            pieces.resize(some.len(), String::new());
            texts.append(&mut pieces);
        }
        texts
    }

    /// Returns the text of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn read(&self, name: &str) -> Result<String, Trouble> {
        if let Some(shell) = &self.shell {
            return self.ask(shell, "cat", name);
        }
        let path = self.path(name);
        let bytes = read_whole(&path).map_err(|error| io_trouble(&path, error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Writes a value in place of the old one, like `>` in a shell.
    ///
    /// # Errors
    /// If the kernel refuses the value; `what` names the value in the sentence.
    pub(crate) fn set(&self, name: &str, value: &str, what: &str) -> Result<(), Trouble> {
        self.write(name, value, what, Mode::Replace)
    }

    /// Appends a value, like `>>` in a shell.
    ///
    /// # Errors
    /// As [`Folder::set`].
    pub(crate) fn append(&self, name: &str, value: &str, what: &str) -> Result<(), Trouble> {
        self.write(name, value, what, Mode::Append)
    }

    fn write(&self, name: &str, value: &str, what: &str, mode: Mode) -> Result<(), Trouble> {
        let refused = |error: String| Trouble::Refused {
            what: what.to_owned(),
            value: value.trim_end().to_owned(),
            words: self.last_error().or(Some(error)),
        };
        if let Some(shell) = &self.shell {
            let sign = match mode {
                Mode::Replace => ">",
                Mode::Append => ">>",
            };
            let line = format!("printf %s {} {sign}", quoted(value));
            let done = self.ask(shell, &line, name);
            return done.map(|_| ()).map_err(|error| match error {
                Trouble::Shell { words, .. } => refused(words.trim().to_owned()),
                other => other,
            });
        }
        let path = self.path(name);
        let mut options = OpenOptions::new();
        match mode {
            Mode::Replace => options.write(true).truncate(true),
            Mode::Append => options.append(true),
        };
        let mut file = options
            .open(&path)
            .map_err(|error| io_trouble(&path, error))?;
        match file.write_all(value.as_bytes()) {
            Ok(()) => Ok(()),
            Err(error) if is_refusal(&error) => Err(refused(error.to_string())),
            Err(error) => Err(io_trouble(&path, error)),
        }
    }

    /// Opens a file.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub(crate) fn open(&self, name: &str, access: Access) -> Result<File, Trouble> {
        let path = self.path(name);
        let mut options = OpenOptions::new();
        match access {
            Access::Pages => options.read(true).custom_flags(libc::O_NONBLOCK),
            Access::Read => options.read(true),
            Access::Write => options.write(true),
        };
        options
            .open(&path)
            .map_err(|error| io_trouble(&path, error))
    }

    /// Returns the kernel's message about the last value that it refused: the last entry of `error_log`.
    fn last_error(&self) -> Option<String> {
        let log = self.read("error_log").ok()?;
        last_entry(&log)
    }

    /// Returns the names of a folder's entries, sorted.
    #[must_use]
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        if let Some(shell) = &self.shell {
            let text = self.ask(shell, "ls -1", folder).unwrap_or_default();
            let mut names: Vec<String> = text.lines().map(str::to_owned).collect();
            names.sort();
            return names;
        }
        let entries = std::fs::read_dir(self.path(folder));
        let entries = entries.into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

/// Reads a file with large reads: the kernel returns `header_page` only to the first read, even a small one.
fn read_whole(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; READ_BYTES];
    let mut all = Vec::new();
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(all),
            Ok(count) => all.extend_from_slice(buffer.get(..count).unwrap_or(&[])),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// In place of the old value.
    Replace,
    /// After the old values.
    Append,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// For reading, without waiting for data.
    Pages,
    /// For reading.
    Read,
    /// For writing.
    Write,
}

/// Returns the last entry of an `error_log` without its time: the message, the command, and a mark under the position.
fn last_entry(log: &str) -> Option<String> {
    let lines: Vec<&str> = log.lines().collect();
    let start = lines.iter().rposition(|line| line.starts_with('['))?;
    let (first, rest) = lines.get(start..)?.split_first()?;
    let message = first.split_once("] ").map_or(*first, |(_, after)| after);
    let mut words = format!("    {message}");
    for line in rest {
        words.push('\n');
        words.push_str("    ");
        words.push_str(line.trim_end());
    }
    Some(words)
}

/// Returns whether the kernel is locked down: the state in brackets is not `none`, as in `none [integrity]`.
fn is_locked_down() -> bool {
    let state = std::fs::read_to_string("/sys/kernel/security/lockdown");
    state.is_ok_and(|state| !state.contains("[none]"))
}

fn is_refusal(error: &std::io::Error) -> bool {
    let code = error.raw_os_error().unwrap_or(0);
    [
        libc::EINVAL,
        libc::ENOENT,
        libc::ESRCH,
        libc::EBUSY,
        libc::EEXIST,
        libc::ENODEV,
        libc::EOPNOTSUPP,
        libc::ENOMEM,
        libc::ERANGE,
        libc::E2BIG,
        libc::EILSEQ,
    ]
    .contains(&code)
}

fn io_trouble(path: &Path, error: std::io::Error) -> Trouble {
    match error.kind() {
        // Root may open all files of tracefs unless the kernel is locked down.
        ErrorKind::PermissionDenied if !rustix::process::geteuid().is_root() => {
            Trouble::NotAllowed(path.to_path_buf())
        }
        ErrorKind::ReadOnlyFilesystem => Trouble::ReadOnly,
        ErrorKind::PermissionDenied if is_locked_down() => Trouble::Locked(path.to_path_buf()),
        _ => Trouble::Io {
            path: path.to_path_buf(),
            error,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_is_the_kernels() {
        let log = "[  5.1] event filter parse error: error: Old\n  Command: a\n           ^\n\
            [  9.7] event filter parse error: error: Field not found\n  Command: foo == 1\n           ^\n";
        let words = last_entry(log).unwrap();
        assert_eq!(
            words,
            "    event filter parse error: error: Field not found\n      Command: foo == 1\n               ^"
        );
        assert_eq!(last_entry(""), None);
    }

    #[test]
    fn rights_are_named_with_the_line_that_grants_them() {
        let words = Trouble::NotAllowed("/sys/kernel/tracing/x".into()).to_string();
        assert!(words.contains("sudo threadline record"), "{words}");
        assert!(words.contains("sudo chown -R"), "{words}");
    }
}
