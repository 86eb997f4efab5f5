"""`clusterlift gate`: whether the upgrade took."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.acceptance import Expectation, network_faults, upgrade_faults
from harness.commands.options import results_option
from harness.model.errors import BadInput
from harness.model.link import MAX_BIT_S, MAX_MTU, MIN_MTU, parse_rate
from harness.present.probes import acceptance as page
from harness.records.lookup import find_probes

MOST_NAMES = 2


@click.command("gate")
@click.argument("names", nargs=-1, metavar="[BEFORE] AFTER")
@click.option(
    "--expect",
    "rate",
    metavar="RATE",
    help="What every link is to be, such as 2500mbit.  [default: what most are]",
)
@click.option(
    "--mtu",
    type=click.IntRange(MIN_MTU, MAX_MTU),
    metavar="BYTES",
    help="What every link and path is to carry.  [default: what most links do]",
)
@results_option
def gate_command(names: Sequence[str], rate: str | None, mtu: int | None, results: Path) -> int:
    """Say what is wrong with a network that was probed, after an upgrade or at any time.

    BEFORE and AFTER are configurations that `clusterlift probe all` recorded, of which the newest
    counts, or files of probes. Speed, duplex, MTU and bonds of every link, the path MTU and the
    goodput of every two hosts have to be as expected; with BEFORE, nothing may be worse, and
    something has to have changed. The exit code is 1 if anything is wrong.
    """
    if not 1 <= len(names) <= MOST_NAMES:
        raise BadInput("gate needs one or two that were probed: [BEFORE] AFTER")
    *before, after = (find_probes(name, results)[-1] for name in names)
    bit_s = None if rate is None else parse_rate("--expect", rate, MAX_BIT_S)
    expected = Expectation(bit_s, mtu)
    wrong = (
        upgrade_faults(before[0], after, expected) if before else network_faults(after, expected)
    )
    click.echo(page.render(wrong, after), nl=False)
    return int(bool(wrong))
