"""The environments of all configurations, side by side."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.analysis.observed import environment
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.environment import as_text
from harness.analysis.observed.interference import interference_facts
from harness.analysis.observed.machines import values_by_name
from harness.model.link import rate_text
from harness.model.run import Facts, Run

UNKNOWN = "unknown"
_DECLARED = "declared: "


@dataclass(frozen=True)
class FactRow:
    """A fact, and its value in each configuration; different values of its runs are joined by `; `."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the configurations differ."""
        return len(set(self.values)) > 1


def fact_rows(columns: Sequence[ConfigurationRuns]) -> tuple[FactRow, ...]:
    """Return all that any run recorded of what was declared and observed, and of its trials."""
    groups = [
        [[read(recorded.run) for recorded in column.runs] for column in columns] for read in _OF_RUN
    ]
    disturbances: list[list[Facts]] = [
        [interference_facts([recorded]) for recorded in column.runs] for column in columns
    ]
    return tuple(row for by_column in (*groups, disturbances) for row in _rows(by_column))


def _rows(by_column: Sequence[Sequence[Facts]]) -> Iterator[FactRow]:
    for name in dict.fromkeys(name for runs in by_column for facts in runs for name in facts):
        values = tuple(_joined(name, runs) for runs in by_column)
        if set(values) != {UNKNOWN}:
            yield FactRow(name, values)


def _joined(name: str, runs: Sequence[Facts]) -> str:
    missing = environment.if_missing(name) if any(runs) else None
    if name.startswith(_DECLARED):
        missing = "not declared"
    texts = (as_text(facts.get(name)) or missing or UNKNOWN for facts in runs)
    return "; ".join(dict.fromkeys(texts))


def _links(run: Run) -> Facts:
    """Return rates, MTUs and drivers by interface, with the nodes where they differ."""
    rates, mtus = environment.link_rates(run), environment.link_mtus(run)
    drivers = environment.link_drivers(run)
    nodes = {
        node: {
            **{f"rate of {link}": rate_text(rate) for link, rate in rates.get(node, {}).items()},
            **{f"MTU of {link}": f"{mtu:,}" for link, mtu in mtus.get(node, {}).items()},
            **{f"driver of {link}": driver for link, driver in drivers.get(node, {}).items()},
        }
        for node in dict.fromkeys((*rates, *mtus, *drivers))
    }
    return values_by_name(nodes)


_OF_RUN: Sequence[Callable[[Run], Facts]] = (
    lambda run: {f"{_DECLARED}{name}": value for name, value in run.facts.items()},
    _links,
    environment.dataset_facts,
    environment.client_facts,
    environment.parameter_facts,
    environment.environment_facts,
)
