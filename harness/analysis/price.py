"""How fast a configuration's links are, from the best that is known of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.comparison import Comparison, common_controls
from harness.analysis.declared import rates
from harness.analysis.mesh import matrix, usual_bit_s
from harness.analysis.observed import link_speeds
from harness.analysis.price_list import Money, Offer, PriceList
from harness.model.errors import BadInput
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import Measurement
from harness.model.run import RecordedRun, Run
from harness.statistics.change import Verdict
from harness.statistics.rank_test import Interval

MBIT = 10**6


def link_bit_s(runs: Sequence[RecordedRun], measured: Sequence[Measurement] = ()) -> float | None:
    """Bit/s of a node's link: what the mesh usually carries, else what runs declare, else observed.

    None where it is not known, and where the runs do not agree.
    """
    if usual := usual_bit_s(matrix(measured, MESH_GOODPUT)):
        return usual
    rates = {_rate_bit_s(recorded.run) for recorded in runs}
    return rates.pop() if len(rates) == 1 else None


def _rate_bit_s(run: Run) -> float | None:
    facts = {rate.mbit_s for rate in rates(f"link={run.facts.get('link', '')}")}
    observed = {float(speed) for links in link_speeds(run).values() for speed in links.values()}
    said = {rate.mbit_s for rate in rates(run.configuration)}
    known = next(filter(None, (facts, observed, said)), set())
    return MBIT * max(known) if len(known) == 1 else None


# MERGED from harness.analysis.price.price: 'What a change is worth: what it costs for each second that it saves, and when it has paid itself.'
HOUR_S = 3600


@dataclass(frozen=True)
class Saving:
    """Seconds that a run over all workloads takes less; negative if it takes more.

    It is the sum over the workloads, controls apart, whose change is more than chance explains, and
    `interval` that of the ends of their intervals, None if one has none.
    """

    seconds: float
    interval: Interval | None
    workloads: tuple[str, ...]


@dataclass(frozen=True)
class Worth:
    """An offer that leads to a configuration, and what is gained by it.

    `extra` is its cost beyond the baseline's. `saving` is None if nothing can be told of it, and
    `gained_bit_s`, of a node's link, if the links are not known. `hour` is what an hour is worth.
    """

    offer: Offer
    configuration: str
    extra: Money
    saving: Saving | None
    gained_bit_s: float | None = None
    hour: Money | None = None

    @property
    def per_second(self) -> float | None:
        """Money for each second that a run takes less; None if it does not."""
        return self._per(self.saving.seconds if self.saving else None)

    @property
    def per_gbit_s(self) -> float | None:
        """Money for each Gbit/s that a node's link gains; None if it does not."""
        return self._per(None if self.gained_bit_s is None else self.gained_bit_s / 1e9)

    @property
    def runs_to_pay_back(self) -> int | None:
        """After how many runs what they save is worth the cost; None if never, or not known."""
        if self.per_second is None or self.hour is None or self.hour.amount == 0:
            return None
        return math.ceil(round(self.per_second * HOUR_S / self.hour.amount, 6))

    def _per(self, gained: float | None) -> float | None:
        return self.extra.amount / gained if gained is not None and gained > 0 else None


def worths(
    comparison: Comparison,
    prices: PriceList,
    measured: Mapping[str, Sequence[Measurement]] | None = None,
) -> tuple[Worth, ...]:
    """Every offer for every configuration that it leads to, the most worth its money first.

    `measured` are probes by configuration. Raises BadInput for an offer of an unknown configuration,
    for several of the baseline, and for several currencies.
    """
    _check(comparison, prices)
    baseline, *others = comparison.columns
    base = next((o.cost.amount for o in prices.offers if _leads_to(o, baseline.name)), 0.0)
    rates = {
        column.name: link_bit_s(column.runs, (measured or {}).get(column.name, ()))
        for column in comparison.columns
    }
    found = [
        Worth(
            offer,
            column.name,
            Money(offer.cost.amount - base, offer.currency),
            saving(comparison, index),
            _gained(rates[baseline.name], rates[column.name]),
            prices.hour,
        )
        for index, column in enumerate(others, 1)
        for offer in prices.offers
        if offer.configurations is None or _leads_to(offer, column.name)
    ]
    return tuple(sorted(found, key=_rank))


def saving(comparison: Comparison, index: int) -> Saving | None:
    """That of a column; None where no workload has enough trials to tell."""
    controls = common_controls(comparison)
    beyond = comparison.control_shifts[index] if comparison.relative_to_controls else None
    factor = beyond.interval.middle if beyond and beyond.interval else 1.0
    cells = [
        (row.workload, row.cells[0].summary, row.cells[index].change)
        for row in comparison.rows
        if row.workload not in controls
    ]
    told = [
        (name, summary.median_s * factor, change)
        for name, summary, change in cells
        if summary and change and change.verdict is not Verdict.TOO_FEW
    ]
    if not told:
        return None
    changed = [one for one in told if one[2].verdict is Verdict.CHANGED]
    return Saving(
        math.fsum(-change.relative_change * median_s for _, median_s, change in changed),
        _interval([(median_s, change.interval) for _, median_s, change in changed]),
        tuple(name for name, _, _ in changed),
    )


def _interval(changes: Sequence[tuple[float, Interval | None]]) -> Interval | None:
    """In seconds saved, of changes as shares of medians; None if one of them has none."""
    ends = [
        (-interval.high * median_s, -interval.low * median_s)
        for median_s, interval in changes
        if interval
    ]
    if not ends or len(ends) < len(changes):
        return None
    return Interval(*map(math.fsum, zip(*ends, strict=True)))


def _leads_to(offer: Offer, configuration: str) -> bool:
    return offer.configurations is not None and configuration in offer.configurations


def _gained(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _rank(worth: Worth) -> tuple[float, float]:
    """By the cost of a second; those that save none last, the dearest of them at the end."""
    per_second = worth.per_second
    return (math.inf if per_second is None else per_second, worth.extra.amount)


def _check(comparison: Comparison, prices: PriceList) -> None:
    names = [column.name for column in comparison.columns]
    for offer in prices.offers:
        for name in offer.configurations or ():
            if name not in names:
                raise BadInput(
                    f"the offer {offer.name!r} leads to {name!r}, which is not compared here"
                )
    if len([offer for offer in prices.offers if _leads_to(offer, names[0])]) > 1:
        raise BadInput(f"{names[0]!r} is what there is already: it can have one cost, not several")
    money = [*(offer.cost for offer in prices.offers), *([prices.hour] if prices.hour else [])]
    currencies = list(dict.fromkeys(one.currency for one in money))
    if len(currencies) > 1:
        raise BadInput(f"costs are in {', '.join(currencies)}: give all of them in one currency")
