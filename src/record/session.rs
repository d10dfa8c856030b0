//! The process that has the rights (`threadline-tracer`), and the open files that it hands over.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::names::Names;
use super::source::{CpuSource, Pages, Stats};
use super::trouble::RecordError;
use crate::tracefs::channel::{Channel, Message};
use crate::tracefs::folder::{Folder, Trouble};
use crate::tracefs::head::{SectionText, read_formats, read_names, unpack};
use crate::tracefs::instance::Instance;
use crate::tracefs::order::Order;
use crate::tracefs::shell::{Shell, Stream, pages_line};

/// An instance of the ring buffer that is ready to record, as the process without rights uses it.
pub(crate) struct Session {
    host: Host,
    /// The text of `trace_clock`.
    pub clocks: String,
    /// The pages and counts of each CPU.
    pub cpus: Vec<CpuSource>,
    formats: Option<Vec<SectionText>>,
}

/// Which process owns the instance.
enum Host {
    /// `threadline-tracer` on this machine.
    Here {
        channel: Channel,
        tracer: Child,
        switch: File,
    },
    /// A shell on another machine.
    There {
        shell: Arc<Shell>,
        instance: Instance,
        streams: Vec<PageStream>,
    },
}

/// A shell on another machine that sends pages.
struct PageStream {
    child: Child,
    /// The shell's process id on that machine.
    number: String,
}

/// Whether the rights of root are given up after the process that needs them was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// This process gets the rights of the user who called sudo, if there is one.
    GivenUp,
    /// This process keeps its rights.
    Kept,
}

/// Where `threadline-tracer` gets the rights to use tracefs from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authority {
    /// It has the rights of this process.
    #[default]
    Own,
    /// polkit gives it root's rights (pkexec), after asking the user for a password.
    Polkit,
}

/// How long a message of `threadline-tracer` is awaited until the user's wish to stop is checked again.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Returns the path of `threadline-tracer`, which is in the folder of this program.
pub(crate) fn tracer_path() -> PathBuf {
    installed_path("threadline-tracer")
}

/// Returns the path of `threadline`, which the window starts to record.
#[must_use]
pub(crate) fn program_path() -> PathBuf {
    installed_path("threadline")
}

/// Returns the path of a program in the folder of this program.
fn installed_path(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    let beside = own.with_file_name(name);
    // Test programs are in a folder below the folder of the programs.
    let above = own.ancestors().nth(2).map(|it| it.join(name));
    match above {
        Some(above) if !beside.exists() && above.exists() => above,
        _ => beside,
    }
}

impl Session {
    /// Starts `threadline-tracer`, which sets up an instance as `order` requires.
    ///
    /// # Errors
    /// If the process cannot be started, or refuses the order.
    pub(crate) fn start(
        order: &Order,
        authority: Authority,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Session, RecordError> {
        let (channel, theirs) = Channel::pair()?;
        let path = tracer_path();
        let mut command = match authority {
            Authority::Own => Command::new(&path),
            Authority::Polkit => {
                let mut command = Command::new("pkexec");
                command.arg(&path);
                command
            }
        };
        let path = PathBuf::from(command.get_program());
        let tracer = command
            .args(order.arguments())
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| match authority {
                Authority::Own => RecordError::NoTracer { path, error },
                Authority::Polkit => RecordError::NotGranted("pkexec is not installed"),
            })?;
        // The command holds the other end of the channel, whose closing shows that the process has ended.
        drop(command);
        let mut started = Started {
            tracer,
            channel,
            authority,
        };
        if !started.is_ready_before(is_stopped)? {
            started.leave();
            return Err(RecordError::Stopped);
        }
        let ready = started.receive()?;
        let clocks = words_of(&ready, "ready").to_owned();
        let switch = started.file(ready)?;
        let mut cpus = Vec::new();
        loop {
            let message = started.receive()?;
            let Ok(cpu) = words_of(&message, "cpu").parse() else {
                break;
            };
            let mut files = message.files.into_iter().map(File::from);
            let (Some(pages), Some(stats)) = (files.next(), files.next()) else {
                return Err(RecordError::TracerGone);
            };
            cpus.push(CpuSource {
                cpu,
                pages: Pages::Kernel(pages),
                stats: Stats::Here(stats),
            });
        }
        let Started {
            tracer, channel, ..
        } = started;
        let host = Host::Here {
            channel,
            tracer,
            switch,
        };
        Ok(Session {
            host,
            clocks,
            cpus,
            formats: None,
        })
    }

