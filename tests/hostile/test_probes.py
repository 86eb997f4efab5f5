"""No answer of a host to a probe harms the probe of the others, its record, or the terminal."""

import os
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.hosts.host_process import ANSWER_S
from harness.model.errors import BadInput
from harness.model.link import TYPICAL_MTU
from harness.model.network_metrics import RDMA
from harness.model.probe import ExcludedHost, Measurement, RecordedProbes
from harness.model.soak import SoakFlow
from harness.probes import plan
from harness.probes.kinds import kinds
from harness.records.reader import load_probes
from harness.settings.journal import Journal
from tests.hostile.answers import (
    ADDRESSES,
    EVIL,
    PEERS,
    SOUND,
    answer_of_guard,
    answer_to,
    name_of,
)
from tests.hostile.campaign import (
    ONLY,
    SCALE,
    STEP,
    called,
    chosen_for,
    hostile,
    problem_of_failures,
    repeated,
    reported,
)
from tests.hostile.world import Answer, Asked

BEFOREHAND = ("programs that are missing", "address of a name", "own addresses")
"""Who does not answer these takes part in nothing, so that others get other partners."""
PATIENCE_S = 90.0
"""How long a step may take in addition, however many hosts do not answer."""

Group = tuple[str, str, str]
"""Probe, subject and case of measurements."""


@dataclass(frozen=True)
class Scenario:
    """A probe of hosts of which some are evil; each of these has a sound partner."""

    probe: str
    options: tuple[str, ...] = ()
    mutations: int = 100
    evil: int = 1
    with_addresses: bool = True
    in_racks: bool = False
    beforehand: bool = False
    evil_last: bool = False

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts, in an order in which each evil one meets its peer in the first round.

        The first of two hosts is the client, and the last the server, where only one way is measured.
        """
        if self.evil == 1:
            return (SOUND[0], EVIL[0], SOUND[1])
        hosts = (*EVIL[: self.evil], *SOUND, *PEERS[: self.evil][::-1])
        return hosts[::-1] if self.evil_last else hosts

    def command(self, results: Path) -> list[str]:
        """Return the words of the command line."""
        named = [f"{h}={ADDRESSES[h]}" if self.with_addresses else h for h in self.hosts]
        half = len(named) // 2
        racks = ["--rack", f"a={','.join(named[:half])}", "--rack", f"b={','.join(named[half:])}"]
        hosts = racks if self.in_racks else ["--hosts", ",".join(named)]
        where = ["--via", "netns", "--results", str(results), "--configuration", "x"]
        return ["probe", self.probe, *where, *hosts, *self.options]


SECONDS = ("--seconds", "3")
SCENARIOS = {
    "link": Scenario("link", evil=16, mutations=2400),
    "link of three": Scenario("link", beforehand=True, mutations=150),
    "link by names": Scenario(
        "link", evil=16, with_addresses=False, beforehand=True, mutations=1200
    ),
    "link by names of three": Scenario(
        "link", with_addresses=False, beforehand=True, mutations=150
    ),
    "all": Scenario("all", SECONDS, evil=10, mutations=140),
    "all of three": Scenario("all", SECONDS, beforehand=True, mutations=20),
    "mtu": Scenario("mtu", (*SECONDS, "--sizes", "1400,1500", "--bidir"), evil=10, mutations=100),
    "mesh": Scenario("mesh", (*SECONDS, "--bidir"), evil=12, mutations=200),
    "latency": Scenario("latency", SECONDS, evil=10, mutations=400),
    "latency of servers": Scenario("latency", SECONDS, evil=10, mutations=100, evil_last=True),
    "racks": Scenario("racks", SECONDS, evil=4, in_racks=True, mutations=50),
    "soak": Scenario("soak", ("--for", "12s", "--round", "6s"), evil=8, mutations=90),
}
TOGETHER = ("racks", "soak")
"""Probes whose hosts all send at the same time, so that what one carries depends on others."""


@pytest.fixture(autouse=True)
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each host meet one other, and the disk keep what is written when it likes."""
    monkeypatch.setattr(plan, "count_rounds", lambda hosts: min(1, hosts - 1))
    monkeypatch.setattr(os, "fsync", lambda _: None)


