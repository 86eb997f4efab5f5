"""Predictions for the terminal, and how they compare with what was measured later."""

import shlex
from collections.abc import Iterator, Sequence

from harness.analysis.cost.benefit import CostBenefit
from harness.analysis.predict.score import Score, Summary, summarise
from harness.model.link import rate_text, throughput_text
from harness.model.prediction import Bounds, PredictedTime, Prediction
from harness.present.costs import cost_table
from harness.present.data_table import Quantity
from harness.present.quantities import UNKNOWN, change, if_known, time_text
from harness.present.text import fill, simple_table
from harness.records.predictions import FrozenPrediction
from harness.words import count_of, join_names, percent, shorten, visible

_NAME_WIDTH = 28
_SIGN = "error: expected / measured - 1, so + is a prediction that was too long"


def render(frozen: Sequence[FrozenPrediction], benefits: Sequence[CostBenefit] = ()) -> str:
    """Return the predictions of one baseline: a table for one target, or one of all targets.

    `benefits` are ranked; there is a table of them if there are any.
    """
    first = frozen[0].prediction
    reasons = [f"{name} is not predicted: {why}" for name, why in first.not_predicted.items()]
    notes = dict.fromkeys(note for saved in frozen for note in saved.prediction.notes)
    copy = ", ".join(source.configuration for source in first.learned_from)
    return "\n".join(
        [
            *map(fill, _titles(frozen)),
            "",
            _table(first) if len(frozen) == 1 else _table_of_targets(frozen),
            "",
            fill(
                "Intervals are for the mean of as many runs (Spark applications) after the upgrade as there "
                "are now. Controls are expected to stay as they are."
            ),
            "",
            _table_of_limits(first),
            "",
            fill(
                "link full: the part of the time in which the link of at least one node is full; at "
                "infinite rate: the time over an infinitely fast network; useful up to: the rate beyond "
                "which the time is within 5 % of that, or a dash if it is already. The last two columns are "
                "extrapolated: no such link was measured."
            ),
            fill(f"Model: {first.model}{f'; starts from {copy}' if copy else ''}."),
            *map(fill, _bases(first)),
            *(fill(f"{note[:1].upper()}{note[1:]}.") for note in notes),
            *map(fill, reasons),
            *(("", _table_of_costs(benefits), "", fill(_ROUND)) if benefits else ()),
            "",
            *(
                visible(f"prediction {saved.id}, {saved.prediction.target}: {saved.file}")
                for saved in frozen
            ),
            fill(
                f"After the upgrade: clusterlift score {shlex.quote(first.baseline.configuration)} AFTER. "
                "Note the IDs elsewhere, too: they show whether a prediction was changed."
            ),
        ]
    )


def _bases(prediction: Prediction) -> Iterator[str]:
    """Yield what the prediction of each workload rests on."""
    judged = [time for time in prediction.times if not time.is_control]
    for basis in dict.fromkeys(time.basis for time in judged):
        names = join_names([time.workload for time in judged if time.basis == basis])
        yield f"{names}: predicted from {basis}."


def _titles(frozen: Sequence[FrozenPrediction]) -> Sequence[str]:
    first = frozen[0].prediction
    carried = throughput_text(first.baseline_goodput_bit_s)
    return (
        f"Predicted from {first.baseline.configuration}, whose links carry {carried}, for",
        *(
            f"  {saved.prediction.target}, expected to carry "
            f"{throughput_text(saved.prediction.target.goodput_bit_s)}"
            for saved in frozen
        ),
    )


def _table(prediction: Prediction) -> str:
    rows = [
        (
            _name(time),
            time_text(time.baseline_s),
            time_text(time.expected_s),
            change(time.expected_s / time.baseline_s - 1),
            _bounds(time.interval_80),
            _bounds(time.interval_95),
        )
        for time in prediction.times
    ]
    return simple_table(("workload", "now", "expected", "change", "80 %", "95 %"), rows)


def _table_of_targets(frozen: Sequence[FrozenPrediction]) -> str:
    by_target = [{time.workload: time for time in saved.prediction.times} for saved in frozen]
    rows = [
        (
            _name(time),
            time_text(time.baseline_s),
            *(
                text
                for times in by_target
                for text in (
                    time_text(times[time.workload].expected_s),
                    _bounds(times[time.workload].interval_95),
                )
            ),
        )
        for time in frozen[0].prediction.times
    ]
    rates = (saved.prediction.target.link for saved in frozen)
    headings = [heading for rate in rates for heading in (rate, "95 %")]
    return simple_table(("workload", "now", *headings), rows)


