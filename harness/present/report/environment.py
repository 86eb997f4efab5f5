"""The environments of all configurations, side by side."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.analysis.observed import environment
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.environment import as_text
from harness.analysis.observed.interference import interference_facts
from harness.analysis.observed.machines import values_by_name
from harness.model.link import rate_text
from harness.model.run import Facts, RecordedRun, Run

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
    rows: list[FactRow] = []
    for read in _SOURCES:
        rows += _rows([list(map(read, column.runs)) for column in columns])
    return tuple(rows)


def _rows(by_column: Sequence[Sequence[Facts]]) -> Iterator[FactRow]:
    names: dict[str, None] = {}
    for runs in by_column:
        for facts in runs:
            names.update(dict.fromkeys(facts))
    for name in names:
        values = tuple(_joined(name, runs) for runs in by_column)
        if set(values) != {UNKNOWN}:
            yield FactRow(name, values)


def _joined(name: str, runs: Sequence[Facts]) -> str:
    missing = None
    if name.startswith(_DECLARED):
        missing = "not declared"
    elif any(runs):
        missing = environment.if_missing(name)
    texts = (as_text(facts.get(name)) or missing or UNKNOWN for facts in runs)
    return "; ".join(dict.fromkeys(texts))


def _links(run: Run) -> Facts:
    """Return rates, MTUs and drivers by interface, with the nodes where they differ."""
    kinds: dict[str, tuple[Mapping[str, Mapping[str, Any]], Callable[[Any], str]]] = {
        "rate": (environment.link_rates(run), rate_text),
        "MTU": (environment.link_mtus(run), "{:,}".format),
        "driver": (environment.link_drivers(run), str),
    }
    nodes: dict[str, dict[str, str]] = {}
    for kind, (by_node, text_of) in kinds.items():
        for node, links in by_node.items():
            facts = nodes.setdefault(node, {})
            for link, value in links.items():
                facts[f"{kind} of {link}"] = text_of(value)
    return values_by_name(nodes)


_SOURCES: Sequence[Callable[[RecordedRun], Facts]] = (
    lambda recorded: {f"{_DECLARED}{name}": value for name, value in recorded.run.facts.items()},
    lambda recorded: _links(recorded.run),
    lambda recorded: environment.dataset_facts(recorded.run),
    lambda recorded: environment.client_facts(recorded.run),
    lambda recorded: environment.parameter_facts(recorded.run),
    lambda recorded: environment.environment_facts(recorded.run),
    lambda recorded: interference_facts([recorded]),
)
