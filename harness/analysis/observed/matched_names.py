"""Names that differ each time an application runs, matched between configurations without what differs.

A name is matched only if no other configuration has it, if no other name of the same run becomes the same,
and if the plans read the same tables, where they tell.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from harness.base.words import join_names
from harness.eventlog.application import Described

NamesOfRun = Mapping[str, Described]
"""The workloads of a run as Spark describes them, by their names."""


@dataclass
class Matched:
    """The common name of each name that is matched, and what was left out of each common name."""

    common: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def common_name(self, name: str) -> str:
        """Return the common name of a name; the name itself if it is not matched."""
        return self.common.get(name, name)

    def lines(self) -> Iterator[str]:
        """Yield each rule that was used, with the common names."""
        by_rule: dict[str, list[str]] = {}
        for name, kinds in self.kinds.items():
            by_rule.setdefault(", ".join(kinds), []).append(name)
        for rule, names in by_rule.items():
            yield f"names differ each time, and are matched without {rule}: {join_names(names)}"


@dataclass
class _Group:
    """The names that become the same, by the numbers of the columns that have them."""

    columns: set[int] = field(default_factory=set)
    names: dict[str, Described] = field(default_factory=dict)
    tables: set[frozenset[str]] = field(default_factory=set)
    is_ambiguous: bool = False

    @property
    def is_same_work(self) -> bool:
        return not self.is_ambiguous and len(self.columns) > 1 and len(self.tables) <= 1


def matched(columns: Sequence[Sequence[NamesOfRun]]) -> Matched:
    """Return which names of each configuration's runs are matched with those of another configuration.

    They lose as little as possible: first what `passing_words.steps` takes out first.
    """
    found = Matched()
    settled = in_several([set(chain.from_iterable(runs)) for runs in columns])
    levels = 0
    for run in chain.from_iterable(columns):
        levels = max([levels, *(len(each.steps) for each in run.values())])
    for level in range(levels):
        for common, group in _groups(columns, level, settled).items():
            if group.is_same_work:
                found.common.update(dict.fromkeys(group.names, common))
                kinds = chain.from_iterable(e.steps[level].kinds for e in group.names.values())
                found.kinds[common] = tuple(dict.fromkeys(kinds))
        settled |= found.common.keys()
    return found


def in_several(columns: Sequence[Collection[str]]) -> set[str]:
    """Return the names that more than one column has."""
    counts = Counter(chain.from_iterable(map(set, columns)))
    return {name for name, count in counts.items() if count > 1}


def _groups(
    columns: Sequence[Sequence[NamesOfRun]], level: int, settled: Collection[str]
) -> Mapping[str, _Group]:
    groups: dict[str, _Group] = {}
    for number, runs in enumerate(columns):
        for run in runs:
            shared = Counter(each.steps[level].text for each in run.values())
            for name, described in run.items():
                common = described.steps[level].text
                group = groups.setdefault(common, _Group())
                group.is_ambiguous |= shared[common] > 1
                if name not in settled:
                    _add(group, number, name, described)
    return groups


def _add(group: _Group, column: int, name: str, described: Described) -> None:
    group.columns.add(column)
    group.names[name] = described
    if described.tables:
        group.tables.add(described.tables)
