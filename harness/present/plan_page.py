"""Two plans of a workload side by side, for the terminal."""

import textwrap
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from harness.analysis.compare.comparison import Comparison
from harness.analysis.observed.plans import Reading, plan_change, variation
from harness.analysis.observed.sample import Sample
from harness.base.errors import BadInput
from harness.base.option_values import what_exists
from harness.base.words import count_of, padded, visible
from harness.model.plan import Operator, Plan
from harness.present.blocks import Block, Heading, Lines, Sentences
from harness.present.grid import WIDTH

_HALF = (WIDTH - 3) // 2
"""Columns of a plan. A mark stands between the two."""
_MAX_LINES = 4
"""Lines of an operator."""


def plan_page(comparison: Comparison, workload: str) -> Iterator[Block]:
    """Yield what changed in a workload's plan, and the plan of most trials of each of two sides.

    Raise BadInput if there is no such workload.
    """
    before, after = comparison.columns
    known = [row.workload for row in comparison.rows]
    if workload not in known:
        raise BadInput(f"--plan: unknown workload '{workload}'; {what_exists(workload, known)}")
    samples = [column.samples.get(workload, Sample(workload)) for column in (before, after)]
    across_versions = before.spark_versions != after.spark_versions
    yield Heading(f"The plan of {workload}, before in {before.name} and after in {after.name}")
    yield Sentences(_sentences(samples, across_versions=across_versions))
    if samples[0].plans or samples[1].plans:
        then, now = map(_usual, samples)
        read = Reading(across_versions=across_versions)
        yield Lines(_side_by_side(then, now, read))


def _sentences(samples: Sequence[Sample], *, across_versions: bool) -> Iterator[str]:
    for side, sample in zip(("before", "after"), samples, strict=True):
        if not sample.plans:
            yield f"{side}: unknown, because no trial that counts recorded its plan"
        varied = variation(sample.plans)
        if varied:
            yield f"{side}: {varied}"
    if samples[0].plans and samples[1].plans:
        change = plan_change(samples[0].plans, samples[1].plans, across_versions=across_versions)
        yield change or "no change of its meaning"
        if across_versions:
            yield (
                "Spark has another version: only joins, scans and exchanges are compared, because versions "
                "print the others differently"
            )


def _usual(sample: Sample) -> Plan:
    """Return the plan of most trials; one without operators if no plan is known."""
    if not sample.plans:
        return Plan("")
    return max(sample.plans, key=lambda use: use.trials).plan


def _side_by_side(before: Plan, after: Plan, read: Reading) -> Iterator[str]:
    yield from _lines("before", " ", "after")
    meanings_before = list(map(read.compared, before.operators))
    meanings_after = list(map(read.compared, after.operators))
    matcher = SequenceMatcher(None, meanings_before, meanings_after, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        then = before.operators[start:end]
        now = after.operators[new_start:new_end]
        for gone, new in zip_longest(then, now):
            mark = " " if tag == "equal" else _mark(gone, new)
            yield from _lines(_text(gone), mark, _text(new))
    if before.left_out or after.left_out:
        yield from _lines(_left_out(before), " ", _left_out(after))


def _left_out(plan: Plan) -> str:
    if not plan.left_out:
        return ""
    return f"and {count_of(plan.left_out, 'operator')} more"


def _mark(gone: Operator | None, new: Operator | None) -> str:
    if new is None:
        return "<"
    if gone is None:
        return ">"
    return "|"


def _lines(before: str, mark: str, after: str) -> list[str]:
    halves = zip_longest(_wrapped(before), _wrapped(after), fillvalue="")
    return [f"{padded(left, _HALF)} {mark} {right}".rstrip() for left, right in halves]


def _wrapped(text: str) -> list[str]:
    """Return a text in a few lines of half the terminal's width. Those after the first are indented more."""
    indent = " " * min(len(text) - len(text.lstrip()) + 4, _HALF // 2)
    lines = textwrap.wrap(visible(text), _HALF, subsequent_indent=indent)
    if len(lines) > _MAX_LINES:
        lines = [*lines[: _MAX_LINES - 1], f"{indent}…"]
    return lines or [""]


def _text(operator: Operator | None) -> str:
    if operator is None:
        return ""
    described = operator.details
    if not described and "Exchange" not in operator.name:
        described = operator.expressions
    # A deep plan would leave no room for names.
    indent = " " * (operator.depth % (_HALF // 2))
    return f"{indent}{operator.name} {described}".rstrip()
