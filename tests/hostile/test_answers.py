"""Whatever a host answers to a command, it harms neither the other hosts, nor the record, nor the terminal.

Each command of each probe and program gets `HOSTILE` mutations of its real answer (1 by default; `make
test-all` tries more). `SEED` repeats a failure.
"""

import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.model.link import TYPICAL_MTU
from harness.model.probe import ExcludedHost
from harness.probes import plan
from harness.probes.kind import kinds
from harness.programs.program import programs
from harness.records.reader import load, load_probes
from harness.settings.journal import Journal
from tests.hostile.answers import ADDRESSES, EVIL, SOUND, answer_of_guard, answer_to, name_of
from tests.hostile.mutations import KINDS, mutated
from tests.hostile.world import Answer, Asked, World, world_of

SEED = os.environ.get("SEED") or "1"
MUTATIONS = int(os.environ.get("HOSTILE") or 1)
LONGEST_LINE = 3000
PATIENCE_S = 1000.0
"""How much longer a command may take, on the world's clock, than with sound hosts."""
HOSTS = ",".join(f"{host}={ADDRESSES[host]}" for host in (SOUND[0], EVIL, SOUND[1]))
RACKS = (f"--rack=a={SOUND[0]}={ADDRESSES[SOUND[0]]}", f"--rack=b={EVIL}={ADDRESSES[EVIL]}")
SECONDS = ("--seconds", "1")
ONE_RUN = ("--hosts", HOSTS, "--runs", "1", "--trials", "1", "--warmup", "0", "--timeout", "1min")
COMMANDS = {
    "link": ("probe", "link", "--hosts", f"{SOUND[0]},{EVIL},{SOUND[1]}"),
    "mtu": ("probe", "mtu", "--hosts", HOSTS, *SECONDS, "--sizes", "1400", "--bidir"),
    "mesh": ("probe", "mesh", "--hosts", HOSTS, *SECONDS),
    "latency": ("probe", "latency", "--hosts", HOSTS, *SECONDS),
    "disk": ("probe", "disk", "--hosts", HOSTS, *SECONDS, "--directory", "/data"),
    "racks": ("probe", "racks", *RACKS, *SECONDS, "--draws", "1"),
    "soak": ("probe", "soak", "--hosts", HOSTS, "--for", "12s", "--round", "6s"),
    "hpcc": ("program", "hpcc", *ONE_RUN, "--memory", "16mb", "--block", "64"),
    "phold": ("program", "phold", *ONE_RUN, "--objects", "1024"),
}


@pytest.fixture(autouse=True)
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each host meet one other, and the disk keep what is written when it likes."""
    monkeypatch.setattr(plan, "count_rounds", lambda hosts: min(1, hosts - 1))
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setenv("ROSS_HOME", "/opt/ross")


def test_every_probe_and_program_is_here() -> None:
    missing = {*kinds(), *programs()} - {*COMMANDS, "all"}
    assert not missing, f"add a command line of {missing} to COMMANDS"


@contextmanager
def hostile(
    command: str,
    kind: str = "",
    seed: str = "",
    answers: Callable[[Asked], Answer] = answer_to,
    of_guard: Callable[[str, str], Answer] = answer_of_guard,
) -> Iterator[tuple[World, Counter[str]]]:
    """Mutate the answers of the evil host to one command; yield the world, and what it was asked."""
    rng = random.Random(f"{SEED}/{seed}")  # noqa: S311  chance that can be repeated
    asked_for: Counter[str] = Counter()

    def reply(name: str, asked: Asked, sound: Answer) -> Answer:
        asked_for[name] += asked.host == EVIL
        is_mutated = kind and name == command and asked.host == EVIL
        return mutated(kind, asked, sound, rng) if is_mutated else sound

    def guard(host: str, line: str) -> Answer:
        return reply(f"guard {line.partition(' ')[0]}", Asked(host, ()), of_guard(host, line))

    with world_of(lambda asked: reply(name_of(asked), asked, answers(asked)), guard) as world:
        yield world, asked_for


def mutations(name: str, command: str) -> Iterator[tuple[str, str]]:
    """Yield the kind of each mutation of a command, and what tells its chance from others."""
    rng = random.Random(f"{SEED}/{name}/{command}")  # noqa: S311  chance that can be repeated
    for number in range(MUTATIONS):
        yield rng.choice([*KINDS]), f"{name}/{command}/{number}"


def run(words: tuple[str, ...], results: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command; return what it printed, which does no harm to a terminal."""
    capsys.readouterr()
    where = ("--via", "netns", "--results", str(results), "--configuration", "x")
    assert main([*words, *where]) in {0, 1, 2}
    text = "".join(capsys.readouterr())
    for line in text.split("\n"):
        assert line.isprintable()
        assert len(line) <= LONGEST_LINE
        assert "hunter2" not in line
    return text


@pytest.mark.parametrize("name", COMMANDS)
def test_no_answer_harms_anybody_else(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with hostile("") as (world, commands):
        began_s = world.now_s
        run(COMMANDS[name], tmp_path / "sound", capsys)
    sound_s = world.now_s - began_s
    for command in sorted(filter(commands.get, commands)):
        for kind, seed in mutations(name, command):
            results = tmp_path / seed.replace("/", " ")
            print(f"{seed}: {kind}")  # noqa: T201  pytest shows it if the test fails
            with hostile(command, kind, seed) as (world, _):
                began_s = world.now_s
                text = run(COMMANDS[name], results, capsys)
            assert world.now_s - began_s < sound_s + PATIENCE_S
            for file in results.glob("x/*.jsonl"):
                load(file)
            for file in results.glob("x/probes/*.jsonl"):
                probed = load_probes(file)
                excluded = {each.host for each in probed.events if isinstance(each, ExcludedHost)}
                assert excluded <= {EVIL}
                assert excluded | probed.links().keys() >= {*SOUND} & {*probed.run.hosts}
                assert all(host in text for host in excluded)


class Mtus:
    """Hosts whose MTUs guards set, and put back."""

    def __init__(self) -> None:
        self.of_host = dict.fromkeys((*SOUND, EVIL), TYPICAL_MTU)

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


@pytest.mark.parametrize("command", ["MTU", "guard arm", "guard revert", "guard set", "guard put"])
def test_mtus_are_put_back_or_in_the_journal(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("probe", "mtu", "--hosts", HOSTS, *SECONDS, "--sizes", "1400", "--set-mtu")
    for kind, seed in mutations("set mtu", command):
        results, mtus = tmp_path / seed.replace("/", " "), Mtus()
        print(f"{seed}: {kind}")  # noqa: T201  pytest shows it if the test fails
        with hostile(command, kind, seed, mtus.answer, mtus.answer_of_guard) as (_, asked_for):
            text = run(words, results, capsys)
        assert asked_for[command]
        outstanding = {e.host for e in Journal(results / "set-mtu.journal").outstanding()}
        left = {host for host, mtu in mtus.of_host.items() if mtu != TYPICAL_MTU}
        assert left <= outstanding <= {EVIL}
        assert not outstanding or f"not put back: {EVIL}: " in text
        with hostile("", answers=mtus.answer, of_guard=mtus.answer_of_guard):
            run(words, results, capsys)
        assert {*mtus.of_host.values()} == {TYPICAL_MTU}
