//! The effects of a finished call, for example that it created a process, ran a program, or opened or renamed a file.

use super::child_end;
use super::dialect::Dialect;
use super::emit::Emitter;
use super::forks::is_fork;
use super::numbers::open_flags;
use super::values::{
    CallText, Outcome, angle_path, elements, integer, outcome, split_call, split_name, string,
    unescape_octal,
};
use crate::base::StringId;
use crate::event::{DirectorySort, FileOp, FileRow, ForkSort, Life, LifeRow, ThreadKey};

/// Maximum number of arguments of a program that are kept.
const MOST_ARGUMENTS: usize = 4096;
/// Maximum length of a path or argument that is kept, in bytes.
const MOST_TEXT: usize = 1 << 16;

/// Returns whether calls of this name have effects beyond their own slice.
#[must_use]
#[inline]
pub(crate) fn acts(name: &[u8]) -> bool {
    is_fork(name)
        || written_fd(name).is_some()
        || matches!(
            name,
            b"execve"
                | b"execveat"
                | b"prctl"
                | b"chdir"
                | b"fchdir"
                | b"open"
                | b"openat"
                | b"openat2"
                | b"creat"
                | b"close"
                | b"close_range"
                | b"ioctl"
                | b"dup"
                | b"dup2"
                | b"dup3"
                | b"fcntl"
                | b"fcntl64"
                | b"pipe"
                | b"pipe2"
                | b"rename"
                | b"renameat"
                | b"renameat2"
                | b"link"
                | b"linkat"
                | b"symlink"
                | b"symlinkat"
                | b"unlink"
                | b"unlinkat"
                | b"rmdir"
                | b"getcwd"
                | b"mount"
                | b"umount"
                | b"umount2"
                | b"exit"
                | b"exit_group"
                | b"wait4"
                | b"waitpid"
                | b"waitid"
        )
}

/// Returns the index of the parameter of a call that is the descriptor through which it writes; `None` for calls that
/// write nothing.
#[inline]
fn written_fd(name: &[u8]) -> Option<usize> {
    match name {
        b"write" | b"writev" | b"pwrite64" | b"pwritev" | b"pwritev2" | b"sendfile"
        | b"sendfile64" => Some(0),
        b"copy_file_range" | b"splice" => Some(2),
        _ => None,
    }
}

/// Returns what a fork creates, from its parameters: flags are words, numbers (`-X raw`), or both.
#[must_use]
pub(crate) fn fork_sort(text: &[u8]) -> ForkSort {
    let flags = memchr::memmem::find(text, b"flags=").and_then(|at| text.get(at + 6..));
    let flags = flags.unwrap_or(&[]);
    let is_flag = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'|');
    let length = flags.iter().take_while(|byte| is_flag(byte)).count();
    let words = flags
        .get(..length)
        .unwrap_or(&[])
        .split(|&byte| byte == b'|');
    let bits = words.map(|word| match word {
        b"CLONE_THREAD" => ForkSort::CLONE_THREAD,
        b"CLONE_PARENT" => ForkSort::CLONE_PARENT,
        word => integer(word).map_or(0, i64::cast_unsigned),
    });
    ForkSort::of_clone(bits.fold(0, |all, bits| all | bits))
}

/// The kernel's directory of a process's descriptors.
const DESCRIPTORS: &[u8] = b"/proc/self/fd/";

/// Parameters and result of a call.
struct Done<'a> {
    dialect: Dialect,
    params: Vec<&'a [u8]>,
    result: Option<Outcome<'a>>,
    result_text: &'a [u8],
}

