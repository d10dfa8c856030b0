#!/usr/bin/env python3
"""The four questions of questions.sql about a data set, with DuckDB (pip install duckdb).

    ask_duckdb.py FLEET --call futex --trace traces/07.dat --second 17
"""

import re

import common
import duckdb


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--threads", type=int, help="[default: all]")
    options = parser.parse_args()
    connection = duckdb.connect()
    if options.threads:
        connection.execute(f"SET threads = {options.threads}")
    connection.execute(common.threadline(options, "dataset", "views", options.data_set, "--for", "duckdb"))
    values = {"call": options.call, "trace": common.trace_id(options), "second": options.second}

    def ask(sql):
        used = {name: value for name, value in values.items() if f":{name}" in sql}
        found = connection.execute(re.sub(r":(\w+)", r"$\1", sql), used)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row)) for row in found.fetchall()]

    common.answer(options, {name: lambda sql=sql: ask(sql) for name, sql in common.questions().items()})


main()
