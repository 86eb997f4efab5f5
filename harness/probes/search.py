"""The search for slow hosts among many: some rounds of random disjoint pairs, then the suspects again.

A pair of hosts tells only that neither end is slow, or that one of them is. Hosts that were slow in most
rounds are suspects and are paired with hosts that are not; pairs that stay unexplained are measured again. So
the number of rounds grows with the logarithm of the number of hosts. The same hosts, number of rounds and
seed give the same pairs.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, log2
from typing import TypeVar

from harness.hosts.parallelism import batches
from harness.hosts.transports.host import Host
from harness.model.network_metrics import GOODPUT_TOLERANCE, MESH_GOODPUT
from harness.model.probe import ARROW, Measurement
from harness.probes.plan import Pairs, ProbeStep, count_rounds, round_robin_round
from harness.statistics.pairwise import (
    AGAIN,
    Pair,
    settled,
    slow_members,
    sound_range,
    suspects,
    unexplained,
)
from harness.terminal import say
from harness.words import count_of

T = TypeVar("T")

MIN_ROUNDS = 4
"""With fewer, one disturbed transfer could hide a slow host."""


def rounds_for(hosts: int) -> int:
    """Return the number of rounds that a search among so many hosts takes before its follow-up.

    A sound host is a suspect if it was paired with slow hosts in most rounds. The chance of that falls
    exponentially with the rounds, so the logarithm of the number of hosts keeps the follow-up short.
    """
    return max(MIN_ROUNDS, ceil(log2(max(hosts, 1))))


def drawn_rounds(hosts: Sequence[T], rounds: int, seed: int) -> list[Pairs[T]]:
    """Draw rounds of disjoint pairs; no pair is drawn twice.

    Each is a round of a round robin in which the hosts have random places. There are fewer than `rounds` if
    all pairs meet in fewer; for an odd number of hosts, another one is left out of each round.
    """
    rng = random.Random(seed)  # noqa: S311  chance that can be repeated
    places = rng.sample(hosts, len(hosts))
    possible = count_rounds(len(hosts))
    numbers = rng.sample(range(possible), min(rounds, possible))
    return [round_robin_round(places, number) for number in numbers]


def disjoint_rounds(pairs: Iterable[tuple[T, T]]) -> list[Pairs[T]]:
    """Put pairs into as few rounds as is simple, so that no member is in two pairs of a round."""
    rounds: list[Pairs[T]] = []
    busy: list[set[T]] = []
    for pair in pairs:
        fitting = (number for number, members in enumerate(busy) if members.isdisjoint(pair))
        number = next(fitting, len(rounds))
        if number == len(rounds):
            rounds.append([])
            busy.append(set())
        rounds[number].append(pair)
        busy[number].update(pair)
    return rounds


def search_steps(
    hosts: Sequence[Host],
    steps_of: Callable[[Pairs[Host]], list[ProbeStep]],
    *,
    rounds: int,
    seed: int,
) -> list[ProbeStep]:
    """Measure random pairs in `rounds` rounds, then suspects with other hosts, then slow pairs again.

    `steps_of` returns the steps that measure disjoint pairs.
    """
    search = _Search(hosts, steps_of, seed)
    drawn = [step for pairs in drawn_rounds(hosts, rounds, seed) for step in steps_of(pairs)]
    # How many suspects there will be is unknown: a single batch is the least for any.
    follow_up_s = AGAIN * sum(step.expected_s for step in steps_of([(hosts[0], hosts[1])]))
    return [
        *(replace(step, measure=partial(search.noted, step)) for step in drawn),
        ProbeStep("mesh: suspects, with hosts that are none", follow_up_s, search.follow_hosts),
        ProbeStep("mesh: slow pairs again", follow_up_s, search.follow_pairs),
    ]


@dataclass
class _Search:
    """The goodputs so far, in bit/s, by case and by pair in the order of measuring; a failure is 0."""

    hosts: Sequence[Host]
    steps_of: Callable[[Pairs[Host]], list[ProbeStep]]
    seed: int
    found: dict[str, dict[Pair, list[float]]] = field(default_factory=dict)
    repetition: int = 1
    rounds: dict[tuple[str, str], int] = field(default_factory=dict)
    """The last round of each subject and case: a record has each round of them once."""

    def noted(self, step: ProbeStep) -> Iterator[Measurement]:
        """Measure a step, number its measurements, and keep its goodputs."""
        started: dict[tuple[str, str], int] = {}
        for original in step.measure():
            if not isinstance(original, Measurement):
                continue
            key = (original.subject, original.case)
            if key not in started:
                started[key] = max(self.rounds.get(key, 0) + 1, self.repetition)
            measured = replace(original, round=started[key])
            if measured.metric == MESH_GOODPUT.name:
                sender, _, receiver = measured.subject.partition(ARROW)
                of_case = self.found.setdefault(measured.case, {})
                of_case.setdefault((sender, receiver), []).append(measured.value or 0.0)
            yield measured
        self.rounds |= started

    def follow_hosts(self) -> Iterator[Measurement]:
        """Measure every suspect with hosts that are none, AGAIN times."""
        suspected = {
            host for values, limit in self._judged() for host, _ in suspects(values, limit)
        }
        sound = [host for host in self.hosts if host.name not in suspected]
        if not suspected:
            return
        say(f"mesh: {count_of(len(suspected), 'suspect')}")
        if not sound:
            say("mesh: every host is a suspect, so none can be cleared by another")
            return
        doubtful = [host for host in self.hosts if host.name in suspected]
        rng = random.Random(self.seed)  # noqa: S311  chance that can be repeated
        for _ in range(AGAIN):
            for some in batches(doubtful, len(sound)):
                yield from self._measure(self._partnered(some, rng.sample(sound, len(sound))))

    def follow_pairs(self) -> Iterator[Measurement]:
        """Measure every slow pair between hosts that are not slow AGAIN times; then forget all goodputs."""
        by_name = {host.name: host for host in self.hosts}
        doubtful = {
            (min(pair), max(pair))
            for values, limit in self._judged()
            for pair in unexplained(values, limit, slow_members(values, limit))
        }
        if doubtful:
            say(f"mesh: {count_of(len(doubtful), 'slow pair')} between hosts that are not slow")
        rounds = disjoint_rounds((by_name[a], by_name[b]) for a, b in sorted(doubtful))
        for pairs in rounds * AGAIN:
            yield from self._measure(pairs)
        self.found.clear()
        self.repetition += 1

    def _partnered(self, doubtful: Sequence[Host], partners: list[Host]) -> Pairs[Host]:
        """Give each host one of the partners, of which there are enough; if possible, one it has not met."""
        met = {pair for found in self.found.values() for pair in found}
        pairs = []
        for host in doubtful:
            new = (each for each in partners if (host.name, each.name) not in met)
            partner = next(new, partners[-1])
            partners.remove(partner)
            pairs.append((host, partner))
        return pairs

    def _measure(self, pairs: Pairs[Host]) -> Iterator[Measurement]:
        for step in self.steps_of(pairs):
            say(step.description)
            yield from self.noted(step)

    def _judged(self) -> Iterator[tuple[Mapping[Pair, float], float]]:
        """Yield the values of each case, and the limit below which they are slow."""
        for found in self.found.values():
            values = {pair: settled(repeats) for pair, repeats in found.items()}
            sound = sound_range(values, GOODPUT_TOLERANCE)
            # Without a typical value nothing works, and nobody can be cleared.
            if sound is not None:
                yield values, sound.limit
