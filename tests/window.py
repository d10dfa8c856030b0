#!/usr/bin/env python3
"""The real window, end to end, on an X display without a window manager.

usage: window.py PROGRAM TRACE

Drops TRACE on the window (XDND), zooms, selects a range, exports it, opens what was exported, drops TRACE beside it and then in
place of both, and closes the window. Each step must be seen: in the window's title, in its picture, in the file, in what `info` says of it.
Needs python3-xlib; run it as `xvfb-run -a -s '-screen 0 1600x1000x24' python3 tests/window.py ...`.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

from Xlib import X, XK, display
from Xlib.ext import xtest
from Xlib.protocol import event

from x_title import title_of

PATIENCE = 60.0


def fail(words):
    sys.exit(f"window.py: {words}")


def wait_for(what, question):
    """What `question` answers, as soon as it is true."""
    end = time.time() + PATIENCE
    while time.time() < end:
        answer = question()
        if answer:
            print(f"seen: {what}", flush=True)
            return answer
        time.sleep(0.1)
    return fail(f"waited {PATIENCE:.0f} s in vain for {what}")


class Window:
    """A window of the program, as a user at the display sees it."""

    def __init__(self, x):
        self.x = x
        self.root = x.screen().root
        self.window = wait_for("a window that takes drops", lambda: self.find(self.root))
        wait_for("the window on the screen", lambda: self.window.get_attributes().map_state == X.IsViewable)
        self.window.set_input_focus(X.RevertToParent, X.CurrentTime)
        x.sync()

    def find(self, window):
        if "Threadline" in title_of(self.x, window):
            if window.get_full_property(self.x.intern_atom("XdndAware"), X.AnyPropertyType):
                return window
        for child in window.query_tree().children:
            found = self.find(child)
            if found:
                return found
        return None

    def title(self):
        return title_of(self.x, self.window)

    def picture(self):
        """A checksum of what is drawn, the status bar with its frame time left out."""
        size = self.window.get_geometry()
        image = self.window.get_image(0, 0, size.width, size.height - 30, X.ZPixmap, 0xFFFFFFFF)
        return zlib.crc32(image.data)

    def settled(self):
        """The picture, once it rests."""
        last = None
        end = time.time() + PATIENCE
        while time.time() < end:
            now = self.picture()
            if now == last:
                return now
            last = now
            time.sleep(0.4)
        return fail("the picture never rests")

    def key(self, name, *modifiers):
        codes = [self.x.keysym_to_keycode(XK.string_to_keysym(key)) for key in (*modifiers, name)]
        for code in codes:
            xtest.fake_input(self.x, X.KeyPress, code)
        for code in reversed(codes):
            xtest.fake_input(self.x, X.KeyRelease, code)
        self.x.sync()
        time.sleep(0.15)

    def move(self, x, y):
        place = self.window.translate_coords(self.root, 0, 0)
        xtest.fake_input(self.x, X.MotionNotify, x=x - place.x, y=y - place.y)
        self.x.sync()
        time.sleep(0.05)

    def drag(self, start, end):
        self.move(*start)
        xtest.fake_input(self.x, X.ButtonPress, 1)
        self.x.sync()
        for step in range(1, 11):
            self.move(*(a + (b - a) * step // 10 for a, b in zip(start, end)))
        xtest.fake_input(self.x, X.ButtonRelease, 1)
        self.x.sync()
        time.sleep(0.2)

    def drop(self, path, across=0.5):
        """Drops a file as a file manager does, by the XDND protocol (version 5), at a part of the window's width."""
        atom = self.x.intern_atom
        selection, uri_list = atom("XdndSelection"), atom("text/uri-list")
        source = self.root.create_window(0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask)
        source.set_selection_owner(selection, X.CurrentTime)
        data = (pathlib.Path(path).resolve().as_uri() + "\r\n").encode()

        def send(kind, *values):
            values = (source.id, *values, 0, 0, 0, 0)[:5]
            message = event.ClientMessage(window=self.window, client_type=atom(kind), data=(32, list(values)))
            self.window.send_event(message, event_mask=0)
            self.x.flush()

        def answer(kind):
            """The message of that kind; what the window asks for on the way is served."""
            while self.x.pending_events():
                got = self.x.next_event()
                if got.type == X.SelectionRequest:
                    place = got.property or got.target
                    got.requestor.change_property(place, uri_list, 8, data)
                    reply = event.SelectionNotify(
                        time=got.time, requestor=got.requestor, selection=got.selection,
                        target=got.target, property=place)
                    got.requestor.send_event(reply, event_mask=0)
                    self.x.flush()
                elif got.type == X.ClientMessage and self.x.get_atom_name(got.client_type) == kind:
                    return got.data[1]
            return None

        size = self.window.get_geometry()
        place = self.window.translate_coords(self.root, 0, 0)
        inside = (int(size.width * across), size.height // 2)
        x, y = inside[0] - place.x, inside[1] - place.y
        before = self.settled()
        self.move(*inside)
        send("XdndEnter", 5 << 24, uri_list)
        send("XdndPosition", 0, (x << 16) | y, X.CurrentTime, atom("XdndActionCopy"))
        status = wait_for("the window's word that it takes the file", lambda: answer("XdndStatus"))
        if not status[1] & 1:
            fail("the window does not take the file")
        wait_for("what the file can be dropped on", lambda: self.settled() != before)
        send("XdndDrop", 0, X.CurrentTime)
        wait_for("the end of the drop", lambda: answer("XdndFinished"))


def main():
    program, trace = sys.argv[1:3]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="threadline-window-"))
    home = folder / "home"
    home.mkdir()
    trace = shutil.copy(trace, folder)
    name = pathlib.Path(trace).name
    environment = dict(os.environ, HOME=str(home), XDG_CONFIG_HOME=str(home), XDG_STATE_HOME=str(home),
                       XDG_DATA_HOME=str(home), LIBGL_ALWAYS_SOFTWARE="1")
    environment.pop("WAYLAND_DISPLAY", None)
    running = subprocess.Popen([program], env=environment)
    try:
        window = Window(display.Display())
        welcome = window.settled()
        window.drop(trace)
        wait_for(f"{name} in the title", lambda: name in window.title())
        whole = window.settled()
        if whole == welcome:
            fail("the dropped trace is not drawn")
        size = window.window.get_geometry()
        middle = (size.width * 5 // 8, 300)
        window.move(*middle)
        window.settled()
        window.key("w")
        window.key("w")
        wait_for("a closer view", lambda: window.settled() != whole)
        closer = window.settled()
        window.drag((size.width // 2, 300), (size.width * 3 // 4, 320))
        wait_for("a selected range", lambda: window.settled() != closer)
        window.key("e", "Control_L")
        window.settled()
        window.key("Return")
        written = wait_for("the exported file", lambda: next(iter(folder.glob("*.fxt")), None))
        said = json.loads(subprocess.run([program, "info", "--json", str(written)], check=True,
                                         capture_output=True, text=True).stdout)
        of_all = json.loads(subprocess.run([program, "info", "--json", str(trace)], check=True,
                                           capture_output=True, text=True).stdout)
        if not 0 < said["end_ns"] - said["start_ns"] < of_all["end_ns"] - of_all["start_ns"]:
            fail(f"the exported span is not a part of the whole: {said}")
        if not 0 < said["slices"] + said["runs"] < of_all["slices"] + of_all["runs"]:
            fail(f"the export holds not a part of the trace: {said}")
        window.settled()
        window.key("Return")
        wait_for(f"{written.name} in the title", lambda: written.name in window.title())
        window.drop(trace, across=0.75)
        wait_for(f"{written.name} and {name} on one axis",
                 lambda: f"{written.name} and 1 more" in window.title())
        window.drop(trace, across=0.25)
        wait_for(f"{name} in place of both", lambda: window.title().startswith(f"{name} –"))
        window.settled()
        window.key("q", "Control_L")
        wait_for("the end of the program", lambda: running.poll() is not None)
        if running.returncode != 0:
            fail(f"the program ended with {running.returncode}")
        print("window.py: all steps were seen")
    finally:
        running.kill()
        shutil.rmtree(folder, ignore_errors=True)


main()
