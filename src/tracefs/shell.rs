//! A shell at the other end of a command: `ssh HOST sh`, `docker exec -i NAME sh`, `adb shell`. Runs a line and returns
//! its output.
//!
//! After each line the shell prints a mark with the line's exit status, which ends the output. The other machine needs
//! only a POSIX shell and `cat`, `ls`, `mkdir`, `rmdir`.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Start of the mark's line.
const MARK: &str = "@@threadline";

/// A shell that waits for lines.
#[derive(Debug)]
pub(crate) struct Shell {
    /// The command that opens the shell.
    command: Vec<OsString>,
    open: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// The result of a line.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Standard output and standard error.
    pub text: String,
    /// Whether the line succeeded.
    pub is_success: bool,
}

impl Shell {
    /// Starts a shell with the command that opens it.
    ///
    /// # Errors
    /// If the command cannot be started, or is not a shell.
    pub(crate) fn start(command: &[OsString]) -> std::io::Result<Shell> {
        let shell = Shell {
            command: command.to_vec(),
            open: Mutex::new(spawn(command)?),
        };
        // A terminal echoes input, and a shell prints prompts: both are switched off.
        shell.run("stty -echo 2>/dev/null; PS1=; PS2=; unset PROMPT_COMMAND; export LC_ALL=C")?;
        let name = shell.run("echo threadline")?;
        match name.text.trim() == "threadline" {
            true => Ok(shell),
            false => Err(std::io::Error::other("it does not answer as a shell does")),
        }
    }

    /// Runs a line; returns what it printed.
    ///
    /// # Errors
    /// If the shell has ended.
    pub(crate) fn run(&self, line: &str) -> std::io::Result<Answer> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(
            open.input,
            "{{ {line}\n}} 2>&1 </dev/null; s=$?; echo; echo {MARK} $s"
        )?;
        open.input.flush()?;
        let mut text = Vec::new();
        loop {
            let start = text.len();
            if open.output.read_until(b'\n', &mut text)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let last = text.get(start..).unwrap_or(&[]);
            let Some(status) = last.strip_prefix(MARK.as_bytes()) else {
                continue;
            };
            let is_success = status.trim_ascii() == b"0";
            // The newline before the mark is not part of the output.
            text.truncate(start.saturating_sub(1));
            let text = String::from_utf8_lossy(&text).into_owned();
            return Ok(Answer { text, is_success });
        }
    }

    /// Starts another shell that runs `line`; returns the shell, its process id there, and the output of `line`.
    ///
    /// # Errors
    /// If the shell cannot be started.
    pub(crate) fn stream(&self, line: &str) -> std::io::Result<Stream> {
        let mut open = spawn(&self.command)?;
        writeln!(open.input, "echo {MARK} $$; {line}\nexit")?;
        open.input.flush()?;
        let mut output = open.output.into_inner();
        // Byte by byte, because the bytes after the mark's line belong to the stream.
        let mut mark = Vec::new();
        loop {
            let mut byte = [0];
            output.read_exact(&mut byte)?;
            match byte {
                [b'\n'] if mark.starts_with(MARK.as_bytes()) => break,
                [b'\n'] => mark.clear(),
                [byte] => mark.push(byte),
            }
        }
        let mark = String::from_utf8_lossy(&mark).into_owned();
        let number = mark.strip_prefix(MARK).unwrap_or("").trim().to_owned();
        Ok(Stream {
            child: open.child,
            number,
            output,
        })
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _gone = writeln!(open.input, "exit");
        let _gone = open.input.flush();
        let _ended = open.child.wait();
    }
}

/// Returns a shell line that prints the pages of a CPU until the shell gets SIGTERM.
///
/// A read of `trace_pipe_raw` returns 0 if an event arrives between the kernel's two checks of an empty buffer
/// (`tracing_buffers_read`): then `cat` ends although more events follow, so it runs in a loop.
#[must_use]
pub(crate) fn pages_line(path: &str) -> String {
    let path = quoted(path);
    format!(
        "trap 'trap \"\" TERM; kill 0; exit' TERM; while :; do cat {path} & wait $! || exit; done"
    )
}

/// A line that runs in a shell of its own; its output is read while it runs.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The command that opened the shell; it ends when the line ends.
    pub child: Child,
    /// The shell's process id on the other machine.
    pub number: String,
    /// The line's output.
    pub output: ChildStdout,
}

/// Runs a command in another shell; its output goes to the output of this process.
///
/// # Errors
/// If the shell cannot be started.
pub(crate) fn run_there(on: &[OsString], command: &[OsString]) -> std::io::Result<Child> {
    let (program, arguments) = on
        .split_first()
        .ok_or_else(|| std::io::Error::other("there is no command"))?;
    let words: Vec<String> = command
        .iter()
        .map(|word| quoted(&word.to_string_lossy()))
        .collect();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        writeln!(input, "exec {}", words.join(" "))?;
    }
    Ok(child)
}

fn spawn(command: &[OsString]) -> std::io::Result<Open> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| std::io::Error::other("there is no command"))?;
    let mut child = Command::new(program)
        .args(arguments)
        // A Ctrl+C in a terminal reaches all processes of the group: this one must end after everything was restored.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(std::io::Error::other("it has no streams"));
    };
    Ok(Open {
        child,
        input,
        output: BufReader::new(output),
    })
}

/// Returns the text quoted as one word of a shell line.
#[must_use]
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_answered_and_streams_are_whole() {
        let shell = Shell::start(&["sh".into()]).unwrap();
        let answer = shell.run("printf 'a\\nb'").unwrap();
        assert_eq!((&*answer.text, answer.is_success), ("a\nb", true));
        let answer = shell.run("cat /no/such/file").unwrap();
        assert!(!answer.is_success && answer.text.contains("/no/such/file"));
        let word = "it's $HOME; `x`";
        let answer = shell.run(&format!("printf %s {}", quoted(word))).unwrap();
        assert_eq!(answer.text, word);
        let stream = shell.stream("printf '\\001\\n\\000\\002'").unwrap();
        assert!(stream.number.parse::<u32>().is_ok());
        let (mut child, mut output) = (stream.child, stream.output);
        let mut bytes = Vec::new();
        output.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, [1, b'\n', 0, 2]);
        assert!(child.wait().unwrap().success());
        // The line reads a file that ended again, until the shell gets SIGTERM.
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "it's\n").unwrap();
        let line = pages_line(&file.path().to_string_lossy());
        let mut stream = shell.stream(&line).unwrap();
        let mut bytes = [0; 15];
        stream.output.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"it's\nit's\nit's\n");
        shell.run(&format!("kill {}", stream.number)).unwrap();
        std::io::copy(&mut stream.output, &mut std::io::sink()).unwrap();
        stream.child.wait().unwrap();
        assert!(Shell::start(&["true".into()]).is_err());
    }
}
