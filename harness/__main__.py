"""The program `clusterlift`, which is `python -m harness`, too."""

import gc
import signal
import sys

from harness.base.errors import INTERRUPTED

NEW_OBJECTS = 100_000
"""Until Python looks for cycles. Results have none, and looking for them took an eighth of a report."""


def main() -> int:
    """Load the command line and run it. Loading, too, can be interrupted, or fail in one line."""
    gc.set_threshold(NEW_OBJECTS)
    try:
        from harness.commands import cli  # noqa: PLC0415  to be inside the `try`

        code = cli.main()
        gc.freeze()  # or Python would look through all objects again at its end: up to 0.1 s
        if code == INTERRUPTED:
            _ignore_ctrl_c()
    except KeyboardInterrupt:
        _ignore_ctrl_c()
        sys.stderr.write("clusterlift: error: interrupted\n")
        code = INTERRUPTED
    except (ImportError, MemoryError) as error:
        sys.exit(f"clusterlift: error: cannot be loaded: {error}")
    return code


def _ignore_ctrl_c() -> None:
    """Exit quietly on repeated Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
