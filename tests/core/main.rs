//! What the library and the program do without a window.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may panic and print"
)]

mod against_trace_cmd;
mod analysis;
mod area;
mod borders;
mod build_chains;
mod build_logs;
mod changed_files;
mod chrome_damage;
mod chrome_json;
mod chrome_json_corpus;
mod chrome_round_trip;
mod cli;
mod cli_export;
mod cli_queries;
mod compiler_traces;
mod compiler_traces_found;
mod crowds;
mod dataset;
mod descriptors;
mod ends_not_seen;
mod etrace_bad;
mod etrace_build;
mod etrace_commands;
mod etrace_corpus;
mod etrace_disorder;
mod etrace_lives;
mod etrace_names;
mod etrace_rewritten;
mod exported_parts;
mod exports;
mod faults;
mod floors;
mod ftrace_text;
mod function_graph;
mod fxt_corpus;
mod fxt_reading;
mod installed;
mod json_ids;
mod kernel_calls;
mod kernel_pairs;
mod kernel_words;
mod measured;
mod model;
mod model_files;
mod mutate;
mod mutate_tracedat;
mod outputs;
mod over_losses;
mod own_time;
mod parquet;
mod plots_made;
mod probes;
mod probes_kernel;
mod query;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod record_elsewhere;
#[cfg(target_os = "linux")]
mod record_endings;
#[cfg(target_os = "linux")]
mod record_live;
mod report_filters;
mod report_golden;
mod report_options;
mod round_trip;
mod row_keys;
mod sched_truth;
#[cfg(target_os = "linux")]
mod terminal;
mod text_cases;
mod text_corpus;
mod text_times;
mod text_tracers;
mod together;
mod trace_dat_export;
mod tracedat_corpus;
mod tracer_texts;
mod version;

#[path = "../support/alone.rs"]
mod alone;
#[path = "../support/by_thread.rs"]
mod by_thread;
#[path = "../support/certain.rs"]
mod certain;
#[path = "../support/corpus.rs"]
mod corpus;
#[path = "../support/everything.rs"]
mod everything;
#[path = "../support/files.rs"]
mod files;
#[path = "../support/program.rs"]
mod program;
#[path = "../support/recorder.rs"]
mod recorder;
#[cfg(target_os = "linux")]
#[path = "../support/recording.rs"]
mod recording;
#[path = "../support/tables.rs"]
mod tables;
#[cfg(target_os = "linux")]
#[path = "../support/terminal.rs"]
mod terminal_support;
