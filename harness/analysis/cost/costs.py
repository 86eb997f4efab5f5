"""What configurations cost: amounts of the command line."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.base.errors import BadInput
from harness.base.words import join_names, shorten

MAX_AMOUNT = 10**12
"""Larger amounts are taken for mistakes."""
MAX_TEXT = 100
_MONEY = re.compile(r"([0-9]{1,13}(?:\.[0-9]{1,2})?) ?([A-Za-z]{3})")


@dataclass(frozen=True)
class Money:
    """An amount in a currency, which is given by its three letters: `USD`."""

    amount: float
    currency: str


@dataclass(frozen=True)
class Costs:
    """What configurations cost, by name.

    If the `baseline` has a cost, all costs are of whole clusters; else they are of the change.
    """

    baseline: Money | None
    others: Mapping[str, Money]

    def of_change(self, configuration: str) -> Money:
        """Return what a configuration costs more than the baseline."""
        cost = self.others[configuration]
        if self.baseline is None:
            return cost
        return Money(cost.amount - self.baseline.amount, cost.currency)


def parse_money(text: str) -> Money:
    """Parse `350USD` or `29.99 eur`. Raises BadInput."""
    match = _MONEY.fullmatch(text.strip())
    if match is None or float(match[1]) > MAX_AMOUNT:
        raise BadInput(
            f"--cost {shorten(text, MAX_TEXT)!r} is not an amount of money; write for example 350USD"
        )
    return Money(float(match[1]), match[2].upper())


def given_costs(
    costs: Sequence[str], baseline: str, others: Sequence[str], spelt: Callable[[str], str] = str
) -> Costs | None:
    """Return what the option --cost says of a baseline and other configurations.

    `350USD` is the cost of every other configuration, `2.5g-rs=350USD` the cost of one. `spelt` returns a
    name as it is in `others`. None without the option. Raises BadInput if no other configuration has a cost,
    and for several currencies.
    """
    if not costs:
        return None
    found = _parsed(costs, baseline, others, spelt)
    of_baseline = found.pop(baseline, None)
    if not found:
        raise BadInput(
            f"--cost: only the baseline {baseline!r} has a cost; give the others a cost, too"
        )
    currencies = dict.fromkeys(money.currency for money in found.values())
    if of_baseline:
        currencies[of_baseline.currency] = None
    if len(currencies) > 1:
        raise BadInput(f"costs are in several currencies ({', '.join(currencies)}); use one")
    return Costs(of_baseline, found)


def _parsed(
    costs: Sequence[str], baseline: str, others: Sequence[str], spelt: Callable[[str], str]
) -> dict[str, Money]:
    """Return the cost of each configuration by its name, as the values of --cost give it."""
    of_all: Money | None = None
    found: dict[str, Money] = {}
    for text in costs:
        given, equals, amount = text.rpartition("=")
        money = parse_money(amount)
        given = given.strip()
        if equals and not given:
            raise BadInput(f"--cost {text!r} names no configuration; write for example 2.5g=350USD")
        name = given if given == baseline or not equals else spelt(given)
        if equals and name not in (baseline, *others):
            raise BadInput(
                f"--cost: {shorten(name, MAX_TEXT)!r} is not asked about; name one of: "
                f"{join_names((baseline, *others))}"
            )
        if name in found or (not equals and of_all):
            raise BadInput(f"--cost: {name or 'the change'} has two costs; give one")
        if equals:
            found[name] = money
        else:
            of_all = money
    if of_all:
        for name in others:
            found.setdefault(name, of_all)
    return found
