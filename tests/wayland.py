#!/usr/bin/env python3
"""The real window on Wayland without Xwayland: in a compositor (weston) that is itself a window on an X display.

usage: wayland.py PROGRAM TRACE

The window must say that it takes no drops, open what is chosen in the desktop's file dialog (the portal's) and nothing when that
is cancelled, open a path that is pasted, and zoom and scroll by the wheel. Keys, clicks and the wheel go to the compositor's X window and reach the
program as a Wayland seat's. Needs weston, wl-clipboard, xdg-desktop-portal-gtk and what `on_display.py` needs; run it as
`xvfb-run -a -s '-screen 0 1600x1000x24' dbus-run-session -- python3 tests/wayland.py ...`.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from on_display import (BUTTON, PATIENCE, XK, Atspi, Gio, GLib, X, fail, focus, listen_for, press, private_environment,
                        switch_on, walk, window_of, x_window, xtest)
from Xlib import display, error

SOCKET = "threadline-test"


def main():
    program, trace = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    # In /tmp whatever TMPDIR says: the path of a socket has at most 107 bytes.
    home = pathlib.Path(tempfile.mkdtemp(prefix="threadline-wayland-", dir="/tmp"))
    chosen = shutil.copy(trace, home / "chosen.dat")
    runtime = home / "run"
    runtime.mkdir(mode=0o700)
    # (The portal, which the session bus starts, keeps its own folder: the bus has the environment of its start.)
    environment = private_environment(home) | {"XDG_RUNTIME_DIR": str(runtime)}
    compositor = start_compositor(environment, runtime, home / "weston.log")
    if compositor is None:
        print("wayland.py: skipped: no compositor starts on this machine; what weston wrote:")
        print((home / "weston.log").read_text(errors="replace")[-4000:])
        return
    environment |= {"WAYLAND_DISPLAY": SOCKET}
    environment.pop("DISPLAY")
    running = None
    try:
        Atspi.init()
        switch_on()
        said = []
        listener = Atspi.EventListener.new(lambda event: said.append(str(event.any_data)))
        listener.register("object:announcement")
        x = display.Display()
        screen = x_window(x, "Weston")
        running = subprocess.Popen([program], env=environment)
        window = listen_for("the window's tree", lambda: window_of(running.pid))

        def named(words, roles=None):
            return next((node for node in walk(window) if words in (node.get_name() or "")
                         and (roles is None or node.get_role_name() in roles)), None)

        listen_for("what is said of drops", lambda: named("Files cannot be dropped on this window"))
        focus(x, screen)

        def click(at, button=1, times=1):
            where = screen.translate_coords(x.screen().root, 0, 0)
            xtest.fake_input(x, X.MotionNotify, x=at[0] - where.x, y=at[1] - where.y)
            for _ in range(times):
                xtest.fake_input(x, X.ButtonPress, button)
                xtest.fake_input(x, X.ButtonRelease, button)
            x.sync()

        def file_dialog():
            """The desktop's file dialog: a window on the X display here."""
            button = listen_for("the button", lambda: named("Open a trace", BUTTON))
            Atspi.Action.do_action(button, 0)
            dialog = x_window(x, "Open")
            focus(x, dialog)
            listen_for("the dialog's buttons", lambda: in_dialog("Open", BUTTON))
            return dialog

        if portal_answers():
            dialog = file_dialog()
            press(x, "Escape")
            listen_for("the dialog's end", lambda: is_gone(dialog))
            file_dialog()
            press(x, "slash")
            field = listen_for("the dialog's field for a path", path_field)
            Atspi.EditableText.set_text_contents(field, str(chosen))
            press(x, "Return")
            listen_for("the chosen trace", lambda: "chosen.dat" in window.get_name())
        else:
            print("wayland.py: skipped: the desktop's file dialog, no portal answers on this machine")

        focus(x, screen)
        # Beside all buttons: the click is only for the focus.
        click(at=(640, 790))
        subprocess.run(["wl-copy", str(trace)], env=environment, check=True, timeout=60)
        click(at=(640, 790))
        press(x, "Control_L", "v")
        listen_for("the pasted trace", lambda: trace.name in window.get_name())
        listen_for("its tracks", lambda: named("CPU 0", ("tree item",)))

        control = x.keysym_to_keycode(XK.string_to_keysym("Control_L"))
        xtest.fake_input(x, X.KeyPress, control)
        click(at=(640, 300), button=4, times=3)
        xtest.fake_input(x, X.KeyRelease, control)
        x.sync()
        listen_for("zooming", lambda: next((it for it in said if "Visible: " in it), None))
        click(at=(640, 300), button=5, times=3)
        listen_for("scrolling", lambda: next((it for it in said if "Tracks " in it), None))
        press(x, "Control_L", "q")
        listen_for("the end of the program", lambda: running.poll() is not None)
        if running.returncode != 0:
            fail(f"the program ended with {running.returncode}")
        print("wayland.py: all was seen")
    finally:
        if running:
            running.kill()
        compositor.kill()
        shutil.rmtree(home, ignore_errors=True)


def start_compositor(environment, runtime, log):
    """Weston as a window on the X display, with the processor drawing where no other way starts; None where neither does."""
    for renderer in ([], ["--use-pixman"]):
        compositor = subprocess.Popen(["weston", "--backend=x11-backend.so", "--width=1280", "--height=800",
                                       f"--socket={SOCKET}", "--idle-time=0", f"--log={log}", *renderer], env=environment)
        end = time.time() + PATIENCE
        while compositor.poll() is None and time.time() < end:
            if (runtime / SOCKET).exists():
                return compositor
            time.sleep(0.05)
        compositor.kill()
    return None


def portal_answers():
    """Whether the session bus has a portal with a file dialog."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
    question = GLib.Variant("(ss)", ("org.freedesktop.portal.FileChooser", "version"))
    try:
        bus.call_sync("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop", "org.freedesktop.DBus.Properties",
                      "Get", question, None, Gio.DBusCallFlags.NONE, int(1000 * PATIENCE), None)
        return True
    except GLib.Error as why:
        print(f"wayland.py: {why.message}")
        return False


def in_dialog(words, roles):
    """The first part of the portal's dialog with this name and role that is on the screen."""
    desktop = Atspi.get_desktop(0)
    for at in range(desktop.get_child_count()):
        program = desktop.get_child_at_index(at)
        if program and "portal" in (program.get_name() or ""):
            for node in walk(program):
                if node.get_role_name() in roles and words in (node.get_name() or "") \
                        and node.get_state_set().contains(Atspi.StateType.SHOWING):
                    return node
    return None


def path_field():
    field = in_dialog("", ("text", "entry"))
    return field if field and field.get_state_set().contains(Atspi.StateType.EDITABLE) else None


def is_gone(window):
    try:
        return window.get_attributes().map_state != X.IsViewable
    except error.XError:
        return True


main()
