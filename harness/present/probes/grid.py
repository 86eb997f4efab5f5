"""Tables of hosts: senders down, receivers across."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from statistics import median

from tabulate import tabulate

from harness.analysis.mesh import Pair, PairMatrix
from harness.present.table import Footnotes, superscript
from harness.terminal import shorten, visible

UNKNOWN = "?"
_NAME_WIDTH = 16
_WIDEST = 10
"""Hosts of a matrix that a terminal has room for."""

Written = Callable[[float], str]
"""How a value of a matrix is written."""


def grid(held: PairMatrix, written: Written, notes: Footnotes) -> str:
    """A cell a pair; of many hosts the least and the median of each. Errors become footnotes."""
    if len(held.hosts) > _WIDEST:
        return _ranges(held, written)
    rows = [
        [
            name(sender),
            *(_cell(held, (sender, receiver), written, notes) for receiver in held.hosts),
        ]
        for sender in held.hosts
    ]
    return table(["", *map(name, held.hosts)], rows)


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What has a heading to the right; the first column, and those without, to the left."""
    align = ["left", *("right" if heading else "left" for heading in headers[1:])]
    return tabulate(rows, headers, colalign=align, disable_numparse=True)


def name(host: str) -> str:
    """A host's name that fits."""
    return shorten(visible(host), _NAME_WIDTH)


def footnotes(notes: Footnotes) -> Iterator[str]:
    """The notes, each in a line of its own, if there are any."""
    if notes.texts:
        numbered = enumerate(notes.texts, 1)
        yield "\n".join(f"{superscript(number)} {visible(text)}" for number, text in numbered)


def _cell(held: PairMatrix, pair: Pair, written: Written, notes: Footnotes) -> str:
    if pair in held.values:
        return written(held.values[pair])
    if pair in held.errors:
        return f"failed{notes.mark([held.errors[pair]])}"
    return ""


def _ranges(held: PairMatrix, written: Written) -> str:
    headers = ["host", "sends: least", "median", "receives: least", "median", "failed"]
    rows = []
    for host in held.hosts:
        sent, received = held.sent_by(host).values(), held.received_by(host).values()
        failed = sum(host in pair for pair in held.errors)
        rows.append([name(host), *_range(sent, written), *_range(received, written), f"{failed}"])
    return table(headers, rows)


def _range(values: Collection[float], written: Written) -> tuple[str, str]:
    if not values:
        return UNKNOWN, UNKNOWN
    return written(min(values)), written(median(values))
