#!/usr/bin/env python3
"""Facts of Chrome JSON traces by a reader that shares no code with Threadline.

    facts.py FILE...             writes NAME.facts.jsonl beside each NAME.json, NAME.json.gz ...
    facts.py -o OUT FILE...      writes the facts of all files into OUT, the name of its file first in each row

It parses with Python's json module (numbers as decimals, never as floats) and follows the Trace Event Format
document; where the document is silent, Perfetto's trace processor and catapult. Each line of the output is a JSON array:

    ["slice", ts, dur, depth, name, category, pid, tid]       X, B/E; dur null: no end; times in ns
    ["async", ts, dur, name, category, pid]                    b/e, S/F, N/D; pid of the begin
    ["point", ts, name, category, pid, tid, scope]             i, I, R; n and O on an async id have the scope "async"
    ["step", ts, name, category, pid, step]                    T, p
    ["sample", ts, name, id, series, value, pid]               C
    ["arrow", name, from_ts, from_tid, from_slice, to_ts, to_tid, to_slice]     s t f, bind_id; slices by name
    ["process", pid, name]   ["thread", pid, tid, name]        every pid and (pid, tid) of an event; name null: not named
    ["object", ts, phase, name, id, pid]                       N O D
    ["stray", ts, phase, name]                                 E, e, F without a begin
    ["lone", ts, phase, name]                                  s, t, f, that make no arrow
    ["damage", byte]                                           where text is no event
    ["count", what, number]

Numbers of events, in the order of the file, break ties. A pid or tid that is a string of digits is a number.
"""

import gzip
import json
import os
import re
import sys
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, getcontext

# More digits than a number of a file has: no operation rounds.
getcontext().prec = 2000


def text_of(path):
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    return data


def clean(text):
    """A lone surrogate is no character; a byte that is not UTF-8 is written as \\xNN (surrogateescape: U+DC80 + byte)."""
    if not isinstance(text, str):
        return text
    out = []
    for letter in text:
        code = ord(letter)
        if 0xDC80 <= code <= 0xDCFF:
            out.append("\\x%02x" % (code - 0xDC00))
        elif 0xD800 <= code <= 0xDFFF:
            out.append("\ufffd")
        else:
            out.append(letter)
    return "".join(out)


DECODER = json.JSONDecoder(parse_float=Decimal, parse_int=int, strict=False)
SPACE = re.compile(r"[\s,]*")


def objects(text, at, damage):
    """The objects of an array from `at` (after its bracket) or of lines; damage is a list of places."""
    events = []
    while True:
        at = SPACE.match(text, at).end()
        if at >= len(text):
            return events, at, False
        if text[at] == "]":
            return events, at + 1, True
        try:
            value, end = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, None
        if end is None or not isinstance(value, dict):
            damage.append(at)
            following = text.find("{", (end or at + 1))
            # The next place that is an event again.
            while following != -1:
                try:
                    value, _ = DECODER.raw_decode(text, following)
                    if isinstance(value, dict) and "ph" in value:
                        break
                except (ValueError, RecursionError):
                    pass
                following = text.find("{", following + 1)
            if following == -1:
                return events, len(text), False
            at = following
            continue
        events.append(value)
        at = end


def events_of(data):
    text = data.decode("utf-8", "surrogateescape")
    damage, head = [], {}
    start = SPACE.match(text, 0).end()
    if text[start : start + 1] == "[":
        events, _, _ = objects(text, start + 1, damage)
    else:
        try:
            whole = DECODER.decode(text)
        except ValueError:
            whole = None
        if isinstance(whole, dict) and "traceEvents" in whole:
            events = whole.pop("traceEvents")
            head = whole
        elif '"traceEvents"' in text[start : start + (1 << 16)]:
            at = text.index("[", text.index('"traceEvents"')) + 1
            events, _, _ = objects(text, at, damage)
        else:
            events, _, _ = objects(text, start, damage)
    places = [len(text[:at].encode("utf-8", "surrogateescape")) for at in damage]
    return events, head, places


