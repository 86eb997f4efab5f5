"""What a text says of links and of data: a configuration's name, or a fact that a user declared.

A name is free text, so only what can hardly mean anything else is taken for a claim: `1g`, `100mbit`
and `25gbe`, `mtu9000` and `jumbo`, `rs`, `rs:6+3` and `2x`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harness.analysis import observed
from harness.model.link import TYPICAL_MTU
from harness.model.run import RecordedRun, Run

_BARE_GBIT_S = frozenset({1, 2, 2.5, 5, 10, 20, 25, 40, 50, 100, 200, 400, 800})
"""Rates of Ethernet, and of two bonded: without a unit, `4g` is rather an executor's memory."""

# Of text in lower case.
_RATE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?([mg])(bit/s|bit|bps|b/s|be|)(?![\w/])")
_OF_MEMORY = re.compile(r"(mem|memory|heap|ram|exec|executor|driver|data|size|cache)[-_ =:]?$")
_MTU = re.compile(r"mtu[-_ =:]?(\d{3,5})(?!\d)")
_JUMBO = re.compile(r"(?<![a-z])(?<!no[-_ ])(?<!non[-_ ])(?<!without[-_ ])jumbo")
_CODED = re.compile(r"(?<![a-z0-9])(rs|xor)(?:[-_: ]?(\d+\+\d+|6-3|3-2|10-4|2-1))?(?![a-z0-9])")
_COPIES = re.compile(r"(?<![\w.])(?:([1-3])x|replicat(?:ed|ion)[-_: ]?(\d{1,2}))(?!\w)")
_COUNTED = re.compile(r"[-_ ]?(\d|node|nic|link|core|cpu|exec|mem|disk|ssd)")
"""Behind `2x`: that many of something else than copies."""


@dataclass(frozen=True)
class Rate:
    """A link's rate."""

    mbit_s: float

    def is_met_by(self, mbit_s: float) -> bool:
        """Whether it is that."""
        return mbit_s == self.mbit_s

    def __str__(self) -> str:
        return f"{self.mbit_s:g} Mbit/s"


@dataclass(frozen=True)
class Mtu:
    """A link's MTU; None: any that is larger than usual."""

    mtu_bytes: int | None

    def is_met_by(self, mtu_bytes: int) -> bool:
        """Whether it is that, or large."""
        wanted = self.mtu_bytes
        return mtu_bytes > TYPICAL_MTU if wanted is None else mtu_bytes == wanted

    def __str__(self) -> str:
        return "jumbo frames" if self.mtu_bytes is None else f"MTU {self.mtu_bytes}"


@dataclass(frozen=True)
class LayoutForm:
    """How data lies, as far as it is said: `rs`, `rs:6+3`, `replicated:2`."""

    form: str

    def is_met_by(self, layout: str) -> bool:
        """Whether the layout is this, or says more of the same."""
        return layout == self.form or layout.startswith(f"{self.form}:")

    def __str__(self) -> str:
        return self.form


def rates(text: str) -> tuple[Rate, ...]:
    """Every rate that a text says."""
    found, text = [], text.lower()
    for match in _RATE.finditer(text):
        number, is_giga, unit = float(match[1]), match[2] == "g", match[3]
        is_rate = unit or (is_giga and number in _BARE_GBIT_S)
        if is_rate and not _OF_MEMORY.search(text[: match.start()]):
            found.append(Rate(number * 1000 if is_giga else number))
    return tuple(found)


def mtus(text: str) -> tuple[Mtu, ...]:
    """Every MTU that a text says."""
    said = tuple(Mtu(int(match[1])) for match in _MTU.finditer(text.lower()))
    return said or ((Mtu(None),) if _JUMBO.search(text.lower()) else ())


def layouts(text: str) -> tuple[LayoutForm, ...]:
    """Every layout that a text says."""
    text = text.lower()
    coded = [
        f"{match[1]}:{match[2].replace('-', '+')}" if match[2] else match[1]
        for match in _CODED.finditer(text)
    ]
    copies = [
        f"replicated:{match[1] or match[2]}"
        for match in _COPIES.finditer(text)
        if not _COUNTED.match(text, match.end())
    ]
    return tuple(map(LayoutForm, [*coded, *copies]))


