"""The environments side by side, what differs first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.analysis import environment, observed
from harness.analysis.configuration import ConfigurationRuns
from harness.analysis.environment import as_text
from harness.model.run import Facts, Run

UNKNOWN = "unknown"
_DECLARED = "declared: "


@dataclass(frozen=True)
class Side:
    """A circumstance, and what it was in each configuration; several values of its runs in one text."""

    what: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Between configurations."""
        return len(set(self.values)) > 1


def side_by_side(columns: Sequence[ConfigurationRuns]) -> tuple[Side, ...]:
    """Everything that any run recorded: declared facts, links, data, parameters, environment."""
    return tuple(side for read in _READ for side in _sides(columns, read))


def _sides(columns: Sequence[ConfigurationRuns], read: Callable[[Run], Facts]) -> Iterator[Side]:
    facts = [[read(recorded.run) for recorded in column.runs] for column in columns]
    for name in dict.fromkeys(name for of in facts for one in of for name in one):
        values = tuple(_joined(name, of) for of in facts)
        if set(values) != {UNKNOWN}:
            yield Side(name, values)


def _joined(name: str, of: Sequence[Facts]) -> str:
    missing = UNKNOWN
    if name.startswith(_DECLARED):
        missing = "not declared"
    elif name.startswith("spark.") and any(of):
        missing = environment.NOT_SET
    return "; ".join(dict.fromkeys(as_text(facts.get(name)) or missing for facts in of))


def _declared(run: Run) -> Facts:
    return {f"{_DECLARED}{name}": value for name, value in run.facts.items()}


def _links(run: Run) -> Facts:
    speeds = _by_name(observed.link_speeds(run), "speed of {}", "{:,} Mbit/s")
    mtus = _by_name(observed.link_mtus(run), "MTU of {}", "{:,}")
    return {**speeds, **mtus, **_by_name(observed.link_drivers(run), "driver of {}", "{}")}


def _by_name(nodes: Mapping[str, Mapping[str, object]], name: str, value: str) -> dict[str, str]:
    """What is known of each interface; hosts are named where theirs differ."""
    held: dict[str, dict[object, list[str]]] = {}
    for node, links in nodes.items():
        for link, one in links.items():
            held.setdefault(name.format(link), {}).setdefault(one, []).append(node)
    return {
        what: ", ".join(
            value.format(one) + (f" ({', '.join(hosts)})" if len(of) > 1 else "")
            for one, hosts in of.items()
        )
        for what, of in held.items()
    }


_READ: Sequence[Callable[[Run], Mapping[str, object]]] = (
    _declared,
    _links,
    environment.dataset_facts,
    environment.parameter_facts,
    environment.environment_facts,
)
