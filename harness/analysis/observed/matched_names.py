"""Names that differ each time an application runs, matched between configurations without what differs.

A wrong match would be a wrong number. So a name is matched only if no other configuration has it, if no other
name of the same run becomes the same, and if the plans read the same tables, where they tell. Where the name
alone does not make certain that the work is the same, the plans have to tell.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from harness.base.items import union
from harness.base.words import count_of, join_names, names_by_text
from harness.eventlog.names import BY_USER, Described

NamesOfRun = Mapping[str, Described]
"""The workloads of a run as Spark describes them, by their names."""


@dataclass
class Matched:
    """The common name of each name that is matched, and what was left out of each common name.

    `not_matched` are reasons, by what names have in common.
    """

    common: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, tuple[str, ...]] = field(default_factory=dict)
    not_matched: dict[str, str] = field(default_factory=dict)

    def common_name(self, name: str) -> str:
        """Return the common name of a name; the name itself if it is not matched."""
        return self.common.get(name, name)

    def lines(self) -> Iterator[str]:
        """Yield each rule that was used, with the common names, and each reason against a match."""
        by_rule: dict[str, list[str]] = {}
        for name, kinds in self.kinds.items():
            by_rule.setdefault(", ".join(kinds), []).append(name)
        for rule, names in by_rule.items():
            yield f"names differ each time, and are matched without {rule}: {self._listed(rule, names)}"
        for reason, names in names_by_text(self.not_matched).items():
            yield f"not matched, because {reason}: {join_names(names)}"

    def _listed(self, rule: str, names: Sequence[str]) -> str:
        """Return common names; if the user made the rule, with the number of names that each stands for."""
        if rule != BY_USER:
            return join_names(names)
        counts = Counter(self.common.values())
        return join_names([f"{name} ({count_of(counts[name], 'name')})" for name in names])


@dataclass
class _Group:
    """The names that become the same, by the numbers of the columns that have them."""

    columns: set[int] = field(default_factory=set)
    names: dict[str, list[Described]] = field(default_factory=dict)
    is_ambiguous: bool = False
    is_certain: bool = True

    def add(self, column: int, name: str, described: Described, level: int) -> None:
        """Add a name that a run of a column has."""
        self.columns.add(column)
        self.names.setdefault(name, []).append(described)
        self.is_certain &= described.steps[level].is_certain

    def reason_against(self) -> str:
        """Return why the names cannot be the same work; empty if they are."""
        if self.is_ambiguous:
            return "one application has several of them"
        tables = {described.tables for described in chain.from_iterable(self.names.values())}
        if len(tables - {frozenset()}) > 1:
            return "they read different tables"
        if not self.is_certain and frozenset() in tables:
            return "the plans do not tell whether they read the same tables"
        return ""


def matched(columns: Sequence[Sequence[NamesOfRun]], taken: Collection[str] = ()) -> Matched:
    """Return which names of each configuration's runs are matched with names of another configuration.

    They lose as little as possible: first what `passing_words.steps` takes out first. No common name is one
    that is `taken`. Where a user says what differs, that alone decides.
    """
    found = Matched()
    levels = 0
    for run in chain.from_iterable(columns):
        for name, described in run.items():
            levels = max(levels, len(described.steps))
            step = described.steps[-1]
            if step.kinds == (BY_USER,) and step.text not in taken:
                found.common[name] = step.text
                found.kinds[step.text] = step.kinds
    settled = in_several(map(chain.from_iterable, columns))
    settled |= found.common.keys()
    for level in range(levels):
        found.not_matched.clear()
        for common, group in _groups(columns, level, settled).items():
            if len(group.columns) == 1 or not group.names:
                continue
            group.is_ambiguous |= common in taken
            reason = group.reason_against()
            if reason:
                found.not_matched[common] = reason
                continue
            found.common.update(dict.fromkeys(group.names, common))
            found.kinds[common] = _kinds(group, level)
        settled |= found.common.keys()
    return found


def in_several(columns: Iterable[Iterable[str]]) -> set[str]:
    """Return the names that more than one column has."""
    counts = Counter(chain.from_iterable(map(set, columns)))
    return {name for name, count in counts.items() if count > 1}


def _groups(
    columns: Sequence[Sequence[NamesOfRun]], level: int, settled: Collection[str]
) -> Mapping[str, _Group]:
    """Return the names that become the same if they lose what this level takes out, by what they become."""
    groups: dict[str, _Group] = {}
    for number, runs in enumerate(columns):
        for run in runs:
            shared = Counter(_at(each, level) for each in run.values())
            for name, described in run.items():
                common = _at(described, level)
                group = groups.setdefault(common, _Group())
                group.is_ambiguous |= shared[common] > 1
                if name not in settled:
                    group.add(number, name, described, level)
    return groups


def _at(described: Described, level: int) -> str:
    return described.steps[level].text


def _kinds(group: _Group, level: int) -> tuple[str, ...]:
    described = chain.from_iterable(group.names.values())
    return tuple(union(each.steps[level].kinds for each in described))
