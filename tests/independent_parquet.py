#!/usr/bin/env python3
"""Our Parquet files, read with DuckDB and Polars.

Usage: independent_parquet.py THREADLINE FILE...   exit code 0: all agree; 1: some do not; 77: no DuckDB or no Polars

Each table of each FILE is written as Parquet and read by both engines: every value must be the one that
`threadline table --format json` prints.
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


def main():
    program, paths = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            check_file(program, path, folder)
    return 1 if FAULTS else 0


sys.exit(main())
