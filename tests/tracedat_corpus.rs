//! Opens every trace.dat of the corpus and counts what is in it against what trace-cmd counted.

use std::collections::BTreeMap;
use std::path::PathBuf;

use threadline::base::Severity;
use threadline::formats::Input;
use threadline::formats::tracedat::TraceFile;

fn corpus() -> Option<PathBuf> {
    let base = std::env::var_os("THREADLINE_CORPUS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"),
        PathBuf::from,
    );
    let folder = base.join("tracedat");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no corpus at {}", folder.display());
    None
}

/// "types" and per-CPU counts of the manifest, where it has them.
fn files() -> Vec<(String, Vec<u8>, serde_json::Value)> {
    let Some(folder) = corpus() else {
        return Vec::new();
    };
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let mut files = Vec::new();
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "dat"))
        .collect();
    names.sort();
    for path in names {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let entry = find(&manifest, &name).cloned().unwrap_or_default();
        files.push((name, bytes, entry));
    }
    files
}

fn find<'a>(manifest: &'a serde_json::Value, name: &str) -> Option<&'a serde_json::Value> {
    match manifest {
        serde_json::Value::Array(rows) => rows
            .iter()
            .find(|row| row["file"] == name || row["name"] == name),
        _ => manifest
            .get(name)
            .or_else(|| find(manifest.get("files")?, name)),
    }
}

#[test]
fn counts_agree_with_trace_cmd() {
    let mut wrong = Vec::new();
    for (name, bytes, entry) in files() {
        let file = TraceFile::open(Input::from_vec(bytes, &name)).unwrap();
        let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
        for buffer in &file.buffers {
            for data in &buffer.cpus {
                let mut records = file.records(data, buffer.page_size);
                while records.advance().is_some() {
                    let id = records.payload().first_chunk().copied().unwrap_or_default();
                    let kind = file.kind_of_id(file.endian().u16(id));
                    let format = file.metadata.formats.get(usize::from(kind));
                    let name = format.map_or("unknown", |format| &format.name);
                    *by_name.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
        let odd = file.diagnostics.rows().iter();
        let odd: Vec<_> = odd.filter(|row| row.severity != Severity::Info).collect();
        assert!(odd.is_empty(), "{name}: {odd:?}");
        for (event, count) in entry["per_type"].as_object().into_iter().flatten() {
            // trace-cmd prints a leaf's entry and exit as one line; the two others were not counted by it.
            if !["funcgraph_exit", "blktrace", "run"].contains(&event.as_str()) {
                let ours = by_name.get(event).copied();
                if ours != count.as_u64() {
                    wrong.push(format!("{name}: {event} {ours:?} {count}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
