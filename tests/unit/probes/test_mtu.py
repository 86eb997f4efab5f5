"""The MTU probe finds the largest packet that a path carries, however the path treats larger ones."""

from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.hosts.remote_process import CompletedCommand
from harness.hosts.transports.host import Host, by_local
from harness.model.link import MIN_MTU
from harness.model.network_metrics import PATH_MTU, VANISHED_PACKET
from harness.model.probe import Measurement
from harness.node.iproute2 import RememberedMtu, read_remembered_mtu
from harness.probes.path_mtu import PathMtu, Search, path_mtu_steps, search_path_mtu
from harness.probes.tools.ping import Echo, PingReply
from tests.unit.probe_builders import a_link, measured

TWO = [by_local("node1", "10.0.0.1"), by_local("node2", "10.0.0.2")]
MAX_PACKETS = 20

Path = Callable[[int], PingReply]
SIZES = st.integers(MIN_MTU, 9000)


def silent(mtu: int) -> Path:
    """Return a path that drops larger packets, as switches with different MTUs do."""
    return lambda size: PingReply(Echo.ARRIVED if size <= mtu else Echo.LOST)


def refusing(mtu: int, *, names_mtu: bool = True) -> Path:
    """Return a path that refuses larger packets, as routers do."""
    refusal = PingReply(Echo.REFUSED, mtu if names_mtu else None)
    return lambda size: PingReply(Echo.ARRIVED) if size <= mtu else refusal


def run(search: Search, path: Path) -> tuple[PathMtu | None, list[int]]:
    """Return what a search finds on a path, and the sizes that it tries."""
    sizes: list[int] = []
    try:
        size = next(search)
        while True:
            sizes.append(size)
            size = search.send(path(size))
    except StopIteration as end:
        return end.value, sizes


class TestSearch:
    @given(SIZES, SIZES, st.lists(st.integers(0)))
    def test_finds_the_mtu_of_a_silent_path(self, own: int, path: int, likely: list[int]) -> None:
        found, _ = run(search_path_mtu(own, likely), silent(path))
        assert found is not None
        assert found.mtu_bytes == min(own, path)

    @given(SIZES, SIZES, st.booleans())
    def test_finds_the_mtu_of_a_refusing_path(self, own: int, path: int, names_mtu: bool) -> None:  # noqa: FBT001  hypothesis passes it by position
        found, _ = run(search_path_mtu(own), refusing(path, names_mtu=names_mtu))
        assert found == PathMtu(min(own, path))

    @given(SIZES, SIZES)
    def test_takes_few_packets(self, own: int, path: int) -> None:
        _, sizes = run(search_path_mtu(own, [1500]), silent(path))
        assert len(sizes) == len(set(sizes)) <= MAX_PACKETS

    @given(st.integers(MIN_MTU, 8999))
    def test_finds_the_smallest_packet_that_vanishes(self, path: int) -> None:
        found, _ = run(search_path_mtu(9000), silent(path))
        assert found == PathMtu(path, vanished_bytes=path + 1)

    @pytest.mark.parametrize(
        ("path", "sizes"),
        [
            (silent(9000), [9000]),
            (silent(1500), [9000, 1500, 1501]),
            (refusing(1500), [9000, 1500, 1501]),
        ],
    )
    def test_takes_three_packets_at_most_on_typical_paths(
        self, path: Path, sizes: list[int]
    ) -> None:
        assert run(search_path_mtu(9000, [1500]), path)[1] == sizes

    def test_checks_the_mtu_that_a_refusal_names(self) -> None:
        def liar(size: int) -> PingReply:
            return PingReply(Echo.ARRIVED) if size <= 1400 else PingReply(Echo.REFUSED, 4000)

        assert run(search_path_mtu(9000), liar)[0] == PathMtu(1400)

    def test_finds_nothing_if_no_ping_is_answered(self) -> None:
        assert run(search_path_mtu(1500), silent(0))[0] is None


Install = Callable[[dict[str, str]], None]


