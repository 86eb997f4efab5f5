"""How changes stand to the limits of `compare`, a line for each outcome, and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.analysis.compare.limits import Judgement, Limit, Standing
from harness.present import quantities
from harness.statistics.change import Change
from harness.statistics.power import MAX_RUNS
from harness.words import count_of, given_percent


def lines(judgements: Sequence[Judgement]) -> Iterator[str]:
    """Yield a line for each outcome that there is: which workloads, each with its change."""
    for judged in judgements:
        for standing, words in _words(judged.limit).items():
            if changes := judged.changes[standing]:
                listed = ", ".join(f"{name}{_change(change)}" for name, change in changes.items())
                advice = f"; {_advice(judged)}" if standing is Standing.UNKNOWN else ""
                yield f"{judged.configuration}: {words}: {listed}{advice}"
    failed = {judged.configuration: judged.failed for judged in judgements if judged.failed}
    for configuration, names in failed.items():
        yield f"{configuration}: trials failed: {', '.join(names)}"


def as_json(judgements: Sequence[Judgement]) -> list[Mapping[str, Any]]:
    """Return what `lines` says; `limit` is the largest change that is allowed."""
    return [
        {
            "option": judged.limit.option,
            "limit": judged.limit.change,
            "configuration": judged.configuration,
            **{standing: list(changes) for standing, changes in judged.changes.items()},
            "failed": judged.failed,
            "more_runs": judged.more_runs if judged.changes[Standing.UNKNOWN] else 0,
        }
        for judged in judgements
    ]


def _words(limit: Limit) -> dict[Standing, str]:
    amount = given_percent(abs(limit.change))
    if limit.change > 0:
        text = f"slower by more than {amount}"
        found = text, f"not {text}", f"not known whether {text}"
    else:
        text = f"faster by {amount}"
        found = f"not {text}", f"{text} or more", f"not known whether {text}"
    return dict(zip(Standing, found, strict=True))


def _change(change: Change | None) -> str:
    if change is None:
        return " (no time)"
    interval = quantities.uncertainty(change.uncertainty)
    return f" {quantities.change(change.relative_change)} {interval}".rstrip()


def _advice(judged: Judgement) -> str:
    if judged.more_runs is None:
        return f"even {MAX_RUNS} runs on either side would hardly tell"
    return f"about {count_of(judged.more_runs, 'more run')} on either side would tell"
