"""Holds `threadline report` against the trace-cmd that is installed, on files that no kernel wrote.

    python3 compare.py cases              print formats as they might be (cases.py)
    python3 compare.py formats FILE...    random events of every format that these files describe
    python3 compare.py sections           pages, clocks, versions and instances (sections.py)

THREADLINE names the program (default: threadline on the path). Exit code 1 if anything differs that has no
reason in cases.py; differences of `formats` are only listed: most come from numbers that no kernel writes.
"""

import os
import random
import re
import subprocess
import sys
import tempfile

import cases
import writer

THREADLINE = os.environ.get("THREADLINE", "threadline")
MODES = {"": [], "-N": ["-N"], "-R": ["-R"]}
HEAD = re.compile(rb"^ *(?:.*?)-(?:-?\d+) +\[\d{3}\](?:-0x[0-9a-f]+)? +(\d+)\.(\d{9}): ")
MACHINES = [("little", 8), ("big", 8), ("little", 4)]


def report(program, path, options, timeout=300):
    """What `program` prints of the file, and its exit code."""
    command = {
        "trace-cmd": ["stdbuf", "-oL", "trace-cmd", "report", *options, "-i", path],
        "threadline": [THREADLINE, "report", "--no-flags", *options, path],
    }[program]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=timeout, check=False
    )
    return done.stdout, done.returncode


def by_time(text):
    """The lines of a report by their time, those without one added to the line before."""
    found, last = {}, None
    for line in text.split(b"\n"):
        head = HEAD.match(line)
        if head:
            last = int(head[1]) * 10**9 + int(head[2])
            found[last] = line
        elif last is not None:
            found[last] += b"\n" + line
    return found


def info(line):
    """What follows the event's name."""
    return None if line is None else re.sub(rb"^.*?\d: \S+: *", b"", line, count=1)


def compare_cases(path):
    unexpected = 0
    for endian, long in MACHINES:
        data, index = cases.build(endian, long)
        with open(path, "wb") as file:
            file.write(data)
        differing = set()
        for mode, options in MODES.items():
            theirs = by_time(report("trace-cmd", path, ["-t", *options])[0])
            ours = by_time(report("threadline", path, ["-t", *options])[0])
            assert len(theirs) == len(index), "trace-cmd did not print all events"
            for time, (code, print_fmt) in index.items():
                if theirs.get(time) == ours.get(time):
                    continue
                differing.add(print_fmt)
                if code == " ":
                    unexpected += 1
                    print(f"{endian} {long} report {mode}: {print_fmt}")
                    print(f"   theirs {info(theirs.get(time))}\n   ours   {info(ours.get(time))}")
        total = len(set(index.values()))
        print(f"{endian} endian, longs of {long}: {total} formats, {len(differing)} differ for a reason")
    return unexpected


WORDS = ["bash", "kworker/0:1", "a", "/etc/passwd", "eth0", "x y", "none", "tab\there", 'quote"q', "%d", "a,b=1"]
CODE = ("ip", "parent_ip", "call_site", "function", "func", "caller_ip", "work", "caller", "callsite", "location")


