"""Whatever happens, and whenever: a host has what it had before, or the journal names it and it is mended.

Every history with one event on two hosts, and with two events on one host (a part of them in `make test`), is
gone through, with the real code and simulated hosts.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .histories import BEFORE, WANTED, History, Simulation, events_on, explore


def violations(
    simulation: Simulation, depth: int, share: int, *hosts: str
) -> Iterator[tuple[History, list[str]]]:
    return (pair for pair in explore(simulation, events_on(*hosts), depth, share) if pair[1])


@pytest.mark.parametrize(
    ("before", "depth", "share", "histories"),
    [
        ({"one": {"a": BEFORE, "b": BEFORE}, "two": {"a": WANTED}}, 1, 1, 350),
        ({"one": {"a": BEFORE}}, 2, 30, 400),
        pytest.param({"one": {"a": BEFORE}}, 2, 1, 10_000, marks=pytest.mark.slow),
    ],
    ids=["any event on two hosts", "some two events on a host", "any two events on a host"],
)
def test_all_is_put_back(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    before: dict[str, dict[str, str]],
    depth: int,
    share: int,
    histories: int,
) -> None:
    simulation = Simulation(tmp_path, monkeypatch, before)
    assert list(violations(simulation, depth, share, *before)) == []
    assert simulation.histories > histories


@pytest.mark.parametrize("fault", ["ends_sessions", "locks"])
def test_a_guard_with_a_fault_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    simulation = Simulation(tmp_path, monkeypatch, {"one": {"a": BEFORE}}, **{fault: False})
    assert any(violations(simulation, 2, 1, "one"))