def _table_of_limits(prediction: Prediction) -> str:
    rows = [
        (
            _name(time),
            if_known(time.full_share, "{:.0%}".format),
            time_text(time.limit_s),
            if_known(time.useful_up_to_bit_s, lambda bit_s: rate_text(bit_s, 2)),
        )
        for time in prediction.times
        if not time.is_control
    ]
    return simple_table(("workload", "link full", "at infinite rate", "useful up to"), rows)


_ROUND = (
    "A round is every workload once, without the controls. In brackets: if all workloads are at the "
    "worse, or all at the better end of their 95 % intervals."
)


def _table_of_costs(benefits: Sequence[CostBenefit]) -> str:
    table = cost_table(benefits)
    rows = [
        [cell.text if isinstance(cell, Quantity) else cell for cell in row[1:]]
        for row in table.rows
    ]
    return simple_table(["links", *table.headings[2:]], rows)


def _name(time: PredictedTime) -> str:
    name = f"{time.workload} (control)" if time.is_control else time.workload
    return shorten(visible(name), _NAME_WIDTH)


def _bounds(bounds: Bounds) -> str:
    return f"{time_text(bounds.low_s).removesuffix(' s')} to {time_text(bounds.high_s)}"


def render_score(frozen: FrozenPrediction, score: Score) -> str:
    """Return a prediction beside what was measured."""
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
    headings = ("workload", "before", "expected", "95 %", "measured", "error", "inside")
    title = (
        f"prediction {frozen.id} of {frozen.prediction.made_at} for {frozen.prediction.target}, and what "
        f"{score.after.name} measured"
    )
    summary = summarise([score])
    lines = [
        f"{_SIGN}; inside: the narrowest interval with what was measured.",
        *(f"{name} was predicted, and not measured" for name in score.missing),
        *score.notes,
        *([summary_text(summary)] if summary and not score.void else []),
        *(f"VOID, so this proves nothing: {reason}" for reason in score.void),
    ]
    return "\n".join([fill(title), "", simple_table(headings, rows), "", *map(fill, lines)])


def outcome_text(frozen: FrozenPrediction, score: Score) -> str:
    """Return a sentence on a prediction that was made before its outcome was measured."""
    made = f"{score.after.name} was predicted on {frozen.prediction.made_at[:10]} ({frozen.id})"
    if score.void:
        return f"{made}; that prediction is void: {score.void[0]}."
    summary = summarise([score])
    if summary is None:
        return f"{made}, and nothing but controls was measured."
    return (
        f"{made}: median error {percent(summary.median_error, 1)}, worst {percent(summary.worst_error, 1)}; "
        f"{summary.inside_95} of {count_of(summary.count, 'time')} inside their 95 % interval."
    )


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
                visible(str(frozen.prediction.target)),
                "nothing since"
                if score is None
                else shorten(visible(score.after.name), _NAME_WIDTH),
                f"{summary.median_error:.1%}" if summary else UNKNOWN,
                f"{summary.worst_error:.1%}" if summary else UNKNOWN,
                f"{summary.inside_95} of {summary.count}" if summary else UNKNOWN,
                "void" if score and score.void else "",
            )
        )
    if not rows:
        return "there is no prediction"
    headings = ("id", "made", "from", "for", "measured", "median", "worst", "in 95 %", "void")
    valid = [score for _, score in scored if score and not score.void]
    summary = summarise(valid)
    text = summary_text(summary) if summary else "No prediction can be judged yet."
    return f"{simple_table(headings, rows)}\n\n{fill(text)}"


def summary_text(summary: Summary) -> str:
    """Return the errors of all workloads but the controls in words."""
    return (
        f"{count_of(summary.count, 'predicted time')}, controls not counted: median error "
        f"{percent(summary.median_error, 1)}, worst {percent(summary.worst_error, 1)}; {summary.inside_80} "
        f"were inside their 80 % interval, {summary.inside_95} inside their 95 % interval. The guess that "
        f"nothing changes is off by {percent(summary.unchanged, 1)}, and the guess that time is inversely "
        f"proportional to the rate by {percent(summary.proportional, 1)} (medians); the predictions' median "
        f"error is {percent(abs(summary.skill))} {'smaller' if summary.skill >= 0 else 'larger'} than that "
        "of the better guess."
    )