def groups(probed: RecordedProbes) -> dict[Group, dict[str, float | None]]:
    """Return what was measured, by probe, subject and case."""
    found: dict[Group, dict[str, float | None]] = {}
    for event in probed.events:
        if isinstance(event, Measurement):
            name = (event.probe, event.subject, event.case)
            found.setdefault(name, {})[f"{event.metric} {event.round}"] = event.value
    return found


def problems_of(
    scenario: Scenario, command: str, sound: RecordedProbes, probed: RecordedProbes, text: str
) -> Iterator[str]:
    """Yield whose result is missing though it is sound, and whose is without a word."""
    excluded = {each.host for each in probed.events if isinstance(each, ExcludedHost)}
    evil = EVIL[: scenario.evil]
    if wrong := excluded - {*evil}:
        yield f"left out, but sound: {wrong}"
    failed = {
        host
        for each in probed.events
        if isinstance(each, Measurement) and each.error is not None
        for host in evil
        if host in f"{each.subject} {each.error}"
    }
    for host in (excluded | failed) & {*evil}:
        if not any(host in line for line in text.splitlines()):
            yield f"{host} failed, and no line names it"
    yield from _missing_links(scenario, probed, excluded)
    if scenario.probe not in TOGETHER:
        yield from _missing_groups(evil, command, (sound, probed), excluded)


def _missing_links(scenario: Scenario, probed: RecordedProbes, excluded: set[str]) -> Iterator[str]:
    evil = {*EVIL[: scenario.evil]}
    if scenario.probe == "soak":
        sent = {each.sender for each in probed.events if isinstance(each, SoakFlow)}
        if missing := {*scenario.hosts} - evil - sent:
            yield f"no transfer of {missing}"
    links = probed.links().keys()
    if missing := {*scenario.hosts} - evil - links:
        yield f"no link of {missing}"
    if silent := evil - links - excluded:
        yield f"no link, and no word of {silent}"


def _missing_groups(
    evil: Sequence[str],
    command: str,
    records: tuple[RecordedProbes, RecordedProbes],
    excluded: set[str],
) -> Iterator[str]:
    """Compare what was measured with the record of sound hosts alone, which comes first."""
    before, found = map(groups, records)
    for group, values in before.items():
        if command == "RDMA devices" and group[0] == RDMA:
            continue  # who has none has no partner
        if not any(host in group[1] for host in evil):
            if not values.items() <= found.get(group, {}).items():
                yield f"of sound hosts: {group} is {found.get(group)}, not {values}"
        elif group not in found and not any(host in group[1] for host in excluded):
            yield f"without a word: {group}"


