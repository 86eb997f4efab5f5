"""Tables of where the time went: one column for each part of the wall time, narrow enough for all."""

import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from tabulate import SEPARATING_LINE, DataRow, Line, TableFormat, tabulate

from harness.analysis.explain.attribution import PARTS, Attribution, ExplainedRow
from harness.base.words import shorten, visible
from harness.model.limits import MIN_RUNS
from harness.present import quantities
from harness.present.text import WIDTH, fill, with_fillers, without_fillers
from harness.statistics.change import Verdict

NAMES: Mapping[str, str] = {
    "fetch_wait_s": "fetch wait",
    "cpu_s": "CPU",
    "shuffle_write_s": "shuffle write",
    "python_worker_s": "Python worker",
    "unattributed_s": "file system and unattributed",
    "deserialization_s": "deserialization",
    "result_s": "sending results to the driver",
    "scheduler_delay_s": "scheduler delay",
    "idle_s": "idle",
}
"""What text calls each part of the wall time."""

_HEADINGS: Mapping[str, str] = {
    **NAMES,
    "unattributed_s": "file system, unattr.",
    "deserialization_s": "deser- ialize",
    "result_s": "result",
    "scheduler_delay_s": "sched. delay",
}
_NAME_WIDTH = 20


def narrow_table(
    headings: Sequence[str], lines: Sequence[Sequence[str]], left_aligned: int = 1
) -> str:
    """Return columns of minimum width, with each word of a heading on its own line.

    All columns but the first ones, `left_aligned` of them, are right-aligned.
    """
    words = zip_longest(*(reversed(heading.split()) for heading in headings), fillvalue="")
    rule, row = Line("", "-", " ", ""), DataRow("", " ", "")
    filled = [list(map(with_fillers, line)) for line in lines]
    table = tabulate(
        [*reversed(list(words)), SEPARATING_LINE, *filled],
        tablefmt=TableFormat(None, rule, None, None, row, row, 0, None),
        disable_numparse=True,
        colalign=["left" if n < left_aligned else "right" for n in range(len(headings))],
    )
    return without_fillers(table)


def fractions_table(attributions: Mapping[str, Attribution]) -> str:
    """Return each part as a fraction of the wall time; `attributions` are by workload, at least one."""
    kept = [
        part
        for part in PARTS
        if any(attribution.parts_s.get(part) for attribution in attributions.values())
    ]
    lines = [
        [shorten(visible(workload), _NAME_WIDTH), *(_fraction(attribution, part) for part in kept)]
        for workload, attribution in attributions.items()
    ]
    return narrow_table(["workload", *(_HEADINGS[part] for part in kept)], lines)


def _fraction(attribution: Attribution, part: str) -> str:
    wall_s = math.fsum(attribution.parts_s.values())
    if part not in attribution.parts_s or not wall_s:
        return quantities.UNKNOWN
    return quantities.share(attribution.parts_s[part] / wall_s)


_REST = "rest"
_CHANGE_NAME_WIDTHS = (20, 16, 12)
"""Maximum widths of a workload's name; the first that fits is used."""
_DECIMALS = ((100, 2), (1_000, 1))
"""Decimals of a table by the limit below which its largest number of seconds is."""


def divided_table(rows: Sequence[ExplainedRow], marks: Mapping[str, str]) -> str:
    """Return each workload's change and its parts in seconds; the parts shown add up to the change.

    Parts without any change are listed below the table instead. `marks` are the workloads' footnote
    marks.
    """
    decimals = _decimals(rows)
    rounded_rows = [_rounded(row, decimals) for row in rows]
    kept = [part for part in PARTS if any(rounded.get(part) for rounded in rounded_rows)]
    numbers = [
        [
            _noise_mark(row) + _signed(rounded.get("change"), decimals),
            *(_signed(rounded.get(part), decimals) for part in (*kept, _REST)),
        ]
        for row, rounded in zip(rows, rounded_rows, strict=True)
    ]
    headings = ["workload", "change", *(_HEADINGS[part] for part in kept), _REST]
    for width in _CHANGE_NAME_WIDTHS:
        names = [shorten(visible(row.workload), width) + marks[row.workload] for row in rows]
        lines = [[name, *line] for name, line in zip(names, numbers, strict=True)]
        table = narrow_table(headings, lines)
        if all(len(line) <= WIDTH for line in table.split("\n")):
            break
    return f"{table}\n\n{_caption(rows, kept)}"


