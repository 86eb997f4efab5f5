"""Many mutated answers, in an order that a seed makes, and what is said if one of them does harm.

`HOSTILE_SCALE` is how many times as many there are; `SEED` and `HOSTILE_ONLY` repeat what a message names.
"""

import os
import random
import re
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from harness.cli import main
from tests.hostile.answers import answer_of_guard, answer_to, name_of
from tests.hostile.mutations import KINDS, mutated
from tests.hostile.world import Answer, Asked, GuardAnswers, World, world_of

SEED = os.environ.get("SEED") or "1"
ONLY = os.environ.get("HOSTILE_ONLY")
SCALE = float(os.environ.get("HOSTILE_SCALE") or 1)
LONGEST_LINE = 3000
DOCUMENTED_CODES = (0, 1, 2)
Chosen = Mapping[str, tuple[str, str, random.Random]]
"""By host: the name of a command, the kind of mutation, and the chance that mutates its answers."""
Answers = Callable[[Asked], Answer]


@dataclass
class Counts:
    """How many mutations there were, by kind; and for each command, how many of its answers."""

    kinds: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)


COUNTS = Counts()


@contextmanager
def hostile(
    chosen: Chosen, answers: Answers = answer_to, of_guard: GuardAnswers = answer_of_guard
) -> Iterator[tuple[World, Counter[tuple[str, str]]]]:
    """Answer with these mutations; yield the world, and how often each host got each command."""
    asked_for: Counter[tuple[str, str]] = Counter()

    def reply(command: str, asked: Asked, sound: Answer) -> Answer:
        asked_for[asked.host, command] += 1
        of_host = chosen.get(asked.host)
        if of_host is None or of_host[0] != command:
            return sound
        _, kind, rng = of_host
        return mutated(kind, asked, sound, rng)

    def answer(asked: Asked) -> Answer:
        return reply(name_of(asked), asked, answers(asked))

    def guard(host: str, line: str) -> Answer:
        word = line.partition(" ")[0]
        return reply(f"guard {word}", Asked(host, ()), of_guard(host, line))

    with world_of(answer, guard) as world:
        yield world, asked_for


def chosen_for(
    place: str, hosts: tuple[str, ...], command: str
) -> dict[str, tuple[str, str, random.Random]]:
    """Choose a mutation for each host. The same place has the same ones, whatever else runs."""
    rng = random.Random(f"{SEED}/{place}")  # noqa: S311  chance that can be repeated
    kinds = rng.sample([*KINDS, *KINDS], len(hosts))
    chosen = {}
    for host, kind in zip(hosts, kinds, strict=True):
        chosen[host] = (command, kind, random.Random(f"{SEED}/{place}/{host}"))  # noqa: S311
        COUNTS.kinds[kind] += 1
        COUNTS.commands[command] += 1
    return chosen


def repeated(place: str, chosen: Chosen) -> str:
    """Return what to type to repeat a failure, and what was mutated."""
    told = ", ".join(f"{host}: {kind}" for host, (_, kind, _) in chosen.items())
    return f"SEED={SEED} HOSTILE_ONLY='{place}': {told[:300]}"


def problem_of_text(text: str) -> str | None:
    """Return what is wrong with what was printed."""
    for line in text.split("\n"):
        if not line.isprintable():
            return f"control characters on the terminal: {line[:200]!r}"
        if len(line) > LONGEST_LINE:
            return f"a line of {len(line):,} characters: {line[:200]!r}"
        if re.search(r"hunter2", line):
            return f"a secret: {line[:200]!r}"
    return None


FAILURE = re.compile("(left out|link unknown|failed|fault|clusterlift: error): .*|.*: FAILED: .*")
STEP = "["
"""The beginning of a line that announces a step of a probe."""


def problem_of_failures(text: str, hosts: Collection[str], runs: Mapping[str, int]) -> str | None:
    """Return which line about a failure comes twice, or about which host there are too many.

    A host has a line for each time that the command ran there whose answers are mutated, at most. Lines that
    name two of them are about both.
    """
    since_step: set[str] = set()
    told: Counter[str] = Counter()
    for line in text.splitlines():
        if line.startswith(STEP):
            since_step.clear()
        if not FAILURE.fullmatch(line):
            continue
        if line in since_step:
            return f"a line that comes twice: {line[:200]!r}"
        since_step.add(line)
        named = [host for host in hosts if host in line]
        if len(named) == 1 and not line.startswith("fault: "):
            told.update(named)
    for host in told:
        if told[host] > runs[host]:
            return f"{told[host]} lines about {host}, where the command ran {runs[host]} times"
    return None


def called(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> tuple[int | None, str, str | None]:
    """Run a command; return its exit code, what it printed, and a problem."""
    capsys.readouterr()
    try:
        code: int | None = main(command)
    except Exception:  # noqa: BLE001  a traceback is what the campaign looks for
        text = "".join(capsys.readouterr())
        return None, text, "a traceback: " + "\n".join(traceback.format_exc().splitlines()[-5:])
    text = "".join(capsys.readouterr())
    if code not in DOCUMENTED_CODES:
        return code, text, f"exit code {code}"
    return code, text, problem_of_text(text)


def reported(problems: list[str]) -> None:
    """Fail with all problems."""
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:30])