impl<'a> Done<'a> {
    fn value(&self, index: usize) -> &'a [u8] {
        self.params
            .get(index)
            .map_or(&[], |param| split_name(param).1)
    }

    fn string(&self, index: usize) -> Option<Vec<u8>> {
        let mut text = string(self.value(index), self.dialect)?;
        text.truncate(MOST_TEXT);
        Some(text)
    }

    fn number(&self, index: usize) -> Option<i64> {
        integer(self.value(index))
    }

    fn fd(&self, index: usize) -> i32 {
        self.number(index)
            .and_then(|fd| i32::try_from(fd).ok())
            .unwrap_or(-1)
    }

    fn mode(&self, index: usize) -> u16 {
        self.number(index)
            .and_then(|mode| u16::try_from(mode).ok())
            .unwrap_or(0)
    }

    /// Returns the result as a number; `None` if the call did not return or its result is not a number.
    fn returned(&self) -> Option<i32> {
        self.result.as_ref()?.number()
    }
}

/// Whether the forks of a call were already recorded at its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forks {
    /// Already recorded: the call's first line is an earlier one.
    Recorded,
    /// Not recorded yet.
    New,
}

/// Adds the effects of a call. `text` is everything after its opening parenthesis.
pub(super) fn act(
    emitter: &mut Emitter<'_>,
    event: u32,
    thread: ThreadKey,
    name: &[u8],
    text: &[u8],
    forks: Forks,
) {
    // Any call that takes a path may show the directory (`-y`).
    let shows_directory = is_directory_shown(text);
    let acts = acts(name);
    if !acts && !shows_directory {
        return;
    }
    if written_fd(name) == Some(0) && emitter.is_known_writer(thread, text) {
        return;
    }
    let dialect = emitter.source.dialect;
    let call: CallText<'_> = split_call(text, dialect);
    if !call.is_closed {
        return;
    }
    let done = Done {
        dialect,
        params: call.params,
        result: call.result.map(|result| outcome(result, dialect)),
        result_text: call.result.unwrap_or(&[]),
    };
    if shows_directory || name.ends_with(b"at") || name.ends_with(b"at2") {
        note_directory(emitter, event, thread, &done);
    }
    match name {
        _ if !acts => {}
        b"getcwd" => {
            if let Some(path) = done.string(0).filter(|_| done.returned() > Some(0)) {
                emitter.is_in(event, thread, &path, DirectorySort::Found);
            }
        }
        // Only if exits have no lines of their own.
        b"exit" | b"exit_group" => {
            if dialect == Dialect::Strace && !emitter.found.has_ends {
                let status = done.number(0).and_then(|code| i32::try_from(code).ok());
                emitter.end(event, thread, status.map(|code| code & 0xff), None);
            }
        }
        b"wait4" | b"waitpid" | b"waitid" => wait(emitter, event, thread, name, &done, forks),
        b"execve" => exec(emitter, event, thread, &done, 0),
        b"execveat" => exec(emitter, event, thread, &done, 1),
        b"prctl" => rename_thread(emitter, event, thread, &done),
        b"chdir" | b"fchdir" => change_directory(emitter, event, thread, &done),
        _ if is_fork(name) => {
            let child = done.result.and_then(|result| result.pid());
            if let Some(child) = child.filter(|_| forks == Forks::New) {
                let place = emitter.out.events.place(event);
                let child = emitter.found.namespaces.child_at(place).unwrap_or(child);
                emitter.fork(event, Some(thread), child, fork_sort(text));
            }
        }
        _ => {
            if let Some(row) = file_row(emitter, event, name, &done) {
                emitter.file(thread, row);
            }
        }
    }
}

/// Adds the end of the child that a call waited for. `event` is the call's end if its first line is an earlier one, else
/// its begin.
fn wait(
    emitter: &mut Emitter<'_>,
    event: u32,
    thread: ThreadKey,
    name: &[u8],
    done: &Done<'_>,
    forks: Forks,
) {
    let child = match name {
        b"waitid" => child_end::of_siginfo(done.value(2)).filter(|_| done.returned() == Some(0)),
        _ => {
            let pid = done.result.and_then(|result| result.pid());
            pid.and_then(|pid| child_end::of_wait(pid, done.value(1), done.value(2)))
        }
    };
    let child = child.map(|child| emitter.found.namespaces.of_child(thread.0, child));
    match (child, forks) {
        (Some(child), Forks::Recorded) => emitter.reap(event, child),
        (Some(child), Forks::New) => emitter.reap_later(thread, child),
        (None, _) => {}
    }
}