def nanos(value):
    """Microseconds as a number or a string of one, in ns; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        ns = int(Decimal(value).scaleb(3).to_integral_value(ROUND_HALF_UP))
    except (InvalidOperation, ValueError, TypeError, OverflowError):
        return None
    return ns if -(2**63) <= ns < 2**63 else None


def end_of(raw):
    """The end of an X in ns: rounded by itself, so that rounding moves no slice out of the slice around it. None without a
    duration; the start if the duration is none or negative."""
    start, dur = raw.get("ts"), raw.get("dur")
    if nanos(start) is None or dur is None:
        return None
    if nanos(dur) is None or nanos(dur) < 0:
        return nanos(start)
    end = nanos(Decimal(start) + Decimal(dur))
    return nanos(start) if end is None else max(end, nanos(start))


def number_of(value):
    """A pid, a tid or None."""
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"-?[0-9]{1,18}", value) else clean(value)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, Decimal):
        return int(value)
    return value if isinstance(value, int) else None


def word(value):
    """An id as text: a number and its decimal digits as a string are the same id, as in JavaScript's objects."""
    if value is None or isinstance(value, (dict, list)):
        return None
    return str(value)


class Event:
    def __init__(self, number, raw):
        self.number, self.raw = number, raw
        phase = raw.get("ph")
        # As in Perfetto, the first letter counts.
        self.phase = phase[:1] if isinstance(phase, str) else None
        self.ts, self.end = nanos(raw.get("ts")), end_of(raw)
        name, category = raw.get("name"), raw.get("cat")
        if isinstance(name, (int, Decimal)) and not isinstance(name, bool):
            name = str(name)
        self.name = clean(name) if isinstance(name, str) else None
        self.category = clean(category) if isinstance(category, str) else None
        pid, tid = number_of(raw.get("pid")), number_of(raw.get("tid"))
        self.pid = 0 if pid is None else pid
        self.tid = self.pid if tid is None else tid
        self.args = raw.get("args") if isinstance(raw.get("args"), dict) else {}
        # LLVM's sums over the whole trace ("Total ...") are no slices, and the threads that they name do not exist.
        if self.phase == "X" and raw.get("ts") == 0 and list(self.args) == ["count", "avg ms"]:
            self.phase, self.tid = "i", self.pid

    def scoped_id(self):
        """(pid or None, id): local ids belong to their process."""
        id2 = self.raw.get("id2")
        if isinstance(id2, dict):
            if "global" in id2:
                return (None, word(id2["global"]))
            if "local" in id2:
                return (self.pid, "local " + str(word(id2["local"])))
        return (None, word(self.raw.get("id"))) if self.raw.get("id") is not None else None

    def scope(self):
        return self.raw.get("scope") if isinstance(self.raw.get("scope"), str) else None


class Slice:
    def __init__(self, event, end):
        self.event, self.start, self.end, self.depth = event, event.ts, end, 0
        self.parent, self.end_number = None, event.number
        # A B without an E: when the first slice around it was closed by an E.
        self.until = float("inf")

    def drawn_end(self):
        """An X without a duration is drawn with no length; a B without an E as long as the B around it, to the end of the
        trace if there is none."""
        if self.end is None:
            return self.start if self.event.phase == "X" else self.until
        return self.end

    def contains(self, inner):
        """Of slices that begin at one time the longer contains the shorter, unless that one was over before in the file."""
        if self.start == inner.start and self.event.phase == inner.event.phase == "B" and self.event.number > inner.end_number:
            return False
        return self.drawn_end() > inner.start and self.drawn_end() >= inner.drawn_end()


