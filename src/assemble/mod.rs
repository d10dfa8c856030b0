//! Makes a [`Trace`] of the columns that readers return.
//!
//! Each stage returns a value that later stages borrow or consume. [`assemble`] calls the stages in this order:
//!
//! ```text
//! merge         one table each for the strings, labels and kinds of all parts (`labels`); events as segments
//!               (`recorded`), all other rows sorted by kind (`rows`)
//! people        threads and processes from keys, several from a reused key
//! losses        when events of each CPU were recorded, and when events were lost
//! scheduling    runs per CPU and states per thread from switches and wakeups
//! files         rows about files, with complete paths
//! pairing       slices from begins and ends of a track; begins and ends without a partner are counted
//!   measured    places slices whose duration the recorder measured
//!   nesting     parents of slices, and rows without overlaps (`free_rows`)
//! async_tracks  slices from asynchronous begins and ends, on the tracks of their groups
//!   open_asyncs which open asynchronous slice an end closes
//!   requests    asynchronous begins and ends from events of the block layer
//! derived       arrows from writers of files to later readers (`file_history`); for formats that ask for it also
//!               slices of programs and open files, arrows of forks and pipes (`programs`, `files`)
//! points        instants from events that no slice, run or counter shows
//! slice_table   the tables of tracks, slices and instants
//! cuts          marks slices, runs and states of which the file contains only a part
//! counters      counter tracks from samples
//! logs          the table of log messages
//! flow_links    arrows between slices from flow marks (`around`)
//! ```
//!
//! `join` joins several traces, each with an offset, on one axis; `preview` makes a trace of the parts that are read so
//! far.
//!
//! The stages have no side effects. They run on rayon: those that collect rows are parallel over parts, those that make
//! tables over tracks, threads and CPUs. Between stages, and inside long stages between parts and tracks, the job is
//! checked, so that a load can be cancelled.

mod around;
mod async_tracks;
mod counters;
mod cuts;
mod derived;
mod draft;
pub mod file_history;
mod files;
mod flow_links;
mod free_rows;
mod grain;
mod group;
pub(crate) mod join;
mod labels;
mod link;
mod logs;
mod losses;
mod measured;
mod merge;
mod nesting;
mod open_asyncs;
mod pairing;
mod people;
mod points;
pub(crate) mod preview;
mod programs;
mod recorded;
mod requests;
mod rows;
mod scheduling;
mod slice_table;
mod stretch;
mod track_number;
mod whereabouts;

use crate::base::{Cancelled, Job};
use crate::event::part::ClockUnit;
use crate::event::{Directory, Lane, PartColumns, TraceInfo};
use crate::trace::{Cpu, Files, Trace};
use async_tracks::{AsyncRows, async_slices, sort_tracks};
use counters::counters;
use cuts::Cuts;
use derived::{Evidence, derive};
use files::{Doers, file_work, with_file_work};
use flow_links::{FlowRows, Ground, flow_table};
use grain::Grain;
use logs::logs;
use losses::{Losses, Lost};
use measured::Axis;
use merge::{Merged, merge};
use pairing::{PairingRows, Surroundings, pair_slices};
use people::{Identities, identify, with_ends, with_stated_facts};
use points::{PointRules, points};
use programs::{join_tracks, with_program_names};
use scheduling::schedule;
use slice_table::{OnTracks, track_tables};
use whereabouts::{Missing, WaitsOverLosses, Whereabouts};

