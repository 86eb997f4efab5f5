"""What the parts of a wall time are called, and narrow tables that have a column for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from tabulate import SEPARATING_LINE, DataRow, Line, TableFormat, tabulate

WORKLOAD_WIDTH = 20
UNKNOWN = "-"

NAMES: Mapping[str, str] = {
    "fetch_wait_s": "fetch wait",
    "cpu_s": "CPU",
    "shuffle_write_s": "shuffle write",
    "python_worker_s": "Python worker",
    "unattributed_s": "file system and unattributed",
    "deserialization_s": "deserialization",
    "result_s": "result",
    "scheduler_delay_s": "scheduler delay",
    "idle_s": "idle",
}
HEADINGS: Mapping[str, str] = {
    **NAMES,
    "unattributed_s": "file system, unattr.",
    "deserialization_s": "deser- ialize",
    "scheduler_delay_s": "sched. delay",
}
"""Each word on a line of its own."""


def narrow_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Columns as narrow as they may be, their headings a word a line; only the first is on the left."""
    words = zip_longest(*(reversed(heading.split()) for heading in headings), fillvalue="")
    rule, row = Line("", "-", " ", ""), DataRow("", " ", "")
    return tabulate(
        [*reversed(list(words)), SEPARATING_LINE, *lines],
        tablefmt=TableFormat(None, rule, None, None, row, row, 0, None),
        disable_numparse=True,
        colalign=["left", *["right"] * (len(headings) - 1)],
    )