def thread_slices(events):
    """Slices of one thread, and ends without a begin."""
    slices, open_begins, stray = [], [], []
    for event in events:
        if event.phase == "X":
            slices.append(Slice(event, event.end))
        elif event.phase == "B":
            open_begins.append(Slice(event, None))
            slices.append(open_begins[-1])
        else:
            # As in Perfetto: the innermost open begin of the same name and category; what the end leaves out fits all.
            fits = [
                it
                for it in open_begins
                if event.name in (None, "", it.event.name) and event.category in (None, "", it.event.category)
            ]
            if fits:
                fits[-1].end, fits[-1].end_number = event.ts, event.number
                for it in open_begins[open_begins.index(fits[-1]) + 1:]:
                    it.until = min(it.until, event.ts)
                open_begins.remove(fits[-1])
            else:
                stray.append(event)
    # Begins of one time keep their order: one of no length that was over before the next began is not inside that one.
    reach = {}
    for it in reversed(slices):
        if it.event.phase == "B":
            reach[it.start] = max(it.drawn_end(), reach.get(it.start, it.drawn_end()))
            it.reach = reach[it.start]
        else:
            it.reach = it.drawn_end()
    slices.sort(key=lambda it: (it.start, -it.reach, it.event.number))
    stack = []
    for inner in slices:
        while stack and not stack[-1].contains(inner):
            stack.pop()
        inner.parent = stack[-1] if stack else None
        inner.depth = inner.parent.depth + 1 if inner.parent else 0
        stack.append(inner)
    return slices, stray


def innermost(slices, ts):
    """The innermost slice that contains `ts`; a slice that ends then contains it if no other does."""
    inside = [it for it in slices if it.start <= ts < it.drawn_end() or it.start == ts == it.end]
    if not inside:
        inside = [it for it in slices if it.start <= ts == it.drawn_end()]
    return inside[-1] if inside else None


def arrows(events, slices_of, rows):
    """Arrows of s, t and f by (category, name, id); steps and ends with bp=e bind to the slice around them, other ends to
    the next slice of their thread. Slices with bind_id bind to themselves: flow_out begins, flow_in ends, both step."""
    open_flows = {}
    for event in events:
        slices = slices_of.get((event.pid, event.tid), [])
        if event.phase in "stf":
            phase, key = event.phase, (event.category, event.name, event.scope(), event.scoped_id())
            has_id = key[3] is not None
        else:
            goes_out, comes_in = event.raw.get("flow_out") is True, event.raw.get("flow_in") is True
            if not (goes_out or comes_in):
                continue
            phase = "t" if goes_out and comes_in else "s" if goes_out else "f"
            key = ("bind", word(event.raw.get("bind_id")))
            has_id = key[1] is not None
        if event.phase not in "stf":
            bound = next((it for it in slices if it.event is event), None)
        elif phase == "f" and event.raw.get("bp") != "e":
            bound = next((it for it in slices if it.start >= event.ts), None)
        else:
            bound = innermost(slices, event.ts)
        point = (event.ts, event.tid, bound.event.name if bound else None)
        is_lone = bound is None or not has_id
        before = open_flows.get(key)
        if is_lone or (before is None) != (phase == "s"):
            # A second begin of an open id is dropped, as catapult does.
            rows.append(["lone", event.ts, phase, event.name])
            continue
        if phase != "s":
            rows.append(["arrow", event.name, *before, *point])
        if phase == "f":
            del open_flows[key]
        else:
            open_flows[key] = point


def asyncs(events, rows):
    """Nestable and legacy asynchronous slices."""
    opened = defaultdict(list)
    for event in events:
        key = (event.category, event.scope(), event.scoped_id())
        if event.phase in "NOD":
            key = (*key, "object", event.pid)
        if event.phase in "nO":
            rows.append(["point", event.ts, event.name, event.category, event.pid, event.tid, "async"])
        elif event.phase in "bSN":
            opened[key].append(event)
        elif event.phase in "Tp":
            step = event.args.get("step")
            rows.append(["step", event.ts, event.name, event.category, event.pid, clean(step) if isinstance(step, str) else None])
        else:
            fits = [it for it in opened[key] if event.name in (None, "", it.name) and it.phase + event.phase in ("be", "SF", "ND")]
            if fits:
                begin = fits[-1]
                opened[key].remove(begin)
                rows.append(["async", begin.ts, event.ts - begin.ts, begin.name, begin.category, begin.pid])
            else:
                rows.append(["stray", event.ts, event.phase, event.name])
    for left in opened.values():
        for begin in left:
            rows.append(["async", begin.ts, None, begin.name, begin.category, begin.pid])


