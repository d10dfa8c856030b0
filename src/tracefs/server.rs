//! The process with the rights: sets up an instance, hands over its open files, and restores everything when the other
//! process ends or it gets SIGTERM.
//!
//! ```text
//! ready CLOCKS                  the switch of the recording; after it, for each CPU:
//! cpu N                         the CPU's pages and counts
//! running                       all files were sent
//! formats                       a file in memory: sections with the layout of pages and the formats of events
//!           <- names            request for the current names
//! names                         a file in memory: sections with symbols, printk formats, thread names
//! refused SENTENCE              the order was refused, nothing was set up
//! ```

use std::ffi::OsString;
use std::io::Write as _;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::channel::Channel;
use super::folder::{Folder, Trouble};
use super::head;
use super::instance::Instance;
use super::journal::Leftovers;
use super::order::Order;

/// How long the process waits until it checks for signals again.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Runs the process; `arguments` are those after the program's name.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<String> = arguments
        .into_iter()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    if arguments.iter().any(|argument| argument == "clean-up") {
        return clean_up();
    }
    match serve(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(words) => say(&words),
    }
}

fn say(words: &str) -> ExitCode {
    let _unwritable = writeln!(std::io::stderr(), "threadline-tracer: {words}");
    ExitCode::FAILURE
}

fn clean_up() -> ExitCode {
    let top = match Folder::find() {
        Ok(top) => top,
        Err(error) => return say(&error.to_string()),
    };
    let failed = Leftovers::find(&top).clean_up(&top);
    match failed.is_empty() {
        true => ExitCode::SUCCESS,
        false => say(&failed.join("\n")),
    }
}

fn serve(arguments: Vec<String>) -> Result<(), String> {
    let words = |error: std::io::Error| {
        format!(
            "the process that records cannot be reached ({error}): `threadline record` starts this program"
        )
    };
    let channel = Channel::of_stdin().map_err(words)?;
    // A Ctrl+C in a terminal reaches all its processes: this process ignores it and ends after the one that records.
    let is_over = Arc::new(AtomicBool::new(false));
    let ignored = Arc::new(AtomicBool::new(false));
    for (signal, flag) in [
        (signal_hook::consts::SIGTERM, &is_over),
        (signal_hook::consts::SIGINT, &ignored),
        (signal_hook::consts::SIGHUP, &ignored),
    ] {
        signal_hook::flag::register(signal, Arc::clone(flag)).map_err(words)?;
    }
    let id = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get() as u32);
    let order = Order::from_arguments(arguments).map_err(|error| error.to_string());
    let started = order.and_then(|order| {
        let instance = Folder::find().and_then(|top| Instance::new(top, &order, id));
        instance.map_err(|trouble| trouble.to_string())
    });
    let mut instance = match started {
        Ok(instance) => instance,
        Err(sentence) => {
            channel
                .send(&format!("refused {sentence}"), &[])
                .map_err(words)?;
            return Ok(());
        }
    };
    let handed = hand_over(&instance, &channel, &is_over);
    let failed = instance.restore();
    if !failed.is_empty() {
        return Err(failed.join("\n"));
    }
    if matches!(&handed, Err(HandOver::Channel(error)) if has_left(error)) {
        return Ok(());
    }
    handed.map_err(|error| match error {
        HandOver::Kernel(trouble) => trouble.to_string(),
        HandOver::Channel(error) => words(error),
    })
}

/// Returns whether the other process ended before everything was handed over, which is no error.
fn has_left(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::BrokenPipe | std::io::ErrorKind::ConnectionReset
    )
}

/// Why the files could not be handed over.
enum HandOver {
    Kernel(Trouble),
    Channel(std::io::Error),
}

impl From<Trouble> for HandOver {
    fn from(trouble: Trouble) -> HandOver {
        HandOver::Kernel(trouble)
    }
}

impl From<std::io::Error> for HandOver {
    fn from(error: std::io::Error) -> HandOver {
        HandOver::Channel(error)
    }
}

/// Sends the open files, then answers requests until the other process ends.
fn hand_over(instance: &Instance, channel: &Channel, is_over: &AtomicBool) -> Result<(), HandOver> {
    let cpus = match instance.cpu_files() {
        Ok(cpus) => cpus,
        Err(trouble) => {
            channel.send(&format!("refused {trouble}"), &[])?;
            return Ok(());
        }
    };
    let clocks = instance.folder.read("trace_clock")?;
    channel.send(&format!("ready {clocks}"), &[instance.switch()?.as_fd()])?;
    for files in cpus {
        let fds = [files.pages.as_fd(), files.stats.as_fd()];
        channel.send(&format!("cpu {}", files.cpu), &fds)?;
    }
    channel.send("running", &[])?;
    let formats = head::read_formats(&instance.top)?;
    channel.send_bytes("formats", &head::pack(&formats))?;
    while !is_over.load(Ordering::Relaxed) {
        if !channel.wait(LOOK_EVERY)? {
            continue;
        }
        match channel.receive()? {
            Some(message) if message.text == "names" => {
                let names = head::read_names(&instance.top);
                channel.send_bytes("names", &head::pack(&names))?;
            }
            Some(_) => {}
            None => break,
        }
    }
    Ok(())
}
