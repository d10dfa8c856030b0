# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_threadline_global_optspecs
    string join \n do= follow date= read-as= compiler-traces= memory= no-cache h/help V/version
end

function __fish_threadline_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_threadline_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_threadline_using_subcommand
    set -l cmd (__fish_threadline_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c threadline -n "__fish_threadline_needs_command" -l do -d 'Run this command when the trace is loaded: its name in the palette, e.g. "Fold all" or "Search: dur > 1ms"; may be repeated' -r
complete -c threadline -n "__fish_threadline_needs_command" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_needs_command" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_needs_command" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_needs_command" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_needs_command" -l follow -d 'Read the files again as they grow'
complete -c threadline -n "__fish_threadline_needs_command" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c threadline -n "__fish_threadline_needs_command" -s V -l version -d 'Print version'
complete -c threadline -n "__fish_threadline_needs_command" -a "info" -d 'Show what a trace contains: format, span, counts, clocks, diagnostics'
complete -c threadline -n "__fish_threadline_needs_command" -a "report" -d 'Print all events as text, byte for byte as the format\'s own tool does'
complete -c threadline -n "__fish_threadline_needs_command" -a "table" -d 'Print one of the trace\'s tables; without a name, list all tables'
complete -c threadline -n "__fish_threadline_needs_command" -a "blob" -d 'Save an attachment of a trace (FXT blobs); `table blobs` lists them'
complete -c threadline -n "__fish_threadline_needs_command" -a "search" -d 'Find events, slices, threads ... by text, /regex/ or expression'
complete -c threadline -n "__fish_threadline_needs_command" -a "stats" -d 'Add up slices, runs, states, events or counters: counts, sums, percentiles'
complete -c threadline -n "__fish_threadline_needs_command" -a "latency" -d 'Show how long woken threads waited, or how long it took from one event to another'
complete -c threadline -n "__fish_threadline_needs_command" -a "chain" -d 'Show why a thread waited: who woke it, who woke the waker ... with each hop\'s share'
complete -c threadline -n "__fish_threadline_needs_command" -a "flame" -d 'Merge nested slices, or recorded stacks, into a call tree with totals; unfinished slices count with their least duration (columns unfinished, at_least)'
complete -c threadline -n "__fish_threadline_needs_command" -a "compare" -d 'Put two traces side by side: names with counts and durations, the largest change first'
complete -c threadline -n "__fish_threadline_needs_command" -a "file" -d 'Print who used a file, what went into it, or what was made from it'
complete -c threadline -n "__fish_threadline_needs_command" -a "render" -d 'Draw a trace to a picture (PNG or SVG), without a window'
complete -c threadline -n "__fish_threadline_needs_command" -a "export" -d 'Write a trace, or a range of it, as FXT or another format'
complete -c threadline -n "__fish_threadline_needs_command" -a "dataset" -d 'Keep the tables of many traces as Parquet files, for SQL engines'
complete -c threadline -n "__fish_threadline_needs_command" -a "sql" -d 'Ask about traces or a data set in SQL, with DuckDB'
complete -c threadline -n "__fish_threadline_needs_command" -a "record" -d 'Record what this machine does, with the kernel\'s tracefs, as a trace.dat'
complete -c threadline -n "__fish_threadline_needs_command" -a "probes" -d 'List kprobes and uprobes: definitions and their errors, hits, misses, durations; write a capture script'
complete -c threadline -n "__fish_threadline_needs_command" -a "cache" -d 'List or remove the files from which traces open at once'
complete -c threadline -n "__fish_threadline_needs_command" -a "formats" -d 'List the formats that can be opened'
complete -c threadline -n "__fish_threadline_needs_command" -a "install" -d 'Install icon, file types, completions and manual page, so that a double click opens a trace'
complete -c threadline -n "__fish_threadline_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c threadline -n "__fish_threadline_using_subcommand info" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand info" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand info" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand info" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand info" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand info" -l json -d 'Print one JSON object'
complete -c threadline -n "__fish_threadline_using_subcommand info" -l complete -d 'Build everything that any pane can ask for first, as loading does anyway: for measurements'
complete -c threadline -n "__fish_threadline_using_subcommand info" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand info" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -l from -d 'Only what happens from T on (1.5s, 250ms, 12us, 7ns since the start, or @N ns)' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -l until -d 'Only what happens before T' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -s O -d 'How functions are shown: parent, offset, indent=0, tailprint, depth (trace.dat)' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -l cpu -d 'Only these CPUs: numbers and ranges from low to high (0,2-4); may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -s F -l filter -d 'Only events that match this filter, as in trace-cmd (sched_switch: next_prio < 100; irq; sched/.*: COMM =~ "bash"), or this text, /regex/ or expression (see search); may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -s r -d 'The raw fields of these events (a regular expression); may be repeated (trace.dat)' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -s n -d 'No plugins for these events (a regular expression); may be repeated (trace.dat)' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -s i -d 'A trace, as trace-cmd takes it' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand report" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand report" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand report" -l stat -d 'Only what the kernel counted per CPU (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l events -d 'Only the descriptions of events in the file (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s E -d 'Only the names of events in the file (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s e -d 'Only the byte order of the file (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s p -d 'Only the page size of the recorded machine (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s f -d 'Only the kernel\'s symbols (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s P -d 'Only the formats of trace_printk (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l uname -d 'Only the system that was recorded (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l version -d 'Only the version of trace-cmd that recorded (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l cpus -d 'Only the CPUs that have data (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l first-event -d 'Only the time of each CPU\'s first event (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l last-event -d 'Only the time of each CPU\'s last event (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s L -d 'As -N: trace-cmd then uses the plugins in the user\'s folder alone'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s G -d 'Accepted as in trace-cmd, without effect: it is for --profile'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s q -d 'Accepted as in trace-cmd, without effect: formats are read without warnings'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s V -d 'Accepted as in trace-cmd, without effect: there are no messages about plugins'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l ts-diff -d 'The time from the line before to each line (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l ts-check -d 'Warn of each event whose time is before that of the event before it on its CPU (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l raw-ts -d 'Times as they were recorded, without any correction (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l nodate -d 'Times without what record --date or --ts-offset added (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l align-ts -d 'Times since the first event of all files (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s t -d 'Full time stamps instead of microseconds'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s N -d 'No plugins: only each event\'s own print format'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s R -d 'Raw field values'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s l -d 'The columns of the latency format'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l no-flags -d 'Leave out the latency-flags column, as trace-cmd before 3.2 did'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s w -d 'How long threads waited from wakeup to switch (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s v -d 'Leave out the events that match the filters after this option'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s I -d 'Leave out events in hard interrupts (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s S -d 'Leave out events in soft interrupts (trace.dat)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand report" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand table" -l from -d 'Only what happens from T on (1.5s, 250ms, 12us, 7ns since the start, or @N ns)' -r
complete -c threadline -n "__fish_threadline_using_subcommand table" -l until -d 'Only what happens before T' -r
complete -c threadline -n "__fish_threadline_using_subcommand table" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand table" -s o -l output -d 'Write into a file, as tsv, csv, json or parquet [default: by OUT\'s ending]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand table" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''
parquet\t''"
complete -c threadline -n "__fish_threadline_using_subcommand table" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand table" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand table" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand table" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand table" -s f -l force -d 'Replace OUT if it exists'
complete -c threadline -n "__fish_threadline_using_subcommand table" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand table" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand table" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand blob" -s o -l output -d 'Where to write; - for standard output' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand blob" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand blob" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand blob" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand blob" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand blob" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand blob" -s f -l force -d 'Replace OUT if it exists'
complete -c threadline -n "__fish_threadline_using_subcommand blob" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand blob" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand search" -l from -d 'Only what happens from T on (1.5s, 250ms, 12us, 7ns since the start, or @N ns)' -r
complete -c threadline -n "__fish_threadline_using_subcommand search" -l until -d 'Only what happens before T' -r
complete -c threadline -n "__fish_threadline_using_subcommand search" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand search" -l in -d 'Look only in these; may be repeated' -r -f -a "processes\t''
threads\t''
tracks\t''
slices\t''
events\t''
instants\t''
flows\t''
logs\t''
states\t''
runs\t''
gaps\t''"
complete -c threadline -n "__fish_threadline_using_subcommand search" -l limit -d 'Print only the first N' -r
complete -c threadline -n "__fish_threadline_using_subcommand search" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand search" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand search" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand search" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand search" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand search" -l count -d 'Print only how many there are'
complete -c threadline -n "__fish_threadline_using_subcommand search" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand search" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand search" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l from -d 'Only what happens from T on (1.5s, 250ms, 12us, 7ns since the start, or @N ns)' -r
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l until -d 'Only what happens before T' -r
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l process -d 'Only what this process did, beside other selected processes, threads and tracks; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l thread -d 'Only what this thread did, beside other selected processes, threads and tracks; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l track -d 'Only tracks and counters called NAME or, if there are none, with NAME in their name: a thread\'s track means --thread; `CPU 0` alone means --cpu 0, with other selections only what that CPU\'s track shows; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l cpu -d 'Only what happened on CPU N, or on several (0,2-4): a thread\'s slice counts once if the thread ran there during it, with the time that it ran there in the range; slices of the CPU itself (interrupts) count as without --cpu, operations on asynchronous tracks are of no CPU. With --thread or --process only what these did there. May be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l of -d 'What to add up: slices with their whole durations (unfinished ones apart, with their least duration), runs and states with their part inside the range, events by their number; calls: system calls with their errors, as strace -c prints them' -r -f -a "slices\t''
runs\t''
states\t''
events\t''
counters\t''
calls\t''"
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l by -d 'What to group by (name: for states, the state; thread-name: all threads of a name)' -r -f -a "name\t''
thread\t''
thread-name\t''
process\t''
cpu\t''"
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l kind -d 'Only slices of this kind; without it each kind has its own rows' -r -f -a "durations\t''
functions\t''
probes\t''
system calls\t''
processes\t''
open files\t''
interrupts\t''
timers\t''
work items\t''
event pairs\t''
block requests\t''
asynchronous\t''"
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand stats" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand stats" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l from -d 'Only what happens from T on (1.5s, 250ms, 12us, 7ns since the start, or @N ns)' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l until -d 'Only what happens before T' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l cpu -d 'Only what happened on CPU N, or on several (0,2-4); may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l process -d 'Only what this process did, beside other selected processes, threads and tracks; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l thread -d 'Only what this thread did, beside other selected processes, threads and tracks; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l track -d 'Only tracks and counters called NAME or, if there are none, with NAME in their name: a thread\'s track means --thread; `CPU 0` alone means --cpu 0, with other selections only what that CPU\'s track shows; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l begin -d 'The first event of each pair: a name, or an expression as in search; without it, wakeups of threads' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l end -d 'The second event of each pair' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l key -d 'What the two events have in common: any, tid, cpu, FIELD, or FIELD=FIELD of the second' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l worst -d 'Print the N longest one by one instead of the sums' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand latency" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand latency" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand chain" -l thread -d 'Who waited' -r
complete -c threadline -n "__fish_threadline_using_subcommand chain" -l at -d 'The time (1.5s, 250ms since the start, or @N ns): the thread\'s wait at that time, or the last one before it' -r
complete -c threadline -n "__fish_threadline_using_subcommand chain" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand chain" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand chain" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand chain" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand chain" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand chain" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand chain" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand chain" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l from -d 'Only what happens from T on (1.5s, 250ms, 12us, 7ns since the start, or @N ns)' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l until -d 'Only what happens before T' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l process -d 'Only what this process did, beside other selected processes, threads and tracks; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l thread -d 'Only what this thread did, beside other selected processes, threads and tracks; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l track -d 'Only tracks and counters called NAME or, if there are none, with NAME in their name: a thread\'s track means --thread; `CPU 0` alone means --cpu 0, with other selections only what that CPU\'s track shows; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l cpu -d 'Only what happened on CPU N, or on several (0,2-4): a thread\'s slice counts once if the thread ran there during it, with the time that it ran there in the range; slices of the CPU itself (interrupts) count as without --cpu, operations on asynchronous tracks are of no CPU. With --thread or --process only what these did there. May be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l as -d 'tree: from callers to what they call; bottom-up: from what is called to its callers; names: one row for each name; folded: a;b;c N, as flame graph tools read it' -r -f -a "tree\t''
bottom-up\t''
names\t''
folded\t''"
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l limit -d 'Print only the first N rows' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l stacks -d 'Recorded stacks (kernel_stack and others) instead of slices'
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l by-track -d 'Each thread and track by itself'
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand flame" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand flame" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l from -d 'Only what happens from T on (1.5s, 250ms, 12us, 7ns since the start, or @N ns)' -r
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l until -d 'Only what happens before T' -r
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l of -d 'What to compare; threads by their time on CPUs' -r -f -a "slices\t''
events\t''
threads\t''
states\t''"
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l sort -d 'Sort by the change of this [default: sum; for events: count]; unfinished slices count with their least duration' -r -f -a "sum\t''
count\t''
mean\t''
p95\t''"
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand compare" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand compare" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand file" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand file" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand file" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand file" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand file" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand file" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand file" -l went-into -d 'List what went into it, step by step'
complete -c threadline -n "__fish_threadline_using_subcommand file" -l made-from -d 'List what was made from it, step by step'
complete -c threadline -n "__fish_threadline_using_subcommand file" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand file" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand file" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand render" -l from -d 'Only what happens from T on (1.5s, 250ms, 12us, 7ns since the start, or @N ns)' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l until -d 'Only what happens before T' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l do -d 'Run this command when the trace is loaded: its name in the palette, e.g. "Fold all" or "Search: dur > 1ms"; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -s o -d 'Where to write the picture: an SVG if the name ends so, else a PNG; - for standard output' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand render" -l size -d 'Its size in pixels' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l scale -d 'Pixels per point: 2 makes everything twice as large' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l theme -d 'Colours' -r -f -a "light\t''
dark\t''"
complete -c threadline -n "__fish_threadline_using_subcommand render" -l pane -d 'Open this pane, e.g. info or process-tree; may be repeated: several are side by side' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l select -d 'Select the first item in the span that matches EXPR, a slice if there is one' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l find -d 'Mark what matches EXPR, and dim all else; EXPR as in the window\'s search' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand render" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand render" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand render" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand export" -l from -d 'Only what happens from T on (1.5s, 250ms, 12us, 7ns since the start, or @N ns)' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -l until -d 'Only what happens before T' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -l offset -d 'Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files\' clocks' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -l cpu -d 'Only what happened on CPU N, or on several (0,2-4); may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -l process -d 'Only what this process did, beside other selected processes, threads and tracks; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -l thread -d 'Only what this thread did, beside other selected processes, threads and tracks; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -l track -d 'Only tracks and counters called NAME or, if there are none, with NAME in their name: a thread\'s track means --thread; `CPU 0` alone means --cpu 0, with other selections only what that CPU\'s track shows; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -s o -l output -d 'Where to write; - for standard output' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand export" -l to -d 'What to write [default: by OUT\'s ending (.json: chrome-json), else fxt]' -r -f -a "fxt\t''
perfetto\t''
trace-dat\t''
chrome-json\t''
csv\t''
json\t''
parquet\t''
compile-commands\t''
process-tree-json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand export" -l table -d 'Which table csv, json and parquet write [default: slices]' -r -f -a "slices\t''
instants\t''
counters\t''
flows\t''
runs\t''
states\t''
processes\t''
threads\t''
files\t''
events\t''
logs\t''
diagnostics\t''
blobs\t''
tracks\t''
args\t''
process_times\t''
file_uses\t''
file_list\t''
file_dependencies\t''
programs\t''
critical_chain\t''
compiler_costs\t''
compiler_totals\t''
failed\t''
parallelism\t''
syscalls\t''
probes\t''
gaps\t''
sources\t''"
complete -c threadline -n "__fish_threadline_using_subcommand export" -l event -d 'Only events of this kind in a trace.dat, e.g. sched_switch or sched:sched_switch; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand export" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand export" -s f -l force -d 'Replace OUT if it exists'
complete -c threadline -n "__fish_threadline_using_subcommand export" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand export" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand export" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -f -a "add" -d 'Add traces; one with the same contents is replaced'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -f -a "compact" -d 'Join the parts of each table, date and bucket'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -f -a "list" -d 'Print the traces of a data set'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -f -a "views" -d 'Print what makes the tables known to an engine'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -f -a "tables" -d 'Print the tables and columns that data sets have'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and not __fish_seen_subcommand_from add compact list views tables help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -l tables -d 'Only these tables [default: all but ftrace_event and args]' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -l events -d 'Also a table for each of these kinds of events' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -l label -d 'A label of these traces, in the table trace_label; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -l jobs -d 'How many traces are converted at once [default: 1]' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -l buckets -d 'How many buckets a new data set has [default: 16]' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from compact" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from compact" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from compact" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from compact" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from compact" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from compact" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from list" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from list" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from list" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from list" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from list" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from list" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from list" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from views" -l for -d 'The engine' -r -f -a "duckdb\t''
spark\t''
trino\t''
polars\t''"
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from views" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from views" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from views" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from views" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from views" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from views" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from tables" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from tables" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from tables" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from tables" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from tables" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from tables" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from tables" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from tables" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from help" -f -a "add" -d 'Add traces; one with the same contents is replaced'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from help" -f -a "compact" -d 'Join the parts of each table, date and bucket'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from help" -f -a "list" -d 'Print the traces of a data set'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from help" -f -a "views" -d 'Print what makes the tables known to an engine'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from help" -f -a "tables" -d 'Print the tables and columns that data sets have'
complete -c threadline -n "__fish_threadline_using_subcommand dataset; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c threadline -n "__fish_threadline_using_subcommand sql" -s o -l output -d 'Write into a file [default: standard output]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand sql" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''
parquet\t''"
complete -c threadline -n "__fish_threadline_using_subcommand sql" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand sql" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand sql" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand sql" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand sql" -s f -l force -d 'Replace OUT if it exists'
complete -c threadline -n "__fish_threadline_using_subcommand sql" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand sql" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand sql" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand record" -s e -l event -d 'Record these events: SYSTEM:EVENT, SYSTEM or EVENT, with * for any characters; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -s f -l filter -d 'The kernel\'s filter for the -e before it, e.g. \'prev_prio < 100\'' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -s p -l tracer -d 'Trace functions: function or function_graph' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -s l -l function -d 'Trace only functions with this name (* for any characters); may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -s g -l graph-function -d 'With function_graph, trace this function and what it calls; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l probe -d 'Define a probe for this recording, e.g. \'p vfs_read count=%dx\'; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -s P -l pid -d 'Record only this thread; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -s C -l clock -d 'The clock of the events: local, mono, boot ... [default: the kernel\'s, local]' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -s b -l buffer-size -d 'Size of the kernel\'s buffer for each CPU, e.g. 16M' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand record" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l preset -d 'Record a ready set of events: sched, irq, syscalls, block, latency or build; may be repeated' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l for -d 'Stop after this time, e.g. 10s' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l until-event -d 'Stop when something matches this expression of `threadline search`' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l ring -d 'Keep only the last stretch, in memory, and write it when --trigger matches' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l ring-memory -d 'Keep at most this much for --ring' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l trigger -d 'What --ring waits for, as in `threadline search`: \'state == runnable && dur > 5ms\' is a late wakeup' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l after -d 'Record for this time after --trigger matched' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l repeat -d 'Write up to N files, FILE and FILE-2 to FILE-N, each when --trigger matches again' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -s o -l output -d 'Where to write' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand record" -l on -d 'Record another machine, where only a shell is needed; ssh must not ask for a password, and the user there must be root' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l on-command -d 'Record the machine on which this command gives a root shell, e.g. \'docker exec -i NAME sh\' or \'adb shell\'' -r
complete -c threadline -n "__fish_threadline_using_subcommand record" -l live -d 'Let another program read the recording in this empty folder while it is made; a line `stop` on standard input ends it' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand record" -l stack -d 'Record the kernel\'s stack after each event'
complete -c threadline -n "__fish_threadline_using_subcommand record" -l children -d 'With -P, record what those threads start, too'
complete -c threadline -n "__fish_threadline_using_subcommand record" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand record" -l force -d 'Replace FILE if it exists'
complete -c threadline -n "__fish_threadline_using_subcommand record" -l compress -d 'Compress the file with zstd'
complete -c threadline -n "__fish_threadline_using_subcommand record" -l pkexec -d 'Get the rights from polkit, which asks for a password, for the part that uses tracefs'
complete -c threadline -n "__fish_threadline_using_subcommand record" -l list -d 'Print the sets, and the events, tracers and clocks of this kernel'
complete -c threadline -n "__fish_threadline_using_subcommand record" -l clean-up -d 'Put back what a killed recording left in the kernel'
complete -c threadline -n "__fish_threadline_using_subcommand record" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l definitions -d 'kprobe_events, uprobe_events or dynamic_events, or a kernel command line' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l profile -d 'kprobe_profile or uprobe_profile' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l script -d 'Write a script that records these probes with trace-cmd; - for standard output' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l event -d 'Only this probe (EVENT or GROUP/EVENT)' -r
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l format -d 'How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]' -r -f -a "table\t''
tsv\t''
csv\t''
json\t''"
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l force -d 'Replace OUT if it exists'
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l quote-formulas -d 'In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)'
complete -c threadline -n "__fish_threadline_using_subcommand probes" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand probes" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand cache; and not __fish_seen_subcommand_from list clear help" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand cache; and not __fish_seen_subcommand_from list clear help" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand cache; and not __fish_seen_subcommand_from list clear help" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand cache; and not __fish_seen_subcommand_from list clear help" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand cache; and not __fish_seen_subcommand_from list clear help" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand cache; and not __fish_seen_subcommand_from list clear help" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand cache; and not __fish_seen_subcommand_from list clear help" -f -a "list" -d 'List the model files: size, days since the last use, path'
complete -c threadline -n "__fish_threadline_using_subcommand cache; and not __fish_seen_subcommand_from list clear help" -f -a "clear" -d 'Remove all model files'
complete -c threadline -n "__fish_threadline_using_subcommand cache; and not __fish_seen_subcommand_from list clear help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c threadline -n "__fish_threadline_using_subcommand cache; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand cache; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the model files: size, days since the last use, path'
complete -c threadline -n "__fish_threadline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "clear" -d 'Remove all model files'
complete -c threadline -n "__fish_threadline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c threadline -n "__fish_threadline_using_subcommand formats" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand formats" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand formats" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand formats" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand formats" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand formats" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand install" -l date -d 'Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC' -r
complete -c threadline -n "__fish_threadline_using_subcommand install" -l read-as -d 'Read the files as this format (see `threadline formats`), whatever they look like' -r
complete -c threadline -n "__fish_threadline_using_subcommand install" -l compiler-traces -d 'Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand install" -l memory -d 'Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]' -r
complete -c threadline -n "__fish_threadline_using_subcommand install" -l prefix -d 'Put them under DIR/share (default: $XDG_DATA_HOME, else ~/.local/share)' -r -F
complete -c threadline -n "__fish_threadline_using_subcommand install" -l print -d 'Only print the manual page or the completions of a shell' -r -f -a "man\t''
bash\t''
zsh\t''
fish\t''"
complete -c threadline -n "__fish_threadline_using_subcommand install" -l no-cache -d 'Neither use nor write model files, from which files open at once the next time (see `threadline cache`)'
complete -c threadline -n "__fish_threadline_using_subcommand install" -l remove -d 'Remove them again'
complete -c threadline -n "__fish_threadline_using_subcommand install" -s h -l help -d 'Print help'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "info" -d 'Show what a trace contains: format, span, counts, clocks, diagnostics'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "report" -d 'Print all events as text, byte for byte as the format\'s own tool does'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "table" -d 'Print one of the trace\'s tables; without a name, list all tables'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "blob" -d 'Save an attachment of a trace (FXT blobs); `table blobs` lists them'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "search" -d 'Find events, slices, threads ... by text, /regex/ or expression'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "stats" -d 'Add up slices, runs, states, events or counters: counts, sums, percentiles'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "latency" -d 'Show how long woken threads waited, or how long it took from one event to another'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "chain" -d 'Show why a thread waited: who woke it, who woke the waker ... with each hop\'s share'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "flame" -d 'Merge nested slices, or recorded stacks, into a call tree with totals; unfinished slices count with their least duration (columns unfinished, at_least)'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "compare" -d 'Put two traces side by side: names with counts and durations, the largest change first'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "file" -d 'Print who used a file, what went into it, or what was made from it'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "render" -d 'Draw a trace to a picture (PNG or SVG), without a window'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "export" -d 'Write a trace, or a range of it, as FXT or another format'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "dataset" -d 'Keep the tables of many traces as Parquet files, for SQL engines'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "sql" -d 'Ask about traces or a data set in SQL, with DuckDB'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "record" -d 'Record what this machine does, with the kernel\'s tracefs, as a trace.dat'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "probes" -d 'List kprobes and uprobes: definitions and their errors, hits, misses, durations; write a capture script'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "cache" -d 'List or remove the files from which traces open at once'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "formats" -d 'List the formats that can be opened'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "install" -d 'Install icon, file types, completions and manual page, so that a double click opens a trace'
complete -c threadline -n "__fish_threadline_using_subcommand help; and not __fish_seen_subcommand_from info report table blob search stats latency chain flame compare file render export dataset sql record probes cache formats install help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c threadline -n "__fish_threadline_using_subcommand help; and __fish_seen_subcommand_from dataset" -f -a "add" -d 'Add traces; one with the same contents is replaced'
complete -c threadline -n "__fish_threadline_using_subcommand help; and __fish_seen_subcommand_from dataset" -f -a "compact" -d 'Join the parts of each table, date and bucket'
complete -c threadline -n "__fish_threadline_using_subcommand help; and __fish_seen_subcommand_from dataset" -f -a "list" -d 'Print the traces of a data set'
complete -c threadline -n "__fish_threadline_using_subcommand help; and __fish_seen_subcommand_from dataset" -f -a "views" -d 'Print what makes the tables known to an engine'
complete -c threadline -n "__fish_threadline_using_subcommand help; and __fish_seen_subcommand_from dataset" -f -a "tables" -d 'Print the tables and columns that data sets have'
complete -c threadline -n "__fish_threadline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "list" -d 'List the model files: size, days since the last use, path'
complete -c threadline -n "__fish_threadline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "clear" -d 'Remove all model files'