/// Returns the [`Trace`] of all parts; `parts` are sorted by lane, and in file order inside each lane.
///
/// # Errors
/// If the job is cancelled.
pub fn assemble(
    parts: Vec<PartColumns>,
    lanes: &[Lane],
    directory: &Directory,
    info: TraceInfo,
    job: &Job,
) -> Result<Trace, Cancelled> {
    let merged = merge(parts, lanes, directory, info.clock_unit, job)?;
    let identities = identify(&merged, directory);
    job.check()?;
    let Merged {
        recorded,
        rows,
        mut strings,
        directory_strings,
        mut labels,
        label_pairs,
        habits,
        kinds,
        mut gaps,
        seams,
        measured,
        span,
        mut diagnostics,
    } = merged;
    let Identities {
        keys,
        people,
        births,
        acts,
        taken_over,
        replaced,
    } = identities;
    let mut recorded = recorded.with_threads(keys);
    losses::count_single_gaps(&mut gaps, &info.losses);
    let lost = Lost {
        gaps: &gaps,
        seams: &seams,
        counted: &info.losses,
        span,
    };
    let losses = Losses::new(&recorded, lost);
    job.check()?;

    let whereabouts = Whereabouts::new(&rows.scheduling, &recorded, &losses);
    let missing = Missing {
        losses: &losses,
        whereabouts: &whereabouts,
    };
    let scheduling = schedule(
        rows.scheduling,
        &recorded,
        &kinds,
        missing,
        scheduling::Threads {
            all: &people.threads,
            taken_over: &taken_over,
        },
    );
    diagnostics.merge(scheduling.diagnostics);
    let people = with_ends(people, &scheduling.states);
    let people = with_stated_facts(
        people,
        directory,
        &directory_strings,
        &recorded.events.threads,
    );
    job.check()?;

    let doers = Doers {
        lives: &rows.lives,
        people: &people,
        births: &births,
    };
    let files = file_work(rows.files, &recorded, doers, &mut strings);
    job.check()?;

    let pairing = PairingRows {
        marks: rows.marks,
        completes: rows.completes,
        measured,
        call_depths: rows.call_depths,
        axis: match info.clock_unit {
            ClockUnit::Nanoseconds => Axis::Nanos(span),
            _ => Axis::OtherUnit,
        },
        pairs: label_pairs,
        habits,
        abi: directory.syscall_abi,
        taken_over,
    };
    let waits = WaitsOverLosses::new(&scheduling.states);
    let around = Surroundings {
        recorded: &recorded,
        missing,
        waits: &waits,
        threads: &people.threads,
        births: &births,
    };
    let paired = pair_slices(pairing, around, &mut strings, &mut labels, job)?;
    diagnostics.merge(paired.diagnostics);

    let async_rows = AsyncRows {
        marks: rows.asyncs,
        requests: rows.requests,
    };
    let asyncs = async_slices(async_rows, &recorded, &people, &mut strings, &mut labels);
    diagnostics.merge(asyncs.diagnostics);
    job.check()?;

    let evidence = Evidence {
        directory,
        directory_strings: &directory_strings,
        recorded: &recorded,
        people: &people,
        births: &births,
        acts: &acts,
        files: &files,
        runs: &scheduling.runs,
    };
    let derived = derive(evidence, &mut strings, &mut labels);
    diagnostics.merge(derived.diagnostics);
    job.check()?;

    let leftovers = [paired.leftovers, derived.leftovers].concat();
    let which = PointRules {
        kinds: &kinds,
        leftovers: &leftovers,
        elsewhere: &asyncs.instants,
    };
    let points = points(&recorded, which);
    job.check()?;
    let mut async_tracks = asyncs.tracks;
    async_tracks.extend(derived.open_files);
    sort_tracks(&mut async_tracks, &strings);
    let mut nested = join_tracks(paired.tracks, derived.programs);
    let grain = Grain::of(info.resolution_ns);
    if let Some(grain) = grain {
        grain.tracks(&mut nested, &recorded.events);
        for track in &mut async_tracks {
            grain.nested(&mut track.nested, &recorded.events);
        }
        recorded.events.round_down(grain.ns());
    }
    let on_tracks = OnTracks {
        nested,
        asyncs: async_tracks,
        points,
        labels,
    };
    let mut tables = track_tables(on_tracks, recorded.cpus.len());
    job.check()?;
    let cuts = Cuts::new(&rows.cuts, &recorded, directory, scheduling.lost, span);
    let cuts = cuts.with_replaced(replaced);
    cuts.mark_slices(&mut tables.slices);
    job.check()?;

    let mut counters = counters(&rows.samples, &recorded, &people.process_of_key, &strings);
    let mut logs = logs(&rows.logs, &recorded);
    job.check()?;
    let flow_rows = FlowRows {
        marks: rows.flows,
        links: derived.links,
    };
    let ground = Ground {
        recorded: &recorded,
        tables: &tables,
        people: &people,
    };
    let flow_table = flow_table(flow_rows, ground);
    diagnostics.merge(flow_table.diagnostics);
    job.check()?;

    let people = with_file_work(people, files.opens, &files.image_directories);
    let people = match &derived.running {
        Some(running) => with_program_names(people, running),
        None => people,
    };
    let cpus = recorded.cpus.into_iter().map(|number| Cpu { number });
    let mut people = people;
    let mut runs = derived.runs.unwrap_or(scheduling.runs);
    let mut states = scheduling.states;
    cuts.mark_runs(&mut runs);
    cuts.mark_states(&mut states);
    let (mut file_rows, mut writes) = (files.rows, files.writes);
    let mut span = span;
    if let Some(grain) = grain {
        span = grain.span(span);
        grain.people(&mut people);
        grain.counters(&mut counters);
        grain.runs(&mut runs);
        grain.states(&mut states);
        grain.logs(&mut logs);
        grain.files(&mut file_rows);
        grain.files(&mut writes);
        grain.gaps(&mut gaps);
    }
    Ok(Trace {
        info,
        span,
        strings: strings.into(),
        kinds,
        events: recorded.events.into(),
        cpus: cpus.collect(),
        threads: people.threads,
        processes: people.processes.into(),
        tracks: tables.tracks,
        slices: tables.slices.into(),
        instants: tables.instants.into(),
        counters,
        plots: Vec::new(),
        flows: flow_table.flows.into(),
        runs: runs.into(),
        states: states.into(),
        logs: logs.into(),
        files: Files {
            rows: file_rows,
            writes,
            opens: directory.opens,
        }
        .into(),
        gaps,
        sources: Vec::new(),
        diagnostics,
    })
}
