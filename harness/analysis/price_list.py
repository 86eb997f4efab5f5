"""Costs of configurations: an amount on the command line, a declared fact, or a TOML file of offers.

currency = "USD"
hour = 20                                   # the value of an hour that is saved

[offers."eight ports of 10G"]
configurations = ["2.5g-rs", "2.5g-2x"]     # what the offer leads to; default: all but the baseline
items.switch.price = 700
items.adapter = { price = 29.99, count = 4 }
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from harness.analysis.configuration import ConfigurationRuns
from harness.model.errors import BadInput
from harness.records.toml import TomlTable

_MONEY = re.compile(r"(\d+(?:\.\d{1,2})?) ?([A-Za-z]{3})")
_CURRENCY = re.compile(r"[A-Za-z]{3}")
_MAX_AMOUNT = 1e12
"""Larger amounts are taken for mistakes."""
COST_FACT = "cost"


@dataclass(frozen=True)
class Money:
    """An amount in a currency, which is given by its three letters: `USD`."""

    amount: float
    currency: str


@dataclass(frozen=True)
class Item:
    """Something to buy; `price` is that of a single piece."""

    name: str
    price: float
    count: int = 1


@dataclass(frozen=True)
class Offer:
    """A purchase, and the configurations that it leads to; None: all but the baseline."""

    name: str
    items: tuple[Item, ...]
    currency: str
    configurations: tuple[str, ...] | None = None

    @property
    def cost(self) -> Money:
        """The cost of all items."""
        return Money(math.fsum(item.price * item.count for item in self.items), self.currency)


@dataclass(frozen=True)
class PriceList:
    """Offers, and the value of an hour that is saved; None if it is not given."""

    offers: tuple[Offer, ...]
    hour: Money | None = None


def parse_money(option: str, text: str) -> Money:
    """Parse `350USD` or `29.99 eur`. Raises BadInput that names the option."""
    match = _MONEY.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{option} {text!r} is not an amount of money; write for example 350USD")
    return Money(float(match[1]), match[2].upper())


def parse_cost(text: str) -> Offer:
    """Parse `350USD`, or `2.5g-rs=350USD` for a single configuration. Raises BadInput."""
    name, equals, amount = text.rpartition("=")
    if equals and not name.strip():
        raise BadInput(f"--cost {text!r} names no configuration; write for example 2.5g=350USD")
    money = parse_money("--cost", amount)
    configurations = (name.strip(),) if equals else None
    items = (Item("all", money.amount),)
    return Offer(name.strip() or "the change", items, money.currency, configurations)


def declared_offer(column: ConfigurationRuns) -> Offer | None:
    """Return the cost that runs declare, as with `--fact cost=350USD`; None unless all declare the same."""
    costs = {str(recorded.run.facts.get(COST_FACT)) for recorded in column.runs}
    match = _MONEY.fullmatch(costs.pop()) if len(costs) == 1 else None
    if match is None:
        return None
    item = Item("all", float(match[1]))
    return Offer(column.name, (item,), match[2].upper(), (column.name,))


def read_price_list(file: Path) -> PriceList:
    """Read a TOML file of offers. Raises BadInput that names the file and the mistake."""
    table = TomlTable.read(file)
    currency = table.take("currency", str)
    if not _CURRENCY.fullmatch(currency):
        raise BadInput(f"{file}: currency {currency!r} is not a code of three letters, such as USD")
    hour = Money(_amount(table, "hour"), currency.upper()) if "hour" in table else None
    offers = tuple(
        _offer(name, offer, currency.upper()) for name, offer in table.tables("offers").items()
    )
    table.end()
    return PriceList(offers, hour)


def _offer(name: str, table: TomlTable, currency: str) -> Offer:
    configurations = table.take("configurations", list[str], None)
    items = tuple(_item(item, fields) for item, fields in table.tables("items").items())
    table.end()
    return Offer(name, items, currency, None if configurations is None else tuple(configurations))


def _item(name: str, table: TomlTable) -> Item:
    count = table.take("count", int, 1)
    if count < 1:
        raise BadInput(f"{table.where}: count {count} is not 1 or more")
    item = Item(name, _amount(table, "price"), count)
    table.end()
    return item


def _amount(table: TomlTable, name: str) -> float:
    amount = table.take(name, float)
    if not 0 <= amount <= _MAX_AMOUNT:
        raise BadInput(f"{table.where}: {name} {amount} is not an amount of money")
    return amount
