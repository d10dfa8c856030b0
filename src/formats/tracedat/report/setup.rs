//! The input of a report: streams of records, the buffers and names that are the same for all lines, and the form of
//! the lines.

use crate::formats::function_options::FunctionOptions;
use crate::formats::record_report::OwnStyle;
use crate::formats::report::ReportOptions;
use crate::formats::tracedat::decoder::{Decoder, Style};
use crate::formats::tracedat::print_fmt::Addresses;
use crate::formats::tracedat::printed_time::Times;

/// The head of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Time of the next record, on the clock that is printed.
    pub time: u64,
    /// Events that were lost before the next record.
    pub lost: Lost,
}

/// Whether events were lost, and how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lost {
    /// No events were lost.
    #[default]
    None,
    /// This number of events was lost.
    Known(u64),
    /// Events were lost; their number is unknown.
    Unknown,
}

/// The records of one CPU of one buffer, in time order.
pub(crate) trait Stream: Send {
    /// Returns time and losses of the next record; `None` at the end.
    fn head(&self) -> Option<Head>;
    /// Returns the bytes of the next record.
    fn record(&self) -> &[u8];
    /// Moves to the following record.
    fn advance(&mut self);
    /// Returns the number of the CPU.
    fn cpu(&self) -> u32;
    /// Returns the index into [`Setup::buffers`].
    fn buffer(&self) -> usize;
    /// Returns whether the next record is in the list with index `list`, among all
    /// [`Choice::Events`](crate::formats::record_report::Choice).
    fn is_listed(&self, _list: usize) -> bool {
        false
    }
}

/// A trace buffer: that of the top-level instance, or of another instance.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    /// Text at the start of its lines.
    pub prefix: Vec<u8>,
    /// Form of its times.
    pub times: Times,
}

/// Thread names by pid.
pub(crate) trait ThreadNames {
    /// Returns the name of thread `pid`; `None` if unknown.
    fn name(&self, pid: i32) -> Option<&[u8]>;
}

/// Everything that is the same for all lines.
pub(crate) struct Setup<'a> {
    /// Decodes the events.
    pub decoder: &'a Decoder,
    /// The thread names in the file's list.
    pub threads: &'a (dyn ThreadNames + Sync),
    /// The buffers; at equal times, records are printed in this order.
    pub buffers: Vec<Buffer>,
    /// Pairs of events that were given to `trace-cmd record -H`; each is printed as a line before all events.
    pub hooks: Vec<Vec<u8>>,
    /// Number of CPUs, printed in the line after the hooks.
    pub cpu_count: u32,
    /// Whether steps between lines (`--ts-diff`) are differences of whole microseconds: if the file names its clock and
    /// full times are not requested, trace-cmd divides by 1,000, whatever the clock counts.
    pub has_steps_in_us: bool,
    /// Text at the start of the line with the number of CPUs.
    pub head_prefix: Vec<u8>,
    /// For each kind, how its events are printed.
    pub styles: Vec<Style>,
}

impl Setup<'_> {
    /// Returns the lines before the first event.
    pub(super) fn head(&self) -> Vec<u8> {
        let mut head: Vec<u8> = self.hooks.iter().flat_map(|hook| hook_line(hook)).collect();
        head.extend_from_slice(&self.head_prefix);
        head.extend_from_slice(format!("cpus={}\n", self.cpu_count).as_bytes());
        head
    }
}

/// The form of lines, from the user's options.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) style: Style,
    pub(super) has_flags: bool,
    pub(super) has_latency_columns: bool,
    pub(super) functions: FunctionOptions,
}

impl Look {
    pub(super) fn of(options: &ReportOptions) -> Look {
        let records = &options.records;
        Look {
            style: match (options.is_raw, records.is_plain) {
                (true, _) => raw_style(options),
                (_, true) => Style::Plain,
                _ => Style::Plugins,
            },
            has_flags: !options.has_no_flags || records.has_latency_columns,
            has_latency_columns: records.has_latency_columns,
            functions: FunctionOptions::of(&records.plugin_options),
        }
    }
}

fn raw_style(options: &ReportOptions) -> Style {
    Style::Raw(match options.has_no_flags {
        true => Addresses::Named,
        false => Addresses::Shown,
    })
}

/// Returns, for each kind, how its events are printed.
pub(super) fn styles(decoder: &Decoder, options: &ReportOptions) -> Vec<Style> {
    let of_all = Look::of(options).style;
    let style = |kind: usize| {
        let is_named = |wanted: OwnStyle| {
            let mut own = options.records.styles.iter();
            own.any(|own| own.style == wanted && own.events.names(kind))
        };
        match of_all {
            Style::Raw(_) => of_all,
            _ if is_named(OwnStyle::Raw) => raw_style(options),
            _ if is_named(OwnStyle::Plain) => Style::Plain,
            _ => of_all,
        }
    };
    (0..decoder.kinds().len()).map(style).collect()
}

/// Returns the line of a hook, e.g. `sched_wakeup,pid/sched_switch,next_pid`, as trace-cmd prints it: start and end,
/// each `system:event,field,pid field`. All parts except the event may be missing.
fn hook_line(hook: &[u8]) -> Vec<u8> {
    let hook = hook.split(|&byte| byte == 0).next().unwrap_or(&[]);
    let mut ends = hook.splitn(2, |&byte| byte == b'/');
    let mut line = Vec::new();
    for label in ["start ", " end "] {
        let end = ends.next().unwrap_or(&[]);
        let mut parts = end.splitn(3, |&byte| byte == b',');
        let event = parts.next().unwrap_or(&[]);
        let (system, event) = match memchr::memchr(b':', event) {
            Some(colon) => (event.get(..colon), event.get(colon + 1..)),
            None => (None, Some(event)),
        };
        let null = b"(null)";
        line.extend_from_slice(label.as_bytes());
        line.extend_from_slice(system.unwrap_or(null));
        line.push(b':');
        line.extend_from_slice(event.unwrap_or(null));
        line.push(b':');
        line.extend_from_slice(parts.next().unwrap_or(null));
        line.extend_from_slice(b" (");
        line.extend_from_slice(parts.next().unwrap_or(null));
        line.push(b')');
    }
    line.push(b'\n');
    line
}

/// Returns the text at the start of each buffer's lines: spaces for the top-level buffer (an empty name), `name: ` for
/// instances. Empty texts if there are no instances.
#[must_use]
pub(crate) fn prefixes(names: &[&[u8]]) -> Vec<Vec<u8>> {
    if names.iter().all(|name| name.is_empty()) {
        return vec![Vec::new(); names.len()];
    }
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let prefix = |name: &&[u8]| {
        let mut prefix = vec![b' '; width - name.len()];
        prefix.extend_from_slice(name);
        prefix.extend_from_slice(if name.is_empty() { b"  " } else { b": " });
        prefix
    };
    names.iter().map(prefix).collect()
}
