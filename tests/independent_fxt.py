#!/usr/bin/env python3
"""What we export as FXT, read by an independent reader (the PyPI package `fxt`): the counts must agree.

Usage: independent_fxt.py THREADLINE FILE...      exit code 0: all agree; 1: some do not; 77: no package `fxt`

Each FILE is exported whole and once more by a range of its middle; each export is read by the package and by
`threadline info`, and what both say of it is compared. The package also makes spans of it: as many as there are
slices that are not asynchronous.
"""

import collections
import io
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

try:
    from fxt import models
    from fxt.reader import parse_records
    from fxt.transform import FxtTransformError, transform_records_to_spans
except ImportError:
    print("skipped: the package `fxt` is not installed (pip install fxt)")
    sys.exit(77)

IDLE_WEIGHT = -(2**31)
LOSS = ("threadline", "lost events")
AGREES, DIFFERS, UNREADABLE = range(3)


def without_other_objects(data):
    """The records without kernel objects that are neither processes nor threads: the package refuses a file that has one.
    (Ours has one of no type, with facts about the whole recording; nothing that is compared here.)"""
    kernel_object, large = 7, 15
    kept = bytearray()
    at = 0
    while at + 8 <= len(data):
        (header,) = struct.unpack_from("<Q", data, at)
        sort = header & 15
        size = 8 * (header >> 4 & (0xFFFF_FFFF if sort == large else 0xFFF))
        if size == 0:
            break
        if sort != kernel_object or header >> 16 & 0xFF in (1, 2):
            kept += data[at : at + size]
        at += size
    return bytes(kept + data[at:])


def parsed(path):
    """What the package reads."""
    with open(path, "rb") as file:
        result = parse_records(io.BytesIO(without_other_objects(file.read())))
    assert not result.had_unexpected_eof, f"{path}: {result.eof_error}"
    return result


def span_count(path):
    """How many spans the package builds: it wants ends to say what they end."""
    count = 0
    for provider in parsed(path).records_by_provider.values():
        for process in transform_records_to_spans(provider.records).values():
            waiting = [span for thread in process.threads.values() for span in thread.spans]
            while waiting:
                span = waiting.pop()
                count += 1
                waiting.extend(span.children)
    return count


def span_difference(source, target, expected):
    """What differs between the package's spans and the slices, in words; none where the source is FXT of which it
    cannot build any either, and where it does not know the objects."""
    try:
        count = span_count(target)
    except FxtTransformError as error:
        # It builds the spans of each provider alone: what a range cuts begins in a provider of its own.
        if "unknown Kernel Object" in str(error) or "is not yet known" in str(error):
            return []
        try:
            span_count(source)
        except (ValueError, AssertionError):
            with open(source, "rb") as file:
                if file.read(4) == b"\x10\x00\x04\x46":
                    return []
        return [f"spans: the package refuses to build them: {error}"]
    return [f"spans: package {count}, threadline {expected}"] if count != expected else []


def independent_counts(path):
    """Counts by the package's own types."""
    result = parsed(path)
    kinds = collections.Counter()
    samples = runs = 0
    for provider in result.records_by_provider.values():
        for record in provider.records:
            # What only describes a loss is no instant.
            if isinstance(record, models.InstantEventRecord) and (record.category, record.name) == LOSS:
                continue
            kinds[type(record)] += 1
            if isinstance(record, models.CounterEventRecord):
                samples += len(record.args)
            if isinstance(record, models.ContextSwitchRecord):
                runs += record.args.get("incoming_weight") != IDLE_WEIGHT
    return {
        "slices": kinds[models.DurationBeginEventRecord]
        + kinds[models.DurationCompleteEventRecord]
        + kinds[models.AsyncBeginEventRecord],
        "instants": kinds[models.InstantEventRecord]
        + kinds[models.AsyncInstantEventRecord]
        + kinds[models.LogRecord]
        + kinds[models.UserspaceObjectRecord]
        + kinds[models.BlobRecord]
        + kinds[models.LargeBlobWithMetadataRecord]
        + kinds[models.LargeBlobNoMetadataRecord],
        "counter_samples": samples,
        "flows": kinds[models.FlowStepEventRecord] + kinds[models.FlowEndEventRecord],
        "runs": runs,
        "logs": kinds[models.LogRecord],
    }, kinds[models.AsyncBeginEventRecord]


def own_counts(threadline, path):
    """The same counts as `threadline info` says them."""
    answer = subprocess.run([threadline, "info", "--json", path], capture_output=True, check=True)
    info = json.loads(answer.stdout)
    return {name: info[name] for name in ("slices", "instants", "counter_samples", "flows", "runs", "logs")}, info


def check(threadline, source, more, folder):
    """Whether the counts agree, and the names of those that differ."""
    target = os.path.join(folder, "out.fxt")
    command = [threadline, "export", source, "-o", target, "--force", *more]
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        return DIFFERS, [f"export failed: {done.stderr.decode().strip()}"]
    try:
        theirs, async_count = independent_counts(target)
    except ValueError as error:
        # It knows neither texts that are no UTF-8 nor blob arguments.
        unknown = ("codec can't decode", "invalid argument type 10")
        if not any(words in str(error) for words in unknown):
            return DIFFERS, [f"the package refuses it: {error}"]
        return UNREADABLE, [f"the package cannot read it: {error}"]
    ours, _ = own_counts(threadline, target)
    # What is told of them beside the arrows.
    lone = re.search(r"(\d+) flow events? ha(s|ve) no counterpart", done.stderr.decode())
    lone = int(lone.group(1)) if lone else 0
    if ours["flows"] <= theirs["flows"] <= ours["flows"] + lone:
        theirs["flows"] = ours["flows"]
    differences = [
        f"{name}: package {theirs[name]}, threadline {ours[name]}" for name in ours if ours[name] != theirs[name]
    ]
    differences += span_difference(source, target, ours["slices"] - async_count)
    return (DIFFERS, differences) if differences else (AGREES, ["agrees"])


def main():
    threadline, files = sys.argv[1], sys.argv[2:]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in files:
            _, info = own_counts(threadline, source)
            length = info["end_ns"] - info["start_ns"]
            start = info["start_ns"] + length // 3
            middle = ["--from", f"@{start}", "--until", f"@{start + max(length // 3, 1)}"]
            for more in ([], middle):
                verdict, words = check(threadline, source, more, folder)
                failures += verdict == DIFFERS
                what = "the middle third" if more else "all"
                print(f"{os.path.basename(source)}, {what}: {'; '.join(words)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