@pytest.fixture
def pings(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Fake ping on hosts: a number is the MTU of the host's path, other text is an error of ping."""

    def install(by_host: dict[str, str]) -> None:
        def run_all(
            commands: Sequence[tuple[Host, Sequence[str]]], _timeout_s: float
        ) -> list[CompletedCommand]:
            return [
                _ping(by_host[host.name], int(command[command.index("-s") + 1]) + 28)
                for host, command in commands
            ]

        monkeypatch.setattr("harness.hosts.remote_process.run_all", run_all)

    return install


def _ping(path: str, size: int) -> CompletedCommand:
    if not path.isdecimal():
        return CompletedCommand(2, "", path)
    received = 3 if size <= int(path) else 0
    return CompletedCommand(int(not received), f"3 packets transmitted, {received} received", "")


class TestPaths:
    LINKS = MappingProxyType({"node1": a_link("node1", mtu_bytes=9000), "node2": a_link("node2")})

    def test_are_measured_in_both_directions(self, pings: Install) -> None:
        pings({"node1": "1500", "node2": "9000"})
        [step] = path_mtu_steps(TWO, self.LINKS)
        values = {
            (measurement.subject, measurement.metric): measurement.value
            for measurement in measured([step])
        }
        assert values == {
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
    def test_are_measured_even_if_another_path_fails(
        self, pings: Install, path: str, error: str
    ) -> None:
        pings({"node1": path, "node2": "1500"})
        [step] = path_mtu_steps(TWO, self.LINKS)
        errors = {measurement.subject: measurement.error for measurement in measured([step])}
        assert errors == {"node1 -> node2": error, "node2 -> node1": None}


class RememberingHosts:
    """Hosts whose kernels remember 1400 bytes of a path that carries 1500 by now.

    `memory` is what `ip route get` prints. If `can_look_past`, ping knows how to send larger packets.
    """

    def __init__(self, memory: str, *, can_look_past: bool) -> None:
        self._memory = memory
        self._can_look_past = can_look_past

    def run_all(
        self, commands: Iterable[tuple[Host, Sequence[str]]], _timeout_s: float
    ) -> list[CompletedCommand]:
        return [self._run(list(words)) for _, words in commands]

    def _run(self, words: list[str]) -> CompletedCommand:
        if words[0] == "ip":
            return CompletedCommand(0, self._memory, "")
        size = int(words[words.index("-s") + 1]) + 28
        is_past = "probe" in words
        if is_past and not self._can_look_past:
            return CompletedCommand(2, "", "ping: invalid -M argument: probe")
        if size <= (1500 if is_past else 1400):
            return CompletedCommand(0, "3 packets transmitted, 3 received", "")
        error = f"ping: local error: message too long, mtu={1500 if is_past else 1400}"
        return CompletedCommand(1, "3 packets transmitted, 0 received, +3 errors", error)


MEMORY = '[{"dst":"10.0.0.2","dev":"e0","cache":[],"expires":599,"metrics":[{"mtu":1400}]}]'
FIXED = '[{"dst":"10.0.0.2","dev":"e0","metrics":[{"mtu":1400}]}]'
UNKNOWN = (
    "node1 -> node2: the path is unknown, because node1 remembers a largest packet of 1400 bytes for "
    "599 s more: run ip route flush cache there, and probe again"
)


class TestMemory:
    """What a router said earlier, the sender's kernel remembers for ten minutes."""

    @pytest.mark.parametrize(
        ("memory", "can_look_past", "found"),
        [
            (MEMORY, True, 1500),
            (MEMORY, False, UNKNOWN),
            (FIXED, True, 1400),
            (FIXED, False, 1400),
            ("no JSON", False, 1400),
        ],
    )
    def test_is_not_taken_for_the_path(
        self, monkeypatch: pytest.MonkeyPatch, memory: str, found: int | str, *, can_look_past: bool
    ) -> None:
        hosts = RememberingHosts(memory, can_look_past=can_look_past)
        monkeypatch.setattr("harness.hosts.remote_process.run_all", hosts.run_all)
        [step] = path_mtu_steps(TWO, {host.name: a_link(host.name) for host in TWO})
        first = next(iter(step.measure()))
        assert isinstance(first, Measurement)
        assert (first.subject, first.metric) == ("node1 -> node2", PATH_MTU.name)
        assert (first.value or first.error) == found

    def test_of_what_the_receiver_can_take_is_believed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hosts = RememberingHosts(MEMORY, can_look_past=False)
        monkeypatch.setattr("harness.hosts.remote_process.run_all", hosts.run_all)
        links = {"node1": a_link("node1"), "node2": a_link("node2", mtu_bytes=1400)}
        [step] = path_mtu_steps(TWO, links)
        values = [each.value for each in step.measure() if isinstance(each, Measurement)]
        assert values == [1400, 1400]

    @pytest.mark.parametrize(
        ("printed", "remembered"),
        [
            (MEMORY, RememberedMtu(1400, 599)),
            (
                '[{"dst":"fd00::2","expires":590,"metrics":[{"mtu":1280}],"pref":"medium"}]',
                RememberedMtu(1280, 590),
            ),
            (FIXED, None),
            # A router announced this route and its MTU, which both expire.
            ('[{"dst":"fd00::2","protocol":"ra","expires":590,"metrics":[{"mtu":1280}]}]', None),
            ('[{"dst":"10.0.0.2","cache":[],"expires":599}]', None),
            ('[{"dst":"10.0.0.2","expires":599,"metrics":[{"rtt":3}]}]', None),
            ('[{"dst":"10.0.0.2","expires":599,"metrics":"mtu"}]', None),
            ("[]", None),
        ],
    )
    def test_is_read_from_the_route(self, printed: str, remembered: RememberedMtu | None) -> None:
        assert read_remembered_mtu(printed) == remembered
