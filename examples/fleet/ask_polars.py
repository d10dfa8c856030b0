#!/usr/bin/env python3
"""The four questions of questions.sql about a data set, with Polars (pip install polars).

    ask_polars.py FLEET --call futex --trace traces/07.dat --second 17

Polars answers with lazy frames: each question reads only the columns and row groups that it needs. "equiprobable" is
the nearest rank, as in `threadline stats`.
"""

import common
import polars as pl

NS = 1_000_000_000


def percentile(share):
    return pl.col("dur").quantile(share, "equiprobable").cast(pl.Int64)


def calls(table, call):
    """The system calls of this name that returned."""
    is_call = pl.col("category").is_in(["syscalls", "raw_syscalls"]) & (pl.col("name") == call)
    return table("slice").filter(is_call & pl.col("dur").is_not_null())


def p99_of_call(table, call):
    return calls(table, call).select(
        calls=pl.len(), total=pl.col("dur").sum(), p99=percentile(0.99), longest=pl.col("dur").max()
    )


def wakeup_latency(table):
    uname = (pl.col("key") == "uname") & (pl.col("source") == "trace")
    word = pl.col("value").str.split(" ").list.get(2, null_on_oob=True)
    kernels = table("trace_label").filter(uname).group_by("trace_id").agg(kernel=word.max())
    processes = table("process").select("trace_id", "upid", process="name")
    threads = table("thread").select("trace_id", "utid", "upid").join(processes, on=["trace_id", "upid"], how="left")
    threads = threads.join(kernels, on="trace_id", how="left")
    is_wait = (pl.col("state") == "runnable") & pl.col("waker").is_not_null() & pl.col("dur").is_not_null()
    waits = table("thread_state").filter(is_wait).join(threads, on=["trace_id", "utid"])
    return waits.group_by("process", "kernel").agg(
        waits=pl.len(),
        total=pl.col("dur").sum(),
        p50=percentile(0.5),
        p99=percentile(0.99),
        longest=pl.col("dur").max(),
    )


def one_second(table, trace, second):
    is_it = pl.col("trace_id") == trace
    start = table("trace").filter(is_it).select("start_ts").collect().item()
    first, until = start + second * NS, start + (second + 1) * NS
    begin, end = pl.col("ts"), pl.col("ts") + pl.col("dur")
    runs = table("sched").filter(is_it & (begin < until) & (end > first))
    threads = table("thread").filter(is_it).select("utid", "tid", thread="name")
    inside = pl.min_horizontal(end, until) - pl.max_horizontal(begin, first)
    return runs.join(threads, on="utid").group_by("tid", "thread").agg(runs=pl.len(), ran=inside.sum())


def outliers(table, call):
    each = calls(table, call).group_by("trace_id").agg(calls=pl.len(), p99=percentile(0.99))
    away = pl.col("p99") - pl.col("p99").mean()
    each = each.with_columns(deviations=away / pl.col("p99").std(ddof=0))
    paths = table("trace").select("trace_id", "path")
    each = each.filter(pl.col("deviations").abs() > 3).join(paths, on="trace_id")
    return each.select("path", "calls", "p99", "deviations")


def main():
    options = common.arguments(__doc__).parse_args()
    views = {}
    exec(common.threadline(options, "dataset", "views", options.data_set, "--for", "polars"), views)
    context = views["context"]()
    trace = common.trace_id(options)

    def table(name):
        return context.execute(f'SELECT * FROM "{name}"')

    asked = {
        "p99_of_call": lambda: p99_of_call(table, options.call),
        "wakeup_latency": lambda: wakeup_latency(table),
        "one_second": lambda: one_second(table, trace, options.second),
        "outliers": lambda: outliers(table, options.call),
    }

    def rows(ask):
        return ask().collect(engine="streaming").to_dicts()

    common.answer(options, {name: lambda ask=ask: rows(ask) for name, ask in asked.items()})


main()
