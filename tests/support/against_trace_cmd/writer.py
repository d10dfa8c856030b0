"""Reads the metadata of a trace.dat, and writes trace.dat files from event formats and records.

Versions 6 and 7, both byte orders, longs of 4 and 8 bytes, several buffers, packed or not: what the comparison
with trace-cmd (compare.py) needs and no recording has.
"""

import ctypes
import re
import zlib

MAGIC = b"\x17\x08\x44tracing"
CLOCKS = "local global counter uptime perf mono mono_raw boot tai x86-tsc".split()


def zstd():
    library = ctypes.CDLL("libzstd.so.1")
    for name in ("ZSTD_decompress", "ZSTD_compress", "ZSTD_compressBound"):
        getattr(library, name).restype = ctypes.c_size_t
    library.ZSTD_isError.argtypes = [ctypes.c_size_t]
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    four = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    library.ZSTD_decompress.argtypes = four
    library.ZSTD_compress.argtypes = four + [ctypes.c_int]
    return library


def unpack(codec, data, size):
    if codec == "none":
        return data
    if codec == "zlib":
        return zlib.decompress(data)
    library = zstd()
    out = ctypes.create_string_buffer(max(size, 1))
    length = library.ZSTD_decompress(out, size, data, len(data))
    assert not library.ZSTD_isError(length)
    return out.raw[:length]


def pack(codec, data):
    if codec == "zlib":
        return zlib.compress(data)
    library = zstd()
    room = library.ZSTD_compressBound(len(data))
    out = ctypes.create_string_buffer(room)
    return out.raw[: library.ZSTD_compress(out, room, data, len(data), 3)]


class Metadata:
    """What a file says of its kernel: formats, symbols, names; and how its numbers are stored."""

    endian = "little"
    long = 8
    page = 4096
    header_page = b""
    header_event = b""
    ftrace = ()
    systems = ()
    kallsyms = b""
    printk = b""
    cmdlines = b""


class Cursor:
    def __init__(self, data, endian, at=0):
        self.data, self.endian, self.at = data, endian, at

    def take(self, size):
        piece = self.data[self.at : self.at + size]
        assert len(piece) == size, "the file ends early"
        self.at += size
        return piece

    def number(self, size):
        return int.from_bytes(self.take(size), self.endian)

    def text(self):
        end = self.data.index(b"\0", self.at)
        piece = self.data[self.at : end]
        self.at = end + 1
        return piece


def read_metadata(path):
    """The metadata of the file at `path`."""
    with open(path, "rb") as file:
        data = file.read()
    assert data.startswith(MAGIC), path
    meta = Metadata()
    end = data.index(b"\0", len(MAGIC))
    version = int(data[len(MAGIC) : end])
    meta.endian = "big" if data[end + 1] else "little"
    meta.long = data[end + 2]
    cursor = Cursor(data, meta.endian, end + 3)
    meta.page = cursor.number(4)

    def headers(cursor):
        assert cursor.text() == b"header_page"
        meta.header_page = cursor.take(cursor.number(8))
        assert cursor.text() == b"header_event"
        meta.header_event = cursor.take(cursor.number(8))

    def formats(cursor):
        return [cursor.take(cursor.number(8)) for _ in range(cursor.number(4))]

    def systems(cursor):
        return [(cursor.text(), formats(cursor)) for _ in range(cursor.number(4))]

    if version == 6:
        headers(cursor)
        meta.ftrace = formats(cursor)
        meta.systems = systems(cursor)
        meta.kallsyms = cursor.take(cursor.number(4))
        meta.printk = cursor.take(cursor.number(4))
        meta.cmdlines = cursor.take(cursor.number(8))
        return meta

    codec = cursor.text().decode()
    cursor.text()
    following = cursor.number(8)

    def section(at):
        cursor = Cursor(data, meta.endian, at)
        _, flags, _, size = (cursor.number(n) for n in (2, 2, 4, 8))
        if flags & 1:
            packed, plain = cursor.number(4), cursor.number(4)
            return unpack(codec, cursor.take(packed), plain)
        return cursor.take(size)

    sections = {}
    while following:
        options = Cursor(section(following), meta.endian)
        following = 0
        while options.at < len(options.data):
            option, size = options.number(2), options.number(4)
            body = options.take(size)
            if option == 0:
                following = int.from_bytes(body, meta.endian)
                break
            if 16 <= option <= 21:
                place = int.from_bytes(body, meta.endian)
                sections[option] = Cursor(section(place), meta.endian)
    headers(sections[16])
    meta.ftrace = formats(sections[17])
    meta.systems = systems(sections[18])
    for option, name, size in ((19, "kallsyms", 4), (20, "printk", 4), (21, "cmdlines", 8)):
        if option in sections:
            setattr(meta, name, sections[option].take(sections[option].number(size)))
    return meta