class TestProbes:
    @pytest.mark.parametrize("name", SCENARIOS)
    def test_no_answer_harms_anybody_else(
        self, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        scenario = SCENARIOS[name]
        with hostile({}) as (world, asked_for):
            began_s = world.now_s
            code, text, problem = called(scenario.command(tmp_path), capsys)
        assert code in {0, 1}, text
        assert problem is None
        sound_s = world.now_s - began_s
        sound = recorded(tmp_path)
        steps = text.count(STEP)
        evil = EVIL[: scenario.evil]
        commands = sorted({command for host, command in asked_for if host in evil})
        runs = max(1, round(SCALE * scenario.mutations / len(commands) / len(evil)))
        problems = []
        for command in commands:
            if command in BEFOREHAND and not scenario.beforehand:
                continue
            for number in range(runs):
                place = f"{name}/{command}/{number}"
                if ONLY and place != ONLY:
                    continue
                chosen = chosen_for(place, evil, command)
                results = tmp_path / f"{command} {number}"
                with hostile(chosen) as (world, asked_for):
                    began_s = world.now_s
                    code, text, problem = called(scenario.command(results), capsys)
                if code is None:
                    problems.append(f"{repeated(place, chosen)}: {problem}")
                    continue
                runs_of = {host: asked_for[host, command] for host in evil}
                found = list(filter(None, (problem, problem_of_failures(text, evil, runs_of))))
                if world.now_s - began_s > sound_s + PATIENCE_S * (steps + 2):
                    found.append(f"took {world.now_s - began_s:.0f} s, not {sound_s:.0f} s")
                try:
                    probed = recorded(results)
                except (BadInput, ValueError, UnicodeError) as error:
                    # Of three hosts, one is left if the evil one denies the others.
                    if not (code == 2 and EVIL[0] in text):
                        found.append(f"no record: {error}: {text[-300:]}")
                else:
                    found += problems_of(scenario, command, sound, probed, text)
                problems += [f"{repeated(place, chosen)}: {each}" for each in found]
        reported(problems)

    @pytest.mark.parametrize("command", ["server of transfers", "transfer"])
    def test_hosts_that_have_died_cost_one_wait_however_many_they_are(
        self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def waited_s(number: int) -> float:
            scenario = Scenario("mesh", SECONDS, evil=12)
            dead = {host: (command, "no login", random.Random(1)) for host in EVIL[:number]}  # noqa: S311
            with hostile(dead) as (world, _):
                began_s = world.now_s
                called(scenario.command(tmp_path / str(number)), capsys)
                return world.now_s - began_s

        assert waited_s(12) < waited_s(1) + ANSWER_S

    def test_who_sets_mtus_puts_them_back_on_the_others_and_names_the_rest(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        scenario = Scenario("mtu", ("--seconds", "1", "--sizes", "1400", "--set-mtu"))
        problems = []
        for command in ("MTU", "guard arm", "guard revert", "guard set", "guard put"):
            for number in range(round(SCALE * 4)):
                place = f"set mtu/{command}/{number}"
                if ONLY and place != ONLY:
                    continue
                chosen = chosen_for(place, EVIL[:1], command)
                results = tmp_path / f"{command} {number}"
                mtus = Mtus()
                with hostile(chosen, mtus.answer, mtus.answer_of_guard) as (_, asked_for):
                    code, text, problem = called(scenario.command(results), capsys)
                found = [problem] if problem else []
                assert asked_for[EVIL[0], command], "nothing was mutated"
                outstanding = Journal(results / "set-mtu.journal").outstanding()
                left = {host for host, mtu in mtus.of_host.items() if mtu != TYPICAL_MTU}
                if left - {entry.host for entry in outstanding} or left & {*SOUND}:
                    found.append(f"not put back, and in no journal: {left}")
                if outstanding and (code != 1 or f"not put back: {EVIL[0]}: " not in text):
                    found.append(f"in the journal, and code {code}: {text[-300:]!r}")
                with hostile({}, mtus.answer, mtus.answer_of_guard):
                    called(scenario.command(results), capsys)
                if {*mtus.of_host.values()} != {TYPICAL_MTU}:
                    found.append(f"the same command does not put it back: {mtus.of_host}")
                problems += [f"{repeated(place, chosen)}: {each}" for each in found]
        reported(problems)

    def test_every_kind_of_probe_is_here(self) -> None:
        assert {scenario.probe for scenario in SCENARIOS.values()} == {*kinds()}


class Mtus:
    """Hosts whose MTUs guards set, and put back."""

    def __init__(self) -> None:
        self.of_host = dict.fromkeys((*SOUND, *EVIL[:1]), TYPICAL_MTU)

    def answer(self, asked: Asked) -> Answer:
        if name_of(asked) == "MTU":
            return Answer(f"{self.of_host[asked.host]}\n".encode())
        return answer_to(asked)

    def answer_of_guard(self, host: str, line: str) -> Answer:
        if match := re.search(r"^set .* mtu (\d+)", line):
            self.of_host[host] = int(match[1])
        elif line == "put back":
            self.of_host[host] = TYPICAL_MTU
        return answer_of_guard(host, line)


def recorded(results: Path) -> RecordedProbes:
    """Return the only probe below a directory."""
    [file] = results.glob("x/probes/*.jsonl")
    return load_probes(file)
