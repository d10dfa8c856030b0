"""Pages, lost events, clocks, versions and instances as no recording has them together, for compare.py.

Each entry of `build` is a name, a file, and, where trace-cmd's text is not ours, why.
"""

import cases
import writer

SECOND = 10**9


def build(endian, long):
    meta = cases.metadata(endian, long, ['"%d", REC->i', '"%s", REC->comm'])
    found = []

    def u(value, size):
        return (value & ((1 << 8 * size) - 1)).to_bytes(size, endian)

    def event(value, pid=1):
        places, end = cases.layout(long)
        out = bytearray(end)
        out[0:2], out[4:8] = u(100, 2), u(pid, 4)
        at = next(at for declaration, at, _, _ in places if declaration == "int i")
        out[at : at + 4] = u(value, 4)
        return bytes(out)

    def record(value, delta, pid=1):
        return writer.record(endian, event(value, pid), delta)

    def head(sort, delta, word=None):
        return writer.record_head(endian, sort, delta) + (b"" if word is None else u(word, 4))

    def page(time, data, size=4096, flags=0, lost=None):
        out = u(time, 8) + u(len(data) | flags, long) + data
        if lost is not None:
            out += u(lost, long)
        return out.ljust(size, b"\0")

    def add(name, data, reason=None):
        found.append((name, data, reason))

    def pages(name, *pages, reason=None):
        add(name, writer.write_v7(meta, {0: b"".join(pages)}), reason)

    unknown, counted = 1 << 31, 3 << 30
    first = page(SECOND, record(1, 5))
    two = {0: page(123 * SECOND + 12, record(1, 5) + record(2, 600)), 1: page(123 * SECOND + 500, record(3, 5))}

    pages("one page", page(SECOND, record(1, 5) + record(2, 1000) + record(3, (1 << 27) - 1)))
    pages("an empty page", page(SECOND, b""), page(SECOND + 7, record(1, 5)), page(SECOND + 70, b""))
    pages("time extends", page(SECOND, head(30, 7, 3) + record(1, 0)), page(2 * SECOND, head(30, 7, 1) + head(30, 1, 0) + record(3, 2)))
    pages("an extend at the end", page(SECOND, record(1, 0) + head(30, 7, 3)), page(2 * SECOND, record(3, 2)))
    pages("absolute times", page(SECOND, head(31, 7, 20) + record(1, 0)), page(4 * SECOND, head(31, 100, 33) + record(3, 2)))
    pages("an absolute time before its page", page(10 * SECOND, head(31, 7, 20) + record(1, 0)))
    pages("times beyond 59 bits", page((1 << 62) + 5, record(1, 5) + head(31, 7, 20) + record(2, 5)))
    pages("a time that wraps", page((1 << 59) - 5, record(1, 3) + head(31, 7, 0) + record(2, 5)))
    pages("time 0 and rounding", page(0, record(1, 0) + record(2, 499) + record(3, 1) + record(4, 99_999_500)))
    pages("discarded records", page(SECOND, record(1, 5) + head(29, 100, 12) + bytes(8) + record(2, 5) + head(29, 0, 8) + bytes(4) + record(3, 1)))
    pages("padding without length", page(SECOND, record(1, 5) + head(29, 0)), page(2 * SECOND, record(2, 1)))
    pages("padding to the end", page(SECOND, record(1, 5) + head(29, 0, 0) + bytes(100)), page(2 * SECOND, record(2, 1)), reason="trace-cmd reads on behind the end")
    pages("lost, nobody knows how many", first, page(2 * SECOND, record(2, 1), flags=unknown))
    pages("lost and counted", first, page(2 * SECOND, record(2, 1), flags=counted, lost=77))
    pages("lost before the first", page(SECOND, record(1, 5), flags=counted, lost=1))
    pages("none lost after all", first, page(2 * SECOND, record(2, 1), flags=counted, lost=0))
    pages("a count that nothing announces", first, page(2 * SECOND, record(2, 1), flags=1 << 30, lost=9))
    hidden = "trace-cmd forgets losses before a page that does not begin with an event"
    pages("lost before an extend", first, page(2 * SECOND, head(30, 1, 1) + record(2, 1), flags=counted, lost=5), reason=hidden)
    pages("lost before an absolute time", first, page(2 * SECOND, head(31, 1, 20) + record(2, 1), flags=counted, lost=5), reason=hidden)
    pages("lost before an empty page", first, page(2 * SECOND, b"", flags=counted, lost=5), page(3 * SECOND, record(3, 5)), reason=hidden)
    data = event(5) + b"xyz"
    pages("a length of its own", page(SECOND, head(0, 4, len(data) + 4) + data + bytes(-len(data) % 4) + record(2, 3)))
    stray = bytearray(event(5))
    stray[0:2] = u(4000, 2)
    pages("an unknown event", page(SECOND, writer.record(endian, bytes(stray), 4) + record(2, 3)))
    pages("times that go back", page(2 * SECOND, record(1, 5)), page(SECOND, record(2, 5)))
    pages("pids", page(SECOND, record(1, 5, 0) + record(2, 1, 77) + record(3, 1, -1) + record(4, 1, 4194304)))

    equal = {cpu: page(SECOND, record(cpu, 5) + record(cpu + 10, 0)) for cpu in range(4)}
    add("equal times", writer.write_v7(meta, equal))
    holes = {cpu: page(SECOND + cpu, record(cpu, 5)) for cpu in (1, 3, 7, 99, 100, 1000)}
    add("CPUs with holes", writer.write_v7(meta, holes, cpu_count=1001))
    add("no events", writer.write_v7(meta, {}, cpu_count=4))
    for clock in [*writer.CLOCKS, "tsc2nsec", "ppc-tb", "strange"]:
        add("clock " + clock, writer.write_v7(meta, two, clock=clock))
        add("clock of version 6 " + clock, writer.write_v6(meta, two, clock=clock))
    cycles = (14, u(3_000_000, 4) + u(20, 4) + u(100, 8))
    add("cycles", writer.write_v7(meta, two, clock="x86-tsc", options=[cycles]))
    add("cycles in version 6", writer.write_v6(meta, two, "x86-tsc", [cycles], [("x", two)]))
    for name, options in {
        "offset": [(7, b"5000000000\0")],
        "negative offset": [(7, b"-1000000000\0")],
        "date": [(1, b"0x5f5e100\0")],
        "date and offset": [(1, b"0x5f5e100\0"), (7, b"77\0")],
        "unknown options": [(99, b"abc"), (1000, b""), (65535, bytes(40))],
        "hooks": [(6, b"sched_wakeup,pid/sched_switch,next_pid\0"), (5, b"Linux box 6.1\0")],
        "libraries": [(10, b"64 1 /bin/init\n0 1000 /bin/x\n\0")],
        "a guest": [(13, b"guest\0" + u(9, 8) + u(1, 4) + u(0, 4) + u(5, 4))],
    }.items():
        add(name, writer.write_v7(meta, two, options=options))
    other = {1: page(SECOND, record(7, 5), flags=unknown)}
    buffers = [("x", "local", 4096, two), ("longer", "local", 4096, other), ("empty", "local", 4096, {})]
    for codec in ("none", "zstd"):
        many = {cpu: b"".join(page(SECOND + cpu + 100 * i, record(i, 5)) for i in range(25)) for cpu in range(3)}
        add("pages in " + codec, writer.write_v7(meta, many, codec))
        add("instances in " + codec, writer.write_v7(meta, two, codec, buffers=buffers))
        add("only an instance in " + codec, writer.write_v7(meta, {}, codec, buffers=buffers[1:2]))
    add("version 6", writer.write_v6(meta, two))
    add("instances in version 6", writer.write_v6(meta, two, instances=[("x", two), ("longer", other)]))
    add("options in version 6", writer.write_v6(meta, two, options=[(7, b"55\0"), (77, b"what")]))
    mixed = [("count", "counter", 4096, two)]
    add("other clocks", writer.write_v7(meta, two, buffers=mixed), "trace-cmd shows all buffers by the first clock")
    return found