class Field:
    def __init__(self, declaration, offset, size, is_signed):
        self.offset, self.size, self.is_signed = offset, size, is_signed
        bare = re.sub(r"\[[^\]]*\]", "", declaration).strip()
        self.name = re.search(r"([\w$.]+)$", bare).group(1)
        self.type = bare[: -len(self.name)].strip()
        self.dimensions = re.findall(r"\[([^\]]*)\]", declaration)
        self.declaration = declaration


def parse_format(text):
    """(name, id, fields, print fmt) of the text of a `format` file."""
    text = text.decode("utf8", "replace")
    pattern = r"field(?: special)?:([^;]*);\s*offset:(\d+);\s*size:(\d+);(?:\s*signed:(\d+);)?"
    fields = [
        Field(found[1].strip(), int(found[2]), int(found[3]), found[4] == "1")
        for found in re.finditer(pattern, text)
    ]
    start = text.find("print fmt:")
    print_fmt = text[start + 10 :].strip() if start >= 0 else ""
    name = re.search(r"name: *(\S+)", text)[1]
    return name, int(re.search(r"ID: *(\d+)", text)[1]), fields, print_fmt


def record_head(endian, sort, delta):
    """The first word of a record of the ring buffer."""
    assert 0 <= delta < 1 << 27
    word = (sort << 27 | delta) if endian == "big" else (sort | delta << 5)
    return word.to_bytes(4, endian)


