"""The title of a window on an X display. Needs python3-xlib."""
from Xlib import X

# In units of four bytes, as the protocol counts: longer than any title.
LONGEST = 1 << 16


def title_of(x, window):
    """The window's name, read with one request: in two, the second starts behind the end of a title that shrank in between."""
    read = window.get_property(x.intern_atom("_NET_WM_NAME"), X.AnyPropertyType, 0, LONGEST)
    name = read.value if read else window.get_wm_name() or ""
    return name.decode(errors="replace") if isinstance(name, bytes) else name
