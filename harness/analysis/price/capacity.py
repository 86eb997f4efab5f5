"""How fast a configuration's links are, from the best that is known of them."""

from __future__ import annotations

from collections.abc import Sequence

from harness.analysis.confounders import claims
from harness.analysis.confounders.observed import link_speeds
from harness.model import RecordedRun, Run
from harness.probes.matrix import matrix
from harness.probes.measurement import Measurement
from harness.probes.mesh import GOODPUT
from harness.probes.slowness import usual_bit_s

MBIT = 10**6


def link_bit_s(runs: Sequence[RecordedRun], measured: Sequence[Measurement] = ()) -> float | None:
    """Bit/s of a node's link: what the mesh usually carries, else what runs declare, else observed.

    None where it is not known, and where the runs do not agree.
    """
    if usual := usual_bit_s(matrix(measured, GOODPUT)):
        return usual
    rates = {_rate_bit_s(recorded.run) for recorded in runs}
    return rates.pop() if len(rates) == 1 else None


def _rate_bit_s(run: Run) -> float | None:
    declared = {rate.mbit_s for rate in claims.rates(f"link={run.facts.get('link', '')}")}
    observed = {float(speed) for links in link_speeds(run).values() for speed in links.values()}
    said = {rate.mbit_s for rate in claims.rates(run.configuration)}
    rates = next(filter(None, (declared, observed, said)), set())
    return MBIT * max(rates) if len(rates) == 1 else None
