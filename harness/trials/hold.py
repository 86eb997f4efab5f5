"""How a run asks an experiment for something, and waits until it is done."""

from __future__ import annotations

import os
import time
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.terminal import show

HOLD_FILE = "CLUSTERLIFT_HOLD_FILE"
"""The environment variable that names a file to create and to wait for."""
DROP_CACHES = "drop caches\n"
"""A request to put what hosts keep of files out of memory. Names of configurations have no line ends."""
POLL_S = 0.05


def wait_for_release(request: str) -> bool:
    """Wait until the file that CLUSTERLIFT_HOLD_FILE names, with a request in it, is removed.

    So an experiment can do what is needed before trials: put the configuration in force whose name is the
    request, or DROP_CACHES. Return False if no experiment has set the variable. Raises BadInput if the file
    cannot be written.
    """
    name = os.environ.get(HOLD_FILE)
    if not name:
        return False
    file = Path(name)
    try:
        written = Path(f"{name}.new")
        written.write_text(request)
        written.replace(file)  # never seen half-written
    except OSError as error:
        raise BadInput(f"{HOLD_FILE} is {name}: {error.strerror}") from error
    try:
        if request != DROP_CACHES:
            show(f"ready for trials of {request}; waiting until {name} is removed")
        while file.exists():
            time.sleep(POLL_S)
    finally:
        if file.exists():  # after an interrupt
            file.unlink()
    return True
