"""Which workloads ran in several streams at the same time."""

from collections.abc import Iterable, Sequence

from harness.model.run import Run


def streams(runs: Iterable[Run]) -> dict[str, Sequence[str]]:
    """Return the workloads that ran in streams, by the name of all streams together."""
    found: dict[str, Sequence[str]] = {}
    for run in runs:
        parts = run.parameters.get("in_streams")
        if parts and run.workloads:
            found[run.workloads[0]] = parts
    return found