fn exec(
    emitter: &mut Emitter<'_>,
    event: u32,
    thread: ThreadKey,
    done: &Done<'_>,
    path_index: usize,
) {
    // MINIX prints no result for a successful call.
    let succeeded = match (&done.result, done.dialect) {
        (Some(result), _) => result.value == Some(0),
        (None, Dialect::Minix) => true,
        (None, Dialect::Strace) => false,
    };
    if !succeeded {
        return;
    }
    emitter.begins_with(event, thread);
    let Some(path) = done.string(path_index) else {
        // The program is unknown: `-z` prints only the end of the call, `-e raw` an address.
        return emitter.out.lives.push(LifeRow {
            event,
            life: Life::exec(thread, StringId::EMPTY, None),
        });
    };
    let strings = &mut emitter.out.strings;
    let arguments = elements(done.value(path_index + 1), done.dialect)
        .into_iter()
        .take(MOST_ARGUMENTS)
        .map(|argument| {
            let mut text = string(argument, done.dialect).unwrap_or_else(|| argument.to_vec());
            text.truncate(MOST_TEXT);
            strings.intern(&text)
        })
        .collect();
    let program = strings.intern(&path);
    let name = path.rsplit(|&b| b == b'/').next().unwrap_or(&path);
    let name = strings.intern(name);
    emitter.out.lives.push(LifeRow {
        event,
        life: Life::Exec {
            thread,
            program,
            arguments,
            directory: StringId::EMPTY,
            interpreter: StringId::EMPTY,
            caller: None,
        },
    });
    emitter.out.lives.push(LifeRow {
        event,
        life: Life::Name { thread, name },
    });
}

/// Adds the name in `prctl(PR_SET_NAME, "name")`.
fn rename_thread(emitter: &mut Emitter<'_>, event: u32, thread: ThreadKey, done: &Done<'_>) {
    // `-X raw` prints the number, `-X verbose` both.
    const PR_SET_NAME: i64 = 15;
    let option = done.value(0);
    if option != b"PR_SET_NAME" && integer(option) != Some(PR_SET_NAME) {
        return;
    }
    if let Some(name) = done.string(1) {
        let name = emitter.out.strings.intern(&name);
        emitter.out.lives.push(LifeRow {
            event,
            life: Life::Name { thread, name },
        });
    }
}

/// Adds the directory in `chdir("src") = 0`, or in `fchdir(3</proj/src>) = 0` if strace prints paths of descriptors.
fn change_directory(emitter: &mut Emitter<'_>, event: u32, thread: ThreadKey, done: &Done<'_>) {
    if done.returned() != Some(0) {
        return;
    }
    let of_descriptor = || angle_path(done.value(0)).map(unescape_octal);
    let of_number = || of_descriptor_number(done.value(0), b"");
    let path = done.string(0).or_else(of_descriptor).or_else(of_number);
    if let Some(path) = path {
        emitter.is_in(event, thread, &path, DirectorySort::Changed);
    }
}

/// Returns whether a parameter is the current directory with its path (`-y`), by name or number, or both (`-X raw`,
/// `-X verbose`).
fn is_directory_shown(value: &[u8]) -> bool {
    let names: [&[u8]; 3] = [b"AT_FDCWD<", b"-100<", b"-100 /* AT_FDCWD */<"];
    names.iter().any(|name| value.starts_with(name))
}

/// Adds the current directory in `AT_FDCWD</proj/src>`, which `-y` prints.
fn note_directory(emitter: &mut Emitter<'_>, event: u32, thread: ThreadKey, done: &Done<'_>) {
    for index in 0..done.params.len().min(4) {
        let value = done.value(index);
        if is_directory_shown(value)
            && let Some(path) = angle_path(value).map(unescape_octal)
            && path.starts_with(b"/")
        {
            emitter.is_in(event, thread, &path, DirectorySort::Found);
        }
    }
}

