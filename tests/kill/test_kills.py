"""Kill commands at random moments: nothing that was finished is lost, and nothing is left behind.

Each case has the seed and its own number in common with every other campaign of that seed:
`make test-kill SEED=7 KILLS=30` repeats case 21 of seed 7, as does pytest's `-k case-21-`.
"""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.waiting import eventually

from .campaign import Case
from .processes import Ended, end_marked, run, stack_trace, still_running
from .scenarios import Benchmark, Generate, HdfsRun, Overwrite, Runs, Scenario

SCENARIOS = (Generate, Overwrite, Benchmark, Runs, HdfsRun)
LEFT_S = 60.0
"""How long what a signal ended may take to be gone."""

GetScenario = Callable[[str], tuple[Scenario, float]]


@pytest.fixture(scope="session")
def scenario_of(templates: Path) -> GetScenario:
    """A scenario by its name, and how many seconds it takes without a signal."""
    scenarios = {each.name: each(templates) for each in SCENARIOS}
    measured: dict[str, float] = {}

    def get(name: str) -> tuple[Scenario, float]:
        scenario = scenarios[name]
        if name not in measured:
            measured[name] = seconds_without_a_signal(scenario, templates)
        return scenario, measured[name]

    return get


def seconds_without_a_signal(scenario: Scenario, templates: Path) -> float:
    """Return the duration of a scenario, after proving that it ends well and leaves nothing."""
    mark = secrets.token_hex(8)
    directory = templates / mark
    scenario.prepare(directory)
    ended = run(scenario.commands(), directory, scenario.environment(directory, mark))
    assert ended.code == 0, ended.output
    assert not list(wrong_at_the_end(scenario, directory, mark, ended))
    assert not list(scenario.temporary_files(directory))
    return ended.seconds


def test_nothing_is_lost_and_nothing_is_left(
    case: Case, scenario_of: GetScenario, directory: Path
) -> None:
    scenario, seconds = scenario_of(case.scenario)
    mark = secrets.token_hex(8)
    scenario.prepare(directory)
    environment = scenario.environment(directory, mark)
    ended = run(
        scenario.commands(), directory, environment, case.interruption, case.moment * seconds
    )
    try:
        found = [*after_the_signal(case, scenario, directory, mark, ended)]
        again = scenario.resume(directory, mark)
        found += [f"again: {each}" for each in wrong_at_the_end(scenario, directory, mark, again)]
    finally:
        end_marked(mark)
    assert not found, "\n".join([*found, ended.output[-3000:]])


def after_the_signal(
    case: Case, scenario: Scenario, directory: Path, mark: str, ended: Ended
) -> Iterator[str]:
    """Yield every violation after an interrupted command."""
    if ended.hung:
        yield "the command did not end"
    if trace := stack_trace(ended.output):
        yield f"a stack trace: {trace}"
    expected = {0, *case.interruption.exit_codes} if ended.was_hit else {0}
    if ended.code not in expected:
        yield f"exit code {ended.code}"
    yield from left_behind(lambda: still_running(mark), "still runs")
    yield from left_behind(lambda: list(scenario.external(directory)), "left")
    yield from (
        f"temporary file: {name}" for name in scenario.temporary_files(directory, case.interruption)
    )
    yield from scenario.violations(directory, ended)


def wrong_at_the_end(scenario: Scenario, directory: Path, mark: str, ended: Ended) -> Iterator[str]:
    """Yield every violation after the same command ran to its end."""
    if ended.code:
        yield f"exit code {ended.code}: {ended.output[-1000:]}"
    yield from left_behind(lambda: still_running(mark), "still runs")
    yield from left_behind(lambda: list(scenario.external(directory)), "left")
    yield from scenario.wrong_outcome(directory, ended)


def left_behind(find: Callable[[], list[str]], what: str) -> Iterator[str]:
    """Yield what is still found after a minute."""
    try:
        eventually(lambda: not find(), what, LEFT_S)
    except AssertionError:
        yield from (f"{what}: {each}" for each in find())
