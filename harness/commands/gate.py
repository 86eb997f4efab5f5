"""`clusterlift gate`: whether network and disks are as they should be."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from harness.analysis.network.disks import disk_cases
from harness.analysis.network.soak import transfer_seconds
from harness.analysis.ready.gate import Expectation, Network, expectation_faults, upgrade_faults
from harness.base.clock import duration_text
from harness.base.errors import BadInput
from harness.base.items import unique
from harness.base.option_types import converted
from harness.base.terminal import show
from harness.base.words import count_of
from harness.commands.command import command
from harness.commands.options import mtu_option, results_option
from harness.model.disk_rate import parse_disk_rate
from harness.model.finding import Finding, Gravity
from harness.model.link import MAX_BIT_S, parse_rate, throughput_text
from harness.model.probe import RecordedProbes
from harness.present import text
from harness.present.blocks import Lines
from harness.present.findings import finding_lines, remarks
from harness.probes.kind import NewestProbe, by_kind, network_of, newest_probes
from harness.records.lookup import check_no_run_twice, find_probes

BEFORE_AND_AFTER = 2


@command("gate")
@click.argument("names", nargs=-1, metavar="[BEFORE] AFTER")
@click.option(
    "--expect",
    "rate_bit_s",
    callback=converted(partial(parse_rate, "--expect", max_bit_s=MAX_BIT_S)),
    metavar="RATE",
    help="Speed that every link must have, such as 2500mbit.  [default: the most frequent one]",
)
@mtu_option("MTU that every link and path must have.  [default: the most frequent one]")
@click.option(
    "--expect-disk",
    "disk_bytes_s",
    callback=converted(partial(parse_disk_rate, "--expect-disk")),
    metavar="RATE",
    help="Speed at which every disk must read and write in sequence, such as 200MB/s; up to a quarter less "
    "passes.  [default: any]",
)
@results_option
def gate_command(
    names: Sequence[str],
    rate_bit_s: int | None,
    mtu: int | None,
    disk_bytes_s: int | None,
    results: Path,
) -> int:
    """List the faults of a probed network and its disks, for example after an upgrade.

    BEFORE and AFTER are configurations that were probed, or files of probes. Each kind of measurement (links,
    path MTUs, goodputs, disks, ...) is judged by its newest probe. The gate lists the faults that
    `clusterlift probe` found, and every link, path MTU, goodput and disk that is not as expected. With
    BEFORE, it also checks that nothing got worse and that something changed. The exit code is 1 if there is a
    fault, or if something cannot be judged.
    """
    if not 1 <= len(names) <= BEFORE_AND_AFTER:
        raise BadInput("gate takes one or two probed configurations: [BEFORE] AFTER")
    found = [find_probes(name, results) for name in names]
    runs: list[RecordedProbes] = []
    for probes in found:
        runs += probes
    check_no_run_twice(runs)
    after = newest_probes(found[-1])
    network = network_of(after)
    own = expectation_faults(network, Expectation(rate_bit_s, mtu, disk_bytes_s))
    if len(found) == BEFORE_AND_AFTER:
        own += upgrade_faults(network_of(newest_probes(found[0])), network)
    show(text.render([gate_page(after, network, own)]))
    return int(any(finding.is_open for finding in own + network.findings))


def gate_page(newest: Sequence[NewestProbe], network: Network, own: list[Finding]) -> Lines:
    """Return the number of findings or checks, then each probe that was judged with its open findings.

    `own` are the findings of the gate itself.
    """
    notes: list[str] = []
    for each in newest:
        notes += remarks(each.probed)
    lines = unique(notes)
    lines.append(_headline(network, own + network.findings))
    for each in newest:
        lines.append(f"from {each}")
        lines += finding_lines(finding for finding in each.findings if finding.is_open)
    if own:
        lines.append("not as expected")
        lines += finding_lines(own)
    lines += _soak_lines(newest, network)
    return Lines(lines)


def _headline(network: Network, found: Sequence[Finding]) -> str:
    numbers = Counter(finding.gravity for finding in found)
    faults = numbers[Gravity.FAULT]
    unknown = numbers[Gravity.UNKNOWN]
    headline = "no fault found"
    if faults:
        headline = f"{count_of(faults, 'fault')} found"
    if unknown:
        headline += f", and {count_of(unknown, 'thing')} cannot be judged"
    elif not faults:
        headline += f": {_checked(network)}"
    return headline


def _checked(network: Network) -> str:
    disks = disk_cases(network.measurements)
    found = {"link": len(network.links), "path": len(network.paths.values), "disk": len(disks)}
    checked = [count_of(number, noun) for noun, number in found.items() if number]
    goodput = network.goodput.values.values()
    if goodput:
        pairs = f"each of {count_of(len(goodput), 'pair')} of hosts"
        checked.append(f"{throughput_text(min(goodput))} or more between {pairs}")
    return ", ".join(checked)


def _soak_lines(newest: Sequence[NewestProbe], network: Network) -> Iterator[str]:
    soak = by_kind(newest).get("soak")
    if soak:
        yield f"soaked for {duration_text(transfer_seconds(soak))} of link time under load"
    elif network.goodput.values:
        yield "not soaked: short tests do not find faults that come with time (clusterlift probe soak)"
