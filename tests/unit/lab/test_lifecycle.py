"""A lab that starts, by what Docker says of its nodes."""

import pytest

from harness.base.errors import ClusterliftError
from harness.lab import lifecycle
from harness.lab.cluster import Lab, LabSpec, Node
from harness.lab.compose import Compose


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
    monkeypatch.setattr(Compose, "build", lambda _: None)
    monkeypatch.setattr(Compose, "up", start)
    monkeypatch.setattr(lifecycle, "find_lab", lambda: Lab(nodes, ("hdfs",), 0.5))
    assert lifecycle.up(shape) is False
    monkeypatch.setattr(lifecycle, "find_lab", lambda: Lab(nodes[1:], ("hdfs",), 0.5))
    with pytest.raises(ClusterliftError, match=r"^starting$"):
        lifecycle.up(shape)
    assert started == ["master", "worker-1", "worker-2"]