class Chance:
    """Values that fields could have."""

    def __init__(self, meta, seed, symbols):
        self.meta, self.random, self.symbols = meta, random.Random(seed), symbols
        self.counts = set()

    def pack(self, value, size):
        return (value & ((1 << 8 * size) - 1)).to_bytes(size, self.meta.endian)

    def element_size(self, kind):
        kind = re.sub(r"__data_loc|__rel_loc|const", "", kind).strip()
        if "*" in kind:
            return self.meta.long
        for size, pattern in ((1, r"char|u8|s8|int8_t|bool"), (2, r"short|u16|s16"), (8, r"u64|s64|dma_addr_t")):
            if re.search(pattern, kind):
                return size
        if kind.count("long") == 2 or "cpumask" in kind:
            return 8
        if "long" in kind or "size_t" in kind:
            return self.meta.long
        return 1 if kind.startswith("struct") else 4

    def address(self, size):
        kind = self.random.random()
        if kind < 0.15:
            return 0
        if kind < 0.8:
            return self.random.choice(self.symbols) + self.random.choice([0, 0, 1, 4, 0x1B, 0x123])
        return self.random.randrange(1 << (8 * size))

    def number(self, field, size):
        pick, top = self.random, 1 << 8 * size
        if "*" in field.type or (field.name in CODE and size >= 4):
            return self.address(size)
        if "bool" in field.type:
            return pick.randrange(2)
        if "len" in field.name or field.name in self.counts:
            return pick.randrange(6)
        if re.search("shift|order|bits", field.name):
            return pick.randrange(20)
        if size <= 2 and field.is_signed:
            return pick.randrange(100)
        bit = 1 << pick.randrange(8 * size)
        small = pick.randrange(16)
        return pick.choice([0, 1, small, small, pick.randrange(256), bit, bit | small, -1 - small, pick.randrange(top)])

    def text(self):
        return self.random.choice(WORDS).encode()

    def data(self, field):
        pick, long = self.random, self.meta.long
        if "char" in field.type and "unsigned" not in field.type:
            return self.text() + b"\0"
        if "mask" in field.declaration:
            words = 8 // long * pick.choice([1, 2])
            return b"".join(self.pack(pick.choice([0, 1, 0xF0, pick.randrange(1 << 31)]), long) for _ in range(words))
        if "addr" in field.declaration:
            return self.pack(pick.choice([2, 10]), 2) + bytes(pick.randrange(256) for _ in range(26))
        size = self.element_size(field.type)
        return b"".join(self.pack(self.number(field, size), size) for _ in range(pick.choice([0, 1, 2, 5, 17])))

    def payload(self, number, fields):
        pick = self.random
        out = bytearray(max((field.offset + field.size for field in fields), default=8))
        rest = b""

        def put(at, size, value):
            out[at : at + size] = self.pack(value, size)

        for field in fields:
            at, size = field.offset, field.size
            if field.name.startswith("common_"):
                values = {"common_type": number, "common_pid": pick.choice([0, 1, 100, 777])}
                put(at, size, values.get(field.name, 0))
            elif "__data_loc" in field.type or "__rel_loc" in field.type:
                for place in range(at, at + max(size, 4) // 4 * 4, 4):
                    data = self.data(field)
                    start = len(out) - (place + 4 if "__rel_loc" in field.type else 0)
                    put(place, 4, len(data) << 16 | start)
                    out += data
                    if len(field.dimensions) < 2:
                        break
            elif field.dimensions and size == 0:
                rest = self.text() + b"\0"
            elif field.dimensions and "char" in field.type and "unsigned" not in field.type:
                out[at : at + size] = self.text()[: size - 1].ljust(size, b"\0")
            elif field.dimensions or size not in (1, 2, 4, 8):
                out[at : at + size] = bytes(pick.randrange(256) for _ in range(size))
            else:
                put(at, size, self.number(field, size))
        return bytes(out) + rest


def events_of(meta, seen, each):
    """[(time, system, name, print fmt, payload)] of all formats that were not `seen` yet."""
    rows = [line.split() for line in meta.kallsyms.split(b"\n") if line.count(b" ") > 1]
    symbols = [int(row[0], 16) for row in rows if int(row[0], 16)][::101] or [1 << 30]
    chance, time, events = Chance(meta, 1, symbols), 5 * 10**9, []
    everything = [(b"ftrace", text) for text in meta.ftrace]
    everything += [(system, text) for system, texts in meta.systems for text in texts]
    for system, text in everything:
        key = (meta.endian, meta.long, system, re.sub(rb"ID: *\d+", b"", text))
        name, number, fields, print_fmt = writer.parse_format(text)
        # trace-cmd ends when it asks for the length of such an array.
        if key in seen or "__get_rel_dynamic_array_len" in print_fmt:
            continue
        seen.add(key)
        chance.counts = set(re.findall(r"__print_(?:array|hex|hex_str)\([^,]*, *REC->(\w+)", print_fmt))
        for _ in range(each):
            payload = chance.payload(number, fields)
            if len(payload) < 4000:
                time += 1009
                events.append((time, system.decode(), name, print_fmt, payload))
    return events


def compare_formats(path, files, each=6):
    seen, endings = set(), set()
    for source in files:
        meta = writer.read_metadata(source)
        commit = int(re.search(rb"commit;\s*offset:\d+;\s*size:(\d+)", meta.header_page)[1])
        meta.cmdlines = b"1 init\n100 bash\n"
        meta.page = 4096
        events = events_of(meta, seen, each)
        differing = {}
        for mode, options in MODES.items():
            while True:
                events = [event for event in events if event[1:3] not in endings]
                pages = writer.pages(meta.endian, [(event[0], event[4]) for event in events], commit)
                with open(path, "wb") as file:
                    file.write(writer.write_v7(meta, {0: pages}))
                text, code = report("trace-cmd", path, ["-t", *options])
                theirs = by_time(text)
                left = [event for event in events if event[0] not in theirs]
                if code == 0 or not left:
                    break
                # It ended at the first event that is missing.
                endings.add(left[0][1:3])
            ours = by_time(report("threadline", path, ["-t", *options])[0])
            for time, system, name, print_fmt, _ in events:
                if theirs.get(time) != ours.get(time):
                    differing.setdefault((system, name), (mode, print_fmt, theirs.get(time), ours.get(time)))
        kinds = {event[1:3] for event in events}
        print(f"{os.path.basename(source)}: {len(kinds)} formats, {len(events)} events, {len(differing)} formats differ")
        for (system, name), (mode, print_fmt, theirs, ours) in differing.items():
            print(f" {system}:{name} report {mode}: {print_fmt[:200]}")
            print(f"   theirs {info(theirs)}\n   ours   {info(ours)}")
    if endings:
        print("trace-cmd ended at:", ", ".join(sorted(":".join(pair) for pair in endings)))
    return 0


def compare_sections(path):
    import sections

    unexpected = 0
    for endian, long in MACHINES:
        for name, data, reason in sections.build(endian, long):
            with open(path, "wb") as file:
                file.write(data)
            for options in (["-t"], [], ["-R"], ["-t", "-N"]):
                theirs, ours = (report(program, path, options)[0] for program in ("trace-cmd", "threadline"))
                if theirs == ours or reason:
                    continue
                unexpected += 1
                print(f"{endian} {long} {name} {options}\n   theirs {theirs[:500]}\n   ours   {ours[:500]}")
    print("sections compared")
    return unexpected


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("cases", "formats", "sections"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.dat")
        if sys.argv[1] == "cases":
            unexpected = compare_cases(path)
        elif sys.argv[1] == "formats":
            unexpected = compare_formats(path, sys.argv[2:])
        else:
            unexpected = compare_sections(path)
    sys.exit(1 if unexpected else 0)


if __name__ == "__main__":
    main()
