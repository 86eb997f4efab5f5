"""Where the time of each change went, for the terminal: a sentence for each workload, tables, notes."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import mode

from harness.analysis.explain.attribution import (
    PARTS,
    PYTHON,
    Attribution,
    ExplainedRow,
    Explanation,
)
from harness.analysis.explain.received_input import cause
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import measured_trials
from harness.base.words import names_by_text, percent, shorten, visible
from harness.present import quantities
from harness.present.attribution_tables import NAMES, divided_table, network_table
from harness.present.cache import cache_sentences
from harness.present.profile_table import gain_text, profile_section
from harness.present.table import Footnotes
from harness.present.text import fill, footnotes
from harness.present.use_table import SIDES, FullTimes, LinkUses, disk_section, link_section
from harness.present.written import written_sentences
from harness.statistics.change import Verdict

CAVEATS = """\
With {slots} slots, one second of one task counts as {second}; idle is slot time that no task used. \
Rest is the change minus the sum of its parts: medians, unlike times, do not add up.
Fetch wait is only the time in which tasks were blocked; it includes the disk of the sending node. CPU \
is the time of the task's own thread in the JVM. File system and unattributed is what no metric covers: \
input and output, garbage collection pauses, waiting for a processor. No metric shows how much of it the \
network causes.
Wire is what the interfaces of all nodes received in a trial. What is no shuffle is input, headers, \
broadcasts, results, replication and other traffic."""
_MORE = "--details shows the tables behind this."
_NAME_WIDTH = 32
_INDENT = "  "


def render(
    explanation: Explanation,
    uses: Sequence[LinkUses] = ({}, {}),
    disks: Sequence[FullTimes] = ({}, {}),
    *,
    details: bool = True,
) -> str:
    """Return the answer in a few sentences, with `details` the tables and caveats behind it, and footnotes.

    `uses` say for how long links were full, before and after, and `disks` for how long disks were.
    """
    notes = Footnotes()
    names = [_heading(column, notes) for column in (explanation.before, explanation.after)]
    marks = {row.workload: notes.mark(_notes(row)) for row in explanation.rows}
    sections = [
        f"Where the time went, from {names[0]} to {names[1]}",
        _lines(_answer(explanation, marks, {"link": uses, "disk": disks})),
        _lines(_causes(explanation)),
        _lines(written_sentences(explanation)),
        _lines(cache_sentences((explanation.before, explanation.after))),
    ]
    if details:
        sections += [
            divided_table(explanation.rows, marks),
            network_table(explanation.rows),
            link_section([explanation.before.name, explanation.after.name], uses),
            disk_section(disks),
            profile_section({row.workload: row.profiles for row in explanation.rows}),
            _lines(_caveats(explanation).split("\n")),
        ]
    sections += ["\n".join(footnotes(notes)), "" if details else _MORE]
    return "\n\n".join(filter(None, sections)) + "\n"


def _lines(sentences: Iterable[str]) -> str:
    return "\n".join(fill(each, _INDENT) for each in sentences)


def _answer(
    explanation: Explanation, marks: Mapping[str, str], full: Mapping[str, Sequence[FullTimes]]
) -> Iterator[str]:
    """Yield what changed in all, a sentence for each workload, and one for the controls that did not."""
    yield from _in_all(
        [row for row in explanation.rows if row.workload not in explanation.controls]
    )
    quiet = []
    for row in explanation.rows:
        mark = marks[row.workload]
        if row.workload not in explanation.controls:
            filled = (each for what, of in full.items() for each in _full(what, row.workload, of))
            yield "; ".join([sentence(row, mark), *filled])
        elif _verdict(row) is Verdict.NOISE:
            quiet.append(row.workload + mark)
        else:
            yield f"{sentence(replace(row, profiles=(None, None)), mark)} (a control)"
    yield from _undivided(explanation.rows)
    if quiet:
        yield f"no significant change of controls: {', '.join(quiet)}"


def _undivided(rows: Iterable[ExplainedRow]) -> Iterator[str]:
    """Yield, for each side, the workloads whose change is not divided because it has no task metrics."""
    whole = [row for row in rows if row.change_s is not None and row.rest_s is None]
    texts = [
        ", ".join(row.workload for row in whole if row.before is None),
        ", ".join(row.workload for row in whole if row.after is None),
    ]
    return (f"not divided, no task metrics {line}" for line in _by_side(texts))


def _in_all(rows: Sequence[ExplainedRow]) -> Iterator[str]:
    """Yield the sum of all significant changes, with the parts that make most of it."""
    changed = [row for row in rows if _verdict(row) is Verdict.CHANGED and row.rest_s is not None]
    if len(changed) > 1:
        change_s = math.fsum(row.change_s or 0 for row in changed)
        sums_s = {part: math.fsum(row.parts_s.get(part, 0) for row in changed) for part in PARTS}
        sums_s[_REST] = change_s - math.fsum(sums_s.values())
        parts = _main_parts(change_s, sums_s)
        yield f"{len(changed)} workloads changed, in all by {quantities.signed_time(change_s)}{parts}"


def _verdict(row: ExplainedRow) -> Verdict | None:
    change = row.cells[1].change
    return change.verdict if change else None


def _full(what: str, workload: str, uses: Sequence[FullTimes]) -> Iterator[str]:
    """Yield for how long a link or a disk was full, if that is known on both sides and not nothing."""
    shares = [use.full_share if (use := side.get(workload)) else None for side in uses]
    before, after = shares
    if before is not None and after is not None and max(before, after) > 0:
        yield f"a {what} was full for {percent(before)} of the time before, {percent(after)} after"


def _caveats(explanation: Explanation) -> str:
    runs = (*explanation.before.runs, *explanation.after.runs)
    slots = mode(t.tasks.slots for t in measured_trials(runs) if t.tasks and t.tasks.slots)
    return CAVEATS.format(slots=slots, second=quantities.time_text(1 / slots))


def _causes(explanation: Explanation) -> Iterator[str]:
    """Yield why nodes receive more than the shuffle on each side."""
    texts = []
    for column, sides in zip(
        (explanation.before, explanation.after),
        zip(*((row.before, row.after) for row in explanation.rows), strict=True),
        strict=True,
    ):
        most = max((side.received_per_input_byte or 0.0 for side in sides if side), default=0.0)
        texts.append(cause(column, most) or "")
    return (f"{line}." for line in _by_side(texts))


def _by_side(texts: Sequence[str]) -> Iterator[str]:
    """Yield `before: ...` and `after: ...`, or one line if it is the same; nothing for an empty text."""
    for text, sides in names_by_text(dict(zip(SIDES, texts, strict=True))).items():
        if text:
            yield f"{' and '.join(sides)}: {text}"


def _heading(column: ConfigurationRuns, notes: Footnotes) -> str:
    return shorten(visible(column.name), _NAME_WIDTH) + notes.mark(column.notes)


def _notes(row: ExplainedRow) -> Iterator[str]:
    """Yield all notes on the row as one footnote; nothing if there are none."""
    texts = [
        "; ".join((*cell.notes, *(_attribution_notes(attribution) if attribution else ())))
        for cell, attribution in zip(row.cells, (row.before, row.after), strict=True)
    ]
    if any(texts):
        yield ". ".join(_by_side(texts))


def _attribution_notes(attribution: Attribution) -> Iterator[str]:
    if attribution.n < attribution.trials:
        yield f"{attribution.n} of {attribution.trials} trials have task metrics"
    if PYTHON not in attribution.parts_s:
        yield (
            "the time of Python workers was not measured: file system and unattributed includes it"
        )
    yield from attribution.notes
    if attribution.unread:
        yield f"the interfaces of {', '.join(attribution.unread)} could not be read"


_REST = "rest"
_PART_NAMES = {**NAMES, _REST: "in no part"}
_MIN_FRACTION = 0.25
"""A sentence names no part that is a smaller fraction of the change."""
_MAX_PARTS = 2


def sentence(row: ExplainedRow, mark: str = "") -> str:
    """Return what happened to a workload and why, in one sentence; its `mark` follows the name.

    Such as `repartition: -2.10 s, -1.80 s of it fetch wait; 96 % of input was node-local before, 40 % after`.
    """
    return f"{row.workload}{mark}: {'; '.join(_clauses(row))}"


def _clauses(row: ExplainedRow) -> Iterator[str]:
    verdict = _verdict(row)
    if row.change_s is None:
        before, after = (cell.sample.outcome for cell in row.cells)
        yield f"{before} before, {after} after"
    elif verdict is Verdict.NOISE:
        yield f"{quantities.NOISE}, {quantities.signed_time(row.change_s)} is not significant"
    elif verdict is Verdict.TOO_FEW:
        yield (
            f"{quantities.signed_time(row.change_s)} {quantities.UNTESTED}{_divided(row)}; "
            "a single run may differ by chance"
        )
    else:
        yield quantities.signed_time(row.change_s) + _divided(row)
    if row.before and row.after:
        yield from _locality(row.before, row.after)
        if bound := _infinitely_fast(row):
            yield bound


def _infinitely_fast(row: ExplainedRow) -> str | None:
    """Return what the profile after the change says of a still faster network; None without one."""
    profile, summary = row.profiles[1], row.cells[1].summary
    if not (profile and profile.bound and summary):
        return None
    gain = profile.bound.network
    least, now = (
        quantities.time_text(seconds)
        for seconds in (summary.time_s * (1 - gain.share), summary.time_s)
    )
    return (
        f"with no wait for the network, it would now take at least {least} instead of {now}: an "
        f"infinitely fast network gains at most {gain_text(gain)}"
    )


def _divided(row: ExplainedRow) -> str:
    if row.change_s is None or row.rest_s is None:
        return ""
    return _main_parts(row.change_s, {**row.parts_s, _REST: row.rest_s})


def _main_parts(change_s: float, parts_s: Mapping[str, float]) -> str:
    main = [
        f"{quantities.signed_time(seconds)} of it {_PART_NAMES[name]}"
        for name, seconds in sorted(parts_s.items(), key=lambda part: -abs(part[1]))
        if seconds * change_s > 0 and abs(seconds) >= _MIN_FRACTION * abs(change_s)
    ]
    return f", {' and '.join(main[:_MAX_PARTS])}" if main else ", a little in every part"


def _locality(before: Attribution, after: Attribution) -> Iterator[str]:
    then, now = before.node_local, after.node_local
    if then is not None and now is not None and percent(then) != percent(now):
        yield f"{percent(then)} of input was node-local before, {percent(now)} after"