fn file_row(
    emitter: &mut Emitter<'_>,
    event: u32,
    name: &[u8],
    done: &Done<'_>,
) -> Option<FileRow> {
    let result = done.returned()?;
    let blank = FileRow {
        event,
        op: FileOp::Open,
        path: StringId::EMPTY,
        other_path: StringId::EMPTY,
        flags: 0,
        mode: 0,
        fd: -1,
        result,
    };
    let strings = &mut emitter.out.strings;
    let mut intern = |text: Option<Vec<u8>>| text.map(|text| strings.intern(&text));
    let two_paths = |op, paths: (Option<StringId>, Option<StringId>)| {
        Some(FileRow {
            op,
            path: paths.0?,
            other_path: paths.1?,
            ..blank.clone()
        })
    };
    match name {
        b"open" | b"openat" | b"openat2" | b"creat" => {
            let path_at = usize::from(name.starts_with(b"openat"));
            let given = done.string(path_at)?;
            let OpenHow { flags, mode } = match name {
                b"creat" => OpenHow {
                    flags: open_flags(b"O_WRONLY|O_CREAT|O_TRUNC"),
                    mode: done.mode(1),
                },
                b"openat2" => openat2_how(done.value(2)),
                _ => OpenHow {
                    flags: open_flags(done.value(path_at + 1)),
                    mode: done.mode(path_at + 2),
                },
            };
            let real = real_path(done, path_at, &given);
            let other_path = if real.is_some() {
                intern(Some(given.clone()))?
            } else {
                StringId::EMPTY
            };
            Some(FileRow {
                path: intern(Some(real.unwrap_or(given)))?,
                other_path,
                flags,
                mode,
                fd: result.max(-1),
                ..blank
            })
        }
        _ if let Some(index) = written_fd(name) => (result >= 0).then(|| FileRow {
            op: FileOp::Write,
            fd: done.fd(index),
            ..blank
        }),
        b"close" => Some(FileRow {
            op: FileOp::Close,
            path: intern(angle_path(done.value(0)).map(unescape_octal)).unwrap_or_default(),
            fd: done.fd(0),
            ..blank
        }),
        b"dup" | b"dup2" | b"dup3" => Some(FileRow {
            op: FileOp::Dup,
            path: intern(angle_path(done.value(0)).map(unescape_octal)).unwrap_or_default(),
            fd: done.fd(0),
            flags: open_flags(done.value(2)),
            ..blank
        }),
        b"fcntl" | b"fcntl64" => match fcntl_of(done)? {
            Fcntl::Duplicate { flags } => Some(FileRow {
                op: FileOp::Dup,
                path: intern(angle_path(done.value(0)).map(unescape_octal)).unwrap_or_default(),
                fd: done.fd(0),
                flags,
                ..blank
            }),
            Fcntl::SetOnExec { flags } => set_on_exec(blank, done.fd(0), flags),
        },
        b"ioctl" => {
            let flags = match (done.value(1), integer(done.value(1))) {
                (b"FIOCLEX", _) | (_, Some(0x5451)) => CLOSE_ON_EXEC,
                (b"FIONCLEX", _) | (_, Some(0x5450)) => 0,
                _ => return None,
            };
            set_on_exec(blank, done.fd(0), flags)
        }
        b"close_range" if result >= 0 => {
            let last = done.number(1)?;
            let marks = Flag {
                word: b"CLOSE_RANGE_CLOEXEC",
                bit: 4,
            };
            let is_marked = has_flag(done.value(2), &marks);
            Some(FileRow {
                op: match is_marked {
                    true => FileOp::SetOnExec,
                    false => FileOp::CloseRange,
                },
                fd: done.fd(0),
                result: i32::try_from(last).unwrap_or(i32::MAX),
                flags: if is_marked { CLOSE_ON_EXEC } else { 0 },
                ..blank
            })
        }
        b"pipe" | b"pipe2" => {
            let flags = open_flags(done.value(1));
            let ends: Vec<i32> = elements(done.value(0), done.dialect)
                .into_iter()
                .filter_map(|end| i32::try_from(integer(end)?).ok())
                .collect();
            match ends[..] {
                [read, write] if result >= 0 => Some(FileRow {
                    op: FileOp::Pipe,
                    fd: read,
                    result: write,
                    flags,
                    ..blank
                }),
                _ => Some(FileRow {
                    op: FileOp::Pipe,
                    ..blank
                }),
            }
        }
        b"rename" => {
            let paths = (intern(done.string(0)), intern(done.string(1)));
            two_paths(FileOp::Rename, paths)
        }
        b"renameat" | b"renameat2" => {
            let paths = (intern(path_at(done, 1)), intern(path_at(done, 3)));
            let renamed = two_paths(FileOp::Rename, paths)?;
            Some(FileRow {
                flags: rename_flags(done.value(4)),
                ..renamed
            })
        }
        b"link" => two_paths(
            FileOp::Link,
            (intern(done.string(0)), intern(done.string(1))),
        ),
        b"linkat" => two_paths(
            FileOp::Link,
            (intern(path_at(done, 1)), intern(path_at(done, 3))),
        ),
        b"symlink" => two_paths(
            FileOp::Symlink,
            (intern(done.string(0)), intern(done.string(1))),
        ),
        b"symlinkat" => two_paths(
            FileOp::Symlink,
            (intern(done.string(0)), intern(path_at(done, 2))),
        ),
        b"unlink" | b"rmdir" => Some(FileRow {
            op: FileOp::Unlink,
            path: intern(done.string(0))?,
            ..blank
        }),
        b"unlinkat" => Some(FileRow {
            op: FileOp::Unlink,
            path: intern(path_at(done, 1))?,
            ..blank
        }),
        b"mount" => two_paths(
            FileOp::Mount,
            (
                Some(intern(done.string(0)).unwrap_or_default()),
                intern(done.string(1)),
            ),
        ),
        b"umount" | b"umount2" => Some(FileRow {
            op: FileOp::Unmount,
            path: intern(done.string(0))?,
            ..blank
        }),
        _ => None,
    }
}

