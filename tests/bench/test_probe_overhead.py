"""What a mesh costs this machine: its own processor time for each host and round, with real programs.

The processor time is that of this process, without the shells and iperf3, which elsewhere run on the hosts.
"""

import resource
import time
from pathlib import Path

import pytest

from harness.cli import main
from harness.model.link import Link
from harness.model.network_metrics import MESH_GOODPUT
from harness.records.lookup import find_probes
from tests.probes.networks import many, missing

LINK = Link(8_000_000, 1500)
MAX_S_PER_HOST_AND_ROUND = 0.2
"""It is about 0.02."""


def used_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("count", [4, 64])
def test_a_mesh_in_namespaces(count: int, tmp_path: Path) -> None:
    if reason := missing():
        pytest.skip(reason)
    with many([LINK] * count) as (made, names):
        hosts = ["--via", "netns", "--hosts", made.hosts_option(names)]
        record = ["--configuration", "many", "--results", str(tmp_path)]
        began, used = time.monotonic(), used_s()
        main(
            ["probe", "mesh", "--seconds", "1", "--rounds", str(min(6, count - 1)), *hosts, *record]
        )
        elapsed, own = time.monotonic() - began, used_s() - used
    [probed] = find_probes("many", tmp_path)
    transfers = [m for m in probed.measurements if m.metric == MESH_GOODPUT.name]
    rounds = len(transfers) / count  # each host sends once and receives once in a round
    print(
        f"\n{count} hosts: {len(transfers)} transfers, {rounds:.1f} rounds, in "
        f"{elapsed:.0f} s; {own:.1f} s of ours, {own / count / rounds * 1e3:.1f} ms a host and round, "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB at most"
    )
    assert own / count / rounds < MAX_S_PER_HOST_AND_ROUND
