"""Hosts are compared with the others of their class: what they vary by is learnt from them."""

import random
from collections.abc import Iterable, Mapping

import pytest

from harness.analysis.network.learnt import MIN_HOSTS, unlike_the_others
from harness.analysis.network.mesh import PairMatrix
from harness.model.interface import HostLink
from tests.unit.probe_builders import MBIT, a_link


def mesh(speeds: Mapping[str, float], noise: float = 0.002, seed: int = 1) -> PairMatrix:
    """Return the goodput in Mbit/s of all pairs: that of the slower host, with some noise."""
    rng = random.Random(seed)  # noqa: S311  chance that can be repeated
    values = {
        (a, b): min(speeds[a], speeds[b]) * MBIT * rng.gauss(1, noise)
        for a in speeds
        for b in speeds
        if a != b
    }
    return PairMatrix(tuple(speeds), values, {})


def alike(hosts: int, speed: float = 940) -> dict[str, float]:
    return {f"n{number}": speed for number in range(hosts)}


def links(speeds: Iterable[str], **fields: object) -> dict[str, HostLink]:
    return {host: a_link(host, **fields) for host in speeds}


def test_a_host_that_theory_lets_pass_is_found() -> None:
    speeds = alike(12) | {"n7": 900.0}
    [line] = map(str, unlike_the_others(mesh(speeds), links(speeds)))
    assert line.startswith("n7: 90")
    assert (
        "less than the median of 12 hosts (igb, 1gbit, MTU 1500), which vary by less than 2" in line
    )


def test_hosts_that_vary_more_may_differ_more() -> None:
    rng = random.Random(3)  # noqa: S311  as above
    speeds = {f"n{number}": 940 * rng.gauss(1, 0.04) for number in range(20)} | {"n7": 900.0}
    assert list(unlike_the_others(mesh(speeds), links(speeds))) == []


@pytest.mark.parametrize(("odd", "speed"), [("n3", 900.0), ("s3", 90.0)])
def test_each_class_has_its_own_criterion(odd: str, speed: float) -> None:
    fast, slow = alike(6), {f"s{number}": 95.0 for number in range(6)}
    both = {**links(fast), **links(slow, speed_mbit_s=100)}
    assert list(unlike_the_others(mesh({**fast, **slow}), both)) == []
    [finding] = unlike_the_others(mesh({**fast, **slow, odd: speed}), both)
    assert finding.subject == odd


def test_of_few_hosts_nothing_is_learnt() -> None:
    speeds = alike(MIN_HOSTS - 1) | {"n1": 100.0}
    assert list(unlike_the_others(mesh(speeds), links(speeds))) == []


@pytest.mark.parametrize("hosts", [5, 6, 8, 32])
@pytest.mark.parametrize("spread", [0, 0.02])
def test_sound_hosts_are_rarely_called_unlike(hosts: int, spread: float) -> None:
    rng = random.Random(5)  # noqa: S311  as above
    alarms = 0
    for seed in range(100):
        speeds = {f"n{number}": 940 * rng.gauss(1, spread) for number in range(hosts)}
        alarms += bool(list(unlike_the_others(mesh(speeds, seed=seed), links(speeds))))
    assert alarms <= 5


def test_hosts_that_agree_by_chance_may_differ_by_the_noise_of_their_pairs() -> None:
    """One second at 8 Mbit/s is sixty blocks of 16 KiB, so three of five hosts may be equal."""
    rng = random.Random(7)  # noqa: S311  as above
    alarms = 0
    for _ in range(200):
        hosts = [f"n{number}" for number in range(5)]
        pairs = [(a, b) for a in hosts for b in hosts if a < b]
        drawn = [pair for a, b in rng.sample(pairs, 6) for pair in ((a, b), (b, a))]
        values = {pair: rng.choice((7.5, 7.6, 7.7, 7.8)) * MBIT for pair in drawn}
        alarms += bool(list(unlike_the_others(PairMatrix(tuple(hosts), values, {}), links(hosts))))
    assert alarms <= 10