# MERGED from harness.analysis.confounders.declared: 'What was declared of a run, held against what it observed.\n\nA name that says 2x on data that lies Reed-Solomon is how an upgrade gets praised for what it did not\ndo.\n'
class _Claim(Protocol):
    def is_met_by(self, value: Any, /) -> bool: ...


@dataclass(frozen=True)
class _Subject:
    """Something that names and facts make claims of.

    `observed` gives, a place each, how it is told and what was observed there: in every place
    something has to meet a claim.
    """

    fact: str
    claimed: Callable[[str], Sequence[_Claim]]
    observed: Callable[[Run], Sequence[Mapping[str, Any]]]

    def contradictions(self, run: Run) -> Iterator[str]:
        """What is claimed, and was observed to be otherwise."""
        seen = self.observed(run)
        for what, text in _said(run, self.fact):
            claimed = self.claimed(text)
            others = [place for place in seen if not _is_met(claimed, place)]
            if claimed and others:
                says = " or ".join(map(str, claimed))
                also = "also " if len(others) < len(seen) else ""
                told = ", ".join(told for place in others for told in place)
                yield f"{what} says {says}, but observed was {also}{told}"

    def is_declared(self, run: Run) -> bool:
        """Whether something is claimed, and was observed to be so."""
        claimed = [
            lock_directory
            for _, text in _said(run, self.fact)
            for lock_directory in self.claimed(text)
        ]
        seen = self.observed(run)
        return bool(claimed and seen) and all(_is_met(claimed, place) for place in seen)


def _is_met(claimed: Sequence[_Claim], place: Mapping[str, Any]) -> bool:
    return any(
        lock_directory.is_met_by(one) for lock_directory in claimed for one in place.values()
    )


def _said(run: Run, fact: str) -> Iterator[tuple[str, str]]:
    """What says something, and what it says."""
    yield f"the name {run.configuration}", run.configuration
    if fact in run.facts:
        told = f"{fact}={run.facts[fact]}"
        yield f"the fact {told}", told


def _speeds(run: Run) -> list[dict[str, int]]:
    return _by_node(observed.link_speeds(run), "{} at {} Mbit/s")


def _mtus(run: Run) -> list[dict[str, int]]:
    return _by_node(observed.link_mtus(run), "{} with MTU {}")


def _by_node(nodes: Mapping[str, Mapping[str, int]], told: str) -> list[dict[str, int]]:
    """A host is named where there are several."""
    return [
        {
            told.format(f"{node} {name}" if len(nodes) > 1 else name, value): value
            for name, value in links.items()
        }
        for node, links in nodes.items()
    ]


def _layouts(run: Run) -> list[dict[str, str]]:
    return [{layout: layout} for layout in observed.layouts(run)]


_LAYOUT = _Subject("layout", layouts, _layouts)
_SUBJECTS = (
    _Subject("link", rates, _speeds),
    _Subject("mtu", mtus, _mtus),
    _LAYOUT,
)


def contradictions(runs: Sequence[RecordedRun]) -> tuple[str, ...]:
    """A line for everything that is declared and was observed to be otherwise, in any of the runs."""
    return tuple(
        dict.fromkeys(
            line
            for recorded in runs
            for subject in _SUBJECTS
            for line in subject.contradictions(recorded.run)
        )
    )


def declares_layout(run: Run) -> bool:
    """Whether the name or a fact says how the data lies, and it does."""
    return _LAYOUT.is_declared(run)


def spells(run: Run, value: str) -> bool:
    """Whether the name has this value as a word of its own, or a declared fact is it.

    A value without a letter may as well mean something else.
    """
    if not any(map(str.isalpha, value)):
        return False
    word = rf"(?<![^\W_]){re.escape(value.lower())}(?![^\W_])"
    return value in run.facts.values() or bool(re.search(word, run.configuration.lower()))
