"""Predictions for the terminal, and how they compare with what came."""

from __future__ import annotations

from collections.abc import Sequence

from harness.analysis.backtest import Backcast
from harness.analysis.score import Score, ScoredTime, Summary, summarise
from harness.model.link import rate_text, throughput_text
from harness.model.prediction import Bounds, PredictedTime, Prediction
from harness.present.quantities import change, time_text, uncertainty
from harness.present.text import fill, simple_table
from harness.records.predictions import FrozenPrediction
from harness.terminal import count_of, shorten, visible

_NAME_WIDTH = 28


def render(frozen: Sequence[FrozenPrediction]) -> str:
    """Return the predictions of one baseline: a table for one target, or one of all targets."""
    first = frozen[0].prediction
    table = _table(first) if len(frozen) == 1 else _table_of_targets(frozen)
    notes = dict.fromkeys(note for each in frozen for note in each.prediction.notes)
    reasons = [f"{name} is not predicted: {why}" for name, why in first.not_predicted.items()]
    lines = [fill(line) for line in (*_explanation(first), *reasons, *notes)]
    files = [visible(f"{each.prediction.target}: {each.file}") for each in frozen]
    return "\n".join(
        [fill(_title(frozen)), "", table, "", *lines, "", "frozen in the ledger:", *files]
    )


def _title(frozen: Sequence[FrozenPrediction]) -> str:
    first = frozen[0].prediction
    targets = "; ".join(
        f"{each.prediction.target} (expected to carry "
        f"{throughput_text(each.prediction.target.goodput_bit_s)})"
        for each in frozen
    )
    return (
        f"{first.baseline.configuration}, whose links carry {throughput_text(first.baseline_goodput_bit_s)}, "
        f"over {targets}"
    )


def _table(prediction: Prediction) -> str:
    rows = [
        (
            _name(time),
            time_text(time.baseline_s),
            time_text(time.expected_s),
            change(time.expected_s / time.baseline_s - 1),
            _margin(time, time.interval_80),
            _margin(time, time.interval_95),
            "-" if time.full_share is None else f"{time.full_share:.0%}",
            time_text(time.limit_s),
            "-" if time.enough_bit_s is None else _rounded_rate(time.enough_bit_s),
        )
        for time in prediction.times
    ]
    headings = ("workload", "now", "expected", "change", "80 %", "95 %", "full", "limit", "enough")
    return simple_table(headings, rows)


def _table_of_targets(frozen: Sequence[FrozenPrediction]) -> str:
    first = frozen[0].prediction
    by_target = [{time.workload: time for time in each.prediction.times} for each in frozen]
    rows = []
    for time in first.times:
        expected = [each[time.workload] for each in by_target]
        cells = [
            f"{time_text(each.expected_s)} {_margin(each, each.interval_95)}" for each in expected
        ]
        enough = "-" if time.enough_bit_s is None else _rounded_rate(time.enough_bit_s)
        rows.append(
            (_name(time), time_text(time.baseline_s), *cells, time_text(time.limit_s), enough)
        )
    targets = [rate_text(each.prediction.target.link_bit_s) for each in frozen]
    return simple_table(("workload", "now", *targets, "limit", "enough"), rows)


def _name(time: PredictedTime) -> str:
    name = f"{time.workload} (control)" if time.is_control else time.workload
    return shorten(visible(name), _NAME_WIDTH)


def _bounds(bounds: Bounds) -> str:
    return f"{time_text(bounds.low_s).removesuffix(' s')} to {time_text(bounds.high_s)}"


def _margin(time: PredictedTime, bounds: Bounds) -> str:
    """Return an interval as `±8%` of the time to expect."""
    farther = max(bounds.high_s - time.expected_s, time.expected_s - bounds.low_s)
    return uncertainty(farther / time.expected_s)


def _rounded_rate(bit_s: float) -> str:
    return rate_text(int(float(f"{bit_s:.2g}")))


def _explanation(prediction: Prediction) -> Sequence[str]:
    learned = ", ".join(source.configuration for source in prediction.learned_from)
    return (
        (
            "The intervals are of what as many runs will measure after the upgrade. full: the part of the "
            "time in which the link of the busiest node is full; limit: the time to expect over an "
            "infinitely fast network; enough: the rate from which on the time is within 5 % of the limit, "
            "- if it is now."
        ),
        f"Model: {prediction.model}{f'; learnt from {learned}' if learned else ''}.",
    )


