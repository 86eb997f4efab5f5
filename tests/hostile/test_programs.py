"""No answer of a host to a program of MPI harms the run, its record, or the terminal."""

import os
from pathlib import Path

import pytest

from harness.model.errors import BadInput
from harness.model.run import Status
from harness.programs.program import programs
from harness.records.reader import load
from harness.settings.in_force import plan
from tests.hostile.answers import ADDRESSES, COMMANDS, EVIL, SOUND
from tests.hostile.campaign import (
    ONLY,
    SCALE,
    called,
    chosen_for,
    hostile,
    problem_of_failures,
    repeated,
    reported,
)
from tests.hostile.test_probes import SCENARIOS, one_round
from tests.hostile.test_settings import SETTINGS, Cluster

__all__ = ["one_round"]

PROGRAMS = {
    "hpcc": ["--memory", "16mb", "--block", "64", "--per-host", "2"],
    "phold": ["--objects", "1024", "--per-host", "1"],
}
MUTATIONS_OF_EACH = 9
PATIENCE_S = 400.0


def command(program: str, results: Path) -> list[str]:
    """Return the words of the command line; the first host is the one where mpirun runs."""
    both = (EVIL[0], SOUND[0]) if program == "phold" else (SOUND[0], EVIL[0])
    hosts = ",".join(f"{host}={ADDRESSES[host]}" for host in both)
    where = ["--via", "netns", "--hosts", hosts, "--results", str(results), "--configuration", "x"]
    often = ["--runs", "1", "--trials", "1", "--warmup", "0", "--timeout", "1min"]
    return ["program", program, *where, *often, *PROGRAMS[program]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setenv("ROSS_HOME", "/opt/ross")


class TestPrograms:
    @pytest.mark.parametrize("program", PROGRAMS)
    def test_a_run_is_recorded_whatever_a_host_answers(
        self, program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with hostile({}) as (_, asked_for):
            code, text, problem = called(command(program, tmp_path), capsys)
        assert (code, problem) == (0, None), text
        problems = []
        for asked in sorted({asked for host, asked in asked_for if host == EVIL[0]}):
            for number in range(round(SCALE * MUTATIONS_OF_EACH)):
                place = f"{program}/{asked}/{number}"
                if ONLY and place != ONLY:
                    continue
                chosen = chosen_for(place, EVIL[:1], asked)
                results = tmp_path / f"{asked} {number}"
                with hostile(chosen) as (world, asked_for):
                    began_s = world.now_s
                    code, text, problem = called(command(program, results), capsys)
                runs = {EVIL[0]: asked_for[EVIL[0], asked]}
                told = problem_of_failures(text, EVIL[:1], runs)
                found = list(filter(None, (problem, told)))
                if world.now_s - began_s > PATIENCE_S:
                    found.append(f"took {world.now_s - began_s:.0f} s")
                if code and EVIL[0] not in text:
                    found.append(f"exit code {code}, and no line names the host: {text[-300:]!r}")
                for file in results.glob("x/*.jsonl"):
                    try:
                        run = load(file)
                    except BadInput as error:
                        found.append(f"cannot be read: {error}")
                    else:
                        failed = [each for each in run.trials if each.status is not Status.OK]
                        if failed and EVIL[0] not in text:
                            found.append(f"a trial failed, and no line names the host: {failed[0]}")
                problems += [f"{repeated(place, chosen)}: {each}" for each in found]
        reported(problems)

    def test_every_program_is_here(self) -> None:
        assert {*programs()} == {*PROGRAMS}


def test_every_command_is_reached_by_a_mutation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command whose answer nobody mutates proves nothing."""
    reached = {"user"}  # of an experiment
    for words in (
        *(scenario.command(tmp_path / name) for name, scenario in SCENARIOS.items()),
        *(command(program, tmp_path / program) for program in PROGRAMS),
    ):
        with hostile({}) as (_, asked_for):
            called(words, capsys)
        reached |= {asked for host, asked in asked_for if host in EVIL}
    for name in SETTINGS:
        cluster = Cluster(name, tmp_path)
        with hostile({}, cluster.answer, cluster.answer_of_guard) as (_, asked_for):
            plan({host: [cluster.setting] for host in cluster.hosts})
        reached |= {asked for host, asked in asked_for if host in EVIL}
    assert reached == {*COMMANDS}
