"""The command line as a process of its own: the script, and `python -m pi_event_search`."""

import gc
import sys

_OBJECTS = 20_000
"""How many new objects make it worth looking for garbage in cycles. At Python's 700 a search looks
45 times and finds nothing: that was a twentieth of its time."""


def run() -> int:
    """Run the command line; what is set here concerns the whole process, so `main` cannot."""
    gc.set_threshold(_OBJECTS)
    from pi_event_search.cli import main  # most objects of a short command come from loading it

    code = main()
    # The index is closed and the answer written, so nothing that is left has anything to do at its
    # end. Unless it is taken out of sight, the interpreter looks through all of it several times.
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(run())
