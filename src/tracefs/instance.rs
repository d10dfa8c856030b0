//! Sets up an instance of the ring buffer as ordered, and opens the files with its pages and counts.
//!
//! Some tracers of older kernels work only in the top folder of tracefs (function_graph before Linux 6.13). If no other
//! program uses the top folder, the recording is made there, and each changed value is restored at the end.

use std::fs::File;

use super::catalog::{Meaning, resolve};
use super::folder::{Access, Folder, Trouble};
use super::journal::{Journal, group_name, instance_name};
use super::order::{Children, EventOrder, Order, Presence, Stacks};

/// An instance of the ring buffer that is ready to record. Dropping it restores everything.
#[derive(Debug)]
pub(crate) struct Instance {
    /// The top folder of tracefs.
    pub top: Folder,
    /// The instance's folder, or the top folder if the tracer works only there.
    pub folder: Folder,
    journal: Journal,
    place: Place,
}

/// The folder in which a recording is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In an instance of its own.
    OwnInstance,
    /// In the top folder of tracefs, whose values are restored at the end.
    Top,
}

/// The open files of a CPU.
#[derive(Debug)]
pub(crate) struct CpuFiles {
    /// Number of the CPU.
    pub cpu: u32,
    /// Its pages: `trace_pipe_raw`.
    pub pages: File,
    /// Its counts: `stats`.
    pub stats: File,
}

impl Instance {
    /// Sets up everything; recording starts when `tracing_on` is set to 1.
    ///
    /// # Errors
    /// If the order cannot be carried out. Everything is restored before.
    pub(crate) fn new(top: Folder, order: &Order, id: u32) -> Result<Instance, Trouble> {
        let mut journal = Journal::new(&top, id);
        let name = instance_name(id);
        let folder = make_instance(&top, &name, &mut journal)?;
        let mut instance = Instance {
            top,
            folder,
            journal,
            place: Place::OwnInstance,
        };
        instance.set_up_tracer(order)?;
        instance.set_up_buffer(order)?;
        instance.define_probes(order, id)?;
        for event in &order.events {
            instance.enable(event)?;
        }
        Ok(instance)
    }

    fn set_up_buffer(&mut self, order: &Order) -> Result<(), Trouble> {
        if let Some(clock) = &order.clock {
            self.set("trace_clock", clock, "clock")?;
        }
        if let Some(size) = order.buffer_kib {
            self.set("buffer_size_kb", &size.to_string(), "buffer size in KiB")?;
        }
        // Readers wake up when a tenth of a CPU's buffer is filled.
        if self.folder.has("buffer_percent") {
            self.set("buffer_percent", "10", "fill level")?;
        }
        if self.folder.has("options/record-tgid") {
            self.set("options/record-tgid", "1", "option record-tgid")?;
        }
        if order.has_stacks == Stacks::Kernel {
            self.set("options/stacktrace", "1", "option stacktrace")?;
        }
        if !order.pids.is_empty() {
            let pids: Vec<String> = order.pids.iter().map(u32::to_string).collect();
            let pids = pids.join(" ");
            if order.children == Children::Followed {
                self.set("options/event-fork", "1", "option event-fork")?;
                if order.tracer.is_some() && self.folder.has("options/function-fork") {
                    self.set("options/function-fork", "1", "option function-fork")?;
                }
            }
            self.set("set_event_pid", &pids, "thread")?;
            if order.tracer.is_some() && self.folder.has("set_ftrace_pid") {
                self.set("set_ftrace_pid", &pids, "thread")?;
            }
        }
        Ok(())
    }

