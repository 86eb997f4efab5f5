"""A lab that starts, by what Docker says of its nodes."""

import pytest

from harness.lab import compose, lifecycle, racks, verify
from harness.lab.cluster import Lab, Node
from harness.lab.compose import Compose, LabSpec
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import Link


@pytest.mark.parametrize("ended", ["master", "worker-1"])
def test_a_node_that_ends_while_the_lab_starts_is_named_with_its_last_message(
    monkeypatch: pytest.MonkeyPatch, ended: str
) -> None:
    """Also the master, without which no other node can be asked."""
    nodes = [
        Node(name, name, "exited" if name == ended else "running")
        for name in ("master", "worker-1", "worker-2")
    ]
    monkeypatch.setattr(lifecycle, "find_lab", lambda: Lab(tuple(nodes), ("hdfs",), 0.5))
    monkeypatch.setattr(lifecycle, "last_message", lambda container: f"{container} has no room")
    with pytest.raises(ClusterliftError, match=rf"^{ended} ended: {ended} has no room; see docker"):
        lifecycle._wait_until_ready()


def test_a_lab_that_is_removed_while_it_starts_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "find_lab", lambda: None)
    with pytest.raises(ClusterliftError, match=r"^the lab was removed while it started$"):
        lifecycle._wait_until_ready()


def test_a_master_that_ended_is_no_reason_not_to_start_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In two racks: the rate of their uplink is read with the MTU of any node that runs."""
    states = {"master": "exited", "router": "running", "worker-1": "running", "worker-2": "running"}
    lab = Lab(tuple(Node(name, name, state) for name, state in states.items()), ("hdfs",), 0.5)
    asked: list[Node] = []

    def read_link(node: Node) -> Link:
        asked.append(node)
        return Link(None, 1500)

    monkeypatch.setattr(compose, "read_link", read_link)
    monkeypatch.setattr(racks, "uplink_bit_s", lambda *_: 10**8)
    lifecycle._check_same_shape(lab, LabSpec(2, 0.5, ("hdfs",), 10**9))
    assert [node.name for node in asked] == ["worker-1"]
    with pytest.raises(BadInput, match=r"lab is up: 2 workers .*, an uplink of 100mbit; remove"):
        lifecycle._check_same_shape(lab, LabSpec(3, 0.5, ("hdfs",)))


@pytest.mark.parametrize("states", [("exited", "exited"), ("running", "exited"), ("running",)])
def test_a_lab_without_two_running_workers_cannot_be_verified(states: tuple[str, ...]) -> None:
    """Nothing would be measured, and so nothing found."""
    nodes = [Node(f"worker-{number}", "w", state) for number, state in enumerate(states, 1)]
    message = rf"two workers, and {states.count('running')} of {len(states)} are running$"
    with pytest.raises(BadInput, match=message):
        verify.common_link(Lab(tuple(nodes), ("hdfs",), 0.5))


def test_what_a_removal_that_was_cut_off_has_left_is_no_lab_that_is_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape = LabSpec(2, 0.5, ("hdfs",))
    nodes = tuple(Node(name, name, "running") for name in shape.services)
    started: list[str] = []

    def start(compose: Compose) -> None:
        started.extend(compose.shape.services)
        raise ClusterliftError("starting")

    monkeypatch.setattr(lifecycle, "compose_program", lambda: ["docker", "compose"])
    monkeypatch.setattr(lifecycle, "set_cpu_limit", lambda *_: None)
    monkeypatch.setattr(lifecycle, "free_bytes", lambda: None)
    monkeypatch.setattr(Compose, "build", lambda _: None)
    monkeypatch.setattr(Compose, "up", start)
    monkeypatch.setattr(lifecycle, "find_lab", lambda: Lab(nodes, ("hdfs",), 0.5))
    assert lifecycle.up(shape) is False
    monkeypatch.setattr(lifecycle, "find_lab", lambda: Lab(nodes[1:], ("hdfs",), 0.5))
    with pytest.raises(ClusterliftError, match=r"^starting$"):
        lifecycle.up(shape)
    assert started == ["master", "worker-1", "worker-2"]
