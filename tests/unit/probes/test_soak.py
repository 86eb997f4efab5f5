"""The rounds of a soak keep to their time, and tell hosts that fell silent from those that came back."""

import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from harness.hosts.remote_process import RemoteProcess
from harness.hosts.transports.host import Host, by_local
from harness.model.interface import HostLink
from harness.model.soak import LinkEvent, LinkEventKind, LinkSeconds, SoakFlow
from harness.probes.soak import MIN_LOAD_S, SET_UP_S, SETTLE_S, Soak
from harness.probes.traffic import OMITTED_S, Flow, Load

A, B = by_local("a"), by_local("b")
HOSTS = (A, B)
ROUND_S = OMITTED_S + 60 + SET_UP_S + SETTLE_S


def soak(now_s: float, number: int = 1) -> Soak:
    """Return a soak that began at 100 s, in a round of it, now."""
    links = {host.name: HostLink(host.name, "eth0", mtu_bytes=1500) for host in HOSTS}
    rng = random.Random(1)  # noqa: S311  chance that can be repeated
    return Soak(HOSTS, links, Load(60), rng, lambda: now_s, began_s=100.0, number=number)


def monitor(host: Host = A, **fields: Any) -> RemoteProcess:
    """Return a monitor that was started at 110 s and has not printed anything."""
    known: dict[str, Any] = {
        "host": host,
        "started_s": 110.0,
        "ended_s": None,
        "has_ended": False,
        "is_ready": True,
        "printed": list,
        "close": lambda _: None,
    }
    return cast("RemoteProcess", SimpleNamespace(**{**known, **fields}))


def events_of(found: Sequence[object]) -> list[tuple[str, float, LinkEventKind]]:
    return [
        (event.host, event.at_s, event.happening) for event in found if isinstance(event, LinkEvent)
    ]


class TestTime:
    def seconds(self, now_s: float, number: int) -> int | None:
        load = soak(now_s, number)._load_in_time()
        return None if load is None else load.seconds

    def test_a_round_that_begins_in_time_has_its_whole_load(self) -> None:
        assert self.seconds(100.5, 1) == 60
        assert self.seconds(100 + ROUND_S + SET_UP_S, 2) == 60

    def test_what_a_round_took_too_long_is_taken_from_the_next(self) -> None:
        assert self.seconds(100 + ROUND_S + SET_UP_S + 15, 2) == 45

    def test_a_round_without_time_is_left_out(self) -> None:
        least_s = OMITTED_S + SETTLE_S + MIN_LOAD_S
        assert self.seconds(100 + 2 * ROUND_S - least_s, 2) == MIN_LOAD_S
        assert self.seconds(100 + 2 * ROUND_S - least_s + 0.1, 2) is None


class TestHosts:
    def test_a_host_that_reports_nothing_is_lost_since_it_was_heard_last(self) -> None:
        running = soak(now_s=150.0)
        silent = monitor(printed=lambda: [(131.0, "== clock 5")])
        talking = monitor(B, printed=lambda: [(149.0, "== clock 5")])
        found = list(running._read({"a": silent, "b": talking}))
        assert events_of(found) == [("a", 31.0, LinkEventKind.LOST)]
        assert running.lost == {"a"}

    def test_a_host_whose_connection_broke_is_lost_at_that_moment(self) -> None:
        found = list(soak(now_s=150.0)._read({"a": monitor(ended_s=120.0)}))
        assert events_of(found) == [("a", 20.0, LinkEventKind.LOST)]

    def test_a_host_that_answers_again_takes_part_again(self) -> None:
        running = soak(now_s=150.0)
        running.lost = {"a", "b"}
        found = list(running._returned([monitor(), monitor(B, is_ready=False)]))
        assert events_of(found) == [("a", 50.0, LinkEventKind.BACK)]
        assert running.lost == {"b"}


class TestStopped:
    def cut_off(self, *rates: float) -> list[SoakFlow]:
        moments = tuple(float(11 + second) for second in range(len(rates)))
        none = (0,) * len(rates)
        levels = (0.0,) * len(rates)
        seconds = LinkSeconds("b", moments, rates, rates, none, levels, levels)
        return list(soak(now_s=150.0)._cut_off(Flow(A, B), 10.0, [seconds]))

    def test_a_transfer_counts_with_the_payload_that_its_receiver_got_until_then(self) -> None:
        share = (1500 - 52) / (1500 + 14)
        assert self.cut_off(90e6, 110e6) == [SoakFlow(1, "a", "b", 10.0, 2.0, 100e6 * share)]

    def test_without_a_second_of_it_nothing_is_known(self) -> None:
        assert self.cut_off() == []

    def test_that_carried_nothing_is_an_error(self) -> None:
        [flow] = self.cut_off(0.0, 0.0)
        assert flow.error == "nothing arrived until the soak was stopped"
