"""`python -m pi_event_search`: the command line, for who knows the interpreter and no PATH."""

import sys

from pi_event_search.cli import main

if __name__ == "__main__":
    sys.exit(main())