def value_of(value):
    if isinstance(value, bool) or isinstance(value, (dict, list)) or value is None:
        return None
    try:
        return float(value)
    except ValueError:
        return None


def facts(path):
    raw, _, damage = events_of(text_of(path))
    rows = [["damage", at] for at in damage]
    whole = [Event(number, it) for number, it in enumerate(raw) if isinstance(it, dict)]
    whole = [it for it in whole if isinstance(it.phase, str) and it.phase]
    phases = defaultdict(int)
    for event in whole:
        phases[event.phase] += 1
    timed = sorted((it for it in whole if it.ts is not None), key=lambda it: (it.ts, it.number))
    names_p, names_t, pids, tids = {}, {}, set(), set()
    for event in whole:
        if event.phase == "M":
            name = event.args.get("name")
            if event.raw.get("name") == "process_name" and isinstance(name, str):
                names_p[event.pid] = clean(name)
                pids.add(event.pid)
            if event.raw.get("name") == "thread_name" and isinstance(name, str):
                names_t[event.pid, event.tid] = clean(name)
                pids.add(event.pid)
                tids.add((event.pid, event.tid))
        elif event.ts is not None:
            pids.add(event.pid)
            tids.add((event.pid, event.tid))
    per_thread = defaultdict(list)
    for event in timed:
        if event.phase in "XBE":
            per_thread[event.pid, event.tid].append(event)
    slices_of = {}
    for thread, events in per_thread.items():
        slices_of[thread], stray = thread_slices(events)
        rows += [["stray", it.ts, it.phase, it.name] for it in stray]
        for it in slices_of[thread]:
            dur = None if it.end is None else it.end - it.start
            rows.append(["slice", it.start, dur, it.depth, it.event.name, it.event.category, it.event.pid, it.event.tid])
    arrows([it for it in timed if it.phase in "stf" or it.phase in "XB" and "bind_id" in it.raw], slices_of, rows)
    asyncs([it for it in timed if it.phase in "benSTpFNOD"], rows)
    for event in timed:
        if event.phase in "iIR":
            scope = event.raw.get("s") if event.phase != "R" else None
            scope = scope if scope in ("g", "p", "t") else "t"
            rows.append(["point", event.ts, event.name, event.category, event.pid, event.tid, scope])
        elif event.phase == "C":
            for series, value in event.args.items():
                value = value_of(value)
                if value is not None:
                    rows.append(["sample", event.ts, event.name, word(event.raw.get("id")), clean(series), value, event.pid])
        elif event.phase in "NOD":
            scoped = event.scoped_id()
            rows.append(["object", event.ts, event.phase, event.name, scoped and scoped[1], event.pid])
    rows += [["process", pid, names_p.get(pid)] for pid in pids]
    rows += [["thread", *thread, names_t.get(thread)] for thread in tids]
    rows += [["count", "phase " + phase, number] for phase, number in phases.items()]
    rows.append(["count", "events", len(whole)])
    lines = [json.dumps(row, ensure_ascii=False, default=str) for row in rows]
    order = {kind: at for at, kind in enumerate("count process thread slice async point step sample arrow object stray lone damage".split())}
    key = lambda pair: (order[pair[0][0]], [(it is not None, isinstance(it, str), it if it is not None else 0) for it in pair[0][1:]])
    return [line for _, line in sorted(zip(rows, lines), key=key)]


def main(arguments):
    together = None
    if arguments[:1] == ["-o"]:
        together = open(arguments[1], "w", encoding="utf-8")
        arguments = arguments[2:]
    for path in arguments:
        lines = facts(path)
        if together:
            own = json.dumps(os.path.basename(path))
            together.write("".join(f"[{own}, {line[1:]}\n" for line in lines))
        else:
            name = re.sub(r"\.(json|html|jsonl)(\.gz)?$", "", path)
            with open(name + ".facts.jsonl", "w", encoding="utf-8") as out:
                out.write("\n".join(lines) + "\n")


main(sys.argv[1:])
