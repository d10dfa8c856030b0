#!/usr/bin/env python3
"""What we export for Perfetto, read with the protobuf definitions of the PyPI package `perfetto`.

Usage: independent_perfetto.py THREADLINE FILE...   exit code 0: all agree; 1: some do not; 77: no package `perfetto`

Each FILE is exported whole, by a range of its middle, and narrowed to a thread, a CPU and a track. Every packet must parse without a field that the
definitions lack, every interned id must resolve, every track must be described before its first event, and every
sequence must clear its state before it uses it. The rows that trace_processor would make of the packets (slices with
their depths, instants, samples, arrows, runs) are made here as it makes them, and compared with `threadline table`.
"""

import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile

try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
except ImportError:
    print("skipped: the package `perfetto` is not installed (pip install perfetto)")
    sys.exit(77)

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
FIRST_DESCRIBED = 65536
LOSSES = "lost events"
# Numbers of threads that are not their own, and the number of CPUs that trace_processor accepts.
FIRST_STAND_IN = 1 << 30
MAX_CPUS = 1024
SOFTIRQS = ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"]

# Events of which trace_processor makes slices: the end, what identifies the slice, its name.
PAIRS = {
    "irq_handler_entry": ("irq_handler_exit", lambda cpu, pid, it: (cpu,), lambda it: it.name),
    "softirq_entry": ("softirq_exit", lambda cpu, pid, it: (cpu,), lambda it: SOFTIRQS[it.vec]),
    "ipi_entry": ("ipi_exit", lambda cpu, pid, it: (cpu,), lambda it: it.reason),
    "sys_enter": ("sys_exit", lambda cpu, pid, it: (pid,), lambda it: None),
    "workqueue_execute_start": ("workqueue_execute_end", lambda cpu, pid, it: (pid,), lambda it: it.function),
    "block_io_start": ("block_io_done", lambda cpu, pid, it: (it.dev,), lambda it: None),
}
ENDS = {row[0]: begin for begin, row in PAIRS.items()}
COUNTED = ("cpu_idle", "cpu_frequency", "cpu_frequency_limits", "clock_enable", "clock_disable", "clock_set_rate")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            return value, at


