"""What the three programs share: their options, the questions, and how answers are printed."""

import argparse
import json
import os
import re
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def arguments(about):
    """Returns a parser with the options of every program."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("data_set", help="the folder of the data set")
    parser.add_argument("--call", default="read", help="the system call of questions 1 and 4 [default: read]")
    parser.add_argument("--trace", help="path or trace_id of the trace of question 3 [default: the first]")
    parser.add_argument("--second", type=int, default=17, help="which second of that trace [default: 17]")
    parser.add_argument("--times", action="store_true", help="also print how long each question took, to stderr")
    parser.add_argument("--threadline", default=os.environ.get("THREADLINE", "threadline"), help="the program")
    return parser


def threadline(options, *words):
    """Returns what `threadline` prints."""
    done = subprocess.run([options.threadline, *words], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def trace_id(options):
    """Returns the trace_id of the trace that was chosen by its path or id."""
    traces = json.loads(threadline(options, "dataset", "list", options.data_set, "--format", "json"))
    wanted = [it for it in traces if options.trace in (None, it["path"], it["trace_id"])]
    if not wanted:
        raise SystemExit(f"the data set has no such trace: {options.trace}")
    return min(wanted, key=lambda it: it["path"])["trace_id"]


def questions():
    """Returns the questions in questions.sql: name to SQL."""
    with open(os.path.join(HERE, "questions.sql"), encoding="utf-8") as file:
        parts = re.split(r"^-- name: (\w+)$", file.read(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def answer(options, asked):
    """Prints the rows of each question as a line of JSON. `asked`: name to a function that returns a list of dicts."""
    for name, ask in asked.items():
        start = time.monotonic()
        rows = ask()
        if options.times:
            seconds = time.monotonic() - start
            os.write(2, f"{name}\t{seconds:.3f} s\n".encode())
        print(json.dumps({"question": name, "rows": rows}), flush=True)
