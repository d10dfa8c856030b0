//! `threadline render`: the window's view as a PNG or SVG, with no display and no driver.

use std::io::Write;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::{
    CliError, Command, Example, files, files_arguments, load_files, reading, stdout,
    time_arguments, with_progress,
};
use super::startup;
use super::startup::Named;
use crate::base::time::TimeArg;
use crate::base::{Job, TimeSpan};
use crate::export::atomic_file::{Overwrite, write_whole};
use crate::export::{ExportError, check_input};
use crate::gui::{PictureFormat, RenderOptions, render as draw};
use crate::load::Reading;
use crate::view::session::ENDING;
use crate::view::{Session, ThemeChoice};

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "render",
    about: "Draw a trace to a picture (PNG or SVG), without a window",
    arguments: |command| {
        let word = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name)
                .long(name)
                .value_name(value)
                .help(help)
                .action(ArgAction::Set)
        };
        startup::arguments(files_arguments(time_arguments(command)))
            .arg(
                Arg::new("out")
                    .short('o')
                    .value_name("OUT.png")
                    .help("Where to write the picture: an SVG if the name ends so, else a PNG; - for standard output")
                    .required(true)
                    .value_parser(value_parser!(PathBuf)),
            )
            .arg(
                word("size", "WxH", "Its size in pixels")
                    .default_value("1600x900")
                    .value_parser(parse_size),
            )
            .arg(
                word(
                    "scale",
                    "N",
                    "Pixels per point: 2 makes everything twice as large",
                )
                .default_value("1")
                .value_parser(value_parser!(f32)),
            )
            .arg(
                word("theme", "THEME", "Colours")
                    .default_value("dark")
                    .value_parser(["light", "dark"]),
            )
            .arg(
                word(
                    "pane",
                    "NAME",
                    "Open this pane, e.g. info or process-tree; may be repeated: several are side by side",
                )
                .action(ArgAction::Append),
            )
            .arg(word(
                "select",
                "EXPR",
                "Select the first item in the span that matches EXPR, a slice if there is one",
            ))
            .arg(word(
                "find",
                "EXPR",
                "Mark what matches EXPR, and dim all else; EXPR as in the window's search",
            ))
    },
    examples: &[
        Example {
            line: "sample-traces/compress.fxt -o compress.png",
            about: "The whole trace as a picture",
        },
        Example {
            line: "sample-traces/compress.fxt -o view.svg --pane details",
            about: "With a pane, as SVG",
        },
    ],
    run: render,
};

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let expected = || format!("'{text}': expected a size such as 1600x900");
    let (width, height) = text.split_once('x').ok_or_else(expected)?;
    Ok([
        width.parse().map_err(|_| expected())?,
        height.parse().map_err(|_| expected())?,
    ])
}

fn render(matches: &ArgMatches) -> Result<(), CliError> {
    let Named { files: named, todo } = startup::named(matches, files(matches))?;
    let session = match named.as_slice() {
        [path] if path.extension().is_some_and(|ending| ending == ENDING) => {
            let session = Session::read(path).map_err(CliError::Input)?;
            Some((session.traces_near(path), session))
        }
        _ => None,
    };
    let loaded = match &session {
        Some((traces, session)) => load_files(
            matches,
            traces,
            session.offsets.clone(),
            Reading {
                midnight_ns: reading(matches).midnight_ns.or(session.midnight_ns),
                ..reading(matches)
            },
        )?,
        None => load_files(matches, &named, Vec::new(), reading(matches))?,
    };
    let start = loaded.trace.span.start;
    let time = |name: &str| {
        matches
            .get_one::<TimeArg>(name)
            .map(|time| time.resolve(start))
    };
    let (from, until) = (time("from"), time("until"));
    let span = (from.is_some() || until.is_some()).then(|| {
        let whole = loaded.trace.span;
        TimeSpan::new(from.unwrap_or(whole.start), until.unwrap_or(whole.end))
    });
    let is_light = matches
        .get_one::<String>("theme")
        .is_some_and(|theme| theme == "light");
    let out = matches.get_one::<PathBuf>("out");
    let out = out.cloned().unwrap_or_default();
    let options = RenderOptions {
        size: matches.get_one("size").copied().unwrap_or([1600, 900]),
        scale: matches
            .get_one::<f32>("scale")
            .copied()
            .unwrap_or(1.0)
            .clamp(0.5, 8.0),
        span,
        format: PictureFormat::of(&out),
        theme: if is_light {
            ThemeChoice::Light
        } else {
            ThemeChoice::Dark
        },
        panes: matches
            .get_many::<String>("pane")
            .map(|panes| panes.cloned().collect())
            .unwrap_or_default(),
        select: matches.get_one::<String>("select").cloned(),
        find: matches.get_one::<String>("find").cloned(),
        session: session.map(|(_, session)| session),
        todo,
    };
    let picture = with_progress("drawing", &Job::default(), || draw(&loaded, &options));
    let picture = picture.map_err(CliError::Usage)?;
    if out.as_os_str() == "-" {
        stdout().write_all(&picture)?;
        return Ok(());
    }
    let written = write_whole(&out, Overwrite::Replace, |file| {
        file.write_all(&picture)?;
        check_input(&loaded)
    });
    written.map_err(|error| match error {
        ExportError::Io(error) => CliError::Output(error),
        other => CliError::Input(other.to_string()),
    })
}
