"""Slow links among 64 hosts are found in a few rounds."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.cli import main
from harness.model.link import Link
from tests.probes.networks import many

MBIT = 10**6
HOSTS = 64
TYPICAL, SLOW = Link(8 * MBIT, 1500), Link(3 * MBIT, 1500)
SLOW_NUMBERS = (7, 23, 58)


@pytest.mark.slow
def test_some_rounds_pass_the_gate_until_a_host_is_slow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = ["--results", str(tmp_path)]
    with many([TYPICAL] * 5 + [SLOW]) as (made, names):

        def gate(some: Sequence[str], name: str) -> list[str]:
            hosts = ["--via", "netns", "--hosts", made.hosts_option(some), *results]
            is_slow = some != names[:5]
            # Latencies take half of the time, and are the same of a slow host.
            options = ["--seconds", "1", "--rounds", "3", *(["--no-latency"] if is_slow else [])]
            options += ["--configuration", name]
            assert main(["probe", "all", *hosts, *options]) == int(is_slow)
            capsys.readouterr()
            assert main(["gate", name, *results, "--expect", "8mbit"]) == int(is_slow)
            *lines, soaked = capsys.readouterr().out.splitlines()
            assert soaked.startswith("not soaked: ")
            return lines

        first, _probe = gate(names[:5], "sound")
        assert first.endswith("or more between each of 12 pairs of hosts")
        faults = [line for line in gate(names, "slow") if line.startswith("- ")]
        assert [fault for fault in faults if fault.startswith(f"- {names[5]}")]
        # Where a hypervisor takes processors, one of its pairs may be named: too slow to be judged then.
        assert not [fault for fault in faults if names[5] not in fault]


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