def _noise_mark(row: ExplainedRow) -> str:
    change = row.cells[1].change
    return quantities.NOISE if change and change.verdict is Verdict.NOISE else ""


def _decimals(rows: Sequence[ExplainedRow]) -> int:
    largest_s = max(
        abs(seconds)
        for row in rows
        for seconds in (row.change_s or 0, row.rest_s or 0, *row.parts_s.values())
    )
    return next((decimals for limit_s, decimals in _DECIMALS if largest_s < limit_s), 0)


def _rounded(row: ExplainedRow, decimals: int) -> dict[str, int]:
    """Return change, parts and rest in units of the last decimal; the rest absorbs the rounding."""
    if row.change_s is None:
        return {}
    change = round(row.change_s * 10.0**decimals)
    parts = {name: round(seconds * 10.0**decimals) for name, seconds in row.parts_s.items()}
    rest = {_REST: change - sum(parts.values())} if parts else {}
    return {"change": change, **parts, **rest}


def _signed(units: int | None, decimals: int) -> str:
    if units is None:
        return quantities.UNKNOWN
    return f"{units / 10**decimals:+.{decimals}f}" if units else "0"


def _caption(rows: Sequence[ExplainedRow], kept: Sequence[str]) -> str:
    verdicts = {change.verdict for row in rows if (change := row.cells[1].change)}
    unchanged = ", ".join(NAMES[part] for part in PARTS if part not in kept)
    sentences = [
        "Differences of medians, in seconds.",
        f"{quantities.NOISE}: no significant change." if Verdict.NOISE in verdicts else "",
        f"Changes from one run on a side may be chance: measure {MIN_RUNS} runs or more on each."
        if Verdict.TOO_FEW in verdicts
        else "",
        f"No column, because it changed nowhere: {unchanged}." if unchanged else "",
    ]
    return fill(" ".join(filter(None, sentences)))


_NETWORK_CAPTION = (
    "Per input byte: received beyond shuffle, per byte of input. No node: the input was cached, or is in a "
    "mounted directory."
)
NO_NODE = "no node"
"""Shown instead of a fraction if the input is on no node: on a mounted directory, or cached."""

_NETWORK_HEADINGS = (
    *("workload", "", "input", "node- local"),
    *("wire", "of it shuffle", "per input byte", "longest / median task"),
)


def network_table(rows: Sequence[ExplainedRow]) -> str:
    """Return what each workload read and moved over the network.

    A workload has two lines, before and after. The numbers are medians over trials, except the input:
    it is the mean of a trial.
    """
    lines = []
    for row in rows:
        name = shorten(visible(row.workload), _NAME_WIDTH)
        lines.append((name, "before", *_network_cells(row.before)))
        lines.append(("", "after", *_network_cells(row.after)))
    return f"{narrow_table(_NETWORK_HEADINGS, lines)}\n\n{fill(_NETWORK_CAPTION)}"


def _network_cells(found: Attribution | None) -> tuple[str, ...]:
    if found is None:
        return (quantities.UNKNOWN,) * (len(_NETWORK_HEADINGS) - 2)
    node_local = quantities.share(found.node_local) if found.node_local is not None else NO_NODE
    return (
        quantities.size_text(found.input_bytes),
        node_local if found.input_bytes else "",
        quantities.if_known(found.received_bytes, quantities.size_text),
        quantities.if_known(found.shuffle_bytes, quantities.size_text),
        quantities.if_known(found.received_per_input_byte, "{:.2f}".format),
        quantities.if_known(found.straggler_ratio, "{:.1f}".format),
    )