    /// Sets up an instance on another machine; `on` is the command that opens a shell there.
    ///
    /// # Errors
    /// If the shell cannot be started, or the kernel of that machine refuses the order.
    pub(crate) fn start_on(on: &[OsString], order: &Order) -> Result<Session, RecordError> {
        let shell = Shell::start(on).map_err(|error| {
            let name = on
                .iter()
                .map(|word| word.to_string_lossy())
                .collect::<Vec<_>>();
            RecordError::Refused(format!("no shell there: {error}: {}", name.join(" ")))
        })?;
        let shell = Arc::new(shell);
        let refused = |trouble: Trouble| RecordError::Refused(trouble.to_string());
        let top = Folder::find_by(&shell).map_err(refused)?;
        let instance = Instance::new(top, order, std::process::id()).map_err(refused)?;
        let clocks = instance.folder.read("trace_clock").map_err(refused)?;
        let (mut cpus, mut streams) = (Vec::new(), Vec::new());
        for cpu in instance.cpus() {
            let name = format!("per_cpu/cpu{cpu}/trace_pipe_raw");
            let path = instance.folder.path(&name);
            let Stream {
                child,
                number,
                output,
            } = shell.stream(&pages_line(&path.to_string_lossy()))?;
            streams.push(PageStream { child, number });
            cpus.push(CpuSource {
                cpu,
                pages: Pages::Stream(File::from(OwnedFd::from(output))),
                stats: Stats::There(instance.folder.clone()),
            });
        }
        let host = Host::There {
            shell,
            instance,
            streams,
        };
        Ok(Session {
            host,
            clocks,
            cpus,
            formats: None,
        })
    }

    /// Starts (`to` is `1`) or stops (`0`) recording.
    ///
    /// # Errors
    /// If the switch cannot be written.
    pub(crate) fn switch(&mut self, to: &str) -> Result<(), RecordError> {
        let refused = |trouble: Trouble| RecordError::Refused(trouble.to_string());
        match &mut self.host {
            Host::Here { switch, .. } => Ok(switch.write_all(to.as_bytes())?),
            Host::There {
                shell,
                instance,
                streams,
            } => {
                instance
                    .folder
                    .set("tracing_on", to, "switch")
                    .map_err(refused)?;
                if to == "0" {
                    // Now readers also get pages that are not full.
                    let _older_kernel = instance.folder.set("buffer_percent", "0", "fill level");
                    let numbers: Vec<&str> = streams.iter().map(|it| &*it.number).collect();
                    shell.run(&format!("sleep 1; kill {}", numbers.join(" ")))?;
                }
                Ok(())
            }
        }
    }

    /// Returns the layout of pages and the formats of all events.
    ///
    /// # Errors
    /// If they can no longer be read.
    pub(crate) fn formats(&mut self) -> Result<&[SectionText], RecordError> {
        if self.formats.is_none() {
            self.formats = Some(match &self.host {
                Host::Here { channel, .. } => unpack(&expect(channel, "formats")?),
                Host::There { instance, .. } => read_formats(&instance.top)
                    .map_err(|trouble| RecordError::Refused(trouble.to_string()))?,
            });
        }
        Ok(self.formats.as_deref().unwrap_or(&[]))
    }

    /// Returns the current symbols and printk formats as sections, and the kernel's lists of threads as they are.
    ///
    /// # Errors
    /// If they can no longer be read.
    pub(crate) fn names(&mut self) -> Result<Vec<SectionText>, RecordError> {
        self.formats()?;
        match &self.host {
            Host::Here { channel, .. } => {
                channel.send("names", &[])?;
                Ok(unpack(&expect(channel, "names")?))
            }
            Host::There { instance, .. } => Ok(read_names(&instance.top)),
        }
    }

    /// Adds the names and processes of all living threads.
    pub(crate) fn add_names(&self, names: &mut Names) {
        match &self.host {
            Host::Here { .. } => names.add_living(),
            Host::There { shell, .. } => {
                let line = "for t in /proc/[0-9]*/task/[0-9]*; do read n < $t/comm && echo \"$t $n\"; done";
                if let Ok(answer) = shell.run(line) {
                    names.add_list(&answer.text);
                }
            }
        }
    }

    /// Returns the name and version of the machine's kernel: `Linux HOST RELEASE MACHINE`.
    pub(crate) fn machine(&self) -> String {
        match &self.host {
            Host::Here { .. } => {
                let name = rustix::system::uname();
                let parts = [
                    name.sysname(),
                    name.nodename(),
                    name.release(),
                    name.machine(),
                ];
                parts
                    .map(|part| part.to_string_lossy().into_owned())
                    .join(" ")
            }
            Host::There { shell, .. } => {
                let answer = shell.run("uname -snrm");
                answer.map_or(String::new(), |answer| answer.text.trim().to_owned())
            }
        }
    }

