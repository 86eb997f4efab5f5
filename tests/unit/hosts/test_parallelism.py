"""How much may run at once: the limit of open files is raised, or one line says what to choose."""

import resource

import pytest

from harness.base.errors import BadInput
from harness.hosts.parallelism import allow_commands, batches


def limited(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> list[tuple[int, int]]:
    """Let the system have these limits, and return those that are set."""
    found: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: found.append(limits))
    return found


def test_a_limit_that_suffices_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    found = limited(monkeypatch, 1024, 4096)
    allow_commands(48)
    assert found == []


def test_a_lower_one_is_raised_to_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = limited(monkeypatch, 1024, 10**6)
    allow_commands(500)
    assert found == [(1700, 10**6)]


def test_if_the_system_does_not_allow_it_one_line_says_what_to_choose(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limited(monkeypatch, 1024, 1024)
    with pytest.raises(BadInput, match=r"^600 commands at once need 2000 open files .*: measure"):
        allow_commands(600)


def test_batches_keep_the_order() -> None:
    assert [list(batch) for batch in batches([1, 2, 3, 4, 5], 2)] == [[1, 2], [3, 4], [5]]
