"""The latency probe, between hosts that answer without being asked."""

from collections.abc import Iterator, Sequence

import pytest

from harness.hosts import remote_process
from harness.hosts.remote_process import CompletedCommand
from harness.hosts.transports.host import by_local
from harness.model.probe import Measurement
from harness.probes import latency
from harness.probes.traffic import Flow, Load

HOSTS = [by_local(f"node{number}", f"10.0.0.{number}") for number in range(1, 5)]


@pytest.mark.parametrize(("pairs_at_once", "batches"), [(1, [1] * 6), (2, [2] * 3)])
def test_as_many_pairs_are_measured_by_rdma_at_once_as_by_tcp(
    monkeypatch: pytest.MonkeyPatch, pairs_at_once: int, batches: list[int]
) -> None:
    """More may share a link, or need more open files than this machine allows."""
    measured: list[int] = []

    def measure(flows: Sequence[Flow]) -> Iterator[Measurement]:
        measured.append(len(flows))
        yield from ()

    has_a_device = CompletedCommand(0, "mlx5_0", "")
    monkeypatch.setattr(remote_process, "run_all", lambda asked: [has_a_device] * len(asked))
    monkeypatch.setattr(latency, "_measure_rdma_pairs", measure)
    *_, rdma = latency.latency_steps(HOSTS, Load(1), pairs_at_once=pairs_at_once)
    assert len(list(rdma.measure())) == len(HOSTS)
    assert measured == batches
