"""The options of short benchmarks, and what is recorded of them."""

from pathlib import Path

from harness.model.run import Ending, RecordedRun, Status
from harness.records.reader import load
from jobs.workload import discover

FAST = (
    "--trials",
    1,
    "--warmup",
    0,
    "--proof",
    "trials",
    "--repartition",
    4,
    "--pi-samples",
    20_000,
)
WITHOUT_ARROW = frozenset(name for name, found in discover().items() if not found.requires)
KINDS = frozenset({"inner-join", "calc-pi-python-udf", "supersteps"})
"""A workload that shuffles a dataset, one whose tasks run in Python, and one that exchanges messages."""
OF_EACH_KIND = ("--workloads", ",".join(KINDS))


def recorded(results: Path) -> RecordedRun:
    """Return the only run in a results directory."""
    [file] = results.glob("*/*.jsonl")
    run = load(file)
    assert not run.warnings
    return run


def check_complete(
    run: RecordedRun, executors: int, workloads: frozenset[str] = WITHOUT_ARROW
) -> None:
    assert {trial.workload for trial in run.trials} == workloads
    assert [(t.workload, t.error) for t in run.trials if t.status is Status.FAILED] == []
    assert run.ending is Ending.COMPLETED
    assert len(run.run.environment["executors"]) == executors