def record(endian, payload, delta):
    """An event as a record of the ring buffer."""
    size = (len(payload) + 3) & ~3
    payload = payload.ljust(size, b"\0")
    if 0 < size <= 112:
        return record_head(endian, size // 4, delta) + payload
    return record_head(endian, 0, delta) + (size + 4).to_bytes(4, endian) + payload


def pages(endian, events, commit_size, page_size=4096):
    """The pages of one CPU with `events`, a list of (time, payload)."""
    done, page = [], b""
    start = last = 0
    room = page_size - 8 - commit_size
    for time, payload in events:
        if not page:
            start = last = time
        delta = time - last
        head = b""
        if delta >= 1 << 27:
            head = record_head(endian, 30, delta & 0x7FF_FFFF)
            head += (delta >> 27).to_bytes(4, endian)
            delta = 0
        piece = head + record(endian, payload, delta)
        if len(page) + len(piece) > room:
            done.append((start, page))
            start, page, piece = time, b"", record(endian, payload, 0)
        assert len(piece) <= room, "an event is larger than a page"
        page += piece
        last = time
    done.append((start, page))
    out = b""
    for start, page in done:
        head = start.to_bytes(8, endian) + len(page).to_bytes(commit_size, endian)
        out += (head + page).ljust(page_size, b"\0")
    return out


def clock_text(clock):
    """The text of trace_clock with that clock chosen."""
    names = CLOCKS if clock in CLOCKS else CLOCKS + [clock]
    return " ".join("[%s]" % name if name == clock else name for name in names).encode() + b"\n\0"


def write_v7(meta, cpus, codec="none", clock="local", page_size=4096, buffers=(), options=(), cpu_count=None):
    """A file of version 7. `cpus`: pages by CPU; `buffers`: (name, clock, page size, cpus) of instances;
    `options`: (number, data) beside those that every file has."""

    def u(value, size):
        return (value & ((1 << 8 * size) - 1)).to_bytes(size, meta.endian)

    out = bytearray(MAGIC + b"7\0" + bytes([meta.endian == "big", meta.long]) + u(meta.page, 4))
    out += codec.encode() + (b"\0\0" if codec == "none" else b"\x001.0\0")
    first_options = len(out)
    out += u(0, 8)
    pending = []

    def section(number, body, may_pack=True):
        at = len(out)
        is_packed = may_pack and codec != "none"
        if is_packed:
            block = pack(codec, body)
            body = u(len(block), 4) + u(len(body), 4) + block
        out.extend(u(number, 2) + u(is_packed, 2) + u(0, 4) + u(len(body), 8) + body)
        return at

    def metadata(number, body):
        pending.append((number, u(section(number, body), 8)))

    def formats(texts):
        return u(len(texts), 4) + b"".join(u(len(text), 8) + text for text in texts)

    systems = b"".join(name + b"\0" + formats(texts) for name, texts in meta.systems)
    metadata(
        16,
        b"header_page\0" + u(len(meta.header_page), 8) + meta.header_page
        + b"header_event\0" + u(len(meta.header_event), 8) + meta.header_event,
    )
    metadata(17, formats(meta.ftrace))
    metadata(18, u(len(meta.systems), 4) + systems)
    metadata(19, u(len(meta.kallsyms), 4) + meta.kallsyms)
    metadata(20, u(len(meta.printk), 4) + meta.printk)
    metadata(21, u(len(meta.cmdlines), 8) + meta.cmdlines)
    everything = [("", clock, page_size, cpus), *buffers]
    highest = max(max(cpus, default=0) for *_, cpus in everything)
    pending += [(8, u(cpu_count or highest + 1, 4)), (4, clock_text(clock)), *options]

    def write_options():
        nonlocal pending
        body = b"".join(u(number, 2) + u(len(data), 4) + data for number, data in pending)
        body += u(0, 2) + u(8, 4) + u(0, 8)
        pending = []
        at = section(0, body, may_pack=False)
        return at, len(out) - 8

    at, done = write_options()
    out[first_options : first_options + 8] = u(at, 8)
    for name, clock, page_size, cpus in everything:
        at = len(out)
        out.extend(u(3, 2) + u(codec != "none", 2) + u(0, 12))
        rows = b""
        for cpu, data in sorted(cpus.items()):
            out.extend(b"\0" * (-len(out) % meta.page))
            offset = len(out)
            if codec == "none" or not data:
                out.extend(data)
            else:
                step = 10 * page_size
                chunks = [data[i : i + step] for i in range(0, len(data), step)]
                out.extend(u(len(chunks), 4))
                for chunk in chunks:
                    block = pack(codec, chunk)
                    out.extend(u(len(block), 4) + u(len(chunk), 4) + block)
            rows += u(cpu, 4) + u(offset, 8) + u(len(out) - offset, 8)
        out[at + 8 : at + 16] = u(len(out) - at - 16, 8)
        names = name.encode() + b"\0" + clock.encode() + b"\0"
        pending.append((3, u(at, 8) + names + u(page_size, 4) + u(len(cpus), 4) + rows))
        at, after = write_options()
        out[done : done + 8] = u(at, 8)
        done = after
    section(15, b"headers\0")
    return bytes(out)


def write_v6(meta, cpus, clock="local", options=(), instances=()):
    """A file of version 6. `instances`: (name, cpus)."""

    def u(value, size):
        return (value & ((1 << 8 * size) - 1)).to_bytes(size, meta.endian)

    def formats(texts):
        return u(len(texts), 4) + b"".join(u(len(text), 8) + text for text in texts)

    out = bytearray(MAGIC + b"6\0" + bytes([meta.endian == "big", meta.long]) + u(meta.page, 4))
    out += b"header_page\0" + u(len(meta.header_page), 8) + meta.header_page
    out += b"header_event\0" + u(len(meta.header_event), 8) + meta.header_event
    out += formats(meta.ftrace)
    out += u(len(meta.systems), 4)
    out += b"".join(name + b"\0" + formats(texts) for name, texts in meta.systems)
    out += u(len(meta.kallsyms), 4) + meta.kallsyms
    out += u(len(meta.printk), 4) + meta.printk
    out += u(len(meta.cmdlines), 8) + meta.cmdlines
    count = max([max(cpus, default=0)] + [max(other, default=0) for _, other in instances]) + 1
    out += u(count, 4) + b"options  \0"
    for number, data in [(4, clock_text(clock)), *options]:
        out += u(number, 2) + u(len(data), 4) + data
    places = []
    for name, other in instances:
        out += u(3, 2) + u(9 + len(name), 4)
        places.append((len(out), other))
        out += u(0, 8) + name.encode() + b"\0"
    out += u(0, 2)

    def flyrecord(cpus):
        out.extend(b"flyrecord\0")
        table = len(out)
        out.extend(b"\0" * (16 * count))
        for cpu in range(count):
            data = cpus.get(cpu, b"")
            out.extend(b"\0" * (-len(out) % meta.page))
            row = table + 16 * cpu
            out[row : row + 16] = u(len(out), 8) + u(len(data), 8)
            out.extend(data)

    flyrecord(cpus)
    for place, other in places:
        out[place : place + 8] = u(len(out), 8)
        flyrecord(other)
    return bytes(out)
