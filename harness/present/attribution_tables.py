"""Tables of where the time went: one column for each part of the wall time, narrow enough for all."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from harness.analysis.explain.attribution import PARTS, Attribution, ExplainedRow
from harness.base.items import union
from harness.base.words import label
from harness.model.limits import MIN_RUNS
from harness.present import quantities
from harness.present.blocks import Paragraph, Table
from harness.present.text import fits
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


def fractions_table(attributions: Mapping[str, Attribution]) -> Table:
    """Return each part as a fraction of the wall time. `attributions` are by workload."""
    kept = kept_parts([attribution.parts_s for attribution in attributions.values()])
    rows = []
    for workload, attribution in attributions.items():
        parts_s = attribution.parts_s
        wall_s = math.fsum(parts_s.values())
        row = [label(workload, _NAME_WIDTH)]
        for part in kept:
            if wall_s and part in parts_s:
                row.append(quantities.share(parts_s[part] / wall_s))
            else:
                row.append(quantities.UNKNOWN)
        rows.append(row)
    return Table(_headings(kept), rows, is_dense=True)


def _headings(columns: Iterable[str]) -> list[str]:
    """Return the headings of a table with a line for each workload, and these parts or other columns."""
    return ["workload", *(_HEADINGS.get(column, column) for column in columns)]


def kept_parts(parts: Collection[Mapping[str, float]]) -> list[str]:
    """Return the parts that are not 0 everywhere."""
    return [part for part in PARTS if any(each.get(part) for each in parts)]


_CHANGE = "change"
_REST = "rest"
_CHANGE_NAME_WIDTHS = (20, 16, 12)
"""Maximum widths of a workload's name; the first that fits is used."""
_DECIMALS = ((100, 2), (1_000, 1))
"""Decimals of a table by the limit below which its largest number of seconds is."""


def divided_table(
    rows: Sequence[ExplainedRow], marks: Mapping[str, str]
) -> tuple[Table, Paragraph]:
    """Return each workload's change and its parts in seconds. The parts shown add up to the change.

    Parts without any change are listed in the caption instead. `marks` are the workloads' footnote marks.
    """
    decimals = _decimals(rows)
    rounded = {row.workload: _rounded(row, decimals) for row in rows}
    kept = kept_parts(rounded.values())
    shown = [_CHANGE, *kept, _REST]
    lines = []
    for row in rows:
        line = [_signed(rounded[row.workload].get(part), decimals) for part in shown]
        if row.verdict is Verdict.NOISE:
            line[0] = quantities.NOISE + line[0]
        lines.append([row.workload, *line])
    for width in _CHANGE_NAME_WIDTHS:
        named = [[label(name, width) + marks[name], *line] for name, *line in lines]
        table = Table(_headings(shown), named, is_dense=True)
        if fits(table):
            break
    return table, Paragraph(_caption(rows, kept))


def _decimals(rows: Sequence[ExplainedRow]) -> int:
    seconds: list[float] = []
    for row in rows:
        seconds += [row.change_s or 0, row.rest_s or 0]
        seconds += row.parts_s.values()
    largest_s = max(map(abs, seconds))
    for limit_s, decimals in _DECIMALS:
        if largest_s < limit_s:
            return decimals
    return 0


def _rounded(row: ExplainedRow, decimals: int) -> dict[str, int]:
    """Return change, parts and rest in units of the last decimal; the rest absorbs the rounding."""
    if row.change_s is None:
        return {}
    units = 10.0**decimals
    rounded = {name: round(seconds * units) for name, seconds in row.parts_s.items()}
    change = round(row.change_s * units)
    if rounded:
        rounded[_REST] = change - sum(rounded.values())
    rounded[_CHANGE] = change
    return rounded


def _signed(units: int | None, decimals: int) -> str:
    if units is None:
        return quantities.UNKNOWN
    if not units:
        return "0"
    return f"{units / 10**decimals:+.{decimals}f}"


def _caption(rows: Sequence[ExplainedRow], kept: Sequence[str]) -> str:
    verdicts = {row.verdict for row in rows}
    measured = union(row.parts_s for row in rows)
    unchanged = ", ".join(NAMES[part] for part in PARTS if part in measured and part not in kept)
    sentences = ["Differences of medians, in seconds."]
    if Verdict.NOISE in verdicts:
        sentences.append(f"{quantities.NOISE}: no significant change.")
    if Verdict.TOO_FEW in verdicts:
        sentences.append(
            f"Changes from one run on a side may be chance: measure {MIN_RUNS} runs or more on each."
        )
    if unchanged:
        sentences.append(f"No column, because it changed nowhere: {unchanged}.")
    return " ".join(sentences)


_NETWORK_CAPTION = (
    "Per input byte: bytes received besides the shuffle, for each byte of input. No node: the input was "
    "cached, or is in a mounted directory."
)
NO_NODE = "no node"
"""Shown instead of a fraction if the input is on no node: on a mounted directory, or cached."""

_NETWORK_HEADINGS = (
    "workload",
    "",
    "input",
    "node- local",
    "wire",
    "of it shuffle",
    "per input byte",
    "longest / median task",
)


def network_table(rows: Sequence[ExplainedRow]) -> tuple[Table, Paragraph]:
    """Return what each workload read and moved over the network.

    A workload has two lines, before and after. Input is the mean over trials. Node-local is the part of the
    input of all trials. Per input byte is computed from columns before it. The others are medians over
    trials.
    """
    lines = []
    for row in rows:
        lines.append([label(row.workload, _NAME_WIDTH), "before", *_network_cells(row.before)])
        lines.append(["", "after", *_network_cells(row.after)])
    return Table(_NETWORK_HEADINGS, lines, is_dense=True), Paragraph(_NETWORK_CAPTION)


def _network_cells(found: Attribution | None) -> list[str]:
    if found is None:
        return [quantities.UNKNOWN] * (len(_NETWORK_HEADINGS) - 2)
    if not found.input_bytes:
        node_local = ""
    elif found.is_place_unknown:
        node_local = quantities.UNKNOWN
    elif found.node_local is None:
        node_local = NO_NODE
    else:
        node_local = quantities.share(found.node_local)
    return [
        quantities.size_text(found.input_bytes),
        node_local,
        quantities.if_known(found.received_bytes, quantities.size_text),
        quantities.if_known(found.shuffle_bytes, quantities.size_text),
        quantities.if_known(found.received_per_input_byte, "{:.2f}".format),
        quantities.if_known(found.straggler_ratio, "{:.1f}".format),
    ]
