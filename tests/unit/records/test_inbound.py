"""Of a limited link, former versions counted what a host received twice; the reader counts it once."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.interface import INBOUND_DEVICE
from harness.model.run import Run, Trial
from harness.model.task_metrics import NodeBytes, WireBytes
from harness.records.inbound import count_inbound_once
from tests.unit.builders import a_run, ok
from tests.unit.timeline_builders import a_node, a_timeline

LIMITED: dict[str, Any] = {
    "host": "n1",
    "links": {"eth0": {"mtu_bytes": 1500}, INBOUND_DEVICE: {"mtu_bytes": 1500}},
    "nodes": {
        "n1": {"eth0": {"mtu_bytes": 1500}, INBOUND_DEVICE: {"mtu_bytes": 1500}},
        "n2": {"eth0": {"mtu_bytes": 1500}},
    },
}
byte_counts = st.integers(0, 10**12)


def a_limited_run() -> Run:
    return a_run("1g", environment=LIMITED)


def a_trial(received: int, sent: int) -> Trial:
    nodes = (NodeBytes("n1", received, sent), NodeBytes("n2", received, sent))
    series = (
        a_node("n1", [received, 0, None], [sent, sent, sent]),
        a_node("n2", [received, 0, None], [sent, sent, sent]),
    )
    return ok("join", 1.0, wire=WireBytes(nodes), timeline=a_timeline(*series, slices=3))


@given(byte_counts, byte_counts)
def test_the_bytes_of_a_limited_node_are_those_that_its_link_carried(
    received: int, sent: int
) -> None:
    """The second device received, and sent, what the link received."""
    _, [trial] = count_inbound_once(a_limited_run(), [a_trial(2 * received, sent + received)])
    assert trial.wire
    assert trial.wire.nodes[0] == NodeBytes("n1", received, sent)


def test_its_series_are_corrected_slice_by_slice() -> None:
    _, [trial] = count_inbound_once(a_limited_run(), [a_trial(2000, 1500)])
    assert trial.timeline
    n1, _ = trial.timeline.nodes
    assert trial.timeline.series(n1.received_bytes) == (1000, 0, None)
    once, all_sent, unknown = trial.timeline.series(n1.sent_bytes)
    assert (all_sent, unknown) == (1500, None)
    assert once == pytest.approx(500, abs=1500 / 126)


def test_a_node_without_a_limit_stays_as_it_is() -> None:
    before = a_trial(2000, 1500)
    _, [trial] = count_inbound_once(a_limited_run(), [before])
    assert before.wire
    assert trial.wire
    assert before.timeline
    assert trial.timeline
    assert trial.wire.nodes[1] == before.wire.nodes[1]
    assert trial.timeline.nodes[1] == before.timeline.nodes[1]


def test_the_device_is_no_link_of_the_run() -> None:
    run, _ = count_inbound_once(a_limited_run(), [])
    assert list(run.environment["links"]) == ["eth0"]
    assert {host: list(links) for host, links in run.environment["nodes"].items()} == {
        "n1": ["eth0"],
        "n2": ["eth0"],
    }


def test_a_run_without_limits_stays_as_it_is() -> None:
    run = replace(a_limited_run(), environment={"host": "n1", "links": {"eth0": {}}})
    trials = (a_trial(2000, 1500),)
    assert count_inbound_once(run, trials) == (run, trials)
