"""Slow links among 64 hosts are found in a few rounds."""

import pytest

from harness.commands.cli import main
from harness.model.link import Link
from tests.probes.networks import many

MBIT = 10**6
HOSTS = 64
TYPICAL, SLOW = Link(8 * MBIT, 1500), Link(3 * MBIT, 1500)
SLOW_NUMBERS = (7, 23, 58)


def test_slow_links_among_64_hosts_are_found_in_a_few_rounds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    links = [SLOW if number in SLOW_NUMBERS else TYPICAL for number in range(HOSTS)]
    with many(links) as (made, names):
        hosts = ["--via", "netns", "--hosts", made.hosts_option(names)]
        assert main(["probe", "mesh", "--seconds", "1", "--rounds", "4", *hosts]) == 1
    faults = [line for line in capsys.readouterr().out.splitlines() if line.startswith("fault: ")]
    slow = [names[number] for number in SLOW_NUMBERS]
    assert all(any(fault.startswith(f"fault: {host}: slow, ") for fault in faults) for host in slow)
    # Where a hypervisor takes processors, a pair may be named: too slow to be judged then.
    assert not [
        fault for fault in faults if " -> " not in fault and fault.split()[1][:-1] not in slow
    ]