def render_score(frozen: FrozenPrediction, score: Score) -> str:
    """Return the prediction beside what came."""
    rows = [
        (
            _name(time.predicted),
            time_text(time.predicted.baseline_s),
            time_text(time.predicted.expected_s),
            _bounds(time.predicted.interval_95),
            time_text(time.actual_s),
            change(time.error),
            "80 %" if time.within_80 else "95 %" if time.within_95 else "no",
        )
        for time in score.times
    ]
    headings = ("workload", "before", "expected", "95 %", "came", "error", "within")
    lines = [
        (
            f"prediction {frozen.id} of {frozen.prediction.made_at} for {frozen.prediction.target}, and what "
            f"{score.after.name} measured"
        ),
        *(f"VOID: {reason}" for reason in score.void),
    ]
    told = [
        *(f"{name} was predicted and not measured" for name in score.missing),
        *score.notes,
        *([summary_text(summary)] if (summary := summarise([score])) else []),
    ]
    return "\n".join([*map(fill, lines), "", simple_table(headings, rows), "", *map(fill, told)])


def render_scores(scored: Sequence[tuple[FrozenPrediction, Score | None]]) -> str:
    """Return a line for each prediction, and the errors of those that are not void together."""
    rows = []
    for frozen, score in scored:
        summary = summarise([score]) if score else None
        rows.append(
            (
                frozen.id,
                frozen.prediction.made_at[:10],
                shorten(visible(frozen.prediction.baseline.configuration), _NAME_WIDTH),
                str(frozen.prediction.target),
                "not yet" if score is None else shorten(visible(score.after.name), _NAME_WIDTH),
                f"{summary.median_error:.1%}" if summary else "-",
                f"{summary.worst_error:.1%}" if summary else "-",
                f"{summary.coverage_95:.0%}" if summary else "-",
                "void" if score and score.void else "",
            )
        )
    if not rows:
        return "there is no prediction"
    headings = ("id", "made", "from", "for", "came", "median", "worst", "in 95 %", "")
    valid = [score for _, score in scored if score and not score.void]
    summary = summarise(valid)
    text = summary_text(summary) if summary else "No prediction can be judged yet."
    return f"{simple_table(headings, rows)}\n\n{fill(text)}"


def summary_text(summary: Summary) -> str:
    """Return the errors of all workloads but the controls in words."""
    return (
        f"{count_of(summary.count, 'workload time')} without the controls: median error "
        f"{summary.median_error:.1%}, worst {summary.worst_error:.1%}; {summary.coverage_80:.0%} came within "
        f"their 80 % interval and {summary.coverage_95:.0%} within their 95 % interval. The guess that "
        f"nothing changes is off by {summary.unchanged:.1%}, and the guess that all time shrinks as the "
        f"link's seconds for a bit do by {summary.proportional:.1%}; the skill against the better of the two "
        f"is {summary.skill:.0%}."
    )


def render_backtest(backcasts: Sequence[Backcast]) -> str:
    """Return the errors by workload of each prediction, and those of all, by what they were made from."""
    names = list(
        dict.fromkeys(t.predicted.workload for each in backcasts for t in each.score.judged)
    )
    rows = []
    for each in backcasts:
        errors = {time.predicted.workload: time for time in each.score.judged}
        rows.append(
            (
                shorten(visible(each.score.prediction.baseline.configuration), _NAME_WIDTH),
                shorten(visible(each.score.after.name), _NAME_WIDTH),
                f"{each.ratio:.1f}x",
                str(len(each.throttled)) if each.throttled else "-",
                *(_error(errors.get(name)) for name in names),
            )
        )
    table = simple_table(("from", "to", "ratio", "throttled", *map(visible, names)), rows)
    lines = [
        fill(f"{kind}: {summary_text(summary)}")
        for kind, group in (
            ("From one rate", [each for each in backcasts if not each.throttled]),
            ("With throttling", [each for each in backcasts if each.throttled]),
        )
        if (summary := summarise([each.score for each in group]))
    ]
    key = fill(
        "Errors: expected / came - 1; ! came outside of the interval of 95 %. throttled: from how many "
        "slower rates the prediction learnt."
    )
    return "\n".join([table, "", key, *lines])


def _error(time: ScoredTime | None) -> str:
    return "-" if time is None else f"{change(time.error)}{'' if time.within_95 else '!'}"
