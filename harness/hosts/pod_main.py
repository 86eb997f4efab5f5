"""The main process of our pods: it waits, and ends what runs there before the pod goes.

When a pod is evicted, Kubernetes asks its main process alone to end, and kills all others a while later. So
this process asks the others. A guard among them then hears nothing more, and puts back what it has set. It
is a program of its own, of the standard library alone.
"""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

_POLL_S = 0.2


def _others() -> bool:
    """Whether there is another process in this container."""
    numbers = {path.name for path in Path("/proc").iterdir() if path.name.isdigit()}
    return numbers != {"1"}


def _leave(*_: object) -> None:
    """Ask all others to end, once, wait until they have, and end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with suppress(ProcessLookupError):  # there are none
        os.kill(-1, signal.SIGTERM)
    while _others():
        time.sleep(_POLL_S)
    sys.exit(0)


def main() -> None:
    """Wait for SIGTERM."""
    # Elsewhere, all others would be the processes of the machine.
    if os.getpid() != 1:
        sys.exit(
            "pod_main.py: error: it has to be the first process of a container: leave out hostPID and "
            "shareProcessNamespace"
        )
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what commands leave behind becomes our child
    signal.signal(signal.SIGTERM, _leave)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
