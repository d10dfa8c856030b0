#!/usr/bin/env python3
"""A program that traces itself into an FXT file: fxt-by-python.py OUT.fxt

Three workers compress files of Python's own library while the main thread hands them out and a collector adds up what
comes back. The records are packed here from the specification of the Fuchsia trace format alone, so that the file
shows Threadline something that its own writer did not make: inline and indexed strings, indices that are used again,
flows, asynchronous slices, counters, logs, a blob, names of objects.
"""

import glob
import json
import os
import queue
import struct
import sys
import threading
import time
import zlib

PROCESS = os.getpid()
TICKS_PER_SECOND = 1_000_000_000
RING = 24  # string indices that are used again and again


class Writer:
    """Packs records; one lock, as this measures nobody."""

    def __init__(self):
        self.words = bytearray(struct.pack("<Q", 0x0016547846040010))
        self.lock = threading.Lock()
        self.strings = {}
        self.ring = [None] * RING
        self.next_slot = 0
        self.threads = {}

    def record(self, record_type, header, *parts):
        body = b"".join(parts)
        assert len(body) % 8 == 0
        size = 1 + len(body) // 8
        self.words += struct.pack("<Q", record_type | size << 4 | header) + body

    @staticmethod
    def word(value):
        return struct.pack("<Q", value & (2**64 - 1))

    @staticmethod
    def stream(data):
        return data + bytes(-len(data) % 8)

    def index(self, text):
        """A string's index in the ring; the oldest one is replaced."""
        if text in self.strings:
            return self.strings[text]
        slot = self.next_slot % RING
        self.next_slot += 1
        self.strings.pop(self.ring[slot], None)
        self.ring[slot] = text
        data = text.encode()
        self.record(2, (slot + 1) << 16 | len(data) << 32, self.stream(data))
        self.strings[text] = slot + 1
        return slot + 1

    def thread_index(self):
        tid = threading.get_native_id()
        if tid not in self.threads:
            index = len(self.threads) + 1
            self.record(3, index << 16, self.word(PROCESS), self.word(tid))
            self.threads[tid] = index
        return self.threads[tid]

    def argument(self, name, value):
        """Short names are registered, texts stand inline."""
        reference = self.index(name)
        inline = b""
        if value is None:
            kind, high, rest = 0, 0, b""
        elif isinstance(value, bool):
            kind, high, rest = 9, int(value), b""
        elif isinstance(value, int) and -(2**31) <= value < 2**31:
            kind, high, rest = 1, value & 0xFFFFFFFF, b""
        elif isinstance(value, int):
            kind, high, rest = 4, 0, self.word(value)
        elif isinstance(value, float):
            kind, high, rest = 5, 0, struct.pack("<d", value)
        elif isinstance(value, Pointer):
            kind, high, rest = 7, 0, self.word(value.address)
        elif isinstance(value, Koid):
            kind, high, rest = 8, 0, self.word(value.koid)
        else:
            data = str(value).encode()[:2000]
            kind, high, rest = 6, 0x8000 | len(data), self.stream(data)
        size = 1 + (len(inline) + len(rest)) // 8
        return self.word(kind | size << 4 | reference << 16 | high << 32) + inline + rest

    def event(self, sort, name, args, last=None, at=None):
        with self.lock:
            moment = time.monotonic_ns() if at is None else at
            packed = [self.argument(key, value) for key, value in args.items()]
            name_index = self.index(name) if name else 0
            category = self.index("compress")
            header = sort << 16 | len(packed) << 20 | self.thread_index() << 24 | category << 32 | name_index << 48
            tail = b"" if last is None else self.word(last)
            self.record(4, header, self.word(moment), *packed, tail)

    def name_of(self, kind, koid, name, process=None):
        data = name.encode()
        args = [] if process is None else [self.argument("process", Koid(process))]
        header = kind << 16 | (0x8000 | len(data)) << 24 | len(args) << 40
        self.record(7, header, self.word(koid), self.stream(data), *args)

    def object_name(self, address, name):
        data = name.encode()
        header = self.thread_index() << 16 | (0x8000 | len(data)) << 24
        self.record(6, header, self.word(address), self.stream(data))

    def log(self, text):
        with self.lock:
            data = text.encode()
            header = len(data) << 16 | self.thread_index() << 32
            self.record(9, header, self.word(time.monotonic_ns()), self.stream(data))

    def blob(self, name, data):
        label = name.encode()
        header = (0x8000 | len(label)) << 16 | len(data) << 32 | 1 << 48
        self.record(5, header, self.stream(label), self.stream(data))


