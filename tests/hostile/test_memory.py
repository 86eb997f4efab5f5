"""An answer that is as large as an answer may be takes little memory, whatever command it is of.

Each is taken by a process of its own. (What is larger is given up, and never parsed.)
"""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from harness.cli import main
from harness.hosts.host_process import MAX_ANSWER_BYTES
from harness.model.errors import ClusterliftError
from harness.settings.in_force import plan
from tests.hostile.answers import COMMANDS, EVIL, answer_of_guard, answer_to, name_of
from tests.hostile.test_probes import SCENARIOS
from tests.hostile.test_programs import PROGRAMS, command
from tests.hostile.test_settings import SETTINGS, Cluster
from tests.hostile.world import Answer, Asked, world_of

MAX_GROWTH_BYTES = 64 * 2**20
LARGE_BYTES = MAX_ANSWER_BYTES - 2**14
"""The rest is for the lines, of which each counts a little more than its text."""
OBJECTS, WORDS = b'{"a":{}},', b"ab "
"""Of which a parser makes the most."""


@dataclass(frozen=True)
class Case:
    """Something that runs commands on the evil host, and what a sound host answers to them."""

    run: Callable[[], object]
    answer: Callable[[Asked], Answer] = answer_to

    def asked_for(self) -> set[str]:
        """Run it once; return the names of the commands."""
        found = set()

        def noted(asked: Asked) -> Answer:
            if asked.host == EVIL[0]:
                found.add(name_of(asked))
            return self.answer(asked)

        with world_of(noted, answer_of_guard):
            self.run()
        return found

    def peak_bytes(self, flooded: str = "") -> int:
        """Return the most memory that a child has which runs it, with a large answer to one command."""
        process = os.fork()
        if process:
            _, status, used = os.wait4(process, 0)
            assert status == 0
            return 1024 * used.ru_maxrss
        try:
            flooding = partial(self._flooding, flooded)
            with world_of(flooding, answer_of_guard), suppress(ClusterliftError):
                self.run()
            os._exit(0)
        finally:
            os._exit(1)

    def _flooding(self, flooded: str, asked: Asked) -> Answer:
        sound = self.answer(asked)
        if asked.host != EVIL[0] or name_of(asked) != flooded:
            return sound
        if sound.output[:1] in {b"[", b"{"}:
            objects = OBJECTS * (LARGE_BYTES // len(OBJECTS))
            return replace(sound, output=b"[" + objects.removesuffix(b",") + b"]\n")
        return replace(sound, output=WORDS * (LARGE_BYTES // len(WORDS)) + b"\n" + sound.output)


def cases(directory: Path) -> Iterator[Case]:
    """Yield what together runs every command, the quick ones first."""
    for name in SETTINGS:
        cluster = Cluster(name, directory)
        settings = {host: [cluster.setting] for host in cluster.hosts}
        yield Case(partial(plan, settings), cluster.answer)
    for name in ("link by names", "mtu", "latency", "soak"):
        words = replace(SCENARIOS[name], evil=1).command(directory / name)
        yield Case(partial(quietly, words))
    for name in PROGRAMS:
        yield Case(partial(quietly, command(name, directory / name)))


def quietly(words: list[str]) -> None:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        main(words)


def test_no_answer_takes_much_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setenv("ROSS_HOME", "/opt/ross")
    seen: set[str] = set()
    grown = {}
    for case in cases(tmp_path):
        new = case.asked_for() - seen
        usual_bytes = case.peak_bytes() if new else 0
        for name in new:
            grown[name] = case.peak_bytes(name) - usual_bytes
        seen |= new
    assert seen >= {*COMMANDS} - {"user"}  # of an experiment
    assert max(grown.values()) < MAX_GROWTH_BYTES, grown
    assert grown["route"] > 2 * LARGE_BYTES  # or nothing was measured
