"""Cost-benefit of offers: what a change costs per second saved, and when it has paid for itself."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison
from harness.analysis.cost.offers import MAX_AMOUNT, MAX_NAME, Costs, Money, Offer
from harness.analysis.network.goodput import rate_bit_s
from harness.analysis.network.mesh import pair_matrix, typical_bit_s
from harness.model.errors import BadInput
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.prediction import Prediction
from harness.model.probe import Measurement
from harness.model.run import RecordedRun
from harness.statistics.change import Verdict
from harness.statistics.median import Interval
from harness.terminal import join_names, shorten

HOUR_S = 3600


@dataclass(frozen=True)
class Saving:
    """How many seconds less one execution of all workloads takes; negative if it takes more.

    `seconds` is the sum over `workloads`, without controls: those with a significant change, or those for
    which a change is predicted.
    `interval` is the sum of their intervals, in seconds saved; None if one of them has none.
    """

    seconds: float
    interval: Interval | None
    workloads: tuple[str, ...]


@dataclass(frozen=True)
class CostBenefit:
    """The cost of an offer and the benefit of the configuration that it leads to.

    `extra_cost` is what the offer costs more than the baseline. `saving` is None if there are too few
    runs, `gained_bit_s` (of a node's link) if a link's rate is unknown. `hour` is the value of an
    hour of the cluster's time, None if it is not given.
    """

    offer: Offer
    configuration: str
    extra_cost: Money
    saving: Saving | None
    gained_bit_s: float | None = None
    hour: Money | None = None

    @property
    def cost_per_second_saved(self) -> Money | None:
        """Extra cost for each second that a round, all workloads once, takes less; None if it does not."""
        return self._per(self.saving.seconds if self.saving else None)

    @property
    def cost_per_gbit_s(self) -> Money | None:
        """Extra cost for each Gbit/s that a node's link gains; None if it gains none."""
        return self._per(None if self.gained_bit_s is None else self.gained_bit_s / 1e9)

    @property
    def rounds_to_pay_back(self) -> int | None:
        """Number of rounds, of all workloads once, whose savings are worth the extra cost; None if never."""
        per_second = self.cost_per_second_saved
        if per_second is None or self.hour is None or self.hour.amount == 0:
            return None
        return math.ceil(round(per_second.amount * HOUR_S / self.hour.amount, 6))

    def _per(self, gained: float | None) -> Money | None:
        if gained is None or gained <= 0:
            return None
        return Money(self.extra_cost.amount / gained, self.extra_cost.currency)


def rank_offers(
    comparison: Comparison,
    costs: Costs,
    measured: Mapping[str, Sequence[Measurement]] | None = None,
) -> tuple[CostBenefit, ...]:
    """Return every offer for every configuration that it leads to, the best value first.

    `measured` are probe measurements by configuration. Raises BadInput if an offer is for the baseline or
    for a configuration that is not compared, if something is there twice, and if currencies differ.
    """
    before, *after = (
        link_bit_s(column.runs, (measured or {}).get(column.name, ()))
        for column in comparison.columns
    )
    baseline, *others = comparison.columns
    gains = {
        column.name: (
            saving(comparison, index),
            None if before is None or bit_s is None else bit_s - before,
        )
        for index, (column, bit_s) in enumerate(zip(others, after, strict=True), 1)
    }
    return _ranked(costs, baseline.name, gains)


def rank_predicted(predictions: Sequence[Prediction], costs: Costs) -> tuple[CostBenefit, ...]:
    """Return every offer for every link that it leads to, the best predicted value first.

    The configurations of an offer are the rates of links: `2.5gbit`. Raises BadInput as `rank_offers`.
    """
    gains = {
        prediction.target.link: (
            predicted_saving(prediction),
            prediction.target.goodput_bit_s - prediction.baseline_goodput_bit_s,
        )
        for prediction in predictions
    }
    return _ranked(costs, predictions[0].baseline.configuration, gains)


_Gain = tuple[Saving | None, float | None]
"""What an offer leads to: a saving, and bit/s of a node's link; None if unknown."""


def _ranked(costs: Costs, baseline: str, gains: Mapping[str, _Gain]) -> tuple[CostBenefit, ...]:
    _require_consistent(costs, baseline, tuple(gains))
    base = costs.baseline.amount if costs.baseline else 0.0
    found = [
        CostBenefit(
            offer,
            name,
            Money(offer.cost.amount - base, offer.currency),
            saved,
            gained_bit_s,
            costs.hour,
        )
        for name, (saved, gained_bit_s) in gains.items()
        for offer in costs.offers
        if offer.is_for(name)
    ]
    return tuple(sorted(found, key=_rank))


def predicted_saving(prediction: Prediction) -> Saving:
    """Return what a prediction expects of all workloads but the controls."""
    times = [time for time in prediction.times if not time.is_control]
    low_s, high_s = (
        math.fsum(time.baseline_s - end_s for time, end_s in zip(times, ends_s, strict=True))
        for ends_s in (
            [time.interval_95.high_s for time in times],
            [time.interval_95.low_s for time in times],
        )
    )
    return Saving(
        math.fsum(time.baseline_s - time.expected_s for time in times),
        Interval(low_s, high_s),
        tuple(time.workload for time in times),
    )


def saving(comparison: Comparison, index: int) -> Saving | None:
    """Return the saving of the column with this index; None if no workload has enough runs.

    A workload that counts its work saves no time: it is asked how much it does, not when it ends.
    """
    controls = comparison.common_controls
    tested = [
        # Beyond the controls, a change is relative to the time that was to be expected without it.
        (row.workload, summary.time_s / (1 + change.relative_change), change)
        for row in comparison.rows
        if row.workload not in controls
        and row.cells[index].sample.unit is None
        and (summary := row.cells[index].summary)
        and (change := row.cells[index].change)
        and change.verdict is not Verdict.TOO_FEW
    ]
    if not tested:
        return None
    changed = [found for found in tested if found[2].verdict is Verdict.CHANGED]
    ends = [
        (-change.interval.high * expected_s, -change.interval.low * expected_s)
        for _, expected_s, change in changed
        if change.interval
    ]
    has_all_ends = ends and len(ends) == len(changed)
    return Saving(
        math.fsum(-change.relative_change * expected_s for _, expected_s, change in changed),
        Interval(*map(math.fsum, zip(*ends, strict=True))) if has_all_ends else None,
        tuple(name for name, _, _ in changed),
    )


def link_bit_s(runs: Sequence[RecordedRun], measured: Sequence[Measurement] = ()) -> float | None:
    """Return the rate of a node's link in bit/s, from the best source that is available.

    The sources are the typical measured goodput, then those of `rate_bit_s`. None if no source is
    available, or if the runs disagree.
    """
    if typical := typical_bit_s(pair_matrix(measured, MESH_GOODPUT)):
        return typical
    rates_bit_s = {rate_bit_s(recorded.run) for recorded in runs}
    return rates_bit_s.pop() if len(rates_bit_s) == 1 else None


def _rank(found: CostBenefit) -> tuple[float, float]:
    """Order by cost per second saved, then by cost; offers that save nothing come last."""
    cost = found.cost_per_second_saved
    return (math.inf if cost is None else cost.amount, found.extra_cost.amount)


def _require_consistent(costs: Costs, baseline: str, others: Sequence[str]) -> None:
    names = [offer.name for offer in costs.offers]
    for offer in costs.offers:
        leads_to = offer.configurations or ()
        where = f"the offer {shorten(offer.name, MAX_NAME)!r}"
        if names.count(offer.name) > 1:
            raise BadInput(
                f"--cost: {shorten(offer.name, MAX_NAME)!r} is the name of two offers; give each its own "
                "name, in a TOML file"
            )
        if offer.cost.amount > MAX_AMOUNT:
            raise BadInput(
                f"{where} costs more than {MAX_AMOUNT:,} {offer.currency}, the largest cost allowed; "
                "correct it"
            )
        for name in leads_to:
            if name == baseline:
                raise BadInput(
                    f"{where} is for {name!r}, the baseline; name the configuration that you pay for"
                )
            if name not in others:
                raise BadInput(
                    f"{where} is for {shorten(name, MAX_NAME)!r}, which is not asked about; name one of: "
                    f"{join_names(others)}"
                )
            if leads_to.count(name) > 1:
                raise BadInput(f"{where} names the configuration {name!r} twice; name it once")
    amounts = [offer.cost for offer in costs.offers]
    amounts += filter(None, (costs.baseline, costs.hour))
    currencies = list(dict.fromkeys(money.currency for money in amounts))
    if len(currencies) > 1:
        raise BadInput(f"costs are in several currencies ({', '.join(currencies)}); use one")
