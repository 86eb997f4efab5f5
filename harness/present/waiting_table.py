"""What workloads waited for before and after: where their input was, the wire, and what could be won."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.analysis.attribution.attribution import Attribution, Gain, Input, Wire
from harness.analysis.attribution.explanation import ExplainedRow
from harness.present.escape import shorten, visible
from harness.present.parts import UNKNOWN, WORKLOAD_WIDTH, narrow_table

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
    straggling = attribution.straggling
    return (
        *_input(attribution.input, attribution.n),
        *_wire(attribution.wire),
        UNKNOWN if straggling is None else f"{straggling:.1f}",
        *_gain(attribution.gain),
    )


def _input(read: Input, trials: int) -> tuple[str, str]:
    whole = read.near_bytes + read.elsewhere_bytes + read.unplaced_bytes
    if not whole:
        return quantity(0), ""
    near = NO_NODE if read.near_share is None else f"{read.near_share:.0%}"
    return quantity(whole / trials), near


def _wire(wire: Wire | None) -> tuple[str, ...]:
    if wire is None:
        return (UNKNOWN,) * 4
    return tuple(map(quantity, (wire.received, wire.shuffle, wire.remote_input, wire.unexplained)))


def _gain(gain: Gain | None) -> tuple[str, str]:
    if gain is None:
        return UNKNOWN, UNKNOWN
    return f"{gain.network:.0%}", f"{gain.network_and_rest:.0%}"


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
