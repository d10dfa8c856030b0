//! Events as text, one line each, for formats without a reference tool and for files that are opened together.

use std::io::Write;

use crate::base::visible::one_line;
use crate::base::{Job, TimeSpan};
use crate::event::part::ClockUnit;
use crate::formats::report::Wrote;
use crate::formats::{HasReport, ReportOptions};
use crate::load::LoadedTrace;
use crate::query::details::describe;
use crate::query::item::event_ref;
use crate::trace::{EventId, ThreadId};

/// Writes one line per event, for formats without a reference tool.
pub(super) fn write_events(
    loaded: &LoadedTrace,
    span: TimeSpan,
    options: &ReportOptions,
    wanted: &[EventId],
    out: &mut dyn Write,
    job: &Job,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let names = trace.sources.iter().map(|source| source.name.len());
    let width = names.max().unwrap_or(0);
    job.add_total(wanted.len() as u64);
    for &id in wanted {
        job.advance(1);
        let time = trace.events.time(id);
        if time < span.start || (time >= span.end && !span.is_endless()) {
            continue;
        }
        let reader = loaded.reader.as_ref();
        let detail = describe(trace, reader, id);
        let is_on_it = detail.cpu.is_some_and(|cpu| options.cpus.contains(cpu));
        if !is_on_it && !options.cpus.is_all() {
            continue;
        }
        let part = event_ref(trace, id).part;
        // The files' ranges of parts are adjacent and ascending.
        let at = (trace.sources).partition_point(|source| source.parts.end <= part);
        let source = trace.sources.get(at);
        if let Some(source) = source {
            write!(out, "{:>width$}: ", one_line(&source.name))?;
        }
        if let Some(tool) = loaded.report.as_deref().map(HasReport::report)
            && tool.write_event(event_ref(trace, id), options, out)? == Wrote::Line
        {
            continue;
        }
        let thread = trace.events.thread(id);
        let name = if thread == Some(ThreadId::IDLE) {
            "<idle>".into()
        } else {
            trace.thread_name(thread)
        };
        let name = one_line(&name);
        let cpu = detail
            .cpu
            .map_or_else(|| "---".to_owned(), |cpu| format!("{cpu:03}"));
        let tid = trace.thread(thread).tid;
        let stamp = if trace.info.clock_unit != ClockUnit::Nanoseconds {
            time.0.to_string()
        } else if options.has_full_times {
            time.to_string()
        } else {
            let micros = time.0.saturating_add(500).div_euclid(1000);
            format!(
                "{}.{:06}",
                micros.div_euclid(1_000_000),
                micros.rem_euclid(1_000_000)
            )
        };
        write!(
            out,
            "{name:>16}-{tid:<5} [{cpu}] {stamp:>12}: {:<22}",
            format!("{}: ", one_line(&detail.name))
        )?;
        if detail.text.is_empty() {
            let fields: Vec<String> = detail
                .fields
                .iter()
                .map(|field| format!("{}={}", one_line(&field.name), one_line(&field.text())))
                .collect();
            writeln!(out, "{}", fields.join(" "))?;
        } else {
            writeln!(out, "{}", one_line(&detail.text.replace('\n', " ")))?;
        }
    }
    Ok(())
}
