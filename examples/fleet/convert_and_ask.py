#!/usr/bin/env python3
"""Converts a list of traces in parallel with PySpark, and asks the four questions of questions.sql.

    spark-submit convert_and_ask.py FLEET --traces traces.txt --call futex --second 17

Each partition of the list is one `threadline dataset add` on the machine of its executor, which writes the traces'
tables straight into the data set: no row passes through Spark, and nothing is shuffled. Concurrent adds to one data
set are safe, and adding a trace again replaces its rows: Spark may repeat a task. Every executor needs `threadline`,
the traces, and the folder of the data set at the same paths, on a file system with locks (`flock`).
"""

import os
import subprocess
import sys

import common
from pyspark.sql import SparkSession

# Traces of one command: it keeps their files open, and systems limit how many one process may have.
AT_ONCE = 200


def convert(program, data_set, tables, paths):
    """Adds the traces of one partition; returns a list of (exit code, stderr)."""
    # One trace after the other, on one core: Spark has as many tasks at once as it has cores.
    environment = dict(os.environ, RAYON_NUM_THREADS="1")
    paths, answers = list(paths), []
    for first in range(0, len(paths), AT_ONCE):
        some = paths[first : first + AT_ONCE]
        words = [program, "dataset", "add", data_set, *some, *(["--tables", tables] if tables else [])]
        done = subprocess.run(
            words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        said = done.stderr.decode(errors="replace")
        # Files that are no traces are left out, all others are in. Spark repeats the task after any other error.
        if done.returncode != 0 and not said.rstrip().endswith("left out"):
            raise RuntimeError(f"{words[:4]}: exit code {done.returncode}: {said}")
        answers.append((done.returncode, said))
    return answers


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--traces", help="a file with one path a line; without it, only ask")
    parser.add_argument("--tables", default="", help="only these tables, separated by commas [default: the usual ones]")
    parser.add_argument("--partitions", type=int, help="in how many parts the list is cut [default: 4 a core]")
    options = parser.parse_args()
    spark = SparkSession.builder.appName("threadline fleet").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    left_out = 0

    if options.traces:
        with open(options.traces, encoding="utf-8", errors="surrogateescape") as file:
            paths = [line.rstrip("\n") for line in file if line.strip()]
        program, data_set, tables = options.threadline, os.path.abspath(options.data_set), options.tables
        partitions = options.partitions or 4 * spark.sparkContext.defaultParallelism
        spark.sparkContext.setJobGroup("convert", "convert traces")
        parts = spark.sparkContext.parallelize(paths, min(partitions, len(paths)))
        for code, said in parts.mapPartitions(lambda part: convert(program, data_set, tables, part)).collect():
            left_out += code
            if said:
                print(said, file=sys.stderr)
        tracker = spark.sparkContext.statusTracker()
        stages = [len(tracker.getJobInfo(job).stageIds) for job in tracker.getJobIdsForGroup("convert")]
        # A shuffle would have made a second stage.
        assert stages == [1], stages
        common.threadline(options, "dataset", "compact", options.data_set)

    views = {}
    exec(common.threadline(options, "dataset", "views", options.data_set, "--for", "spark"), views)
    views["create_views"](spark)
    values = {"call": options.call, "trace": common.trace_id(options), "second": options.second}

    def ask(sql):
        return [row.asDict() for row in spark.sql(sql, args=values).collect()]

    common.answer(options, {name: lambda sql=sql: ask(sql) for name, sql in common.questions().items()})
    spark.stop()
    return 1 if left_out else 0


sys.exit(main())
