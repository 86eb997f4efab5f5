"""What was declared of a run, held against what it observed.

A name that says 2x on data that lies Reed-Solomon is how an upgrade gets praised for what it did not
do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harness.analysis.confounders import claims, observed
from harness.model import RecordedRun, Run


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
        claimed = [claim for _, text in _said(run, self.fact) for claim in self.claimed(text)]
        seen = self.observed(run)
        return bool(claimed and seen) and all(_is_met(claimed, place) for place in seen)


def _is_met(claimed: Sequence[_Claim], place: Mapping[str, Any]) -> bool:
    return any(claim.is_met_by(one) for claim in claimed for one in place.values())


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


_LAYOUT = _Subject("layout", claims.layouts, _layouts)
_SUBJECTS = (
    _Subject("link", claims.rates, _speeds),
    _Subject("mtu", claims.mtus, _mtus),
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
