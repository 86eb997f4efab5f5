"""What offers cost: an amount on the command line, a declared fact, or a TOML file of offers.

currency = "USD"
hour = 20                                   # the value of an hour that is saved
baseline = 2000                             # what the baseline cost, if offers are whole clusters

[offers."eight ports of 10G"]
configurations = ["2.5g-rs", "2.5g-2x"]     # what the offer leads to; default: all but the baseline
items.switch.price = 700
items.adapter = { price = 29.99, count = 4 }
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.model.errors import BadInput
from harness.records.toml import convert, read_toml
from harness.terminal import shorten

MAX_AMOUNT = 10**12
"""Larger amounts are taken for mistakes."""
MAX_COUNT = 10**6
MAX_NAME = 100
COST_FACT = "cost"

Amount = Annotated[float, msgspec.Meta(ge=0, le=MAX_AMOUNT)]
Name = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]+\Z",
        max_length=MAX_NAME,
        description=f"1 to {MAX_NAME} printable characters",
    ),
]
_MONEY = re.compile(r"([0-9]{1,13}(?:\.[0-9]{1,2})?) ?([A-Za-z]{3})")


@dataclass(frozen=True)
class Money:
    """An amount in a currency, which is given by its three letters: `USD`."""

    amount: float
    currency: str


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something to buy, `items.NAME` of an offer; `price` is that of a single piece."""

    price: Amount
    count: Annotated[int, msgspec.Meta(ge=1, le=MAX_COUNT)] = 1

    def __post_init__(self) -> None:
        _check_cents("price", self.price)


@dataclass(frozen=True)
class Offer:
    """A purchase: its items by name, and the configurations that it leads to; None: all but the baseline."""

    name: str
    items: tuple[tuple[str, Item], ...]
    currency: str
    configurations: tuple[str, ...] | None = None

    @property
    def cost(self) -> Money:
        """The cost of all items."""
        return Money(math.fsum(item.price * item.count for _, item in self.items), self.currency)

    def is_for(self, configuration: str) -> bool:
        """Return whether the purchase leads to a configuration, which is not the baseline."""
        return self.configurations is None or configuration in self.configurations


@dataclass(frozen=True)
class Costs:
    """Offers; what the baseline itself cost; and the value of an hour that is saved. None: not given."""

    offers: tuple[Offer, ...]
    hour: Money | None = None
    baseline: Money | None = None


def parse_money(option: str, text: str) -> Money:
    """Parse `350USD` or `29.99 eur`. Raises BadInput that names the option."""
    match = _MONEY.fullmatch(text.strip())
    if match is None or float(match[1]) > MAX_AMOUNT:
        raise BadInput(
            f"{option} {shorten(text, MAX_NAME)!r} is not an amount of money; write for example 350USD"
        )
    return Money(float(match[1]), match[2].upper())


def parse_cost(text: str) -> Offer:
    """Parse `350USD`, or `2.5g-rs=350USD` for a single configuration. Raises BadInput."""
    name, equals, amount = text.rpartition("=")
    name = name.strip()
    if equals and not name:
        raise BadInput(f"--cost {text!r} names no configuration; write for example 2.5g=350USD")
    money = parse_money("--cost", amount)
    return _single(name or "the change", money, (name,) if equals else None)


def _single(name: str, cost: Money, configurations: tuple[str, ...] | None) -> Offer:
    """Return an offer of a single item."""
    return Offer(name, (("all", Item(cost.amount)),), cost.currency, configurations)


def declared_costs(columns: Sequence[ConfigurationRuns]) -> Costs:
    """Return the costs that runs declare, as with `--fact cost=350USD`; the first column is the baseline.

    A configuration has a cost if all its runs declare the same.
    """
    baseline, *others = map(_declared_cost, columns)
    offers = tuple(
        _single(column.name, cost, (column.name,))
        for column, cost in zip(columns[1:], others, strict=True)
        if cost
    )
    return Costs(offers, baseline=baseline)


def _declared_cost(column: ConfigurationRuns) -> Money | None:
    costs = {str(recorded.run.facts.get(COST_FACT)) for recorded in column.runs}
    try:
        return parse_money(COST_FACT, costs.pop()) if len(costs) == 1 else None
    except BadInput:
        return None


class OfferTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[offers.NAME]`."""

    items: Annotated[
        dict[Name, Item],
        msgspec.Meta(min_length=1, description="one table or more: items.NAME"),
    ]
    configurations: (
        Annotated[list[str], msgspec.Meta(min_length=1, description="one name or more")] | None
    ) = None


class OffersFile(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    currency: Annotated[
        str,
        msgspec.Meta(pattern=r"^[A-Za-z]{3}\Z", description="a code of three letters, such as USD"),
    ]
    offers: Annotated[
        dict[Name, OfferTable],
        msgspec.Meta(min_length=1, description="one table or more: [offers.NAME]"),
    ]
    hour: Amount | None = None
    baseline: Amount | None = None

    def __post_init__(self) -> None:
        _check_cents("hour", self.hour or 0)
        _check_cents("baseline", self.baseline or 0)

    def costs(self) -> Costs:
        """Return what the file says."""
        currency = self.currency.upper()
        offers = tuple(
            Offer(
                name,
                tuple(offer.items.items()),
                currency,
                None if offer.configurations is None else tuple(offer.configurations),
            )
            for name, offer in self.offers.items()
        )
        hour, baseline = (
            None if amount is None else Money(amount, currency)
            for amount in (self.hour, self.baseline)
        )
        return Costs(offers, hour, baseline)


def read_costs(file: Path) -> Costs:
    """Read a TOML file of offers. Raises BadInput that names the file and the mistake."""
    return convert(read_toml(file), OffersFile, file).costs()


def _check_cents(name: str, amount: float) -> None:
    """Raise ValueError if an amount has more than two decimals; 1e-300, for example, has 300."""
    if amount != round(amount, 2):
        raise ValueError(f"{name} has to have at most two decimals, not {amount}")
