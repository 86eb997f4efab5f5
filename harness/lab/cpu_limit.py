"""The workers' CPU limit: lifted while programs start, set and verified before anything is measured.

Half a core makes a JVM take many seconds to start, which no measurement needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.lab.cluster import Lab
from harness.lab.engine import docker
from harness.model.errors import BadInput, ClusterliftError


@contextmanager
def cpu_limit_lifted(lab: Lab) -> Iterator[None]:
    """While entered, let each worker use all processors of the machine; then set the lab's limit."""
    processors = float(docker("info", "--format", "{{.NCPU}}"))
    set_cpu_limit(lab, max(processors, lab.cpus))
    try:
        yield
    finally:
        set_cpu_limit(lab, lab.cpus)


def set_cpu_limit(lab: Lab, cpus: float) -> None:
    """Limit each worker to `cpus` processors and read the limits back.

    Raises ClusterliftError if a limit cannot be set, or is not what was set.
    """
    if not _other_limits(lab, cpus):
        return
    try:
        docker("update", "--cpus", f"{cpus:g}", *(node.container for node in lab.workers))
    except BadInput:
        raise
    except ClusterliftError as error:
        raise ClusterliftError(
            f"cannot limit the workers to {cpus:g} processors: {error}"
        ) from error
    if others := _other_limits(lab, cpus):
        found = ", ".join(f"{name} {limit:g}" for name, limit in others.items())
        raise ClusterliftError(
            f"the workers should be limited to {cpus:g} processors, but Docker reports: {found} "
            "(0 is no limit)"
        )


def _other_limits(lab: Lab, cpus: float) -> dict[str, float]:
    """Return the limits, by the worker's name, that are not `cpus`."""
    containers = [node.container for node in lab.workers]
    if not containers:
        return {}
    limits = docker("inspect", "--format", "{{.HostConfig.NanoCpus}}", *containers).split()
    return {
        node.name: int(limit) / 1e9
        for node, limit in zip(lab.workers, limits, strict=True)
        if int(limit) != round(cpus * 1e9)
    }
