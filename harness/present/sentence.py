"""What became of a workload, and why, in one plain sentence."""

from __future__ import annotations

from collections.abc import Iterator

from harness.analysis.attribution.attribution import Attribution
from harness.analysis.attribution.explanation import ExplainedRow
from harness.analysis.statistics.change import Verdict
from harness.present import quantities
from harness.present.parts import NAMES

_REST = "rest"
_NAMES = {**NAMES, _REST: "in no part"}
_LEAST_SHARE = 0.25
"""Of the change; smaller parts are not worth a word."""
_MOST_PARTS = 2


def sentence(row: ExplainedRow) -> str:
    """Such as `repartition: -2.10 s, of which -1.80 s fetch wait; 96 % of input was node-local in both`."""
    return f"{row.workload}: {'; '.join(_clauses(row))}"


def _clauses(row: ExplainedRow) -> Iterator[str]:
    change = row.cells[1].change
    if row.change_s is None:
        yield ", ".join(
            f"{cell.sample.outcome} {when}"
            for when, cell in zip(("before", "after"), row.cells, strict=True)
        )
    elif change and change.verdict is Verdict.NOISE:
        yield f"{quantities.NOISE}, chance explains the {_signed(row.change_s)}"
    else:
        yield f"{_signed(row.change_s)}{_of_which(row)}"
    if row.before and row.after:
        yield from _locality(row.before, row.after)
        yield from _outlook(row.after)


def _of_which(row: ExplainedRow) -> str:
    if row.change_s is None or row.rest_s is None:
        return ", and it is not known where"
    shares = {**row.parts_s, _REST: row.rest_s}
    driving = [
        (name, seconds)
        for name, seconds in sorted(shares.items(), key=lambda one: -abs(one[1]))
        if seconds * row.change_s > 0 and abs(seconds) >= _LEAST_SHARE * abs(row.change_s)
    ]
    told = [f"{_signed(seconds)} {_NAMES[name]}" for name, seconds in driving[:_MOST_PARTS]]
    return f", of which {' and '.join(told)}" if told else ", a little in every part"


def _locality(before: Attribution, after: Attribution) -> Iterator[str]:
    then, now = before.input.near_share, after.input.near_share
    if then is None or now is None:
        return
    if f"{then:.0%}" == f"{now:.0%}":
        yield f"{_percent(now)} of input was node-local in both"
    else:
        yield f"{_percent(then)} of input was node-local before, {_percent(now)} after"


def _outlook(after: Attribution) -> Iterator[str]:
    if after.gain is not None:
        yield f"an infinitely fast network would now gain at most {_percent(after.gain.network)}"


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{quantities.time(abs(seconds))}"


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"
