"""What became of a workload, and why, in one plain sentence."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from harness.analysis.attribution import PYTHON, Attribution
from harness.analysis.configuration import ConfigurationRuns
from harness.analysis.explanation import ExplainedRow, Explanation
from harness.present import quantities
from harness.present.attribution_tables import NAMES, divided_table, waiting_table
from harness.present.table import Footnotes, superscript
from harness.statistics.change import Verdict
from harness.terminal import shorten, visible

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
    then, now = before.input.node_local_fraction, after.input.node_local_fraction
    if then is None or now is None:
        return
    if f"{then:.0%}" == f"{now:.0%}":
        yield f"{_percent(now)} of input was node-local in both"
    else:
        yield f"{_percent(then)} of input was node-local before, {_percent(now)} after"


def _outlook(after: Attribution) -> Iterator[str]:
    if after.speed_up_bound is not None:
        yield f"an infinitely fast network would now gain at most {_percent(after.speed_up_bound.network)}"


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{quantities.time(abs(seconds))}"


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


# MERGED from harness.present.explanation: 'What changes are made of, for the terminal: at most 100 columns wide.'
WIDTH = 100
NAME_WIDTH = 32
_NO_BREAK = "\u00a0"

CAVEATS = """\
A second of a task counts as 1 / slots of a second of the workload; idle is what no task used. Rest \
is what the medians of the parts lack, which do not add up as times do.
Fetch wait is blocked time alone, and the disk of the node that sends is in it. CPU is the task's own \
thread in the JVM. File system and unattributed is what no metric tells: input and output, pauses of \
garbage collection, waiting for a processor; how much of it is the network's nothing tells.
Wire is what the interfaces of all nodes received in a trial; unexplained are headers, broadcasts, \
results, replication and whatever else went over the network. With Reed-Solomon a node-local task, \
too, reads most of its input from other nodes, and that is unexplained.
Gain at most: the same tasks on the same slots without their fetch wait, as if the network were \
infinitely fast and nothing else became the bottleneck (blocked-time analysis); then without all that \
is unattributed, too, for a file system's bytes may come over the network.\
"""


def render(explanation: Explanation) -> str:
    """The change divided, what was waited for, a sentence a workload, caveats and footnotes."""
    notes = Footnotes()
    names = [_heading(column, notes) for column in (explanation.before, explanation.after)]
    marks = {row.workload: notes.mark(_notes(row)) for row in explanation.rows}
    sections = (
        f"Where the time went, from {names[0]} to {names[1]}",
        divided_table(explanation.rows, marks),
        waiting_table(explanation.rows),
        "\n".join(_filled(sentence(row)) for row in explanation.rows),
        "\n".join(map(_filled, CAVEATS.split("\n"))),
        *(["\n".join(_footnotes(notes))] if notes.texts else []),
    )
    return "\n\n".join(sections) + "\n"


def _heading(column: ConfigurationRuns, notes: Footnotes) -> str:
    return shorten(visible(column.name), NAME_WIDTH) + notes.mark(column.notes)


def _notes(row: ExplainedRow) -> Iterator[str]:
    """One note, of what a reader of the row must know."""
    sides = zip(("before", "after"), row.cells, (row.before, row.after), strict=True)
    told = [
        (when, (*cell.notes, *(_told(attribution) if attribution else ())))
        for when, cell, attribution in sides
    ]
    if any(notes for _, notes in told):
        yield ". ".join(f"{when}: {'; '.join(notes)}" for when, notes in told if notes)


def _told(attribution: Attribution) -> Iterator[str]:
    if attribution.n < attribution.trials:
        yield f"where the time went is known of {attribution.n} of {attribution.trials} trials"
    if PYTHON not in attribution.parts_s:
        yield "no metric tells the Python workers' time: it is in file system and unattributed"
    yield from attribution.notes
    if attribution.wire and attribution.wire.unread:
        yield f"the interfaces of {', '.join(attribution.wire.unread)} could not be read"


def _footnotes(notes: Footnotes) -> Iterator[str]:
    for number, text in enumerate(notes.texts, 1):
        mark = superscript(number)
        yield textwrap.fill(
            f"{mark} {visible(text)}", WIDTH, subsequent_indent=" " * (len(mark) + 1)
        )


def _filled(text: str) -> str:
    """In lines, no number apart from its unit."""
    together = re.sub(r"(?<=\d) (?=(s|%)(\W|$))", _NO_BREAK, visible(text))
    return textwrap.fill(together, WIDTH, subsequent_indent="  ").replace(_NO_BREAK, " ")
