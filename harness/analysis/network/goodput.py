"""The goodput that a host's link can carry: as probes measured it, or else in theory, by its rate."""

from dataclasses import dataclass
from typing import Any

from harness.analysis.network.measured import RECEIVES, PairMatrix, typical_bit_s
from harness.analysis.observed.declared import declared_rate
from harness.analysis.observed.environment import is_emulated, link_rates
from harness.analysis.observed.executors import has_own_network
from harness.base.checked import count
from harness.model.link import (
    MIN_MTU,
    TYPICAL_MTU,
    goodput_bit_s,
    is_same_rate,
    rate_text,
    throughput_text,
)
from harness.model.run import Run
from harness.node.node_links import links_by_host

MEASURED = "measured by probes"
TYPICAL = "measured by probes, on typical hosts"


@dataclass(frozen=True)
class Goodput:
    """The most payload that a host receives and sends in bit/s, and the source of these numbers in words."""

    received_bit_s: float
    sent_bit_s: float
    source: str

    def __str__(self) -> str:
        return f"{throughput_text(min(self.received_bit_s, self.sent_bit_s))} ({self.source})"

    def bit_s(self, direction: str) -> float:
        """Return the goodput in one direction, RECEIVES or SENDS."""
        if direction == RECEIVES:
            return self.received_bit_s
        return self.sent_bit_s


def goodput(run: Run, mesh: PairMatrix, host: str) -> Goodput | None:
    """Return the goodput of a host in a run; None if neither probes nor the link's rate are known.

    Probes and Spark may name hosts differently. Then the typical goodput of all hosts counts. But a pod's
    interface is no link: a bridge carries what stays on the node, at any rate.
    """
    received = max(mesh.received_by[host].values(), default=0.0)
    sent = max(mesh.sent_by[host].values(), default=0.0)
    if received > 0 and sent > 0:
        return Goodput(received, sent, MEASURED)
    if has_own_network(run.environment, host):
        return None
    typical = typical_bit_s(mesh) or 0
    if typical > 0:
        return Goodput(typical, typical, TYPICAL)
    return _theory(run, host)


def _theory(run: Run, host: str) -> Goodput | None:
    """Return what TCP can deliver at most over all links of the host that are up."""
    rates = []
    whole = 0.0
    if not is_emulated(run):
        for link in links_by_host(run.environment).get(host, {}).values():
            if link.is_up and link.rate_bit_s:
                rates.append(rate_text(link.rate_bit_s))
                whole += goodput_bit_s(link.rate_bit_s, _mtu(link.mtu_bytes))
    if rates:
        return Goodput(whole, whole, f"in theory, at {' and '.join(rates)}")
    declared = declared_rate(run)
    if declared is None:
        return None
    whole = goodput_bit_s(declared, _mtu(run.facts.get("mtu")))
    return Goodput(whole, whole, f"in theory, at {rate_text(declared)} as declared")


def rate_bit_s(run: Run) -> int | None:
    """Return the rate of the nodes' links: as declared, else as observed; None if that differs."""
    declared = declared_rate(run)
    if declared:
        return declared
    observed: set[int] = set()
    for links in link_rates(run).values():
        observed.update(links.values())
    highest = max(observed, default=None)
    if highest is None or not all(is_same_rate(rate, highest) for rate in observed):
        return None
    return highest


def _mtu(recorded: Any) -> int:
    """Return an MTU in bytes; the usual one if none is known."""
    mtu = count(recorded)
    if mtu is not None and mtu >= MIN_MTU:
        return mtu
    return TYPICAL_MTU
