"""Predictions for the terminal, and how they compare with what was measured later."""

import shlex
from collections.abc import Iterator, Sequence

from harness.analysis.cost.benefit import CostBenefit
from harness.analysis.predict.score import Score, Summary, summarise
from harness.base.words import count_of, join_names, percent, shorten, visible
from harness.model.link import rate_text, throughput_text
from harness.model.prediction import Bounds, PredictedTime, Prediction
from harness.present.costs import cost_table
from harness.present.quantities import TOO_FEW_RUNS, change, if_known, time_text, uncertainty
from harness.present.text import fill, simple_table
from harness.records.predictions import FrozenPrediction

_NAME_WIDTH = 28
_CAPTION = (
    "Intervals are for the mean of as many runs (Spark applications) after the upgrade as there are now. "
    "Controls are expected to stay as they are."
)
_LIMITS = (
    "network: the part of the time in which tasks wait for the network, or in which the link of at least one "
    "node is full; at infinite rate: the time over an infinitely fast network; useful up to: the rate beyond "
    "which the time is within 5 % of that, or a dash if it is already. The last two columns are "
    "extrapolated: no such link was measured."
)
_DISK_LIMITS = (
    "disk: the part of the time in which tasks wait for a disk, as far as is known; "
    "with infinitely fast disks: what remains, which is extrapolated: no such disk was measured."
)
_ERROR = (
    "error: expected / measured - 1, so + is a prediction that was too long; inside: the narrowest interval "
    "with what was measured."
)
_ROUND = (
    "A round is every workload once, without the controls. In brackets: if all workloads are at the "
    "worse, or all at the better end of their 95 % intervals."
)


def render(frozen: Sequence[FrozenPrediction], benefits: Sequence[CostBenefit] = ()) -> str:
    """Return the predictions of one baseline, one for each target.

    `benefits` are ranked; there is a table of them if there are any.
    """
    first = frozen[0].prediction
    return "\n".join(
        [
            *(_table(saved.prediction) for saved in frozen),
            fill(_CAPTION),
            "",
            _table_of_limits(first),
            "",
            fill(_DISK_LIMITS if first.target.disk else _LIMITS),
            fill(f"Model: {first.model}."),
            *map(fill, _bases(first)),
            *(fill(f"{note[:1].upper()}{note[1:]}.") for note in first.notes),
            *(fill(f"{name} is not predicted: {why}") for name, why in first.not_predicted.items()),
            *(("", _table_of_costs(benefits), "", fill(_ROUND)) if benefits else ()),
            "",
            *(
                visible(f"prediction {saved.id}, {saved.prediction.target}: {saved.file}")
                for saved in frozen
            ),
            fill(
                f"After the upgrade: clusterlift predict {shlex.quote(first.baseline)} --score AFTER. "
                "Note the IDs elsewhere, too: they show whether a prediction was changed."
            ),
        ]
    )


def _bases(prediction: Prediction) -> Iterator[str]:
    judged = [time for time in prediction.times if not time.is_control]
    for basis in dict.fromkeys(time.basis for time in judged):
        names = join_names([time.workload for time in judged if time.basis == basis])
        yield f"{names}: predicted from {basis}."


def _table(prediction: Prediction) -> str:
    """Return the times with one target's links or disks below its title."""
    rows = [
        (
            _name(time),
            time_text(time.baseline_s),
            time_text(time.expected_s),
            change(time.expected_s / time.baseline_s - 1),
            _bounds(time.interval_80, time.expected_s),
            _bounds(time.interval_95, time.expected_s),
        )
        for time in prediction.times
    ]
    table = simple_table(("workload", "now", "expected", "change", "80 %", "95 %"), rows)
    return f"{fill(_title(prediction))}\n\n{table}\n"


def _title(prediction: Prediction) -> str:
    target, now = prediction.target, prediction.baseline_goodput_bit_s
    if not (now and target.goodput_bit_s):
        return f"{prediction.baseline} with {target}, and all else as it is"
    return (
        f"{prediction.baseline} over {target}: its links carry {throughput_text(now)} now, and are expected "
        f"to carry {throughput_text(target.goodput_bit_s)}"
    )


def _table_of_limits(prediction: Prediction) -> str:
    rows = [
        (
            _name(time),
            percent(time.network_share or time.disk_share or 0.0),
            time_text(time.limit_s),
            if_known(time.useful_up_to_bit_s, lambda bit_s: rate_text(bit_s, 2)),
        )
        for time in prediction.times
        if not time.is_control
    ]
    if prediction.target.disk:
        headings = ("workload", "disk", "with infinitely fast disks")
        return simple_table(headings, [row[:3] for row in rows])
    return simple_table(("workload", "network", "at infinite rate", "useful up to"), rows)


def _table_of_costs(benefits: Sequence[CostBenefit]) -> str:
    table = cost_table(benefits)
    return simple_table(["upgrade", *table.headings[2:]], [row[1:] for row in table.rows])


def _name(time: PredictedTime) -> str:
    name = f"{time.workload} (control)" if time.is_control else time.workload
    return shorten(visible(name), _NAME_WIDTH)


def _bounds(bounds: Bounds, expected_s: float) -> str:
    distance_s = max(expected_s - bounds.low_s, bounds.high_s - expected_s)
    if uncertainty(distance_s / expected_s) == TOO_FEW_RUNS:
        return TOO_FEW_RUNS
    low, high = time_text(bounds.low_s), time_text(bounds.high_s)
    are_seconds = high.endswith(" s") and " min " not in high
    return f"{low.removesuffix(' s') if are_seconds else low} to {high}"


def render_score(score: Score) -> str:
    """Return a prediction beside what was measured."""
    rows = [
        (
            _name(time.predicted),
            time_text(time.predicted.baseline_s),
            time_text(time.predicted.expected_s),
            _bounds(time.predicted.interval_95, time.predicted.expected_s),
            time_text(time.actual_s),
            change(time.error),
            "80 %" if time.within_80 else "95 %" if time.within_95 else "no",
        )
        for time in score.times
    ]
    headings = ("workload", "before", "expected", "95 %", "measured", "error", "inside")
    title = (
        f"prediction {score.id} of {score.prediction.made_at} for {score.prediction.target}, and what "
        f"{score.after.name} measured"
    )
    summary = summarise([score])
    lines = [
        _ERROR,
        *(f"{name} was predicted, and not measured" for name in score.missing),
        *score.notes,
        *([_summary_text(summary)] if summary and not score.void else []),
        *(f"VOID, so this proves nothing: {reason}" for reason in score.void),
    ]
    return "\n".join([fill(title), "", simple_table(headings, rows), "", *map(fill, lines)])


def _summary_text(summary: Summary) -> str:
    return (
        f"{count_of(summary.count, 'predicted time')}, controls not counted: median error "
        f"{percent(summary.median_error, 1)}, worst {percent(summary.worst_error, 1)}; {summary.inside_80} "
        f"were inside their 80 % interval, {summary.inside_95} inside their 95 % interval. The guess that "
        f"nothing changes is off by {percent(summary.unchanged, 1)}, and the guess that time is inversely "
        f"proportional to the rate by {percent(summary.proportional, 1)} (medians)."
    )