    /// Returns whether the process that owns the instance still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        match &mut self.host {
            Host::Here { tracer, .. } => matches!(tracer.try_wait(), Ok(None)),
            Host::There { streams, .. } => {
                let mut ended = streams.iter_mut().map(|it| it.child.try_wait());
                ended.all(|it| matches!(it, Ok(None)))
            }
        }
    }

    /// Restores the kernel's state, and waits until that is done.
    pub(crate) fn close(self) {
        // An instance cannot be removed while its files are open.
        drop(self.cpus);
        match self.host {
            Host::Here {
                channel,
                mut tracer,
                switch,
            } => {
                drop(switch);
                drop(channel);
                let _ended = tracer.wait();
            }
            Host::There {
                shell,
                instance,
                streams,
            } => {
                for PageStream { mut child, number } in streams {
                    if matches!(child.try_wait(), Ok(None)) {
                        let _gone = shell.run(&format!("kill {number}"));
                    }
                    let _ended = child.wait();
                }
                drop(instance);
            }
        }
    }
}

fn expect(channel: &Channel, what: &str) -> Result<Vec<u8>, RecordError> {
    while let Some(message) = channel.receive()? {
        if message.text == what {
            return Ok(message.bytes()?);
        }
    }
    Err(RecordError::TracerGone)
}

/// `threadline-tracer` while it sets up the instance.
struct Started {
    tracer: Child,
    channel: Channel,
    authority: Authority,
}

impl Started {
    /// Waits for the first message: the user may be typing a password. Returns `false` if the user stopped before.
    fn is_ready_before(&self, is_stopped: &mut dyn FnMut() -> bool) -> std::io::Result<bool> {
        while !self.channel.wait(LOOK_EVERY)? {
            if is_stopped() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends the process, and waits until it has restored everything.
    fn leave(mut self) {
        drop(self.channel);
        if self.authority == Authority::Polkit {
            // pkexec would ask on for a password. Once it has become `threadline-tracer`, it has more rights than this
            // process, and ends because the channel was closed.
            let pid = rustix::process::Pid::from_child(&self.tracer);
            let _has_more_rights =
                rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ended = self.tracer.wait();
    }

    /// Returns why the process ended without a message. pkexec has two exit codes of its own.
    fn why_gone(&mut self) -> RecordError {
        let status = self.tracer.wait().ok().and_then(|status| status.code());
        match (self.authority, status) {
            (Authority::Polkit, Some(126)) => {
                RecordError::NotGranted("the question for the password was closed")
            }
            (Authority::Polkit, Some(127)) => {
                RecordError::NotGranted("no user has this right, or no password dialog is running")
            }
            _ => RecordError::TracerGone,
        }
    }

    /// Returns the next message. Errors if the message is a refusal.
    fn receive(&mut self) -> Result<Message, RecordError> {
        let Some(message) = self.channel.receive()? else {
            return Err(self.why_gone());
        };
        match message.text.strip_prefix("refused ") {
            Some(sentence) => {
                let sentence = sentence.to_owned();
                // The process restores everything before it ends.
                let _ended = self.tracer.wait();
                Err(RecordError::Refused(sentence))
            }
            None => Ok(message),
        }
    }

    fn file(&self, message: Message) -> Result<File, RecordError> {
        let file = message.files.into_iter().next();
        file.map(File::from).ok_or(RecordError::TracerGone)
    }
}

/// Returns the words of a message after `first`, its first word.
fn words_of<'a>(message: &'a Message, first: &str) -> &'a str {
    let words = message.text.strip_prefix(first).unwrap_or("");
    words.trim()
}

/// Replaces the rights of root by those of the user who called sudo; does nothing if there is no such user. Must be
/// called before this process starts other threads: they would keep their rights.
///
/// # Errors
/// Those of setresuid(2) and similar calls.
pub(crate) fn drop_rights() -> std::io::Result<()> {
    use rustix::process::{Gid, Uid, geteuid};
    use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
    let number = |name| -> Option<u32> { std::env::var(name).ok()?.parse().ok() };
    let (Some(uid), Some(gid)) = (number("SUDO_UID"), number("SUDO_GID")) else {
        return Ok(());
    };
    if !geteuid().is_root() || uid == 0 {
        return Ok(());
    }
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    set_thread_groups(&[gid])?;
    set_thread_res_gid(gid, gid, gid)?;
    set_thread_res_uid(uid, uid, uid)?;
    Ok(())
}
