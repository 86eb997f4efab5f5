"""What configuration names and facts declare about links and data, checked against observation.

A configuration named 2x whose data is stored with Reed-Solomon would praise an upgrade for what it did not
do. A name is free text, so a text counts as a claim only if it can hardly mean anything else: `1g`, `100mbit`
and `25gbe`, `mtu9000` and `jumbo`, `rs`, `rs:6+3` and `2x`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harness.analysis.observed import environment
from harness.model.link import TYPICAL_MTU, UNITS, is_same_rate, rate_text, with_bond
from harness.model.run import RecordedRun, Run

_BARE_GBIT_S = frozenset({1, 2, 2.5, 5, 10, 20, 25, 40, 50, 100, 200, 400, 800})
"""Numbers that count as a rate before a bare `g`: Ethernet's and those of two bonded links. `4g`, for
example, is rather an executor's memory."""

# These patterns are for text as `_plain` returns it.
_RATE = re.compile(r"(?<![\w.])(\d{1,9}(?:\.\d+)?) ?([mg])(bit/s|bit|bps|b/s|be|)(?![\w/])")
_OF_MEMORY = re.compile(r"(mem|memory|heap|ram|exec|executor|driver|data|size|cache)[- =:]?$")
_MTU = re.compile(r"mtu[- =:]?(\d{3,5})(?!\d)")
_JUMBO = re.compile(r"(?<![a-z])(?<!no[- ])(?<!non[- ])(?<!without[- ])jumbo")
_CODED = re.compile(r"(?<![a-z0-9])(rs|xor)(?:[-: ]?(\d+\+\d+|6-3|3-2|10-4|2-1))?(?![a-z0-9])")
_COPIES = re.compile(r"(?<![\w.])(?:([1-3])x|replicat(?:ed|ion)[-: ]?(\d{1,2}))(?!\w)")
_COUNTED = re.compile(r"[- ]?(\d|node|nic|link|core|cpu|exec|mem|disk|ssd)")
"""Text after `2x` that shows that it does not count copies."""


@dataclass(frozen=True)
class Rate:
    """A claim about a link's rate."""

    bit_s: int

    def is_met_by(self, bit_s: int) -> bool:
        """Whether an observed rate in bit/s is the claimed one."""
        return is_same_rate(bit_s, self.bit_s)

    def __str__(self) -> str:
        return rate_text(self.bit_s)


@dataclass(frozen=True)
class Mtu:
    """A claim about a link's MTU; None claims jumbo frames of any size."""

    mtu_bytes: int | None

    def is_met_by(self, mtu_bytes: int) -> bool:
        """Whether an observed MTU is the claimed one, or is large if jumbo frames are claimed."""
        return mtu_bytes > TYPICAL_MTU if self.mtu_bytes is None else mtu_bytes == self.mtu_bytes

    def __str__(self) -> str:
        return "jumbo frames" if self.mtu_bytes is None else f"MTU {self.mtu_bytes}"


@dataclass(frozen=True)
class LayoutPrefix:
    """A claim about the layout of data, which may leave details open: `rs`, `rs:6+3`, `replicated:2`."""

    prefix: str

    def is_met_by(self, layout: str) -> bool:
        """Whether an observed layout is the claimed one, or the claimed one with more detail."""
        return layout == self.prefix or layout.startswith(f"{self.prefix}:")

    def __str__(self) -> str:
        return self.prefix


def rates(text: str) -> tuple[Rate, ...]:
    """Return every link rate that a text claims."""
    found, text = [], _plain(text)
    for match in _RATE.finditer(text):
        number, is_giga, unit = float(match[1]), match[2] == "g", match[3]
        is_rate = unit or (is_giga and number in _BARE_GBIT_S)
        if is_rate and not _OF_MEMORY.search(text[: match.start()]):
            found.append(Rate(round(number * UNITS[match[2]])))
    return tuple(found)


def mtus(text: str) -> tuple[Mtu, ...]:
    """Return every MTU that a text claims."""
    text = _plain(text)
    numbers = tuple(Mtu(int(match[1])) for match in _MTU.finditer(text))
    return numbers or ((Mtu(None),) if _JUMBO.search(text) else ())


