"""Where the time of each change went, for the terminal: a sentence for each workload, tables, notes."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.analysis.compare.all_workloads import times_within
from harness.analysis.explain.attribution import (
    PARTS,
    PYTHON,
    Attribution,
    ExplainedRow,
    Explanation,
)
from harness.analysis.explain.received_input import cause
from harness.analysis.observed.sample import measured_trials
from harness.base.items import unique
from harness.base.words import label, percent, significant
from harness.present import quantities
from harness.present.attribution_tables import NAMES, divided_table, network_table
from harness.present.blocks import Block, Paragraph, Sentences
from harness.present.cache import cache_sentences
from harness.present.footnotes import Footnotes
from harness.present.profile_table import gain_text, profile_tables
from harness.present.use_table import DiskUses, FullTimes, LinkUses, disk_table, link_table
from harness.present.written import written_sentences
from harness.statistics.change import Verdict

CAVEATS = """\
With {slots} slots, one second of one task counts as {second}; idle is slot time that no task used. \
Rest is the change minus the sum of its parts: medians, unlike times, do not add up.
Fetch wait: the time in which tasks were blocked on blocks of other nodes, waits for their disks included. \
CPU: the time of the task's own thread in the JVM. File system, unattributed: the time that no metric \
covers, such as input and output, garbage collection pauses, waiting for a processor. No metric shows how \
much of it the network causes.
Wire: the bytes that the interfaces of all nodes received in a trial: shuffle, input, headers, broadcasts, \
results, replication and other traffic."""
_MORE = "--details shows the tables behind this."
_NAME_WIDTH = 32


def explanation_page(
    explanation: Explanation,
    uses: Sequence[LinkUses] = ({}, {}),
    disks: Sequence[DiskUses] = ({}, {}),
    *,
    details: bool = True,
) -> Iterator[Block]:
    """Yield the answer in a few sentences, with `details` the tables and caveats behind it, and footnotes.

    `uses` say for how long links were full, before and after, and `disks` for how long disks were.
    """
    columns = explanation.comparison.columns
    notes = Footnotes()
    names: list[str] = []
    for column, own in zip(columns, explanation.comparison.notes, strict=True):
        names.append(label(column.name, _NAME_WIDTH) + notes.mark(own))
    marks = {row.workload: notes.mark(_notes(row)) for row in explanation.rows}
    yield Paragraph(f"Where the time went, from {names[0]} to {names[1]}")
    yield Sentences(_answer(explanation, marks, uses, disks))
    yield Sentences(_causes(explanation))
    yield Sentences(written_sentences(explanation))
    yield Sentences(cache_sentences(columns))
    if details:
        yield from divided_table(explanation.rows, marks)
        yield from network_table(explanation.rows)
        yield from link_table([column.name for column in columns], uses)
        yield from disk_table(disks)
        yield from profile_tables({row.workload: row.profiles for row in explanation.rows})
        yield Sentences(_caveats(explanation).split("\n"))
    yield Paragraph("", notes.texts)
    if not details:
        yield Paragraph(_MORE)


def _answer(
    explanation: Explanation,
    marks: Mapping[str, str],
    links: Sequence[FullTimes],
    disks: Sequence[FullTimes],
) -> Iterator[str]:
    """Yield what changed in all, a sentence for each workload, and one for the controls that did not."""
    controls = explanation.comparison.controls
    not_added = controls | times_within(explanation.comparison, 1)
    yield from _in_all([row for row in explanation.rows if row.workload not in not_added])
    quiet = []
    for row in explanation.rows:
        mark = marks[row.workload]
        if row.workload not in controls:
            clauses = [sentence(row, mark)]
            clauses += _full("link", row.workload, links)
            clauses += _full("disk", row.workload, disks)
            yield "; ".join(clauses)
        elif row.verdict is Verdict.NOISE:
            quiet.append(row.workload + mark)
        else:
            yield f"{sentence(replace(row, profiles=(None, None)), mark)} (a control)"
    yield from _undivided(explanation.rows)
    if quiet:
        yield f"no significant change of controls: {', '.join(quiet)}"


def _undivided(rows: Iterable[ExplainedRow]) -> Iterator[str]:
    """Yield, for each side, the workloads whose change is not divided because it has no task metrics."""
    before = []
    after = []
    for row in rows:
        if row.change_s is not None and row.rest_s is None:
            if row.before is None:
                before.append(row.workload)
            if row.after is None:
                after.append(row.workload)
    for line in _by_side(", ".join(before), ", ".join(after)):
        yield f"not divided, no task metrics {line}"


def _in_all(rows: Sequence[ExplainedRow]) -> Iterator[str]:
    """Yield the sum of all significant changes, with the parts that make most of it."""
    changed = [row for row in rows if row.verdict is Verdict.CHANGED and row.rest_s is not None]
    if len(changed) > 1:
        change_s = math.fsum(row.change_s or 0 for row in changed)
        sums_s = {part: math.fsum(row.parts_s.get(part, 0) for row in changed) for part in PARTS}
        sums_s[_REST] = change_s - math.fsum(sums_s.values())
        parts = _main_parts(change_s, sums_s)
        yield f"{len(changed)} workloads changed, in all by {quantities.signed_time(change_s)}{parts}"


def _full(what: str, workload: str, uses: Sequence[FullTimes]) -> Iterator[str]:
    """Yield for how long a link or a disk was full, if that is known on both sides and not nothing."""
    shares = []
    for side in uses:
        use = side.get(workload)
        if use is None or use.full_share is None:
            return
        shares.append(use.full_share)
    if any(shares):
        before, after = map(percent, shares)
        yield f"a {what} was full for {before} of the time before, {after} after"


def _caveats(explanation: Explanation) -> str:
    trials = measured_trials(explanation.comparison.runs)
    slots = [trial.tasks.slots for trial in trials if trial.tasks and trial.tasks.slots]
    numbers = unique([significant(min(slots), 3), significant(max(slots), 3)])
    seconds = unique([quantities.time_text(1 / max(slots)), quantities.time_text(1 / min(slots))])
    return CAVEATS.format(slots=" to ".join(numbers), second=" to ".join(seconds))


def _causes(explanation: Explanation) -> Iterator[str]:
    """Yield why nodes receive more than the shuffle on each side."""
    most_before = 0.0
    most_after = 0.0
    for row in explanation.rows:
        most_before = max(most_before, _received(row.before))
        most_after = max(most_after, _received(row.after))
    before, after = explanation.comparison.columns
    why_before = cause(before, most_before) or ""
    why_after = cause(after, most_after) or ""
    for line in _by_side(why_before, why_after):
        yield f"{line}."


def _received(found: Attribution | None) -> float:
    """Return the bytes that nodes received for each byte of input; 0 if that is unknown."""
    if found is None:
        return 0.0
    return found.received_per_input_byte or 0.0


def _by_side(before: str, after: str) -> Iterator[str]:
    """Yield `before: ...` and `after: ...`, or one line if it is the same; nothing for an empty text."""
    if before and before == after:
        yield f"before and after: {before}"
        return
    if before:
        yield f"before: {before}"
    if after:
        yield f"after: {after}"


def _notes(row: ExplainedRow) -> list[str]:
    """Return all notes on the row as one footnote; nothing if there are none."""
    texts = []
    for cell, attribution in zip(row.cells, (row.before, row.after), strict=True):
        notes = list(cell.notes)
        if attribution:
            notes += _attribution_notes(attribution)
        texts.append("; ".join(notes))
    lines = ". ".join(_by_side(*texts))
    if lines:
        return [lines]
    return []


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
_PART_NAMES = {
    **NAMES,
    "unattributed_s": "in the file system or unattributed",
    _REST: "in no part",
}
_MIN_FRACTION = 0.25
"""A sentence names no part that is a smaller fraction of the change."""
_MAX_PARTS = 2


def sentence(row: ExplainedRow, mark: str = "") -> str:
    """Return what happened to a workload and why, in one sentence. Its `mark` follows the name.

    Such as `repartition: -2.10 s, -1.80 s of it fetch wait; 96 % of input was node-local before, 40 % after`.
    """
    return f"{row.workload}{mark}: {'; '.join(_clauses(row))}"


def _clauses(row: ExplainedRow) -> Iterator[str]:
    if row.change_s is None:
        before, after = row.cells
        yield f"{before.sample.outcome} before, {after.sample.outcome} after"
    else:
        change = quantities.signed_time(row.change_s)
        if row.verdict is Verdict.NOISE:
            yield f"{quantities.NOISE}, {change} is not significant"
        elif row.verdict is Verdict.TOO_FEW:
            yield f"{change} {quantities.UNTESTED}{_divided(row)}; a single run may differ by chance"
        else:
            yield change + _divided(row)
    if row.before and row.after:
        yield from _locality(row.before, row.after)
        yield from _infinitely_fast(row)


def _infinitely_fast(row: ExplainedRow) -> Iterator[str]:
    """Yield what the profile after the change says of a still faster network; nothing without one."""
    profile = row.profiles[1]
    summary = row.cells[1].summary
    if profile and profile.bound and summary:
        gain = profile.bound.network
        now = quantities.time_text(summary.time_s)
        least = quantities.time_text(summary.time_s * (1 - gain.share))
        yield (
            f"with no wait for the network, it would now take at least {least} instead of {now}: an "
            f"infinitely fast network gains at most {gain_text(gain)}"
        )


def _divided(row: ExplainedRow) -> str:
    if row.change_s is None or row.rest_s is None:
        return ""
    return _main_parts(row.change_s, {**row.parts_s, _REST: row.rest_s})


def _main_parts(change_s: float, parts_s: Mapping[str, float]) -> str:
    main = []
    for name, seconds in sorted(parts_s.items(), key=lambda part: -abs(part[1])):
        has_same_sign = seconds * change_s > 0
        if has_same_sign and abs(seconds) >= _MIN_FRACTION * abs(change_s):
            main.append(f"{quantities.signed_time(seconds)} of it {_PART_NAMES[name]}")
    if not main:
        return ", a little in every part"
    return f", {' and '.join(main[:_MAX_PARTS])}"


def _locality(before: Attribution, after: Attribution) -> Iterator[str]:
    then = before.node_local
    now = after.node_local
    if then is not None and now is not None and percent(then) != percent(now):
        yield f"{percent(then)} of input was node-local before, {percent(now)} after"