def described_message(data):
    """Number and bytes of the message of a described event: the definitions do not know its number."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            _, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            if key >> 3 >= FIRST_DESCRIBED:
                return key >> 3, data[at : at + length]
            at += length
        else:
            raise ValueError(f"wire type {key & 7}")
    return None, b""


class Failure(Exception):
    pass


def need(condition, words):
    if not condition:
        raise Failure(words)


class Export:
    """The rows of an exported file."""

    def __init__(self, path, shift):
        self.shift = shift
        trace = pb.Trace()
        with open(path, "rb") as file:
            trace.ParseFromString(file.read())
        self.tracks, self.interned, self.cleared = {}, collections.defaultdict(dict), set()
        self.track_events, self.tasks, self.ftrace = [], [], []
        self.descriptors, self.lost_bundles = {}, []
        self.stats = {}
        self.processes, self.threads = {}, {}
        for packet in trace.packet:
            self.packet(packet)
        self.make_slices()

    def packet(self, packet):
        need(packet.trusted_packet_sequence_id, "a packet without a sequence")
        # A reader keeps the sequences of machines apart.
        sequence = packet.machine_id, packet.trusted_packet_sequence_id
        if packet.sequence_flags & 1:
            self.cleared.add(sequence)
            self.interned[sequence] = {}
        if packet.sequence_flags & 2:
            need(sequence in self.cleared, f"sequence {sequence} uses ids before its state was cleared")
        data = packet.interned_data
        tables = self.interned[sequence]
        for table in ("event_categories", "event_names", "debug_annotation_names"):
            for entry in getattr(data, table):
                need((table, entry.iid) not in tables, f"id {entry.iid} of {table} has two meanings")
                tables[table, entry.iid] = entry.name
        for table in ("debug_annotation_string_values", "kernel_symbols"):
            for entry in getattr(data, table):
                tables[table, entry.iid] = entry.str.decode()
        kind = packet.WhichOneof("data")
        need(kind, "a packet of a kind that the definitions lack")
        if kind == "track_descriptor":
            descriptor = packet.track_descriptor
            need(descriptor.uuid not in self.tracks, f"track {descriptor.uuid} is described twice")
            need(not descriptor.parent_uuid or descriptor.parent_uuid in self.tracks, "a parent is not described")
            self.tracks[descriptor.uuid] = descriptor
        elif kind == "track_event":
            self.track_events.append(self.track_event(packet, tables))
        elif kind == "ftrace_events":
            self.bundle(packet.ftrace_events, tables)
        elif kind == "generic_kernel_task_state_event":
            self.tasks.append((packet.timestamp - self.shift, packet.generic_kernel_task_state_event))
        elif kind == "ftrace_stats":
            self.stats[packet.ftrace_stats.phase] = packet.ftrace_stats
        elif kind == "process_tree":
            for process in packet.process_tree.processes:
                key = packet.machine_id, process.pid
                need(key not in self.processes, f"process {process.pid} is named twice")
                self.processes[key] = process
            for thread in packet.process_tree.threads:
                self.threads[packet.machine_id, thread.tid, thread.tgid] = thread
        else:
            known = ("clock_snapshot", "system_info", "remote_clock_sync")
            need(kind in known, f"a packet of kind {kind}")

    def track_event(self, packet, tables):
        event = packet.track_event
        need(event.track_uuid in self.tracks, f"track {event.track_uuid} is not described")
        resolve = lambda table, number: tables[table, number]
        try:
            name = resolve("event_names", event.name_iid) if event.name_iid else event.name
            category = ",".join(resolve("event_categories", it) for it in event.category_iids)
            args = {}
            for it in event.debug_annotations:
                value = it.WhichOneof("value")
                need(value, "an annotation without a value")
                value = getattr(it, value)
                if it.string_value_iid:
                    value = resolve("debug_annotation_string_values", it.string_value_iid)
                name_of = resolve("debug_annotation_names", it.name_iid) if it.name_iid else it.name
                args[name_of] = value
        except KeyError as error:
            raise Failure(f"an interned id does not resolve: {error}") from error
        uses_ids = event.name_iid or event.category_iids or args
        need(not uses_ids or packet.sequence_flags & 2, "ids are used without saying so")
        return packet.timestamp - self.shift, event, name, category, args

    def bundle(self, bundle, tables):
        for it in bundle.generic_event_descriptors:
            message = pb.DescriptorProto.FromString(it.event_descriptor)
            need(all(field.number < 32 for field in message.field), "a description with too many fields")
            self.descriptors[it.field_id] = message
        if bundle.lost_events:
            self.lost_bundles.append((bundle.cpu, min(it.timestamp for it in bundle.event)))
        for it in bundle.event:
            which, message = it.WhichOneof("event"), None
            if which is None:
                number, data = described_message(it.SerializeToString())
                need(number in self.descriptors, f"event {number} is not described")
                which = self.descriptors[number].name
                self.check_described(self.descriptors[number], data)
            elif which == "generic":
                which = it.generic.event_name
            else:
                message = getattr(it, which)
            symbol = None
            if which == "workqueue_execute_start" and message is not None:
                symbol = tables.get(("kernel_symbols", message.function))
            self.ftrace.append((it.timestamp, bundle.cpu, it.pid, which, message, symbol))

    @staticmethod
    def check_described(descriptor, data):
        known, at = {field.number: field for field in descriptor.field}, 0
        while at < len(data):
            key, at = varint(data, at)
            need(key >> 3 in known, f"{descriptor.name} has an undescribed field {key >> 3}")
            wire = {1: 1, 9: 2}.get(known[key >> 3].type, 0)
            need(key & 7 == wire, f"{descriptor.name}: a field is not of its type")
            if wire == 0:
                _, at = varint(data, at)
            elif wire == 1:
                at += 8
            else:
                length, at = varint(data, at)
                data[at : at + length].decode()
                at += length
        need(at == len(data), f"{descriptor.name} is cut")

    def thread_of(self, uuid):
        """The process and thread that a track belongs to."""
        while uuid:
            track = self.tracks[uuid]
            if track.HasField("thread"):
                return track.thread.pid, track.thread.tid
            uuid = track.parent_uuid
        return None, None

    def make_slices(self):
        """Slices, instants, samples and arrows, as trace_processor makes them of track events."""
        order = sorted(range(len(self.track_events)), key=lambda at: (self.track_events[at][0], at))
        stacks, begun, arrows = collections.defaultdict(list), {}, []
        self.slices, self.instants, self.samples, self.losses = [], [], [], 0
        for at in order:
            ts, event, name, category, args = self.track_events[at]
            uuid, row = event.track_uuid, None
            track = self.tracks[uuid]
            if track.name == LOSSES and not track.HasField("counter"):
                self.losses += event.type == BEGIN
            elif event.type == BEGIN:
                row = {"ts": ts, "dur": None, "depth": len(stacks[uuid]), "name": name, "category": category}
                row["args"], row["uuid"] = args, uuid
                stacks[uuid].append(row)
                self.slices.append(row)
            elif event.type == END:
                need(stacks[uuid], f"an end without a begin at {ts}")
                row = stacks[uuid].pop()
                row["dur"] = ts - row["ts"]
            elif event.type == INSTANT:
                row = {"ts": ts, "dur": 0, "name": name, "category": category, "args": args, "uuid": uuid}
                if "lone_flow" not in args and not event.flow_ids and not event.terminating_flow_ids:
                    self.instants.append(row)
            elif event.type == COUNTER:
                value = event.counter_value if event.HasField("counter_value") else event.double_counter_value
                self.samples.append((ts, track.name, value))
            else:
                raise Failure(f"an event of type {event.type}")
            for number in event.flow_ids:
                need(number not in begun, f"arrow {number} starts twice")
                begun[number] = row
            for number in event.terminating_flow_ids:
                need(number in begun, f"arrow {number} ends before it starts")
                arrows.append((begun.pop(number), row))
        need(not begun, f"{len(begun)} arrows have no end")
        self.arrows = arrows

    def derived_slices(self):
        """Slices that trace_processor makes of ftrace events."""
        stacks, slices = collections.defaultdict(list), []
        for ts, cpu, pid, name, message, symbol in sorted(self.ftrace, key=lambda it: it[0]):
            if message is None:
                continue
            if name in PAIRS:
                end, key, label = PAIRS[name]
                row = [ts, None, symbol if name.startswith("workqueue") else label(message), getattr(message, "id", None)]
                stacks[name, key(cpu, pid, message)] = [row]
                slices.append(row)
            elif name in ENDS:
                stack = stacks[ENDS[name], PAIRS[ENDS[name]][1](cpu, pid, message)]
                # A call is ended by the exit of its own number.
                if stack and getattr(message, "id", None) == stack[-1][3]:
                    row = stack.pop()
                    row[1] = ts - row[0]
            elif name == "print" and message.buf[:2] in ("S|", "F|"):
                key = tuple(message.buf.strip().split("|")[1:])
                if message.buf[0] == "S":
                    stacks[key] = [[ts, None, key[1]]]
                    slices += stacks[key]
                elif stacks[key]:
                    row = stacks[key].pop()
                    row[1] = ts - row[0]
            elif name == "print" and message.buf.startswith("B|"):
                row = [ts, None, message.buf.split("|", 2)[2].rstrip("\n")]
                stacks["print", pid].append(row)
                slices.append(row)
            elif name == "print" and message.buf[:1] == "E" and stacks["print", pid]:
                row = stacks["print", pid].pop()
                row[1] = ts - row[0]
        return [tuple(it[:3]) for it in slices]

    def runs(self):
        """Runs that trace_processor makes of context switches and task states, and those that a switch left open because
        it names another thread."""
        runs, open_runs, left_open = [], {}, set()
        for ts, cpu, _, name, message, _ in sorted(self.ftrace, key=lambda it: it[0]):
            if name != "sched_switch" or message is None:
                continue
            row = open_runs.pop(cpu, None)
            if row and row[3] == message.prev_pid:
                row[1] = ts - row[0]
            elif row:
                left_open.add((row[0], *row[2:]))
            if message.next_pid:
                open_runs[cpu] = [ts, None, cpu, message.next_pid]
                runs.append(open_runs[cpu])
        for ts, state in sorted(self.tasks, key=lambda it: it[0]):
            row = open_runs.get(state.cpu)
            if state.state == pb.GenericKernelTaskStateEvent.TASK_STATE_RUNNING:
                if row:
                    row[1] = ts - row[0]
                open_runs[state.cpu] = [ts, None, state.cpu, state.tid]
                if state.tid:
                    runs.append(open_runs[state.cpu])
            elif row and row[3] == state.tid:
                row[1] = ts - row[0]
                del open_runs[state.cpu]
        return runs, left_open


class NotOpened(Exception):
    """Threadline cannot open a file; the text is its message."""


def table(threadline, name, source, more):
    command = [threadline, "table", name, source, "--format", "json", *more]
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        raise NotOpened(done.stderr.decode().strip())
    return json.loads(done.stdout)


def difference(name, theirs, ours):
    """What differs between two lists of rows, in words."""
    theirs, ours = collections.Counter(theirs), collections.Counter(ours)
    words = []
    for what, rows in (("only in the export", theirs - ours), ("only in the table", ours - theirs)):
        if rows:
            words.append(f"{name}: {sum(rows.values())} {what}, such as {next(iter(rows))}")
    return words


class Selection:
    """What is exported: arguments for `table` and `export`, those for `export` alone, and the rows of tables that these
    mean."""

    def __init__(self, span=(), narrow=(), keeps=None, is_exact=True):
        self.span, self.narrow = list(span), list(narrow)
        self.keeps = keeps or (lambda name, row: True)
        # Whether exactly these slices and instants are exported, not only some of them.
        self.is_exact = is_exact
        self.is_whole = not self.span and not self.narrow


def of_thread(span, thread, times):
    """What a thread did, on its own track and on those of operations. A sample has no thread, its event has: `times` are
    those of the thread's events."""
    tid, pid = thread["tid"], thread["pid"]

    def keeps(name, row):
        if name == "flows":
            return row["from_tid"] == tid and row["to_tid"] == tid
        if name == "counters":
            return row["pid"] == pid and row["ts"] in times
        return name == "gaps" or row["tid"] == tid

    return Selection(span, ["--thread", str(tid)], keeps)


