"""What a change is worth, in a table: offers, the one most worth its money first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.analysis.price import CostBenefit, Saving
from harness.analysis.price_list import Money
from harness.model.link import throughput_text
from harness.present import quantities
from harness.present.report.chart import Numbers, Quantity

NONE = "-"
_CENT = 0.01


def money(value: Money) -> str:
    """`1,350 USD`, `1.75 USD`; of less than a cent the first two digits."""
    if 0 < abs(value.amount) < _CENT:
        return f"{value.amount:.2g} {value.currency}"
    return f"{value.amount:,.2f}".removesuffix(".00") + f" {value.currency}"


def told(worth: CostBenefit) -> str:
    """An offer in a line: `350 USD for a switch, 68.29 USD for each second that every run saves`."""
    runs, cost_per_second_saved = (
        worth.runs_to_pay_back,
        _money(worth, worth.cost_per_second_saved).text,
    )
    parts = [
        f"{money(worth.extra_cost)} for {worth.offer.name}",
        f"{cost_per_second_saved} for each second that every run saves"
        if worth.cost_per_second_saved is not None
        else "",
        f"paid back after {runs:,} run{'' if runs == 1 else 's'}" if runs is not None else "",
    ]
    return ", ".join(filter(None, parts))


def cost_table(worths: Sequence[CostBenefit]) -> Numbers:
    """A row an offer and configuration."""
    headings = (
        *("", "offer", "for", "costs", "saves in every run", "for each second saved"),
        *("link gains", "for each Gbit/s gained", "has paid itself after"),
    )
    return Numbers(headings, tuple(_row(rank, worth) for rank, worth in enumerate(worths, 1)))


def cost_remarks(worths: Sequence[CostBenefit]) -> Iterator[str]:
    """What the numbers mean, as far as there are any."""
    yield (
        "A run is every workload once, controls apart. What it saves is the sum over the workloads "
        "whose change is more than chance explains, in brackets the sum of the ends of their intervals."
    )
    if hour := next((worth.hour for worth in worths if worth.hour), None):
        yield f"An hour that is saved is taken to be worth {money(hour)}."


def cost_items(worths: Sequence[CostBenefit]) -> Iterator[str]:
    """What each offer is made of, where it is more than one thing."""
    for offer in dict.fromkeys(worth.offer for worth in worths):
        if len(offer.items) > 1:
            prices = [Money(item.price, offer.currency) for item in offer.items]
            told = [
                f"{item.name} {f'{item.count} of ' if item.count > 1 else ''}{money(price)}"
                for item, price in zip(offer.items, prices, strict=True)
            ]
            yield f"{offer.name}: {', '.join(told)}"


def _row(rank: int, worth: CostBenefit) -> tuple[str | Quantity, ...]:
    runs = worth.runs_to_pay_back
    return (
        Quantity(str(rank) if worth.cost_per_second_saved is not None else NONE, rank),
        worth.offer.name,
        worth.configuration,
        Quantity(money(worth.extra_cost), worth.extra_cost.amount),
        Quantity(_saving(worth.saving), worth.saving.seconds if worth.saving else None),
        _money(worth, worth.cost_per_second_saved),
        Quantity(_gained(worth.gained_bit_s), worth.gained_bit_s),
        _money(worth, worth.cost_per_gbit_s),
        Quantity(NONE if runs is None else f"{runs:,} run{'' if runs == 1 else 's'}", runs),
    )


def _money(worth: CostBenefit, amount: float | None) -> Quantity:
    text = NONE if amount is None else money(Money(amount, worth.extra_cost.currency))
    return Quantity(text, amount)


def _gained(bit_s: float | None) -> str:
    if bit_s is None:
        return NONE
    return f"{'-' if bit_s < 0 else ''}{throughput_text(abs(bit_s))}"


def _saving(saving: Saving | None) -> str:
    if saving is None:
        return "not known: too few trials"
    if not saving.workloads:
        return "nothing that can be told"
    ends = saving.interval
    between = f" ({_time(ends.low)} to {_time(ends.high)})" if ends else ""
    return f"{_time(saving.seconds)}{between}"


def _time(seconds: float) -> str:
    return f"{'-' if seconds < 0 else ''}{quantities.time(abs(seconds))}"
