"""`clusterlift gate`: whether a network is as it should be."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.network.acceptance import Expectation, network_faults, upgrade_faults
from harness.analysis.network.mesh import pair_matrix
from harness.analysis.network.search import goodput_matrix, is_sampled
from harness.analysis.network.soak import SoakVerdict, judge_soak
from harness.commands.command import command
from harness.commands.options import results_option
from harness.model.errors import BadInput
from harness.model.link import MAX_BIT_S, MAX_MTU, MIN_MTU, parse_rate, throughput_text
from harness.model.network_metrics import PATH_MTU
from harness.model.probe import RecordedProbes
from harness.present.probes import remarks
from harness.present.probes.soak import finding_lines
from harness.records.lookup import find_probes
from harness.runtime.clock import duration_text
from harness.terminal import count_of, show, visible

MAX_NAMES = 2


@command("gate")
@click.argument("names", nargs=-1, metavar="[BEFORE] AFTER")
@click.option(
    "--expect",
    "rate",
    metavar="RATE",
    help="Speed that every link must have, such as 2500mbit.  [default: the most frequent one]",
)
@click.option(
    "--mtu",
    type=click.IntRange(MIN_MTU, MAX_MTU),
    metavar="BYTES",
    help="MTU that every link and path must have.  [default: the most frequent one]",
)
@results_option
def gate_command(names: Sequence[str], rate: str | None, mtu: int | None, results: Path) -> int:
    """List the faults of a probed network, for example after an upgrade.

    BEFORE and AFTER are configurations that were probed, or files of probes. The newest `clusterlift probe
    all` of each counts, and the newest `probe soak` of AFTER, if there is one. The gate checks the speed,
    duplex mode, MTU and bonds of every link, the path MTU and goodput between each pair of hosts, and what
    the soak found. With BEFORE, it also checks that nothing got worse and that something changed. The exit
    code is 1 if there is a fault.
    """
    if not 1 <= len(names) <= MAX_NAMES:
        raise BadInput("gate takes one or two probed configurations: [BEFORE] AFTER")
    *before, (after, soak) = (_newest(find_probes(name, results), name) for name in names)
    soaked = None if soak is None else judge_soak(soak)
    bit_s = None if rate is None else parse_rate("--expect", rate, MAX_BIT_S)
    expected = Expectation(bit_s, mtu)
    faults = (
        upgrade_faults(before[0][0], after, expected) if before else network_faults(after, expected)
    )
    faults += [f"soak: {line}" for line in finding_lines(soaked.faults)] if soaked else []
    show(verdict(faults, after, soaked))
    return int(bool(faults))


def _newest(
    probed: Sequence[RecordedProbes], name: str
) -> tuple[RecordedProbes, RecordedProbes | None]:
    """Return the newest probe and the newest soak. Raise BadInput if there are only soaks."""
    probes, soaks = (
        [each for each in probed if (each.probe == "soak") == kind] for kind in (False, True)
    )
    if not probes:
        raise BadInput(
            f"{name!r} was soaked, but not probed; run clusterlift probe all --configuration {name}"
        )
    return probes[-1], soaks[-1] if soaks else None


def _soak_text(soaked: SoakVerdict | None) -> str:
    if soaked is None:
        return "not soaked: short tests do not find faults that come with time (clusterlift probe soak)"
    return f"soaked for {duration_text(soaked.link_s)} of link time under load, from {soaked.started_at} on"


def verdict(
    faults: Sequence[str], probed: RecordedProbes, soaked: SoakVerdict | None = None
) -> str:
    """Return a line for each fault of the network, or one line on what was checked; and how long."""
    if faults:
        lines = [f"{count_of(len(faults), 'fault')} found", *(f"- {fault}" for fault in faults)]
    else:
        paths = pair_matrix(probed.measurements, PATH_MTU).values
        checked = [count_of(len(probed.links()), "link"), count_of(len(paths), "path")]
        if goodput := goodput_matrix(probed).values.values():
            which = (
                f"each of {count_of(len(goodput), 'random pair')} of hosts"
                if is_sampled(probed)
                else "each pair of hosts"
            )
            checked.append(f"{throughput_text(min(goodput))} or more between {which}")
        lines = [f"no fault found: {', '.join(checked)}"]
    return "".join(f"{visible(line)}\n" for line in (*remarks(probed), *lines, _soak_text(soaked)))
