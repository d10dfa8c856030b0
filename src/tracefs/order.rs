//! What is recorded, as a value and as the arguments of `threadline-tracer`.

use std::fmt;

/// Everything that the kernel is to record: the part of a recording's settings that needs rights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The events, each with its filter.
    pub events: Vec<EventOrder>,
    /// The tracer, for example `function_graph`.
    pub tracer: Option<String>,
    /// Functions that the tracer is limited to.
    pub functions: Vec<String>,
    /// Functions whose calls `function_graph` follows.
    pub graph_functions: Vec<String>,
    /// Probe definitions, without a group.
    pub probes: Vec<String>,
    /// Whether each event records the kernel's stack.
    pub has_stacks: Stacks,
    /// Only events of these threads are recorded; empty: events of all threads.
    pub pids: Vec<u32>,
    /// Whether threads that these threads start are also recorded.
    pub children: Children,
    /// The clock; `None`: the kernel's default.
    pub clock: Option<String>,
    /// Size of the ring buffer of each CPU in KiB.
    pub buffer_kib: Option<u64>,
}

/// Events, with an optional filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventOrder {
    /// `SYSTEM:EVENT`, `SYSTEM` or `EVENT`, each with `*` for any characters.
    pub pattern: String,
    /// The kernel's filter expression.
    pub filter: Option<String>,
    /// What happens if the kernel has no such event.
    pub presence: Presence,
}

/// What happens if the kernel has no such event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// The recording is refused.
    #[default]
    Required,
    /// The event is skipped: it is part of a predefined set.
    IfThere,
}

/// Whether stacks are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stacks {
    /// No stacks.
    #[default]
    No,
    /// The kernel's stack after each event.
    Kernel,
}

/// Whether children of the chosen threads are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Children {
    /// Only the chosen threads.
    #[default]
    Ignored,
    /// The chosen threads and their children.
    Followed,
}

/// An argument that no order contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownArgument(pub String);

impl fmt::Display for UnknownArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is not an argument of threadline-tracer, which `threadline record` starts",
            self.0
        )
    }
}

impl Order {
    /// Returns the order as arguments; [`Order::from_arguments`] reads them.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let mut out = Vec::new();
        for event in &self.events {
            let name = match event.presence {
                Presence::Required => "event",
                Presence::IfThere => "event-if-there",
            };
            out.push(format!("{name}={}", event.pattern));
            out.extend(event.filter.iter().map(|filter| format!("filter={filter}")));
        }
        out.extend(self.tracer.iter().map(|it| format!("tracer={it}")));
        out.extend(self.functions.iter().map(|it| format!("function={it}")));
        out.extend(self.graph_functions.iter().map(|it| format!("graph={it}")));
        out.extend(self.probes.iter().map(|it| format!("probe={it}")));
        if self.has_stacks == Stacks::Kernel {
            out.push("stack=kernel".into());
        }
        out.extend(self.pids.iter().map(|it| format!("pid={it}")));
        if self.children == Children::Followed {
            out.push("children=follow".into());
        }
        out.extend(self.clock.iter().map(|it| format!("clock={it}")));
        out.extend(self.buffer_kib.iter().map(|it| format!("buffer-kib={it}")));
        out
    }

    /// Parses the arguments that [`Order::arguments`] returns.
    ///
    /// # Errors
    /// With the first argument that is unknown.
    pub(crate) fn from_arguments(
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<Order, UnknownArgument> {
        let mut order = Order::default();
        for argument in arguments {
            let unknown = || UnknownArgument(argument.clone());
            let (name, value) = argument.split_once('=').ok_or_else(unknown)?;
            let value = value.to_owned();
            match name {
                "event" | "event-if-there" => order.events.push(EventOrder {
                    pattern: value,
                    filter: None,
                    presence: match name {
                        "event" => Presence::Required,
                        _ => Presence::IfThere,
                    },
                }),
                "filter" => order.events.last_mut().ok_or_else(unknown)?.filter = Some(value),
                "tracer" => order.tracer = Some(value),
                "function" => order.functions.push(value),
                "graph" => order.graph_functions.push(value),
                "probe" => order.probes.push(value),
                "stack" if value == "kernel" => order.has_stacks = Stacks::Kernel,
                "pid" => order.pids.push(value.parse().map_err(|_| unknown())?),
                "children" if value == "follow" => order.children = Children::Followed,
                "clock" => order.clock = Some(value),
                "buffer-kib" => {
                    order.buffer_kib = Some(value.parse().map_err(|_| unknown())?);
                }
                _ => return Err(unknown()),
            }
        }
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_the_same_after_the_command_line() {
        let event = |pattern: &str, filter: Option<&str>| EventOrder {
            pattern: pattern.into(),
            filter: filter.map(str::to_owned),
            presence: match filter {
                Some(_) => Presence::Required,
                None => Presence::IfThere,
            },
        };
        let order = Order {
            events: vec![
                event("sched:sched_switch", Some("prev_comm == \"a=b\"")),
                event("irq", None),
            ],
            tracer: Some("function".into()),
            functions: vec!["vfs_*".into()],
            graph_functions: vec!["do_exit".into()],
            probes: vec!["p vfs_read count=%dx".into()],
            has_stacks: Stacks::Kernel,
            pids: vec![1, 77],
            children: Children::Followed,
            clock: Some("mono".into()),
            buffer_kib: Some(512),
        };
        assert_eq!(Order::from_arguments(order.arguments()), Ok(order));
        for bad in ["filter=x", "pid=-1", "stack=user", "what", "-e"] {
            assert!(Order::from_arguments([bad.to_owned()]).is_err(), "{bad}");
        }
    }
}
