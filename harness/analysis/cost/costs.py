"""What configurations cost: amounts of the command line, or declared facts."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.model.errors import BadInput
from harness.words import join_names, shorten

MAX_AMOUNT = 10**12
"""Larger amounts are taken for mistakes."""
MAX_TEXT = 100
COST_FACT = "cost"
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
        return Money(cost.amount - (self.baseline.amount if self.baseline else 0), cost.currency)


def parse_money(option: str, text: str) -> Money:
    """Parse `350USD` or `29.99 eur`. Raises BadInput that names the option."""
    match = _MONEY.fullmatch(text.strip())
    if match is None or float(match[1]) > MAX_AMOUNT:
        raise BadInput(
            f"{option} {shorten(text, MAX_TEXT)!r} is not an amount of money; write for example 350USD"
        )
    return Money(float(match[1]), match[2].upper())


def given_costs(
    costs: Sequence[str],
    baseline: str,
    others: Sequence[str],
    spelt: Callable[[str], str] = str,
    declared: Mapping[str, Money] | None = None,
) -> Costs | None:
    """Return what the option --cost says of a baseline and other configurations.

    `350USD` is the cost of every other configuration, `2.5g-rs=350USD` that of one. `spelt` returns a name
    as it is in `others`. Without the option, costs are those `declared` by name. None if no other
    configuration has a cost. Raises BadInput, also for several currencies.
    """
    found = _parsed(costs, baseline, others, spelt) if costs else dict(declared or {})
    of_baseline = found.pop(baseline, None)
    if not found and costs:
        raise BadInput(
            f"--cost: only the baseline {baseline!r} has a cost; give that of others, too"
        )
    if not found:
        return None
    amounts = [*found.values(), *([of_baseline] if of_baseline else [])]
    currencies = list(dict.fromkeys(money.currency for money in amounts))
    if len(currencies) > 1:
        raise BadInput(f"costs are in several currencies ({', '.join(currencies)}); use one")
    return Costs(of_baseline, found)


def _parsed(
    costs: Sequence[str], baseline: str, others: Sequence[str], spelt: Callable[[str], str]
) -> dict[str, Money]:
    of_all, found = None, {}
    for text in costs:
        given, equals, amount = text.rpartition("=")
        money, given = parse_money("--cost", amount), given.strip()
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
    return {**(dict.fromkeys(others, of_all) if of_all else {}), **found}


def declared_costs(
    columns: Sequence[ConfigurationRuns],
) -> tuple[dict[str, Money], tuple[str, ...]]:
    """Return what runs declare, as with `--fact cost=350USD`, by configuration, and what is left out.

    A configuration has a cost if all its runs declare the same. If the declaration of the baseline, the first
    column, is unusable, none has: a mistake would decide whether costs cover whole clusters.
    """
    found: dict[str, Money] = {}
    left_out: dict[str, str] = {}
    for column in columns:
        declared = dict.fromkeys(recorded.run.facts.get(COST_FACT) for recorded in column.runs)
        texts = [text for text in declared if text is not None]
        try:
            if len(declared) > 1:
                raise BadInput(
                    f"not all runs of {column.name!r} declare the same; give it by --cost"
                )
            if texts:
                found[column.name] = parse_money(f"{column.name!r} declares {COST_FACT}:", texts[0])
        except BadInput as error:
            left_out[column.name] = f"a declared cost is left out: {error}"
    return {} if columns[0].name in left_out else found, tuple(left_out.values())
