"""The line on all workloads together, in words and for JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from harness.analysis.compare.all_workloads import AllWorkloads, Throughput
from harness.base.words import count_of
from harness.present import quantities
from harness.present.change_table import MARKS
from harness.statistics.change import Change


def together_sentences(found: Sequence[AllWorkloads]) -> Iterator[str]:
    """Yield a sentence for each configuration: `2.5g, 5 workloads together: 40 s instead of 50 s, ...`."""
    for each in found:
        before = quantities.time_text(each.before_s)
        after = quantities.time_text(each.after_s)
        beyond = " beyond that of the controls" if each.beyond_controls else ""
        yield (
            f"{each.configuration}, {_counted(each)}: {after} instead of {before}, "
            f"{_change(each.of_sum)}{beyond}; geometric mean of the changes: {_change(each.of_mean)}."
            + _per_hour(each.throughput)
        )


def _counted(found: AllWorkloads) -> str:
    text = f"{count_of(len(found.workloads), 'workload')} together"
    if found.not_counted:
        text += f" (without {found.not_counted:,} of a single run)"
    return text


def _per_hour(found: Throughput | None) -> str:
    if found is None:
        return ""
    return (
        f" Queries per hour: {found.after:,.0f} instead of {found.before:,.0f}, "
        f"{_change(found.change)}."
    )


def _change(found: Change) -> str:
    """Return `-5.2% (-6.1% to -4.3%)`, `+0.1% (-1.0% to +1.2%) ~`, `-5.2% ?`."""
    text = quantities.change(found.relative_change)
    if found.interval:
        text += f" ({quantities.ends_text(found.interval, quantities.change)})"
    return f"{text} {MARKS.get(found.verdict, '')}".rstrip()


def together_json(found: AllWorkloads) -> dict[str, Any]:
    """Return how one configuration changed, with all digits."""
    return {
        "configuration": found.configuration,
        "workloads": found.workloads,
        "not_counted": found.not_counted,
        "sum_before_s": found.before_s,
        "sum_s": found.after_s,
        "sum_change": json_change(found.of_sum),
        "geometric_mean_change": json_change(found.of_mean),
        "queries_per_hour": _json_throughput(found.throughput),
    }


def _json_throughput(found: Throughput | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"before": found.before, "after": found.after, **json_change(found.change)}


def json_change(change: Change) -> dict[str, Any]:
    """Return a change with all digits; -0.095 is 9.5 % less."""
    return {
        "verdict": change.verdict,
        "relative_change": change.relative_change,
        "relative_change_interval": change.interval,
        "p": change.p,
        "adjusted_p": change.adjusted_p,
    }
