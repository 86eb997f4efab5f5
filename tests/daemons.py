"""The daemons of miniclusters: which there are, and how they die as by a power cut."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from harness.minicluster.cluster import root
from tests.waiting import eventually


def find_all(scheme: str) -> list[Path]:
    """Return the directories of the clusters of a service that are up."""
    return sorted(root().glob(f"{scheme}-*"))


def running_daemons(directory: Path) -> dict[str, int]:
    """Return the processes that print to the logs of the cluster in a directory, by the logs' names."""
    found = {}
    for printed in Path("/proc").glob("[0-9]*/fd/1"):
        with suppress(OSError):
            log = Path(str(printed.readlink()).removesuffix(" (deleted)"))
            if log.parent == root() / "logs" / directory.name:
                found[log.stem] = int(printed.parts[2])
    return found


def kill(directory: Path, name: str) -> None:
    """End the daemon of this name with SIGKILL."""
    os.kill(running_daemons(directory)[name], signal.SIGKILL)
    eventually(lambda: name not in running_daemons(directory))