    /// Stops recording, and sets the tracer and its functions.
    fn set_up_tracer(&mut self, order: &Order) -> Result<(), Trouble> {
        self.set("tracing_on", "0", "switch")?;
        if let Some(tracer) = &order.tracer {
            let available = self.top.read("available_tracers")?;
            if !available.split_whitespace().any(|name| name == tracer) {
                return Err(Trouble::Absent {
                    what: format!("the tracer {tracer}"),
                    lacks: format!("such tracer; it has: {}", available.trim()),
                });
            }
            // Functions are set first: otherwise the tracer would hook all functions for a moment.
            let is_refused = self.choose_functions(order).is_err()
                || self.set("current_tracer", tracer, "tracer").is_err();
            if !is_refused {
                return Ok(());
            }
            self.move_to_top()?;
        }
        self.choose_functions(order)?;
        match &order.tracer {
            Some(tracer) => self.set("current_tracer", tracer, "tracer"),
            None => Ok(()),
        }
    }

    fn choose_functions(&mut self, order: &Order) -> Result<(), Trouble> {
        let lists = [
            (&order.functions, "set_ftrace_filter"),
            (&order.graph_functions, "set_graph_function"),
        ];
        for (functions, file) in lists {
            if functions.is_empty() {
                continue;
            }
            if !self.top.has(file) {
                return Err(Trouble::Absent {
                    what: "functions".into(),
                    lacks: "dynamic ftrace (CONFIG_DYNAMIC_FTRACE)".into(),
                });
            }
            self.set(file, "", "function")?;
            for function in functions {
                self.folder
                    .append(file, &format!("{function}\n"), "function")?;
            }
        }
        Ok(())
    }

    /// Uses the top folder of tracefs from now on.
    fn move_to_top(&mut self) -> Result<(), Trouble> {
        let tracer = self.top.read("current_tracer")?;
        let events = self.top.read("set_event")?;
        if tracer.trim() != "nop" || !events.trim().is_empty() {
            return Err(Trouble::InUse);
        }
        self.folder = self.top.clone();
        self.place = Place::Top;
        self.set("tracing_on", "0", "switch")
    }

    /// Sets a value of the instance; in the top folder, the old value is noted in the journal first.
    fn set(&mut self, file: &str, value: &str, what: &str) -> Result<(), Trouble> {
        if self.place == Place::Top {
            let old = old_value(file, &self.folder.read(file)?);
            self.journal.keep(file, &old).map_err(|error| Trouble::Io {
                path: self.folder.path(file),
                error,
            })?;
        }
        self.folder.set(file, value, what)
    }

    fn define_probes(&mut self, order: &Order, id: u32) -> Result<(), Trouble> {
        if order.probes.is_empty() {
            return Ok(());
        }
        let group = group_name(id);
        self.journal.makes_probes();
        for probe in &order.probes {
            let of_group = format!(":{group}/");
            let place = probe.split_whitespace().nth(1).unwrap_or("");
            // Only `dynamic_events`, of newer kernels, accepts event probes and fprobes.
            let own = match probe.chars().next() {
                Some('p' | 'r') if place.contains('/') => "uprobe_events",
                Some('p' | 'r') => "kprobe_events",
                _ => "dynamic_events",
            };
            let files = [own, "dynamic_events"];
            let file = files.into_iter().find(|file| self.top.has(file));
            let Some(file) = file.filter(|_| probe.contains(&of_group)) else {
                return Err(Trouble::Absent {
                    what: "probes".into(),
                    lacks: format!(
                        "{own} (see CONFIG_KPROBE_EVENTS, CONFIG_UPROBE_EVENTS, CONFIG_DYNAMIC_EVENTS)"
                    ),
                });
            };
            self.top.append(file, &format!("{probe}\n"), "probe")?;
        }
        self.set(&format!("events/{group}/enable"), "1", "probes")
    }