/// `O_CLOEXEC` (x86).
const CLOSE_ON_EXEC: u32 = 0o2_000_000;

/// What a call of fcntl does to its descriptor.
enum Fcntl {
    /// Makes a copy of it with these flags.
    Duplicate { flags: u32 },
    /// Says whether an exec closes it, by these flags.
    SetOnExec { flags: u32 },
}

/// Returns what a call of fcntl does to its descriptor; `None` if neither of these.
fn fcntl_of(done: &Done<'_>) -> Option<Fcntl> {
    let flags = |closes: bool| if closes { CLOSE_ON_EXEC } else { 0 };
    let command = done.value(1);
    match (command, integer(command)) {
        (b"F_DUPFD_CLOEXEC", _) | (_, Some(1030)) => Some(Fcntl::Duplicate { flags: flags(true) }),
        (b"F_DUPFD", _) | (_, Some(0)) => Some(Fcntl::Duplicate {
            flags: flags(false),
        }),
        (b"F_SETFD", _) | (_, Some(2)) => Some(Fcntl::SetOnExec {
            flags: flags(has_flag(
                done.value(2),
                &Flag {
                    word: b"FD_CLOEXEC",
                    bit: 1,
                },
            )),
        }),
        _ => None,
    }
}

fn set_on_exec(row: FileRow, fd: i32, flags: u32) -> Option<FileRow> {
    (row.result >= 0).then_some(FileRow {
        op: FileOp::SetOnExec,
        fd,
        result: fd,
        flags,
        ..row
    })
}