def of_cpu(span, cpu):
    """What happened on a CPU. Which slices of threads did, the tables do not say."""
    keeps = lambda name, row: row["cpu"] in (cpu, None) if name in ("runs", "events", "gaps") else True
    return Selection(span, ["--cpu", str(cpu)], keeps, is_exact=False)


def of_track(span, track):
    """What is on the tracks and counters of this name, which no thread has."""
    keeps = lambda name, row: name == "gaps" or row.get("track") == track
    return Selection(span, ["--track", track], keeps)


def selections(threadline, source, events):
    """What is exported of a file."""
    times = [it["ts"] for it in events]
    start, length = min(times), max(times) - min(times)
    middle = ["--from", f"@{start + length // 3}", "--until", f"@{start + length // 3 + max(length // 3, 1)}"]
    slices, runs = (table(threadline, name, source, []) for name in ("slices", "runs"))
    found = [Selection(), Selection(middle)]
    rows = table(threadline, "tracks", source, [])
    threads = {it["tid"]: it for it in table(threadline, "threads", source, []) if it["tid"]}
    busy = collections.Counter(it["tid"] for it in slices + runs if it["tid"] in threads)
    for tid, _ in busy.most_common(1):
        of_tid = {it["ts"] for it in events if it["tid"] == tid}
        found += [of_thread(span, threads[tid], of_tid) for span in ([], middle)]
    cpus = collections.Counter(it["cpu"] for it in runs)
    for cpu, _ in cpus.most_common(1):
        found += [of_cpu([], cpu), of_cpu(middle, cpu)]
    others = {it["name"] for it in rows if it["type"] in ("thread", "cpu", "cpu_counter")}
    for kind in ("async", "process_counter", "global_counter"):
        names = [it["name"] for it in rows if it["type"] == kind and it["name"] and it["name"] not in others]
        if names:
            found.append(of_track([], names[len(names) // 2]))
    return found


class Comparison:
    def __init__(self, threadline, source, target, selection, shift):
        self.export = Export(target, shift)
        self.selection = selection
        self.is_whole = selection.is_whole
        self.is_kernel = bool(self.export.stats)
        self.rows = lambda name: [
            it for it in table(threadline, name, source, selection.span) if selection.keeps(name, it)
        ]

    def differences(self):
        words = self.slices() + self.counters() + self.flows() + self.runs()
        words += self.events() + self.losses() if self.is_kernel else self.instants() + self.states()
        return words

    def losses(self):
        """The numbers of lost events in the statistics: at least those that the table of gaps counts."""
        last = self.export.stats.get(pb.FtraceStats.END_OF_TRACE)
        need(last, "no statistics at the end")
        theirs = sum(it.overrun + it.dropped_events for it in last.cpu_stats)
        ours = sum(it["lost"] or 0 for it in self.rows("gaps") if it["cpu"] is not None)
        return [f"lost events: {theirs} in the export, {ours} in the table"] if theirs < ours else []

    def states(self):
        """States of formats other than the kernel's, but for those that the format lacks; running ones are runs."""
        rows = [it for it in self.rows("states") if it["state"] not in ("running", "created", "unknown")]
        states = [(ts, it.tid) for ts, it in self.export.tasks if it.state != it.TASK_STATE_RUNNING]
        if not rows:
            return []
        ours = [(it["ts"], it["tid"]) for it in rows]
        if any(tid >= FIRST_STAND_IN for _, tid in states):
            states, ours = [ts for ts, _ in states], [ts for ts, _ in ours]
        words = difference("states", states, ours)
        # A thread that did not run on the CPU has no states there.
        return words if self.selection.is_exact else self.not_more(words)

    def slices(self):
        ours = self.rows("slices")
        derived = self.export.derived_slices()
        theirs = []
        apart = []
        for row in self.export.slices:
            track = self.export.tracks[row["uuid"]]
            is_apart = "(crossing slices" in track.name or not track.HasField("thread")
            dur = row["args"].get("measured_ns", row["dur"])
            if "end_not_seen" in row["args"] and "measured_ns" not in row["args"]:
                dur = None
            row = (row["ts"], dur, row["depth"], row["name"], row["category"] or None)
            (apart if is_apart else theirs).append(row)
        if not self.selection.is_exact:
            without = lambda row: row[:2] + row[3:]
            own = [(it["ts"], it["dur"], it["name"], it["category"]) for it in ours]
            return self.not_more(difference("slices", map(without, theirs + apart), own))
        if not derived:
            own = [
                (it["ts"], it["dur"], it["depth"], it["name"], it["category"])
                for it in ours
            ]
            # Slices that cross others are on tracks of their own, where they may have other depths.
            without = lambda row: row[:2] + row[3:]
            rest = collections.Counter(own) - collections.Counter(theirs)
            words = difference("slices", theirs + list(rest.elements()), own)
            left = rest - collections.Counter(apart)
            apart = collections.Counter(apart) - rest
            return words + difference("slices apart", map(without, apart.elements()), map(without, left.elements()))
        theirs += apart
        # Calls are named by trace_processor's table, and unfinished slices end elsewhere.
        names = lambda row: row[3]
        key = lambda ts, dur, name: (ts, dur, name)
        own = collections.Counter(key(it["ts"], it["dur"], it["name"]) for it in ours)
        rest = own - collections.Counter(key(it[0], it[1], names(it)) for it in theirs)
        missing = len(theirs) - (sum(own.values()) - sum(rest.values()))
        words = [f"slices: {missing} of the export are not in the table"] if missing else []
        left = [it for it in rest.elements()]
        by_time = lambda rows: [it[:2] for it in rows]
        if not self.is_whole:
            return words
        # trace_processor pairs over losses, and keeps calls open whose exit was lost.
        times = sorted(ts for _, ts in self.export.lost_bundles)
        is_sure = lambda ts, dur: dur is not None and not any(ts < loss <= ts + dur for loss in times)
        named = [tuple(it) for it in derived if it[2] is not None and is_sure(*it[:2])]
        words += self.less("derived slices", by_time(it for it in derived if is_sure(*it[:2])), by_time(it for it in left if is_sure(*it[:2])))
        calls = collections.Counter((ts, dur) for ts, dur, name in derived if name is None)
        left = [it for it in left if is_sure(*it[:2]) and not calls[it[:2]]]
        return words + self.less("names of derived slices", named, left)

    def less(self, name, theirs, ours):
        """What differs between two lists of rows; after losses, trace_processor has more."""
        words = difference(name, theirs, ours)
        return [it for it in words if not self.export.lost_bundles or "only in the table" in it]

    @staticmethod
    def not_more(words):
        """What the export has and the tables have not."""
        return [it for it in words if "only in the export" in it]

    def instants(self):
        theirs = [(it["ts"], it["name"], it["category"] or None) for it in self.export.instants]
        ours = [(it["ts"], it["name"], it["category"]) for it in self.rows("instants")]
        words = difference("instants", theirs, ours)
        return words if self.selection.is_exact else self.not_more(words)

    def events(self):
        theirs = [(ts, cpu, pid, name) for ts, cpu, pid, name, _, _ in self.export.ftrace]
        # Lines of etrace among the events are track events.
        rows = [it for it in self.rows("events") if it["category"] not in ("process", "file")]
        ours = [(it["ts"], it["cpu"], (it["tid"] or 0), it["name"]) for it in rows]
        ours = [(ts, cpu, tid, "print" if name == "tracing_mark_write" else name) for ts, cpu, tid, name in ours]
        theirs = [(ts, cpu, tid, "print" if name == "tracing_mark_write" else name) for ts, cpu, tid, name in theirs]
        words = difference("events", theirs, ours)
        # A range has events besides its own: the begins and ends of what reaches into it.
        return words if self.is_whole else [it for it in words if "only in the table" in it]

    def counters(self):
        derived = [it for it in self.export.ftrace if it[3] in COUNTED and it[4] is not None]
        derived += [it for it in self.export.ftrace if it[3] == "print" and it[4] and it[4].buf.startswith("C|")]
        times = {it[0] for it in derived}
        value_of = lambda value: "nan" if value is None or math.isnan(float(value)) else float(value)
        rows = [(it["ts"], it["track"], value_of(it["value"])) for it in self.rows("counters")]
        ours = [it for it in rows if it[0] not in times]
        theirs = [(ts, name, value_of(value)) for ts, name, value in self.export.samples]
        if self.selection.span:
            # A range starts with the value before it.
            return []
        words = difference("samples", theirs, ours)
        return words if self.selection.is_exact else self.not_more(words)

    def flows(self):
        rows = self.rows("flows")
        words = []
        if len(rows) != len(self.export.arrows) and self.selection.is_exact:
            words.append(f"arrows: {len(self.export.arrows)} in the export, {len(rows)} in the table")
        if not self.is_whole:
            return words
        holds = lambda it, ts: it["ts"] <= ts and (it["dur"] is None or ts <= it["ts"] + it["dur"])
        by_start = collections.Counter()
        for start, end in self.export.arrows:
            need(start["ts"] <= end["ts"] or end["dur"] is None or start["ts"] <= end["ts"] + end["dur"], "an arrow goes back")
            by_start[start["ts"]] += 1
        slices = self.export.slices
        for row in rows:
            # An arrow may point to the next slice.
            fits = any(
                holds(start, row["from_ts"]) and (holds(end, row["to_ts"]) or end["ts"] >= row["to_ts"])
                for start, end in self.export.arrows
            )
            if not fits:
                words.append(f"arrow {row['id']} has other slices")
        return words[:3]

    def over_losses(self, rows):
        """Runs as trace_processor makes them, which goes by the switches alone: a run goes on over a loss of events if
        the next switch ends it."""
        joined, losses = [], set(self.export.lost_bundles)
        for row in rows:
            last = joined[-1] if joined else None
            if last and (row[2], row[0]) in losses and last[2:] == row[2:]:
                joined[-1] = (last[0], None if row[1] is None else row[0] + row[1] - last[0], *last[2:])
            else:
                joined.append(row)
        return joined

    def runs(self):
        theirs, left_open = self.export.runs()
        without_end = lambda it: (it[0], *it[2:])
        theirs = [tuple(it) for it in theirs if without_end(it) not in left_open]
        ours = [(it["ts"], it["dur"], it["cpu"], it["tid"]) for it in self.rows("runs")]
        switches = {(it[0], it[1]) for it in self.export.ftrace if it[3] == "sched_switch"}
        if switches:
            # A run that no switch began was seen by other events. A narrowed export has a switch for each run.
            if not self.selection.narrow:
                ours = self.over_losses(sorted(ours, key=lambda it: (it[2], it[0])))
            ours = [it for it in ours if (it[0], it[2]) in switches and without_end(it) not in left_open]
        if any(it[3] >= FIRST_STAND_IN for it in theirs):
            theirs, ours = [it[:3] for it in theirs], [it[:3] for it in ours]
        if any(it[2] >= MAX_CPUS for it in ours):
            theirs, ours = [it[:2] for it in theirs], [it[:2] for it in ours]
        return difference("runs", theirs, ours)


def check(threadline, source, selection, folder):
    target = os.path.join(folder, "out.pftrace")
    command = [threadline, "export", source, "--to", "perfetto", "-o", target, "--force", *selection.span, *selection.narrow]
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        return [f"export failed: {done.stderr.decode().strip()}"]
    shift = re.search(r"(\d+) ns were added", done.stderr.decode())
    shift = int(shift.group(1)) if shift else 0
    try:
        return Comparison(threadline, source, target, selection, shift).differences()
    except Failure as failure:
        return [str(failure)]


def main():
    threadline, files = sys.argv[1], sys.argv[2:]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in files:
            try:
                events = table(threadline, "events", source, [])
            except NotOpened as error:
                failures += 1
                print(f"{source}: not a trace that Threadline opens: {error}")
                continue
            if not events:
                continue
            for selection in selections(threadline, source, events):
                words = check(threadline, source, selection, folder)
                failures += bool(words)
                print(f"{source} {' '.join(selection.span + selection.narrow)}: {'; '.join(words) or 'agrees'}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
