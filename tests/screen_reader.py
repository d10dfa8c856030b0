#!/usr/bin/env python3
"""What a screen reader is told of the real window, over AT-SPI, on an X display.

usage: screen_reader.py PROGRAM TRACE

Opens TRACE, looks for the window in the desktop's tree, reads the names of tracks, items and buttons, presses keys, waits
for what is announced, and reads the panes that the first selection opens. Needs python3-gi, gir1.2-atspi-2.0, at-spi2-core and python3-xlib; run it as
`dbus-run-session -- xvfb-run -a -s '-screen 0 1600x1000x24' python3 tests/screen_reader.py ...`.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from on_display import (BUTTON, Atspi, fail, focus, listen_for, press, private_environment, switch_on, walk, window_of,
                        x_window)
from Xlib import display


def main():
    program, trace = sys.argv[1:3]
    home = pathlib.Path(tempfile.mkdtemp(prefix="threadline-reader-"))
    said = []
    Atspi.init()
    switch_on()
    listener = Atspi.EventListener.new(lambda event: said.append(str(event.any_data)))
    listener.register("object:announcement")
    running = subprocess.Popen([program, trace], env=private_environment(home))
    try:
        x = display.Display()
        focus(x, x_window(x, "Threadline"))
        window = listen_for("the window's tree", lambda: window_of(running.pid))

        def named(roles, words):
            return next((node.get_name() for node in walk(window)
                         if node.get_role_name() in roles and words in node.get_name()), None)

        listen_for("a track", lambda: named(("tree item",), "CPU 0"))
        listen_for("an item on a track", lambda: named(BUTTON, ", at 0."))

        def all_have_names():
            nameless = [(node.get_role_name(), node.get_index_in_parent()) for node in walk(window)
                        if node.get_role_name() in (*BUTTON, "entry", "check box", "combo box")
                        and not any(letter.isalnum() for letter in node.get_name())]
            if nameless:
                fail(f"without a name: {nameless}")

        all_have_names()
        press(x, "w")
        listen_for("the visible span", lambda: next((it for it in said if "Visible: " in it), None))
        said.clear()
        press(x, "slash")
        listen_for("the search bar", lambda: next((it for it in said if "Search opened" in it), None))
        for letter in "mix":
            press(x, letter)
        listen_for("how much was found", lambda: next((it for it in said if " match" in it), None))
        press(x, "Return")
        listen_for("the match", lambda: next((it for it in said if "Match " in it and "Selected: " in it), None))
        press(x, "Escape")
        # The first selection opens the panes.
        listen_for("a button of a pane", lambda: named(BUTTON, "Close Details"))
        all_have_names()
        said.clear()
        press(x, "period")
        listen_for("the item beside it", lambda: next((it for it in said if "Selected: " in it), None))
        press(x, "Control_L", "q")
        listen_for("the end of the program", lambda: running.poll() is not None)
        if running.returncode != 0:
            fail(f"the program ended with {running.returncode}")
        print("screen_reader.py: all was heard")
    finally:
        running.kill()
        shutil.rmtree(home, ignore_errors=True)


main()
