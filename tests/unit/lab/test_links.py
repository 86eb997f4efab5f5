"""The links of the lab's nodes are settings of hosts, which stay."""

import pytest

from harness.hosts import links as host_links
from harness.hosts.transports.host import Host, HostError
from harness.lab import links
from harness.lab.cluster import Node
from harness.lab.links import read_links, set_links
from harness.model.interface import HostLink
from harness.model.link import Link
from harness.settings.in_force import Settings

MBIT = 10**6
HOST = Node("worker-1", "abc", "running").host


def test_a_link_is_what_the_node_says_of_its_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def read(hosts: list[Host], device: str | None) -> list[HostLink | HostError]:
        asked.append(device)
        shaped = HostLink("worker-1", "eth0", mtu_bytes=9000, shaped_bit_s=250 * MBIT)
        found: list[HostLink | HostError] = [shaped, HostLink("worker-2", "eth0", mtu_bytes=1500)]
        return found[: len(hosts)]

    monkeypatch.setattr(host_links, "read_links", read)
    assert read_links([HOST, HOST]) == [Link(250 * MBIT, 9000), Link(None, 1500)]
    assert asked == ["eth0"]


def test_a_node_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = HostError("worker-1: no such container")
    monkeypatch.setattr(host_links, "read_links", lambda *_: [gone])
    with pytest.raises(HostError, match="no such container"):
        read_links([HOST])


def test_mtu_and_rate_are_set_and_a_limit_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Settings] = []
    monkeypatch.setattr(links, "set_for_good", seen.append)
    set_links({HOST: Link(MBIT, 9000)})
    set_links({HOST: Link(None, 1500)})
    values = [[setting.value for setting in settings[HOST]] for settings in seen]
    assert values == [["9000", "1mbit"], ["1500", "unlimited"]]