class Pointer:
    def __init__(self, thing):
        self.address = id(thing)


class Koid:
    def __init__(self, koid):
        self.koid = koid


INSTANT, COUNTER, BEGIN, END, COMPLETE = 0, 1, 2, 3, 4
ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END, FLOW_BEGIN, FLOW_STEP, FLOW_END = 5, 6, 7, 8, 9, 10
trace = Writer()


class span:
    """A slice around a piece of work."""

    def __init__(self, name, **args):
        self.name, self.args, self.result = name, args, {}

    def __enter__(self):
        trace.event(BEGIN, self.name, self.args)
        return self.result

    def __exit__(self, *_):
        trace.event(END, self.name, self.result)


def counted(jobs, done):
    trace.event(COUNTER, "queue", {"waiting": jobs.qsize(), "to collect": done.qsize()}, last=1)


def worker(jobs, done):
    with trace.lock:
        trace.name_of(2, threading.get_native_id(), threading.current_thread().name, PROCESS)
    while (job := jobs.get()) is not None:
        number, path = job
        with span("job", number=number, queue=Pointer(jobs)) as result:
            trace.event(FLOW_STEP, "file", {}, last=number)
            with span("read", path=os.path.basename(path)):
                with open(path, "rb") as file:
                    data = file.read()
            trace.event(ASYNC_INSTANT, "read", {"bytes": len(data)}, last=number)
            packed = b""
            for level in (1, 6):
                started = time.monotonic_ns()
                packed = zlib.compress(data, level)
                trace.event(COMPLETE, f"level {level}", {"ratio": len(packed) / max(len(data), 1)},
                            last=time.monotonic_ns(), at=started)
            result["bytes"] = len(packed)
            result["is small"] = len(packed) < 1024
        done.put((number, len(data), len(packed)))
        counted(jobs, done)


def collector(done, count):
    with trace.lock:
        trace.name_of(2, threading.get_native_id(), "collector", PROCESS)
    total = 0
    for _ in range(count):
        number, before, after = done.get()
        with span("collect", number=number):
            trace.event(FLOW_END, "file", {}, last=number)
            total += after
            trace.event(COUNTER, "bytes", {"in": before, "out": after, "sum": total}, last=2)
        trace.event(ASYNC_END, "request", {"sum": total}, last=number)
    trace.log(f"{count} files, {total} bytes")


def main():
    jobs, done = queue.Queue(maxsize=6), queue.Queue()
    paths = sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py")))[:60]
    with trace.lock:
        trace.record(0, 1 << 16 | 1 << 20 | len("python") << 52, trace.stream(b"python"))
        trace.record(1, 0, trace.word(TICKS_PER_SECOND))
        trace.name_of(1, PROCESS, "compress.py")
        trace.name_of(2, threading.get_native_id(), "main", PROCESS)
        trace.object_name(id(jobs), "queue of jobs")
        settings = json.dumps({"levels": [1, 6], "workers": 3, "files": len(paths)})
        trace.blob("settings.json", settings.encode())
    threads = [threading.Thread(target=worker, args=(jobs, done), name=f"worker {n}") for n in range(3)]
    threads.append(threading.Thread(target=collector, args=(done, len(paths))))
    trace.log("start")
    for thread in threads:
        thread.start()
    with span("hand out", files=len(paths)):
        for number, path in enumerate(paths, 1):
            with span("put", number=number):
                trace.event(ASYNC_BEGIN, "request", {"path": os.path.basename(path)}, last=number)
                trace.event(FLOW_BEGIN, "file", {}, last=number)
                jobs.put((number, path))
            counted(jobs, done)
            if number % 20 == 0:
                trace.event(INSTANT, "twenty more", {"of": len(paths), "process": Koid(PROCESS)})
    for _ in threads[:3]:
        jobs.put(None)
    for thread in threads:
        thread.join()
    with open(sys.argv[1], "wb") as file:
        file.write(trace.words)


main()
