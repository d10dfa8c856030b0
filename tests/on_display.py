"""What the scripts share that drive the real window on a display: waiting, AT-SPI, and keys.

Needs python3-gi, gir1.2-atspi-2.0, at-spi2-core and python3-xlib, a session bus, and an X display.
"""
import os
import pathlib
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402
from Xlib import X, XK  # noqa: E402
from Xlib.ext import xtest  # noqa: E402
from x_title import title_of  # noqa: E402

PATIENCE = 60.0
# The role of a button has another name in later versions.
BUTTON = ("button", "push button")


def fail(words):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {words}")


def listen_for(what, question):
    """What `question` answers, as soon as it is true; events are taken meanwhile."""
    end = time.time() + PATIENCE
    context = GLib.MainContext.default()
    while time.time() < end:
        while context.iteration(False):
            pass
        answer = question()
        if answer:
            print(f"heard: {what}: {answer}", flush=True)
            return answer
        time.sleep(0.05)
    return fail(f"waited {PATIENCE:.0f} s in vain for {what}")


def switch_on():
    """Tells programs on this session bus that a screen reader runs."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
    for name in ("IsEnabled", "ScreenReaderEnabled"):
        value = GLib.Variant("(ssv)", ("org.a11y.Status", name, GLib.Variant("b", True)))
        bus.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.freedesktop.DBus.Properties", "Set", value,
                      None, Gio.DBusCallFlags.NONE, -1, None)


def window_of(number):
    """The program's top window in the desktop's tree."""
    desktop = Atspi.get_desktop(0)
    for at in range(desktop.get_child_count()):
        program = desktop.get_child_at_index(at)
        if program and program.get_process_id() == number and program.get_child_count():
            return program.get_child_at_index(0)
    return None


def walk(node):
    for at in range(node.get_child_count()):
        child = node.get_child_at_index(at)
        if child:
            yield child
            yield from walk(child)


def press(x, *names):
    codes = [x.keysym_to_keycode(XK.string_to_keysym(name)) for name in names]
    for code in codes:
        xtest.fake_input(x, X.KeyPress, code)
    for code in reversed(codes):
        xtest.fake_input(x, X.KeyRelease, code)
    x.sync()


def private_environment(home):
    """The environment of a program that keeps what it keeps under `home`."""
    environment = dict(os.environ, HOME=str(home), XDG_CONFIG_HOME=str(home), XDG_STATE_HOME=str(home),
                       XDG_DATA_HOME=str(home), LIBGL_ALWAYS_SOFTWARE="1")
    environment.pop("WAYLAND_DISPLAY", None)
    return environment


def x_window(x, words):
    """The visible window with `words` in its name, once there is one."""
    def find(window):
        if words in title_of(x, window) and window.get_attributes().map_state == X.IsViewable:
            return window
        return next(filter(None, map(find, window.query_tree().children)), None)

    return listen_for(f"{words} on the display", lambda: find(x.screen().root))


def focus(x, window):
    """Gives the keyboard to a window: there is no window manager."""
    window.set_input_focus(X.RevertToParent, X.CurrentTime)
    x.sync()
