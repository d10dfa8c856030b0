#!/usr/bin/env python3
"""Our Parquet files and data sets, read with DuckDB and Polars.

Usage: independent_parquet.py THREADLINE FILE...   exit code 0: all agree; 1: some do not; 77: no DuckDB or no Polars

Each table of each FILE is written as Parquet and read by both engines: every value must be the one that
`threadline table --format json` prints. Then all files are added to a data set, whose tables must have the same rows
before and after compacting and after adding everything again, through the views that `dataset views` prints. Every
question of `threadline sql` must have an answer, with the command-line program's own engine.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import duckdb
    import polars
except ImportError:
    print("skipped: the packages `duckdb` and `polars` are not installed (pip install duckdb polars)")
    sys.exit(77)

FAULTS = []


def fault(words):
    print("FAULT", words)
    FAULTS.append(words)


def run(program, *words, code=0):
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != code:
        fault(f"{words}: exit code {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def told(value):
    """A value of JSON or of an engine in a form that both share."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value
    return value


def expected(value, other):
    """What Parquet has of a value that `table` printed: numbers of 64 bits are texts, large counters are rounded."""
    if isinstance(value, int) and value >= 1 << 63 and other is None:
        return None
    if isinstance(value, int) and isinstance(other, str):
        return str(value)
    if isinstance(value, int) and isinstance(other, float):
        return float(value)
    if isinstance(value, str) and isinstance(other, float):
        return float(value)
    return told(value)


def compare(where, names, rows, printed):
    if len(rows) != len(printed):
        fault(f"{where}: {len(rows)} rows, {len(printed)} printed")
        return
    for row, line in zip(rows, printed):
        for name, value in zip(names, row):
            if told(value) != expected(line[name], value):
                fault(f"{where}: {name} is {value!r}, printed: {line[name]!r}")
                return


def tables(program):
    lines = run(program, "table", "--format", "json")
    return [row["name"] for row in json.loads(lines) if row["command"].startswith("threadline table ")]


def check_file(program, path, folder):
    count = 0
    for table in tables(program):
        out = os.path.join(folder, f"{table}.parquet")
        run(program, "table", table, path, "--format", "parquet", "-o", out, "--force")
        printed = json.loads(run(program, "table", table, path, "--format", "json"))
        found = duckdb.sql(f"SELECT * FROM read_parquet('{out}')")
        compare(f"DuckDB {path} {table}", found.columns, found.fetchall(), printed)
        frame = polars.read_parquet(out)
        compare(f"Polars {path} {table}", frame.columns, frame.rows(), printed)
        count += len(printed)
    print(f"{path}: {count} rows in all tables")


def contents(program, data_set):
    """The rows of every table, without an order."""
    connection = duckdb.connect()
    connection.execute(run(program, "dataset", "views", data_set, "--for", "duckdb").decode())
    names = sorted({row["table"] for row in json.loads(run(program, "dataset", "tables", "--format", "json"))})
    rows = {}
    for name in names:
        found = connection.execute(f'SELECT * FROM "{name}"').fetchall()
        rows[name] = sorted(found, key=repr)
    return rows


def check_set(program, paths, folder):
    data_set = os.path.join(folder, "set")
    every = ",".join(sorted({row["table"] for row in json.loads(run(program, "dataset", "tables", "--format", "json"))}))
    add = ["dataset", "add", data_set, *paths, "--tables", every, "--label", "host=../../x"]
    run(program, *add)
    first = contents(program, data_set)
    if len(first["trace"]) != len(paths):
        fault(f"{len(first['trace'])} traces of {len(paths)}")
    for after in (["dataset", "compact", data_set], add, ["dataset", "compact", data_set]):
        run(program, *after)
        if contents(program, data_set) != first:
            fault(f"other rows after {after}")
    connection = duckdb.connect()
    connection.execute(run(program, "dataset", "views", data_set, "--for", "duckdb").decode())
    scope = {}
    exec(run(program, "dataset", "views", data_set, "--for", "polars").decode(), scope)
    context = scope["context"]()
    for name, rows in first.items():
        count = context.execute(f'SELECT count(*) AS n FROM "{name}"').collect().item()
        if count != len(rows):
            fault(f"Polars: {count} rows in {name}, DuckDB: {len(rows)}")
    for path in paths:
        printed = json.loads(run(program, "table", "slices", path, "--format", "json"))
        query = "SELECT s.ts, s.dur, s.name, s.id, s.depth, s.parent_id FROM slice s JOIN trace USING (trace_id) " \
                "WHERE path = ? ORDER BY s.id"
        found = connection.execute(query, [path]).fetchall()
        printed.sort(key=lambda row: row["id"])
        compare(f"set {path}", ["ts", "dur", "name", "id", "depth", "parent_id"], found, printed)
    run(program, "dataset", "add", data_set, os.path.join(folder, "none.fxt"), code=1)
    print(f"{len(paths)} traces in a data set: {sum(map(len, first.values()))} rows")
    return data_set


def check_queries(program, data_set, folder):
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
    help_text = run(program, "sql", "--help").decode()
    block = help_text.split("docs/queries.md):\n", 1)[1].split("\n\n", 1)[0]
    names = [line.split()[0] for line in block.splitlines() if line.startswith("  ")]
    if len(names) < 10:
        fault(f"{len(names)} questions in {block!r}")
    for name in names:
        rows = json.loads(run(program, "sql", name, data_set, "--format", "json"))
        if not rows:
            fault(f"{name}: no rows")
        print(f"{name}: {len(rows)} rows")
    total = json.loads(run(program, "sql", "SELECT sum(dur) AS total FROM slice", data_set, "--format", "json"))
    out = os.path.join(folder, "total.parquet")
    run(program, "sql", "SELECT sum(dur) AS total FROM slice", data_set, "--format", "parquet", "-o", out)
    if duckdb.sql(f"SELECT total FROM '{out}'").fetchall() != [(total[0]["total"],)]:
        fault("a sum is another one in Parquet")
    refused = subprocess.run([program, "sql", "SELECT nothing FROM slice", data_set], capture_output=True, check=False)
    if refused.returncode != 1 or b"nothing" not in refused.stderr:
        fault(f"a wrong query: {refused}")


def main():
    program, paths = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            check_file(program, path, folder)
        data_set = check_set(program, paths, folder)
        check_queries(program, data_set, folder)
    return 1 if FAULTS else 0


sys.exit(main())
