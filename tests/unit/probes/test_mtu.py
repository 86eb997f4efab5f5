"""The largest packet that a path carries is found, whatever it is and whoever says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.acceptance import path_mtu_faults
from harness.model.network_metrics import PACKET_GOODPUT, PATH_MTU, VANISHED_PACKET
from harness.probes.mtu import LEAST_BYTES, PathMtu, Search, paths, search, sweep
from harness.probes.remote_process import CompletedCommand
from harness.probes.tools.ping import Answer, Echo
from harness.probes.traffic import Load
from harness.probes.transports.host import Host, HostError, by_local
from tests.unit.probe_builders import a_link, every_pair, pairs

TWO = [by_local("node1", "10.0.0.1"), by_local("node2", "10.0.0.2")]
MOST_PACKETS = 20

Path = Callable[[int], Answer]


def silent(carries: int) -> Path:
    """What a link between switches of another MTU does: longer packets are gone."""
    return lambda size: Answer(Echo.ARRIVED if size <= carries else Echo.LOST)


def honest(carries: int, *, tells: bool = True) -> Path:
    """What a router does."""
    refusal = Answer(Echo.REFUSED, carries if tells else None)
    return lambda size: Answer(Echo.ARRIVED) if size <= carries else refusal


def walked(one: Search, path: Path) -> tuple[PathMtu | None, list[int]]:
    """What a search finds, and the sizes it asked for."""
    sizes: list[int] = []
    try:
        size = next(one)
        while True:
            sizes.append(size)
            size = one.send(path(size))
    except StopIteration as end:
        return end.value, sizes


class TestSearch:
    @given(st.integers(LEAST_BYTES, 9000), st.integers(LEAST_BYTES, 9000), st.lists(st.integers(0)))
    def test_finds_what_a_silent_path_carries(self, own: int, path: int, likely: list[int]) -> None:
        found, _ = walked(search(own, likely), silent(path))
        assert found is not None
        assert found.mtu_bytes == min(own, path)

    @given(st.integers(LEAST_BYTES, 9000), st.integers(LEAST_BYTES, 9000), st.booleans())
    def test_finds_what_an_honest_path_carries(self, own: int, path: int, tells: bool) -> None:  # noqa: FBT001  hypothesis's way
        found, _ = walked(search(own), honest(path, tells=tells))
        assert found == PathMtu(min(own, path))

    @given(st.integers(LEAST_BYTES, 9000), st.integers(LEAST_BYTES, 9000))
    def test_takes_few_packets(self, own: int, path: int) -> None:
        _, sizes = walked(search(own, [1500]), silent(path))
        assert len(sizes) == len(set(sizes)) <= MOST_PACKETS

    @given(st.integers(LEAST_BYTES, 8999))
    def test_a_black_hole_is_told_with_the_least_that_vanishes(self, path: int) -> None:
        found, _ = walked(search(9000), silent(path))
        assert found == PathMtu(path, vanished_bytes=path + 1)

    @pytest.mark.parametrize(
        ("path", "sizes"),
        [
            (silent(9000), [9000]),
            (silent(1500), [9000, 1500, 1501]),
            (honest(1500), [9000, 1500, 1501]),
        ],
    )
    def test_usual_paths_take_three_packets_at_most(self, path: Path, sizes: list[int]) -> None:
        assert walked(search(9000, [1500]), path)[1] == sizes

    def test_a_refusal_is_believed_only_when_what_it_names_arrives(self) -> None:
        def liar(size: int) -> Answer:
            return Answer(Echo.ARRIVED) if size <= 1400 else Answer(Echo.REFUSED, 4000)

        assert walked(search(9000), liar)[0] == PathMtu(1400)

    def test_a_host_that_answers_nothing_has_no_path(self) -> None:
        assert walked(search(1500), silent(0))[0] is None


@pytest.fixture
def pings(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    """Make hosts answer pings: a number is what the path carries, other text a complaint."""

    def install(by_host: dict[str, str]) -> None:
        def run_all(questions: Sequence[tuple[Host, Sequence[str]]]) -> list[CompletedCommand]:
            return [
                _answer(by_host[host.name], int(command[command.index("-s") + 1]) + 28)
                for host, command in questions
            ]

        monkeypatch.setattr("harness.probes.mtu.run_all", run_all)

    return install


def _answer(path: str, size: int) -> CompletedCommand:
    if not path.isdecimal():
        return CompletedCommand(2, "", path, 0)
    received = 3 if size <= int(path) else 0
    return CompletedCommand(int(not received), f"3 packets transmitted, {received} received", "", 0)


class TestPaths:
    LINKS = MappingProxyType({"node1": a_link("node1", mtu_bytes=9000), "node2": a_link("node2")})

    def test_are_found_in_both_directions(self, pings: Callable[[dict[str, str]], None]) -> None:
        pings({"node1": "1500", "node2": "9000"})
        [step] = paths(TWO, self.LINKS)
        found = {(one.subject, one.metric): one.value for one in step.take()}
        assert found == {
            ("node1 -> node2", PATH_MTU.name): 1500,
            ("node1 -> node2", VANISHED_PACKET.name): 1501,
            ("node2 -> node1", PATH_MTU.name): 1500,
        }

    @pytest.mark.parametrize(
        ("path", "error"),
        [
            ("0", "node1 -> node2: pings are not answered"),
            ("ping: unrecognized option: M", "node1 -> node2: ping: unrecognized option: M"),
        ],
    )
    def test_that_cannot_be_found_say_why_and_the_rest_goes_on(
        self, pings: Callable[[dict[str, str]], None], path: str, error: str
    ) -> None:
        pings({"node1": path, "node2": "1500"})
        [step] = paths(TWO, self.LINKS)
        errors = {one.subject: one.error for one in step.take()}
        assert errors == {"node1 -> node2": error, "node2 -> node1": None}

    def test_a_size_that_does_not_arrive_is_not_measured(
        self, pings: Callable[[dict[str, str]], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        carried: list[int | None] = []

        def carry(flows: Sequence[object], load: Load) -> list[HostError]:
            carried.extend(load.mss_bytes for _ in flows)
            return [HostError("as expected") for _ in flows]

        monkeypatch.setattr("harness.probes.mtu.carry", carry)
        pings({"node1": "1500"})
        measured = [one for step in sweep(TWO, [1500, 9000], Load()) for one in step.take()]
        assert carried == [1460]
        assert [(one.metric, one.case, one.error) for one in measured] == [
            (PACKET_GOODPUT.name, "packets of 1500 bytes", "as expected"),
            (
                PACKET_GOODPUT.name,
                "packets of 9000 bytes",
                "node1 -> node2: the path does not carry packets of 9000 bytes",
            ),
        ]


class TestBlackHoles:
    LINKS = MappingProxyType({"a": a_link("a", mtu_bytes=9000), "b": a_link("b")})

    def test_one_end_at_9000_is_named_with_its_pair(self) -> None:
        measured = [
            *pairs(PATH_MTU, every_pair("ab", 1500)),
            *pairs(VANISHED_PACKET, {("a", "b"): 1501}),
        ]
        assert path_mtu_faults(measured, self.LINKS) == {
            (
                "a",
                "b",
            ): "a -> b: a path MTU black hole: packets larger than 1500 bytes vanish without an "
            "error (a's MTU is 9000, b's MTU is 1500)"
        }

    def test_a_path_that_says_so_is_none(self) -> None:
        [line] = path_mtu_faults(pairs(PATH_MTU, {("a", "b"): 1400}), self.LINKS).values()
        assert line.startswith(
            "a -> b: the path carries at most 1400 bytes and refuses larger packets"
        )

    def test_a_path_that_carries_what_its_sender_sends_is_not_mentioned(self) -> None:
        assert (
            path_mtu_faults(pairs(PATH_MTU, {("b", "a"): 1500, ("a", "b"): 9000}), self.LINKS) == {}
        )
