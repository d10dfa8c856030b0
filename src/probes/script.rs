//! Writes a shell script that records a chosen set of probes with trace-cmd and removes them afterwards: for another
//! recording with probes that this trace lacks.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use super::definition::{ProbeDefinition, ProbePlace};

/// Returns the script for these probes. `output` is the file that it records to unless `$OUT` names another.
#[must_use]
pub(crate) fn capture_script(probes: &[&ProbeDefinition], output: &str) -> String {
    let mut script = String::from(
        "#!/bin/sh\n\
         # Records the probes below with trace-cmd, and takes them away afterwards.\n\
         #\n\
         #   sudo sh THIS_FILE                 until Ctrl+C\n\
         #   sudo sh THIS_FILE COMMAND ...     while the command runs\n\
         #   OUT=other.dat sudo -E sh THIS_FILE ...\n\
         #\n\
         # Open the recording with its definitions: threadline \"$OUT\" \"$OUT.probes\" \"$OUT.profile\"\n\
         set -eu\n\
         # What stands in '...' is the kernel's: shellcheck disable=SC2016,SC2043,SC2317\n\n",
    );
    let _ = writeln!(script, "OUT=${{OUT:-{}}}", quoted(output));
    script.push_str(
        "tracing=/sys/kernel/tracing\n\
         [ -e \"$tracing/trace\" ] || tracing=/sys/kernel/debug/tracing\n",
    );
    let mut files: Vec<&str> = probes.iter().map(|probe| file_of(probe)).collect();
    files.sort_unstable();
    files.dedup();
    let _ = writeln!(script, "for file in {}; do", files.join(" "));
    script.push_str(
        "    if [ ! -w \"$tracing/$file\" ]; then\n\
         \x20       echo \"cannot write $tracing/$file: run this as root, on a kernel with such probes\" >&2\n\
         \x20       exit 1\n\
         \x20   fi\n\
         done\n\
         command -v trace-cmd >/dev/null || { echo \"trace-cmd is not installed\" >&2; exit 1; }\n\n\
         # Only what this script defined is taken away again.\n\
         mine=\n\
         clean_up() {\n\
         \x20   for one in $mine; do\n\
         \x20       echo 0 > \"$tracing/events/${one#*:}/enable\" || :\n\
         \x20       echo \"-:${one#*:}\" >> \"$tracing/${one%%:*}\" || :\n\
         \x20   done\n\
         }\n\
         trap clean_up EXIT\n\
         trap 'exit 143' TERM HUP\n\
         # Ctrl+C ends the recording, not this script.\n\
         trap : INT\n\n\
         # define FILE GROUP/EVENT DEFINITION\n\
         define() {\n\
         \x20   case \" $mine \" in\n\
         \x20   *\" $1:$2 \"*) ;;\n\
         \x20   *)\n\
         \x20       if [ -e \"$tracing/events/$2\" ]; then\n\
         \x20           echo \"there is an event $2 already: remove it, or name this one otherwise\" >&2\n\
         \x20           exit 1\n\
         \x20       fi ;;\n\
         \x20   esac\n\
         \x20   if ! printf '%s\\n' \"$3\" >> \"$tracing/$1\"; then\n\
         \x20       echo \"the kernel refused: $3\" >&2\n\
         \x20       tail -n 3 \"$tracing/error_log\" >&2 2>/dev/null || :\n\
         \x20       exit 1\n\
         \x20   fi\n\
         \x20   case \" $mine \" in *\" $1:$2 \"*) ;; *) mine=\"$mine $1:$2\" ;; esac\n\
         \x20   printf '%s\\n' \"$3\" >> \"$OUT.probes\"\n\
         }\n\n\
         : > \"$OUT.probes\"\n",
    );
    let mut events: Vec<String> = Vec::new();
    let mut known = FxHashSet::default();
    for probe in probes {
        let file = file_of(probe);
        let _ = writeln!(
            script,
            "define {file} {}/{} {}",
            probe.group,
            probe.event,
            quoted(&probe.to_string())
        );
        let event = format!("{}:{}", probe.group, probe.event);
        if known.insert(event.clone()) {
            events.push(event);
        }
    }
    script.push_str("\nstatus=0\ntrace-cmd record -o \"$OUT\"");
    for event in &events {
        let _ = write!(script, " \\\n    -e {event}");
    }
    script.push_str(
        " \\\n    \"$@\" || status=$?\n\n\
         # Hits and misses, while the probes are still there.\n\
         cat \"$tracing/kprobe_profile\" \"$tracing/uprobe_profile\" > \"$OUT.profile\" 2>/dev/null || :\n\
         if [ \"$status\" -eq 0 ]; then\n\
         \x20   echo \"recorded: $OUT, with $OUT.probes and $OUT.profile\"\n\
         else\n\
         \x20   echo \"trace-cmd failed with status $status\" >&2\n\
         fi\n\
         exit \"$status\"\n",
    );
    script
}

/// Returns the kernel's file that accepts this definition.
fn file_of(probe: &ProbeDefinition) -> &'static str {
    match probe.place {
        ProbePlace::File { .. } => "uprobe_events",
        ProbePlace::Event { .. } | ProbePlace::Function { .. } | ProbePlace::Tracepoint(_) => {
            "dynamic_events"
        }
        ProbePlace::Symbol { .. } | ProbePlace::Address(_) => "kprobe_events",
    }
}

/// Returns the text quoted for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