/// A bit of a call's flags, and its name.
struct Flag {
    word: &'static [u8],
    bit: i64,
}

/// Returns whether flags contain a bit: they are words, a number (`-X raw`), or both.
fn has_flag(flags: &[u8], flag: &Flag) -> bool {
    let mut words = flags.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    words.any(|word| word == flag.word || integer(word).is_some_and(|bits| bits & flag.bit != 0))
}

/// Returns the flags of renameat2 as numbers.
fn rename_flags(flags: &[u8]) -> u32 {
    let known: [Flag; 3] = [
        Flag {
            word: b"RENAME_NOREPLACE",
            bit: 1,
        },
        Flag {
            word: b"RENAME_EXCHANGE",
            bit: 2,
        },
        Flag {
            word: b"RENAME_WHITEOUT",
            bit: 4,
        },
    ];
    let bits = known.iter().filter(|flag| has_flag(flags, flag));
    bits.fold(0, |all, flag| all | flag.bit as u32)
}

/// Returns the full path, if strace's `-y` prints it: the path of the new descriptor, or of the folder that the path is
/// relative to.
fn real_path(done: &Done<'_>, path_index: usize, given: &[u8]) -> Option<Vec<u8>> {
    let angle_end = memchr::memrchr(b'>', done.result_text).map(|end| end + 1);
    let of_result = angle_end
        .and_then(|end| done.result_text.get(..end))
        .and_then(angle_path)
        .map(unescape_octal);
    of_result
        .or_else(|| in_folder(done, path_index, given))
        .or_else(|| below_descriptor(done, path_index, given))
        .filter(|path| path != given)
}

/// Returns the path at `index`; the full path if strace's `-y` prints the folder before it.
fn path_at(done: &Done<'_>, index: usize) -> Option<Vec<u8>> {
    let given = done.string(index)?;
    in_folder(done, index, &given)
        .or_else(|| below_descriptor(done, index, &given))
        .or(Some(given))
}

/// Returns a path relative to a descriptor that is printed as a plain number, in the form of the kernel's
/// `/proc/self/fd/`; the full path can be built later if the descriptor's file is known.
fn below_descriptor(done: &Done<'_>, index: usize, given: &[u8]) -> Option<Vec<u8>> {
    let is_relative = !given.starts_with(b"/") && !given.is_empty();
    let folder = done.value(index.checked_sub(1)?);
    is_relative.then(|| of_descriptor_number(folder, given))?
}

fn of_descriptor_number(number: &[u8], below: &[u8]) -> Option<Vec<u8>> {
    let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    let separator: &[u8] = if below.is_empty() { b"" } else { b"/" };
    is_number.then(|| [DESCRIPTORS, number, separator, below].concat())
}

fn in_folder(done: &Done<'_>, index: usize, given: &[u8]) -> Option<Vec<u8>> {
    let folder = unescape_octal(angle_path(done.value(index.checked_sub(1)?))?);
    (!given.starts_with(b"/") && !given.is_empty())
        .then(|| [folder.as_slice(), b"/", given].concat())
}

/// The flags and the mode of an open.
#[derive(Clone, Copy, Default)]
struct OpenHow {
    flags: u32,
    mode: u16,
}

/// Parses openat2's `{flags=O_RDONLY, mode=0644, resolve=0}`.
fn openat2_how(how: &[u8]) -> OpenHow {
    let Some(inner) = how.strip_prefix(b"{") else {
        return OpenHow::default();
    };
    let mut found = OpenHow::default();
    for field in split_call(inner, Dialect::Strace).params {
        match split_name(field) {
            (Some(b"flags"), words) => found.flags = open_flags(words),
            (Some(b"mode"), number) => {
                found.mode = integer(number)
                    .and_then(|mode| u16::try_from(mode).ok())
                    .unwrap_or(0);
            }
            _ => {}
        }
    }
    found
}
