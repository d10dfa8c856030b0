#!/usr/bin/env python3
"""The sums that clang writes ("Total NAME"), over several traces: totals.py FILE... prints name, count, files, total ns and
the largest total of one file in ns, with tabs between them. Shares no code with Threadline."""

import json
import sys

sums = {}
for path in sys.argv[1:]:
    for event in json.load(open(path))["traceEvents"]:
        name = event["name"]
        if event["ph"] == "X" and name.startswith("Total "):
            sums.setdefault(name[len("Total "):], []).append((event["args"]["count"], event["dur"] * 1000))
for name, found in sorted(sums.items()):
    counts, times = zip(*found)
    print(name, sum(counts), len(found), sum(times), max(times), sep="\t")
