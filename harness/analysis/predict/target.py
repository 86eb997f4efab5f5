"""The typical link of a configuration, and the links that are to be bought: rate, MTU and goodput."""

import shlex
from dataclasses import dataclass

from harness.analysis.network.goodput import rate_bit_s
from harness.analysis.network.measured import pair_matrix, typical_bit_s
from harness.analysis.observed.configuration import ConfigurationRuns, probe_measurements
from harness.analysis.observed.declared import declared_mtu
from harness.analysis.observed.environment import link_mtus
from harness.base.errors import BadInput
from harness.model.link import TYPICAL_MTU, goodput_bit_s, rate_text, throughput_text
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.prediction import Target
from harness.model.run import Run

NOT_SLOWER = 0.99
"""A target with at least this part of the present goodput counts as no slower: measurements have errors."""


@dataclass(frozen=True)
class TypicalLink:
    """The typical link of a configuration: its rate, None if unlimited or unknown, its MTU and its goodput.

    `is_measured` is whether probes measured the goodput; else it is what the rate allows in theory.
    """

    rate_bit_s: int | None
    mtu: int
    goodput_bit_s: float
    is_measured: bool

    @property
    def efficiency(self) -> float:
        """The goodput as a part of what TCP can carry at this rate; 1 if the rate is unknown."""
        if self.rate_bit_s is None:
            return 1.0
        return self.goodput_bit_s / goodput_bit_s(self.rate_bit_s, self.mtu)


def typical_link(column: ConfigurationRuns) -> TypicalLink:
    """Return what most links of a configuration are.

    Raises BadInput if neither probes nor the rate of the links are known.
    """
    mtu = next(filter(None, map(_mtu, column.descriptions)), TYPICAL_MTU)
    rate = next(filter(None, map(rate_bit_s, column.descriptions)), None)
    measured = typical_bit_s(pair_matrix(probe_measurements(column), MESH_GOODPUT))
    goodput = measured
    if rate and not measured:
        goodput = goodput_bit_s(rate, mtu)
    if not goodput:
        raise BadInput(
            f"{column.name!r} has no probes, and the rate of its links is unknown: probe it with: "
            f"clusterlift probe mesh --configuration {shlex.quote(column.name)}"
        )
    return TypicalLink(rate, mtu, goodput, is_measured=bool(measured))


def known_link(column: ConfigurationRuns) -> TypicalLink | None:
    """Return the typical link of a configuration; None if it is unknown."""
    try:
        return typical_link(column)
    except BadInput:
        return None


def _mtu(run: Run) -> int | None:
    """Return the MTU of the nodes' links: as observed if they are alike, else as declared."""
    observed: set[int] = set()
    for links in link_mtus(run).values():
        observed.update(links.values())
    if len(observed) == 1:
        return observed.pop()
    return declared_mtu(run)


def target_of(
    present: TypicalLink, name: str, link_bit_s: int | None = None, mtu: int | None = None
) -> Target:
    """Return the target: what is not given stays as it is. `name` is the name of the baseline.

    A link that reached less goodput than its rate allows is expected to reach the
    same share of its next rate.
    Raises BadInput if the target is slower than the present links, or if its goodput is unknown.
    """
    if link_bit_s is None and mtu is None:
        return Target(present.rate_bit_s, present.mtu, present.goodput_bit_s)
    rate = link_bit_s or present.rate_bit_s
    mtu = mtu or present.mtu
    if rate is None:
        raise BadInput(
            f"the rate of the links of {name!r} is unknown: give the rate of the new ones: --link"
        )
    goodput = min(1.0, present.efficiency) * goodput_bit_s(rate, mtu)
    if goodput < NOT_SLOWER * present.goodput_bit_s:
        raise BadInput(
            f"links of {rate_text(rate)}, MTU {mtu}, would carry {throughput_text(goodput)}, less than the "
            f"links of {name!r}, which carry {throughput_text(present.goodput_bit_s)}: name a faster "
            "--link, or a larger --mtu"
        )
    return Target(rate, mtu, goodput)
