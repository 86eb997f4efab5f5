"""Whoever submits a benchmark can hold it before its first trial, to prepare what trials must find.

The lab does: it limits the workers' processors when Spark has started. Standard library only.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from harness.model.errors import BadInput

HOLD_FILE = "CLUSTERLIFT_HOLD_FILE"
"""The environment variable that names a file to create and to wait for."""
POLL_S = 0.05


def hold_message(file: str) -> str:
    """Return the line that says that everything is ready for the first trial."""
    return f"ready for the first trial; waiting until {file} is removed"


def wait_while_held() -> None:
    """Create the file that CLUSTERLIFT_HOLD_FILE names, print a line, and wait until it is removed.

    Without that variable there is nothing to wait for. Raises BadInput if the file cannot be created.
    """
    file = os.environ.get(HOLD_FILE)
    if not file:
        return
    try:
        Path(file).touch()
    except OSError as error:
        raise BadInput(f"{HOLD_FILE} is {file}: {error.strerror}") from error
    try:
        print(hold_message(file), flush=True)
        while Path(file).exists():
            time.sleep(POLL_S)
    finally:
        Path(file).unlink(missing_ok=True)  # it is still there after an interrupt
