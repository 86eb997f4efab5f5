"""What the parts of a wall time are called, and narrow tables that have a column for each."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from tabulate import SEPARATING_LINE, DataRow, Line, TableFormat, tabulate

from harness.analysis.attribution import PARTS, Attribution, InputLocality, SpeedUpBound, Wire
from harness.analysis.explanation import ExplainedRow
from harness.present import quantities
from harness.statistics.change import Verdict
from harness.terminal import shorten, visible

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


# MERGED from harness.present.divided_table: 'A change in each workload, divided over where the time went.'
WIDTH = 100
_NAME_WIDTHS = (20, 16, 12)
_DECIMALS = ((100, 2), (1_000, 1), (100_000, 0))
"""How many a table has whose greatest number of seconds is less than this."""
_THOUSANDS = -3
"""In place of decimals, beyond all of these."""


def divided_table(rows: Sequence[ExplainedRow], marks: Mapping[str, str]) -> str:
    """Workloads down; the change and its parts across, in seconds, which add up as they are shown.

    A part in which nothing changed takes no room, and is named below. `marks` are those of the
    footnotes, by workload.
    """
    decimals = _decimals(rows)
    divided = [_rounded(row, decimals) for row in rows]
    kept = [part for part in PARTS if any(one.get(part) for one in divided)]
    numbers = [
        [
            _doubt(row) + _signed(one.get("change"), decimals),
            *(_signed(one.get(part), decimals) for part in (*kept, "rest")),
        ]
        for row, one in zip(rows, divided, strict=True)
    ]
    headings = ["workload", "change", *(HEADINGS[part] for part in kept), "rest"]
    for width in _NAME_WIDTHS:
        names = [shorten(visible(row.workload), width) + marks[row.workload] for row in rows]
        lines = [[name, *line] for name, line in zip(names, numbers, strict=True)]
        table = narrow_table(headings, lines)
        if all(len(line) <= WIDTH for line in table.split("\n")):
            break
    return f"{table}\n\n{_caption(rows, kept, decimals)}"


def _doubt(row: ExplainedRow) -> str:
    change = row.cells[1].change
    return quantities.NOISE if change and change.verdict is Verdict.NOISE else ""


def _decimals(rows: Sequence[ExplainedRow]) -> int:
    greatest = max(
        abs(seconds)
        for row in rows
        for seconds in (row.change_s or 0, row.rest_s or 0, *row.parts_s.values())
    )
    return next((decimals for limit, decimals in _DECIMALS if greatest < limit), _THOUSANDS)


def _rounded(row: ExplainedRow, decimals: int) -> dict[str, int]:
    """In units of the last decimal, so that what is shown adds up: the rest takes what is rounded."""
    if row.change_s is None:
        return {}
    change = round(row.change_s * 10.0**decimals)
    parts = {name: round(seconds * 10.0**decimals) for name, seconds in row.parts_s.items()}
    rest = {"rest": change - sum(parts.values())} if parts else {}
    return {"change": change, **parts, **rest}


def _signed(units: int | None, decimals: int) -> str:
    if units is None:
        return UNKNOWN
    shown = max(0, decimals)
    return f"{units / 10**shown:+.{shown}f}" if units else "0"


def _caption(rows: Sequence[ExplainedRow], kept: Sequence[str], decimals: int) -> str:
    changes = [row.cells[1].change for row in rows]
    verdicts = {change.verdict for change in changes if change}
    nothing = ", ".join(NAMES[part] for part in PARTS if part not in kept)
    sentences = [
        f"{'Thousands of seconds' if decimals == _THOUSANDS else 'Seconds'}, of the medians.",
        f"{quantities.NOISE}: chance explains it." if Verdict.NOISE in verdicts else "",
        "Of so few trials chance may explain every change." if Verdict.TOO_FEW in verdicts else "",
        f"Nothing changed in: {nothing}." if nothing else "",
    ]
    return textwrap.fill(" ".join(filter(None, sentences)), WIDTH)


# MERGED from harness.present.shares_table: "Where the time of one run's workloads went, as shares of their wall time."
def shares_table(attributions: Mapping[str, Attribution]) -> str:
    """Workloads down, parts across; `attributions` by workload, at least one."""
    kept = [part for part in PARTS if any(one.parts_s.get(part) for one in attributions.values())]
    lines = [
        [shorten(visible(workload), WORKLOAD_WIDTH), *(_share(one, part) for part in kept)]
        for workload, one in attributions.items()
    ]
    return narrow_table(["workload", *(HEADINGS[part] for part in kept)], lines)


def _share(attribution: Attribution, part: str) -> str:
    whole_s = math.fsum(attribution.parts_s.values())
    if part not in attribution.parts_s or not whole_s:
        return UNKNOWN
    return f"{attribution.parts_s[part] / whole_s:.0%}"


# MERGED from harness.present.waiting_table: 'What workloads waited for before and after: where their input was, the wire, and what could be won.'
NO_NODE = "no node"
"""In place of a share: the input was on none, as on a mounted directory, or it was cached."""

_HEADINGS = (
    "workload",
    "",
    "input",
    "node- local",
    "wire",
    "of it shuffle",
    "remote input",
    "unex- plained",
    "longest task, medians",
    "gain at most: network",
    "gain at most: +unattr.",
)
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_STEP = 1000
_LEAST_WHOLE = 10
"""From here on a number has no decimals."""


def waiting_table(rows: Sequence[ExplainedRow]) -> str:
    """Two lines a workload, of medians over the trials; the input is that of a trial, on average."""
    return narrow_table(_HEADINGS, [line for row in rows for line in _lines(row)])


def _lines(row: ExplainedRow) -> Iterator[tuple[str, ...]]:
    name = shorten(visible(row.workload), WORKLOAD_WIDTH)
    yield name, "before", *_cells(row.before)
    yield "", "after", *_cells(row.after)


def _cells(attribution: Attribution | None) -> tuple[str, ...]:
    if attribution is None:
        return (UNKNOWN,) * (len(_HEADINGS) - 2)
    straggler_ratio = attribution.straggler_ratio
    return (
        *_input(attribution.input, attribution.n),
        *_wire(attribution.wire),
        UNKNOWN if straggler_ratio is None else f"{straggler_ratio:.1f}",
        *_gain(attribution.speed_up_bound),
    )


def _input(read: InputLocality, trials: int) -> tuple[str, str]:
    whole = read.node_local_bytes + read.remote_bytes + read.unplaced_bytes
    if not whole:
        return quantity(0), ""
    near = NO_NODE if read.node_local_fraction is None else f"{read.node_local_fraction:.0%}"
    return quantity(whole / trials), near


def _wire(wire: Wire | None) -> tuple[str, ...]:
    if wire is None:
        return (UNKNOWN,) * 4
    return tuple(
        map(
            quantity,
            (
                wire.received_bytes,
                wire.shuffle_bytes,
                wire.remote_input_bytes,
                wire.unexplained_bytes,
            ),
        )
    )


def _gain(speed_up_bound: SpeedUpBound | None) -> tuple[str, str]:
    if speed_up_bound is None:
        return UNKNOWN, UNKNOWN
    return f"{speed_up_bound.network:.0%}", f"{speed_up_bound.network_and_unattributed:.0%}"


def quantity(count: float) -> str:
    """Bytes as `0`, `950 B`, `1.2 GB`, `-34 MB`: one decimal below 10."""
    scaled, unit = count, _UNITS[0]
    for unit in _UNITS:
        # Rounding may need the next unit: 999.6 kB is 1.0 MB.
        if round(abs(scaled)) < _STEP or unit == _UNITS[-1]:
            break
        scaled /= _STEP
    if not count:
        return "0"
    whole = unit == _UNITS[0] or round(abs(scaled), 1) >= _LEAST_WHOLE
    return f"{scaled:.0f} {unit}" if whole else f"{scaled:.1f} {unit}"