def layouts(text: str) -> tuple[LayoutPrefix, ...]:
    """Return every layout that a text claims."""
    text = _plain(text)
    coded = [
        f"{match[1]}:{match[2].replace('-', '+')}" if match[2] else match[1]
        for match in _CODED.finditer(text)
    ]
    copies = [
        f"replicated:{match[1] or match[2]}"
        for match in _COPIES.finditer(text)
        if not _COUNTED.match(text, match.end())
    ]
    return tuple(map(LayoutPrefix, [*coded, *copies]))


def _plain(text: str) -> str:
    """Return the text in lower case, with dashes for underscores, which patterns take for letters."""
    return text.lower().replace("_", "-")


class _Claim(Protocol):
    def is_met_by(self, value: Any, /) -> bool: ...


Observations = Mapping[str, Any]
"""Observed values by their description. A claim is met if one of the values meets it."""


@dataclass(frozen=True)
class _Property:
    """A property of links or data that names and facts make claims about.

    `observe` returns one mapping for each node, or for each layout; a claim must be met in every one.
    """

    fact: str
    parse_claims: Callable[[str], Sequence[_Claim]]
    observe: Callable[[Run], Sequence[Observations]]

    def contradictions(self, run: Run) -> Iterator[str]:
        """Yield a line for each declaration that an observation does not meet."""
        observations = self.observe(run)
        for source, text in _declarations(run, self.fact):
            claims = self.parse_claims(text)
            unmet = [values for values in observations if not _is_met(claims, values)]
            if claims and unmet:
                claimed = " or ".join(map(str, claims))
                also = "also " if len(unmet) < len(observations) else ""
                descriptions = ", ".join(description for values in unmet for description in values)
                yield f"{source} says {claimed}, but the run {also}observed {descriptions}"

    def is_declared(self, run: Run) -> bool:
        """Whether something is claimed and every observation meets it."""
        claims = [
            claim for _, text in _declarations(run, self.fact) for claim in self.parse_claims(text)
        ]
        observations = self.observe(run)
        return bool(claims and observations) and all(
            _is_met(claims, values) for values in observations
        )


def _is_met(claims: Sequence[_Claim], observations: Observations) -> bool:
    return any(claim.is_met_by(value) for claim in claims for value in observations.values())


def _declarations(run: Run, fact: str) -> Iterator[tuple[str, str]]:
    """Yield the description and the text of everything that may declare a fact."""
    yield f"the name {run.configuration}", run.configuration
    if fact in run.facts:
        text = f"{fact}={run.facts[fact]}"
        yield f"the fact {text}", text


def _rates(run: Run) -> list[Observations]:
    nodes = {node: with_bond(links) for node, links in environment.link_rates(run).items()}
    return _by_node(nodes, lambda bit_s: f"at {rate_text(bit_s)}")


def _mtus(run: Run) -> list[Observations]:
    return _by_node(environment.link_mtus(run), "with MTU {}".format)


def _by_node(
    nodes: Mapping[str, Mapping[str, int]], describe: Callable[[int], str]
) -> list[Observations]:
    """Describe the links of each node, with the node's name if there are several nodes."""
    return [
        {
            f"{node} {name} {describe(value)}"
            if len(nodes) > 1
            else f"{name} {describe(value)}": value
            for name, value in links.items()
        }
        for node, links in nodes.items()
    ]


def _layouts(run: Run) -> list[Observations]:
    return [{layout: layout} for layout in environment.layouts(run)]


_LAYOUT = _Property("layout", layouts, _layouts)
_PROPERTIES = (
    _Property("link", rates, _rates),
    _Property("mtu", mtus, _mtus),
    _LAYOUT,
)


def contradictions(runs: Sequence[RecordedRun]) -> tuple[str, ...]:
    """Return a line for each declaration that any of the runs observed to be false."""
    return tuple(
        dict.fromkeys(
            line
            for recorded in runs
            for property_ in _PROPERTIES
            for line in property_.contradictions(recorded.run)
        )
    )


def declares_layout(run: Run) -> bool:
    """Whether the name or a fact claims the layout that the run observed."""
    return _LAYOUT.is_declared(run)


def declares_value(run: Run, value: str) -> bool:
    """Whether the value is a whole word of the configuration's name, or a declared fact.

    A value without a letter may as well mean something else, and is never declared.
    """
    if not any(map(str.isalpha, value)):
        return False
    word = rf"(?<![^\W_]){re.escape(value.lower())}(?![^\W_])"
    return value in run.facts.values() or bool(re.search(word, run.configuration.lower()))