    fn enable(&mut self, order: &EventOrder) -> Result<(), Trouble> {
        let meaning = match resolve(&self.top, &order.pattern) {
            Err(Trouble::NoSuchEvent { .. }) if order.presence == Presence::IfThere => {
                return Ok(());
            }
            meaning => meaning?,
        };
        let places: Vec<String> = match meaning {
            Meaning::System(system) => vec![system],
            Meaning::Events(events) => events
                .into_iter()
                .map(|event| format!("{}/{}", event.system, event.name))
                .collect(),
        };
        for place in places {
            if let Some(filter) = &order.filter {
                let what = format!("filter of {}", place.replace('/', ":"));
                self.set(&format!("events/{place}/filter"), filter, &what)?;
            }
            let what = format!("event {}", place.replace('/', ":"));
            self.set(&format!("events/{place}/enable"), "1", &what)?;
        }
        Ok(())
    }

    /// Returns the numbers of all CPUs.
    #[must_use]
    pub(crate) fn cpus(&self) -> Vec<u32> {
        let names = self.folder.names("per_cpu");
        let numbers = names
            .iter()
            .filter_map(|name| name.strip_prefix("cpu")?.parse().ok());
        let mut cpus: Vec<u32> = numbers.collect();
        cpus.sort_unstable();
        cpus
    }

    /// Opens the files of each CPU.
    ///
    /// # Errors
    /// If a file cannot be opened.
    pub(crate) fn cpu_files(&self) -> Result<Vec<CpuFiles>, Trouble> {
        self.cpus()
            .into_iter()
            .map(|cpu| {
                let open = |name: &str, access| {
                    self.folder
                        .open(&format!("per_cpu/cpu{cpu}/{name}"), access)
                };
                Ok(CpuFiles {
                    cpu,
                    pages: open("trace_pipe_raw", Access::Pages)?,
                    stats: open("stats", Access::Read)?,
                })
            })
            .collect()
    }

    /// Opens the switch that starts and stops recording.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn switch(&self) -> Result<File, Trouble> {
        self.folder.open("tracing_on", Access::Write)
    }

    /// Restores everything; returns a sentence for each failure.
    pub(crate) fn restore(&mut self) -> Vec<String> {
        self.journal.restore()
    }
}

/// Returns the value that restores a file, from the text of the file.
fn old_value(file: &str, text: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let inside = |start: &str, end: char| text.split_once(start)?.1.split(end).next();
    match name {
        "trace_clock" => inside("[", ']').unwrap_or("local").to_owned(),
        // A buffer that was never used is small, but shows the size that was set: `7 (expanded: 1408)`.
        "buffer_size_kb" => {
            let size = inside("(expanded: ", ')').unwrap_or(text);
            size.trim().to_owned()
        }
        "enable" | "filter" | "set_ftrace_filter" | "set_graph_function" | "set_event_pid"
        | "set_ftrace_pid" => match name {
            // The top folder was unused: no event was enabled, and all lists were empty.
            "enable" | "filter" => "0".to_owned(),
            _ => String::new(),
        },
        _ => text.trim().to_owned(),
    }
}

/// Creates the instance; returns its folder.
fn make_instance(top: &Folder, name: &str, journal: &mut Journal) -> Result<Folder, Trouble> {
    if !top.has("instances") {
        return Err(Trouble::Absent {
            what: "events".into(),
            lacks: "instances of the ring buffer (Linux 3.10 and later have them)".into(),
        });
    }
    journal.makes_instance();
    top.make_folder(&format!("instances/{name}"))?;
    Ok(top.instance(name))
}

#[cfg(test)]
mod tests {
    use super::old_value;

    #[test]
    fn values_are_put_back_as_they_were() {
        for (file, text, value) in [
            ("trace_clock", "local [mono] boot\n", "mono"),
            ("buffer_size_kb", "7 (expanded: 1408)\n", "1408"),
            ("buffer_size_kb", "2048\n", "2048"),
            ("events/sched/enable", "X\n", "0"),
            ("set_ftrace_filter", "#### all functions enabled ####\n", ""),
            ("tracing_on", "1\n", "1"),
        ] {
            assert_eq!(old_value(file, text), value);
        }
    }
}
