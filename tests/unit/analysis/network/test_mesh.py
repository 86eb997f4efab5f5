"""The mesh: the matrix of all pairs, and the hosts and pairs that are slow."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, permutations

import pytest

from harness.analysis.network.judge import mesh_findings
from harness.analysis.network.measured import pair_matrix
from harness.model.finding import EVERYTHING, Finding, Gravity
from harness.model.network_metrics import MESH_GOODPUT
from tests.unit.probe_builders import FOUR, MBIT, a_link, every_pair, pairs, probed


class TestMatrix:
    def test_the_repeats_of_a_pair_are_their_median(self) -> None:
        measured = [MESH_GOODPUT.of(("a", "b"), value) for value in (3.0, 1.0, 8.0)]
        assert pair_matrix(measured, MESH_GOODPUT).values == {("a", "b"): 3.0}

    def test_a_pair_that_failed_once_has_the_value_of_its_other_repeats(self) -> None:
        measured = [
            *pairs(MESH_GOODPUT, {("a", "b"): "down"}),
            *pairs(MESH_GOODPUT, {("a", "b"): 2.0, ("b", "a"): "down"}),
        ]
        goodput = pair_matrix(measured, MESH_GOODPUT)
        assert goodput.values == {("a", "b"): 2.0}
        assert goodput.errors == {("b", "a"): "down"}

    def test_hosts_are_in_the_order_of_their_numbers(self) -> None:
        measured = pairs(MESH_GOODPUT, {("node10", "node2"): 1.0, ("node1", "other"): 1.0})
        assert pair_matrix(measured, MESH_GOODPUT).hosts == ("node1", "node2", "node10", "other")


FAST, SLOW = 940.0 * MBIT, 94.0 * MBIT
EIGHT = tuple(f"n{i}" for i in range(8))


def lines_of(slow: Mapping[tuple[str, str], float], hosts: Sequence[str] = FOUR) -> list[str]:
    """Return the lines about a mesh whose pairs are fast, except for the given ones."""
    measured = pairs(MESH_GOODPUT, {**every_pair(hosts, FAST), **slow})
    findings = mesh_findings(probed(measurements=measured))
    return [str(finding) for finding in findings if finding.is_fault]


def from_host(host: str, hosts: Sequence[str] = FOUR) -> dict[tuple[str, str], float]:
    return {(host, other): SLOW for other in hosts if other != host}


def to_host(host: str, hosts: Sequence[str] = FOUR) -> dict[tuple[str, str], float]:
    return {(other, host): SLOW for other in hosts if other != host}


class TestSlowness:
    @pytest.mark.parametrize("hosts", [FOUR[:3], FOUR, tuple(f"n{i}" for i in range(20))])
    def test_a_slow_link_is_one_line_that_names_its_host(self, hosts: tuple[str, ...]) -> None:
        slow = hosts[2]
        assert lines_of(from_host(slow, hosts) | to_host(slow, hosts), hosts) == [
            f"{slow}: slow, 94.0 Mbit/s with its peers, expected 940.0 Mbit/s (typical)"
        ]

    @pytest.mark.parametrize(
        ("slow", "start"),
        [
            (from_host("node2"), "node2: sends slowly, 94.0 Mbit/s"),
            (to_host("node2"), "node2: receives slowly, 94.0 Mbit/s"),
        ],
    )
    def test_a_host_that_is_slow_in_one_direction_is_named_with_it(
        self, slow: dict[tuple[str, str], float], start: str
    ) -> None:
        [line] = lines_of(slow)
        assert line.startswith(start)

    def test_a_slow_path_to_a_host_that_sends_slowly_is_named_too(self) -> None:
        assert lines_of({**from_host("node2"), ("node3", "node2"): SLOW}) == [
            "node2: sends slowly, 94.0 Mbit/s with its peers, expected 940.0 Mbit/s (typical)",
            "node3 -> node2: slow, 94.0 Mbit/s, expected 940.0 Mbit/s (typical)",
        ]

    def test_a_slow_pair_is_named_without_its_hosts(self) -> None:
        assert lines_of({("node1", "node3"): SLOW, ("node3", "node1"): SLOW}) == [
            "node1 -> node3: slow, 94.0 Mbit/s, expected 940.0 Mbit/s (typical)",
            "node3 -> node1: slow, 94.0 Mbit/s, expected 940.0 Mbit/s (typical)",
        ]

    def test_of_two_hosts_the_slow_direction_is_named(self) -> None:
        [line] = lines_of({("b", "a"): SLOW}, ("a", "b"))
        assert line.startswith("b -> a: slow, 94.0 Mbit/s")

    @pytest.mark.parametrize(
        ("different", "hosts"),
        [
            pytest.param({}, FOUR, id="equals"),
            pytest.param({}, (), id="no hosts"),
            pytest.param({("node1", "node2"): 0.93 * FAST}, FOUR, id="less than a tenth"),
            pytest.param(
                {("n0", "n1"): 20 * FAST, ("n1", "n0"): 20 * FAST},
                EIGHT,
                id="two hosts on one machine",
            ),
        ],
    )
    def test_there_is_none(
        self, different: dict[tuple[str, str], float], hosts: tuple[str, ...]
    ) -> None:
        assert lines_of(different, hosts) == []


class TestHalfDead:
    """No mesh is called sound in which hosts are slow, however many of all they are."""

    @pytest.mark.parametrize("roles", ["sr", "s", "r"])
    @pytest.mark.parametrize("count", range(3, 7))
    def test_every_slow_host_is_named_if_two_are_sound(self, count: int, roles: str) -> None:
        hosts = EIGHT[:count]
        for size in range(1, count - 1):
            for faulty in combinations(hosts, size):
                assert {str(finding.subject) for finding in found(hosts, faulty, roles)} == {
                    *faulty
                }

    @pytest.mark.parametrize("count", range(2, 7))
    def test_if_all_are_slow_a_note_says_what_links_allow(self, count: int) -> None:
        [note] = found(EIGHT[:count], EIGHT, "sr")
        assert (note.gravity, note.subject) == (Gravity.NOTE, EVERYTHING)
        assert note.text == (
            "no host and no pair is slower than the others, but typical is 94.0 Mbit/s, 10 % of the "
            "941.5 Mbit/s that links allow"
        )

    def test_two_fast_neighbours_make_the_others_not_slow(self) -> None:
        """As two guests of one machine are, whose cards have no rate."""
        fast = {("n0", "n1"): FAST, ("n1", "n0"): FAST}
        measured = pairs(MESH_GOODPUT, every_pair(EIGHT[:5], SLOW) | fast)
        virtual = [a_link(host, driver="virtio_net") for host in EIGHT[:5]]
        [note] = mesh_findings(probed(virtual, measured))
        assert not note.is_fault
        assert note.text == (
            "no host and no pair is slower than most others, but some reach 940.0 Mbit/s, and typical is "
            "94.0 Mbit/s"
        )


def found(hosts: Sequence[str], faulty: Collection[str], roles: str) -> list[Finding]:
    """Return what a mesh of 1 Gbit/s shows whose faulty hosts send or receive slowly, or both."""
    values = {
        (a, b): SLOW if ("s" in roles and a in faulty) or ("r" in roles and b in faulty) else FAST
        for a, b in permutations(hosts, 2)
    }
    return list(mesh_findings(probed(map(a_link, hosts), pairs(MESH_GOODPUT, values))))
