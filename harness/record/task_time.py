"""How the time of one task is divided: parts that do not overlap and make up the whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from harness.metrics import TaskTime
from harness.record.spark_events import NS_PER_MS, TaskEnded

PARTS = tuple(field.name.removesuffix("_s") for field in fields(TaskTime))

Claim = tuple[str, int]
"""One of the PARTS, or their whole, and the nanoseconds that its metric counted."""


def divided(task: TaskEnded) -> Iterator[Claim]:
    """Each part with its nanoseconds; together they are what passed from launch to finish.

    The order of the claims is the order of TaskTime's precedence. Of a task whose metrics were lost
    with its executor nothing can be told but how long it took.
    """
    whole_ns, spent = task.duration_ms * NS_PER_MS, task.spent
    if spent is None:
        yield "unattributed", whole_ns
        return
    run, *others = _granted(
        whole_ns,
        ("run", spent.run_ns),
        ("deserialization", spent.deserialization_ns),
        ("result", spent.result_ns),
        rest="scheduler_delay",
    )
    yield from others
    yield from _granted(
        run[1],
        ("fetch_wait", spent.fetch_wait_ns),
        ("cpu", spent.cpu_ns),
        ("shuffle_write", spent.shuffle_write_ns),
        ("python_worker", spent.python_ns or 0),
        rest="unattributed",
    )


def _granted(whole_ns: int, *claims: Claim, rest: str) -> Iterator[Claim]:
    """To each claim, in their order, what it asks for, as far as the earlier ones left it."""
    left_ns = whole_ns
    for name, claimed_ns in claims:
        granted_ns = min(claimed_ns, left_ns)
        left_ns -= granted_ns
        yield name, granted_ns
    yield rest, left_ns
