"""What a configuration costs to have: money on a command line, or a TOML file of things to buy.

currency = "USD"
hour = 20                       # what an hour that is saved is worth

[[offers]]
name = "eight ports of 10G"
configurations = ["2.5g-rs"]    # that it leads to; by default all but the baseline
items = [
    { name = "switch", price = 700 },
    { name = "2.5G USB adapter", price = 29.99, count = 4 },
]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from harness.errors import BadInput

_MONEY = re.compile(r"(\d+(?:[.,]\d{1,2})?) ?([A-Za-z]{3})")
_MOST = Decimal(10) ** 12


@dataclass(frozen=True)
class Money:
    """An amount, and its currency by ISO 4217: `USD`."""

    amount: Decimal
    currency: str


@dataclass(frozen=True)
class Item:
    """Something to buy, so many times."""

    name: str
    price: Decimal
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
        return Money(sum((i.price * i.count for i in self.items), Decimal()), self.currency)


@dataclass(frozen=True)
class Offers:
    """All of them, in one currency, and what an hour is worth, None if nobody says."""

    offers: tuple[Offer, ...]
    hour: Money | None = None


def parse_money(option: str, text: str) -> Money:
    """`350USD` or `29.99 eur`. Raises BadInput that names the option."""
    match = _MONEY.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{option} {text!r} is not an amount of money; write for example 350USD")
    return Money(Decimal(match[1].replace(",", ".")), match[2].upper())


def parse_cost(text: str) -> Offer:
    """`350USD`, or `2.5g-rs=350USD` for one configuration alone. Raises BadInput."""
    configuration, equals, amount = text.rpartition("=")
    money = parse_money("--cost", amount)
    name = configuration.strip() if equals else ""
    if equals and not name:
        raise BadInput(f"--cost {text!r} names no configuration; write for example 2.5g-rs={amount}")
    item = Item("the whole", money.amount)
    return Offer(name or "the change", (item,), money.currency, (name,) if name else None)


def read_offers(path: Path) -> Offers:
    """The offers of a TOML file. Raises BadInput, naming the file and the key that is not right."""
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as error:
        raise BadInput(f"--cost: cannot read {path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} is not a TOML file: {error}") from error
    table = _Table(path, "", read)
    currency = table.text("currency").upper()
    hour = table.amount("hour") if "hour" in read else None
    offers = tuple(_offer(one, currency) for one in table.tables("offers"))
    table.finish()
    return Offers(offers, None if hour is None else Money(hour, currency))


def _offer(table: _Table, currency: str) -> Offer:
    configurations = table.texts("configurations") if "configurations" in table.read else None
    items = tuple(_item(one) for one in table.tables("items"))
    offer = Offer(table.text("name"), items, currency, configurations)
    table.finish()
    return offer


def _item(table: _Table) -> Item:
    count = table.count("count") if "count" in table.read else 1
    item = Item(table.text("name"), table.amount("price"), count)
    table.finish()
    return item


class _Table:
    """A table of the file, that knows where it stands and which of its keys were asked for."""

    def __init__(self, path: Path, where: str, read: Mapping[str, Any]) -> None:
        self.read = read
        self._path, self._where = path, where
        self._known: set[str] = set()

    def text(self, key: str) -> str:
        return self._value(key, "text, not empty", lambda value: _is_text(value))

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(self._value(key, "a list of names", lambda v: _is_list(v) and all(map(_is_text, v))))

    def amount(self, key: str) -> Decimal:
        return Decimal(self._value(key, "an amount of 0 or more, without its currency", _is_amount))

    def count(self, key: str) -> int:
        return int(self._value(key, "a whole number of 1 or more", lambda v: type(v) is int and v >= 1))

    def tables(self, key: str) -> Iterator[_Table]:
        rows = self._value(key, "a list of tables, not empty", _is_tables)
        return (_Table(self._path, f"{self._where}{key}[{n}].", row) for n, row in enumerate(rows, 1))

    def finish(self) -> None:
        """Raise BadInput if there is a key that nobody asked for."""
        for key in self.read.keys() - self._known:
            raise BadInput(
                f"{self._path}: {self._where}{key} is not known here; known: {', '.join(sorted(self._known))}"
            )

    def _value(self, key: str, expected: str, fits: Callable[[Any], bool]) -> Any:
        self._known.add(key)
        if key not in self.read:
            raise BadInput(f"{self._path}: {self._where}{key} is missing; {expected} is expected")
        if not fits(value := self.read[key]):
            raise BadInput(f"{self._path}: {self._where}{key} is {value!r}; {expected} is expected")
        return value
