"""Predictions, and how they compare with what was measured later."""

import shlex
from collections.abc import Iterator, Sequence

from harness.analysis.cost.benefit import CostBenefit
from harness.analysis.predict.score import ErrorSummary, Score, ScoredTime, summarise
from harness.base.words import count_of, join_names, label, percent
from harness.model.link import rate_text, throughput_text
from harness.model.prediction import Bounds, PredictedTime, Prediction
from harness.present.blocks import Block, Lines, Paragraph, Sentences, Table
from harness.present.costs import cost_table
from harness.present.quantities import TOO_FEW_RUNS, change, if_known, is_too_wide, time_text
from harness.records.predictions import FrozenPrediction

_NAME_WIDTH = 28
_CAPTION = (
    "Intervals are for the mean of as many runs (Spark applications) after the upgrade as there are now. "
    "Controls are expected to stay as they are."
)
_LIMITS = (
    "network: the part of the time in which tasks wait for the network, or in which the link of at least one "
    "node is full. at infinite rate: the time over an infinitely fast network. useful up to: above this "
    "rate, the time is within 5 % of that at infinite rate; a dash if it already is. The last two columns "
    "are extrapolated: no such link was measured."
)
_DISK_LIMITS = (
    "disk: the part of the time in which tasks wait for a disk, as far as is known. "
    "with infinitely fast disks: the time that remains, extrapolated: no such disk was measured."
)
_ERROR = (
    "error: expected / measured - 1, so + is a prediction that was too long. inside: the narrowest interval "
    "that has the measured time."
)
_ROUND = (
    "A round is every workload once, without the controls. In brackets: the values if all workloads are at "
    "the worse end of their 95 % intervals, or all at the better end."
)


def prediction_page(
    frozen: Sequence[FrozenPrediction], benefits: Sequence[CostBenefit] = ()
) -> Iterator[Block]:
    """Yield the predictions of one baseline, one for each target.

    `benefits` are ranked; there is a table of them if there are any.
    """
    first = frozen[0].prediction
    for saved in frozen:
        yield Paragraph(_title(saved.prediction))
        yield _table(saved.prediction)
    yield Paragraph(_CAPTION)
    yield _table_of_limits(first)
    yield Sentences(_remarks(first))
    if benefits:
        costs = cost_table(benefits)
        yield Table(["upgrade", *costs.headings[2:]], [row[1:] for row in costs.rows])
        yield Paragraph(_ROUND)
    yield Lines(
        f"prediction {saved.id}, {saved.prediction.target}: {saved.file}" for saved in frozen
    )
    yield Paragraph(
        f"After the upgrade: clusterlift predict {shlex.quote(first.baseline)} --score AFTER. "
        "Note the IDs elsewhere, too: they show whether a prediction was changed."
    )


def _remarks(prediction: Prediction) -> Iterator[str]:
    yield _DISK_LIMITS if prediction.target.disk else _LIMITS
    yield f"Model: {prediction.model}."
    by_basis: dict[str, list[str]] = {}
    for time in prediction.judged:
        by_basis.setdefault(time.basis, []).append(time.workload)
    for basis, names in by_basis.items():
        yield f"{join_names(names)}: predicted from {basis}."
    for note in prediction.notes:
        yield f"{note[:1].upper()}{note[1:]}."
    for name, why in prediction.not_predicted.items():
        yield f"{name} is not predicted: {why}"


def _table(prediction: Prediction) -> Table:
    rows = []
    for time in prediction.times:
        expected_s = time.expected_s
        row = _times(time)
        row.append(change(expected_s / time.baseline_s - 1))
        row += [_bounds(time.interval_80, expected_s), _bounds(time.interval_95, expected_s)]
        rows.append(row)
    return Table(("workload", "now", "expected", "change", "80 %", "95 %"), rows)


def _times(time: PredictedTime) -> list[str]:
    """Return the workload, its time now, and the expected one."""
    name = time.workload
    if time.is_control:
        name += " (control)"
    return [label(name, _NAME_WIDTH), time_text(time.baseline_s), time_text(time.expected_s)]


def _title(prediction: Prediction) -> str:
    target = prediction.target
    now = prediction.baseline_goodput_bit_s
    if not (now and target.goodput_bit_s):
        return f"{prediction.baseline} with {target}, and all else as it is"
    return (
        f"{prediction.baseline} over {target}: its links carry {throughput_text(now)} now, and are expected "
        f"to carry {throughput_text(target.goodput_bit_s)}"
    )


def _table_of_limits(prediction: Prediction) -> Table:
    is_of_disks = prediction.target.disk
    rows = []
    for time in prediction.times:
        if time.is_control:
            continue
        waits = percent(time.network_share or time.disk_share or 0.0)
        row = [label(time.workload, _NAME_WIDTH), waits, time_text(time.limit_s)]
        if not is_of_disks:
            row.append(if_known(time.useful_up_to_bit_s, lambda bit_s: rate_text(bit_s, 2)))
        rows.append(row)
    if is_of_disks:
        return Table(("workload", "disk", "with infinitely fast disks"), rows)
    return Table(("workload", "network", "at infinite rate", "useful up to"), rows)


def _bounds(bounds: Bounds, expected_s: float) -> str:
    distance_s = max(expected_s - bounds.low_s, bounds.high_s - expected_s)
    if is_too_wide(distance_s / expected_s):
        return TOO_FEW_RUNS
    low = time_text(bounds.low_s)
    high = time_text(bounds.high_s)
    # One unit is enough for both: `9.87 to 12.3 s`.
    if high.endswith(" s") and " min " not in high:
        low = low.removesuffix(" s")
    return f"{low} to {high}"


def score_page(score: Score) -> Iterator[Block]:
    """Yield a prediction beside what was measured."""
    rows = []
    for time in score.times:
        predicted = time.predicted
        row = _times(predicted)
        row.append(_bounds(predicted.interval_95, predicted.expected_s))
        row += [time_text(time.actual_s), change(time.error), _inside(time)]
        rows.append(row)
    yield Paragraph(
        f"prediction {score.id} of {score.prediction.made_at} for {score.prediction.target}, and what "
        f"{score.after.name} measured"
    )
    yield Table(("workload", "before", "expected", "95 %", "measured", "error", "inside"), rows)
    remarks = [_ERROR]
    remarks += [f"{name} was predicted, and not measured" for name in score.missing]
    remarks += score.notes
    summary = summarise([score])
    if summary and not score.void:
        remarks.append(_summary_text(summary))
    remarks += [f"VOID, so this proves nothing: {reason}" for reason in score.void]
    yield Sentences(remarks)


def _inside(time: ScoredTime) -> str:
    if time.within_80:
        return "80 %"
    if time.within_95:
        return "95 %"
    return "no"


def _summary_text(summary: ErrorSummary) -> str:
    return (
        f"{count_of(summary.count, 'predicted time')}, controls not counted: median error "
        f"{percent(summary.median_error, 1)}, worst {percent(summary.worst_error, 1)}; {summary.inside_80} "
        f"were inside their 80 % interval, {summary.inside_95} inside their 95 % interval. The guess that "
        f"nothing changes is off by {percent(summary.unchanged, 1)}, and the guess that time is inversely "
        f"proportional to the rate by {percent(summary.proportional, 1)} (medians)."
    )
