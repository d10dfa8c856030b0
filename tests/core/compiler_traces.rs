//! Traces that compilers write of themselves (clang's `-ftime-trace`): what they cost, and where they are in a build.

use std::path::PathBuf;

use threadline::base::Job;
use threadline::load::LoadedTrace;
use threadline::load::together::open_together;

use crate::corpus::corpus;
use crate::tables::rows;

fn together(names: &[&str]) -> LoadedTrace {
    let folder = corpus("time_trace");
    let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    open_together(&paths, &[], &[], &Job::default(), None).unwrap()
}

const COMPILED: [&str; 3] = ["circle.json", "names.json", "main.json"];

#[test]
fn headers_templates_and_passes_cost_what_an_independent_reader_finds() {
    let expected = std::fs::read_to_string(corpus("time_trace").join("costs.tsv")).unwrap();
    let expected: Vec<&str> = expected.lines().collect();
    assert!(expected.len() > 1000);
    for files in [
        &COMPILED[..],
        &["build.strace", "main.json", "circle.json", "names.json"],
    ] {
        let loaded = together(files);
        let found = rows(&loaded, "compiler_costs");
        let columns = ["kind", "name", "count", "compilations", "total", "longest"];
        let mut lines: Vec<String> = found
            .iter()
            .map(|row| columns.map(|column| row[column].as_str()).join("\t"))
            .collect();
        lines.sort();
        let mut expected: Vec<&str> = expected.clone();
        expected.sort_unstable();
        assert_eq!(lines, expected);
        // Own times do not overlap, and most of what a compiler does is one of these.
        let number = |cell: &str| cell.parse::<i64>().unwrap();
        let own: i64 = found.iter().map(|row| number(&row["own"])).sum();
        let compilers = rows(&loaded, "slices");
        let compilers = compilers
            .iter()
            .filter(|row| row["name"] == "ExecuteCompiler");
        let all: i64 = compilers.map(|row| number(&row["dur"])).sum();
        assert!(own > all / 2 && own <= all, "{own} of {all}");
    }
    // The most expensive of each kind come first.
    let found = rows(&together(&COMPILED), "compiler_costs");
    assert!(found[0]["name"].ends_with("src/shapes.hpp"));
    let traces_of_others = rows(&together(&["build.strace"]), "compiler_costs");
    assert!(traces_of_others.is_empty());
}
