"""Random histories of settings on machines: all is put back, or the journal names it and it is mended.

`make test-kill SEED=7 HISTORIES=30` repeats history 21 of seed 7, as does pytest's `-k history-21-`.
"""

import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.probes import machines, networks

from .settings_histories import History, RealWorld, lived_through

AT_ONCE = 4
"""Most of its time, a history waits."""
TRIES = 5
"""On a busy machine, ssh may not answer in time, so that nothing is set."""


@pytest.fixture(scope="session", autouse=True)
def require_machines() -> None:
    if reason := networks.missing() or machines.missing():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def worlds(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Mapping[History, Future[RealWorld]]]:
    """What the world is like after each of the histories that are tested."""
    histories: Sequence[History] = [
        item.callspec.params["history"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "history" in item.fixturenames
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            history: pool.submit(lived_through, history, tmp_path_factory.mktemp("world"))
            for history in histories
        }


def test_all_is_put_back_and_nothing_is_left(
    history: History, worlds: Mapping[History, Future[RealWorld]]
) -> None:
    assert worlds[history].result().problems == []


def test_what_is_not_put_back_is_found_out(tmp_path_factory: pytest.TempPathFactory) -> None:
    nothing = History(0, "root", signal.SIGINT, ())
    for _ in range(TRIES):
        problems = lived_through(nothing, tmp_path_factory.mktemp("world"), "faulty").problems
        found = [problem for problem in problems if problem.startswith("not in the journal: ")]
        if found:
            break
    assert len(found) == 7
