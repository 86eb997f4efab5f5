"""The latency probe, between hosts that answer without being asked."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

from harness.hosts import remote_process
from harness.hosts.remote_process import CompletedCommand
from harness.hosts.transports.host import Host, by_local
from harness.model.probe import Measurement
from harness.probes import latency
from harness.probes.traffic import Flow, Load
from tests.unit.probe_builders import probed

HOSTS = [by_local(f"node{number}", f"10.0.0.{number}") for number in range(1, 5)]


def answer_with(
    monkeypatch: pytest.MonkeyPatch, missing: Callable[[str], str], device: str = "mlx5_0"
) -> None:
    """Let each host have a device for RDMA, and lack the programs that `missing` returns."""

    def run_all(
        asked: Iterable[tuple[Host, Sequence[str]]], _timeout_s: float
    ) -> list[CompletedCommand]:
        return [
            CompletedCommand(0, device if "infiniband" in words[2] else missing(host.name), "")
            for host, words in asked
        ]

    monkeypatch.setattr(remote_process, "run_all", run_all)


@pytest.mark.parametrize(
    ("missing", "remarks", "measured"),
    [
        ({}, [], 4),
        (
            {"node1": "ib_send_lat"},
            ["RDMA is not measured: ib_send_lat (perftest) is not installed on node1"],
            3,
        ),
        (
            {f"node{number}": "ib_send_lat" for number in range(1, 5)},
            [
                "RDMA is not measured: ib_send_lat (perftest) is not installed on node1, node2, node3, node4"
            ],
            0,
        ),
        (
            {"node2": "ib_send_lat stdbuf"},
            [
                "RDMA is not measured: ib_send_lat (perftest) is not installed on node2",
                "RDMA is not measured: stdbuf (coreutils) is not installed on node2",
            ],
            3,
        ),
    ],
)
def test_what_rdma_needs_is_optional_and_is_named_where_it_lacks(
    monkeypatch: pytest.MonkeyPatch, missing: dict[str, str], remarks: list[str], measured: int
) -> None:
    hosts: set[str] = set()

    def measure(flows: Sequence[Flow]) -> Iterator[Measurement]:
        hosts.update(name for flow in flows for name in flow.pair)
        yield from ()

    monkeypatch.setattr(latency, "_measure_rdma_pairs", measure)
    answer_with(monkeypatch, lambda name: missing.get(name, ""))
    *_, rdma = latency.latency_steps(HOSTS, Load(1))
    measurements = [each for each in rdma.measure() if isinstance(each, Measurement)]
    recorded = probed(measurements=measurements)
    found = list(latency.latency_findings(recorded))
    assert [(finding.text, finding.is_fault) for finding in found] == [
        (text, False) for text in remarks
    ]
    assert len(hosts) == measured


@pytest.mark.parametrize(("pairs_at_once", "batches"), [(1, [1] * 6), (2, [2] * 3)])
def test_as_many_pairs_are_measured_by_rdma_at_once_as_by_tcp(
    monkeypatch: pytest.MonkeyPatch, pairs_at_once: int, batches: list[int]
) -> None:
    """More may share a link, or need more open files than this machine allows."""
    measured: list[int] = []

    def measure(flows: Sequence[Flow]) -> Iterator[Measurement]:
        measured.append(len(flows))
        yield from ()

    answer_with(monkeypatch, lambda _: "")
    monkeypatch.setattr(latency, "_measure_rdma_pairs", measure)
    *_, rdma = latency.latency_steps(HOSTS, Load(1), pairs_at_once=pairs_at_once)
    assert len(list(rdma.measure())) == len(HOSTS)
    assert measured == batches
