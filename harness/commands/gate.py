"""`clusterlift gate`: whether network and disks are as they should be."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from harness.analysis.network.disks import disk_cases
from harness.analysis.network.soak import transfer_seconds
from harness.analysis.ready.gate import Expectation, Network, expectation_faults, upgrade_faults
from harness.base.clock import duration_text
from harness.base.errors import BadInput
from harness.base.terminal import show
from harness.base.words import count_of, visible
from harness.commands.command import command
from harness.commands.options import mtu_option, results_option
from harness.model.disk_rate import parse_disk_rate
from harness.model.finding import Finding
from harness.model.link import MAX_BIT_S, parse_rate, throughput_text
from harness.present.findings import fault_lines
from harness.present.probes import remarks
from harness.probes.kinds import NewestProbe, by_kind, network_of, newest_probes
from harness.records.lookup import check_no_run_twice, find_probes

BEFORE_AND_AFTER = 2


@command("gate")
@click.argument("names", nargs=-1, metavar="[BEFORE] AFTER")
@click.option(
    "--expect",
    "rate",
    metavar="RATE",
    help="Speed that every link must have, such as 2500mbit.  [default: the most frequent one]",
)
@mtu_option("MTU that every link and path must have.  [default: the most frequent one]")
@click.option(
    "--expect-disk",
    "disk_rate",
    metavar="RATE",
    help="Speed at which every disk must read and write in sequence, such as 200MB/s; up to a quarter less "
    "passes.  [default: any]",
)
@results_option
def gate_command(
    names: Sequence[str], rate: str | None, mtu: int | None, disk_rate: str | None, results: Path
) -> int:
    """List the faults of a probed network and its disks, for example after an upgrade.

    BEFORE and AFTER are configurations that were probed, or files of probes. Each kind of measurement (links,
    path MTUs, goodputs, disks, ...) is judged by its newest probe. The gate lists what
    `clusterlift probe` found, and every link, path MTU, goodput and disk that is not as expected. With
    BEFORE, it also checks that nothing got worse and that something changed. The exit code is 1 if there is a
    fault.
    """
    if not 1 <= len(names) <= BEFORE_AND_AFTER:
        raise BadInput("gate takes one or two probed configurations: [BEFORE] AFTER")
    found = [find_probes(name, results) for name in names]
    check_no_run_twice(probed for probes in found for probed in probes)
    *before, after = map(newest_probes, found)
    bit_s = None if rate is None else parse_rate("--expect", rate, MAX_BIT_S)
    bytes_s = None if disk_rate is None else parse_disk_rate("--expect-disk", disk_rate)
    network = network_of(after)
    faults = expectation_faults(network, Expectation(bit_s, mtu, bytes_s))
    if before:
        faults += upgrade_faults(network_of(before[0]), network)
    show(verdict(after, network, faults))
    return int(bool(faults) or any(finding.is_fault for finding in network.findings))


def verdict(newest: Sequence[NewestProbe], network: Network, faults: Sequence[Finding]) -> str:
    """Return the number of faults or what was checked, then each probe that was judged with its faults.

    `faults` are what the gate itself finds.
    """
    found = len(faults) + sum(finding.is_fault for finding in network.findings)
    lines = [
        *map(visible, dict.fromkeys(line for each in newest for line in remarks(each.probed))),
        f"{count_of(found, 'fault')} found" if found else f"no fault found: {_checked(network)}",
    ]
    for each in newest:
        lines += [visible(f"from {each}"), *fault_lines(each.findings)]
    if faults:
        lines += ["not as expected", *fault_lines(faults)]
    return "".join(f"{line}\n" for line in (*lines, *_soak_lines(newest, network)))


def _checked(network: Network) -> str:
    disks = disk_cases(network.measurements)
    found = {"link": len(network.links), "path": len(network.paths.values), "disk": len(disks)}
    checked = [count_of(number, noun) for noun, number in found.items() if number]
    if goodput := network.goodput.values.values():
        pairs = f"each of {count_of(len(goodput), 'pair')} of hosts"
        checked.append(f"{throughput_text(min(goodput))} or more between {pairs}")
    return ", ".join(checked)


def _soak_lines(newest: Sequence[NewestProbe], network: Network) -> Iterator[str]:
    if soak := by_kind(newest).get("soak"):
        yield f"soaked for {duration_text(transfer_seconds(soak))} of link time under load"
    elif network.goodput.values:
        yield "not soaked: short tests do not find faults that come with time (clusterlift probe soak)"
