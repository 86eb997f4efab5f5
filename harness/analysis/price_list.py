"""What it costs to have a configuration: an amount on a command line, or a TOML file of things to buy.

currency = "USD"
hour = 20                                   # what an hour that is saved is worth

[offers."eight ports of 10G"]
configurations = ["2.5g-rs", "2.5g-2x"]     # that it leads to; by default all but the baseline
items.switch.price = 700
items.adapter = { price = 29.99, count = 4 }
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from harness.analysis.column import ConfigurationRuns
from harness.model.errors import BadInput
from harness.records.toml import TomlTable

_MONEY = re.compile(r"(\d+(?:\.\d{1,2})?) ?([A-Za-z]{3})")
_CURRENCY = re.compile(r"[A-Za-z]{3}")
_MOST = 1e12
FACT = "cost"


@dataclass(frozen=True)
class Money:
    """An amount in a currency, by its three letters: `USD`."""

    amount: float
    currency: str


@dataclass(frozen=True)
class Item:
    """Something to buy, so many times; the price is that of one."""

    name: str
    price: float
    count: int = 1


@dataclass(frozen=True)
class Offer:
    """What one may buy. `configurations` are those that it leads to; None: all but the baseline."""

    name: str
    items: tuple[Item, ...]
    currency: str
    configurations: tuple[str, ...] | None = None

    @property
    def cost(self) -> Money:
        """Of everything in it."""
        return Money(math.fsum(item.price * item.count for item in self.items), self.currency)


@dataclass(frozen=True)
class PriceList:
    """Offers, and what an hour is worth; None if it is not said."""

    offers: tuple[Offer, ...]
    hour: Money | None = None


def parse_money(option: str, text: str) -> Money:
    """`350USD` or `29.99 eur`. Raises BadInput that names the option."""
    match = _MONEY.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{option} {text!r} is not an amount of money; write for example 350USD")
    return Money(float(match[1]), match[2].upper())


def parse_cost(text: str) -> Offer:
    """`350USD`, or `2.5g-rs=350USD` for one configuration alone. Raises BadInput."""
    name, equals, amount = text.rpartition("=")
    if equals and not name.strip():
        raise BadInput(f"--cost {text!r} names no configuration; write for example 2.5g=350USD")
    money = parse_money("--cost", amount)
    leads_to = (name.strip(),) if equals else None
    return Offer(
        name.strip() or "the change", (Item("all", money.amount),), money.currency, leads_to
    )


def declared(column: ConfigurationRuns) -> Offer | None:
    """What the runs of a configuration declare, as `--fact cost=350USD`; None unless all say the same."""
    said = {str(recorded.run.facts.get(FACT)) for recorded in column.runs}
    match = _MONEY.fullmatch(said.pop()) if len(said) == 1 else None
    if match is None:
        return None
    item = Item("all", float(match[1]))
    return Offer(column.name, (item,), match[2].upper(), (column.name,))


def read_price_list(file: Path) -> PriceList:
    """The offers of a file. Raises BadInput that names the file, and what is wrong in it."""
    table = TomlTable.read(file)
    currency = table.take("currency", str)
    if not _CURRENCY.fullmatch(currency):
        raise BadInput(f"{file}: currency {currency!r} has not three letters, as USD has")
    hour = Money(_amount(table, "hour"), currency.upper()) if "hour" in table else None
    offers = tuple(
        _offer(name, one, currency.upper()) for name, one in table.tables("offers").items()
    )
    table.end()
    return PriceList(offers, hour)


def _offer(name: str, table: TomlTable, currency: str) -> Offer:
    leads_to = tuple(table.take("configurations", list[str])) if "configurations" in table else None
    items = tuple(_item(item, one) for item, one in table.tables("items").items())
    table.end()
    return Offer(name, items, currency, leads_to)


def _item(name: str, table: TomlTable) -> Item:
    count = table.take("count", int) if "count" in table else 1
    if count < 1:
        raise BadInput(f"{table.where}: count {count} is not 1 or more")
    item = Item(name, _amount(table, "price"), count)
    table.end()
    return item


def _amount(table: TomlTable, name: str) -> float:
    amount = table.take(name, float)
    if not 0 <= amount <= _MOST:
        raise BadInput(f"{table.where}: {name} {amount} is not an amount of money")
    return amount
