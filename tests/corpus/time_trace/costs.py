#!/usr/bin/env python3
"""What headers, templates and passes cost in files of clang's -ftime-trace, by a reader that shares no code with Threadline.

    costs.py FILE... >costs.tsv      kind, name, count, files, total ns, longest ns; sorted

A header or template inside of itself adds nothing to its total.
"""

import json
import sys
from collections import defaultdict


def kind_and_name(event):
    name, detail = event["name"], event.get("args", {}).get("detail")
    if name == "Source":
        return "header", detail
    if name in ("InstantiateClass", "InstantiateFunction"):
        return "template", detail
    if name in ("RunPass", "RunLoopPass"):
        return "pass", detail
    if "Pass" in name and not name.endswith("Passes") and not name.startswith("Total "):
        return "pass", name
    return None


def main(paths):
    rows = defaultdict(lambda: {"count": 0, "files": set(), "total": 0, "longest": 0})
    for path in paths:
        with open(path, encoding="utf-8") as file:
            events = [it for it in json.load(file)["traceEvents"] if it["ph"] == "X"]
        threads = {(it["pid"], it["tid"]) for it in events if it["name"] == "ExecuteCompiler"}
        events = [it for it in events if (it["pid"], it["tid"]) in threads]
        for event in events:
            key = kind_and_name(event)
            if key is None or key[1] is None:
                continue
            begin, end = event["ts"], event["ts"] + event["dur"]
            row = rows[key]
            row["count"] += 1
            row["files"].add(path)
            row["longest"] = max(row["longest"], event["dur"])
            # Inside of another one of the same name: that contains it, and is longer or comes later in the file.
            row.setdefault("spans", defaultdict(list))[path].append((begin, end))
    for row in rows.values():
        for spans in row["spans"].values():
            reach = None
            for begin, end in sorted(spans, key=lambda it: (it[0], -it[1])):
                if reach is None or end > reach:
                    row["total"] += end - begin
                    reach = end
    for (kind, name), row in sorted(rows.items()):
        print(kind, name, row["count"], len(row["files"]), 1000 * row["total"], 1000 * row["longest"], sep="\t")


main(sys.argv[1:])
