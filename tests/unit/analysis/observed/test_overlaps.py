"""Runs at the same time are named: they may have disturbed each other."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from harness.analysis.observed.caveats import caveats
from harness.analysis.observed.overlaps import overlap_lines, overlaps_with
from harness.model.run import RecordedRun, moment_of, timestamp
from harness.records.published import IMPORTED_DIGEST
from tests.unit.builders import STARTED_AT, a_run, failed, ok, recorded

N1 = {"executors": ["n1"]}


def run_at(
    name: str, start_s: float, duration_s: float, environment: Any = N1, **fields: Any
) -> RecordedRun:
    """Return a run with a trial that begins with it, of that duration."""
    started_at = timestamp(moment_of(STARTED_AT) + timedelta(seconds=start_s))
    run = a_run("1g", name, started_at=started_at, environment=environment, **fields)
    return recorded(run, [replace(ok("a", duration_s), started_at=started_at)])


FIRST = run_at("first", 0, 100)
IN_TURNS = {**N1, "master": "spark://m", "application": "app-1"}


@pytest.mark.parametrize(
    ("runs", "named"),
    [
        ([FIRST, run_at("second", 40, 100)], ["first and second (1 min 00 s on the same nodes)"]),
        ([run_at("second", 40, 10), FIRST], ["first and second (10 s on the same nodes)"]),
        (
            [FIRST, run_at("second", 40, 9, {"executors": ["n2"]})],
            ["first and second (9 s on other nodes)"],
        ),
        (
            [FIRST, run_at("second", 90, 20), run_at("third", 105, 9)],
            ["first and second (10 s on the same nodes), second and third (5 s on the same nodes)"],
        ),
        ([FIRST, run_at("second", 100, 9)], []),
        ([FIRST, run_at("second", 99.5, 9)], []),
        ([run_at("first", 0, 100, IN_TURNS), run_at("second", 9, 50, IN_TURNS)], []),
        ([FIRST, run_at("second", 9, 9, {})], []),
        ([FIRST, run_at("second", 9, 9, parameters={IMPORTED_DIGEST: "x"})], []),
        ([FIRST], []),
    ],
    ids=[
        *("overlap", "within", "other-nodes", "three", "one-after-the-other", "clocks-apart"),
        *("in-turns", "unknown-nodes", "imported", "alone"),
    ],
)
def test_what_ran_at_the_same_time_is_a_line_and_a_caveat(
    runs: list[RecordedRun], named: list[str]
) -> None:
    introduction = "runs at the same time, which may have disturbed each other: "
    lines = [introduction + each for each in named]
    assert list(overlap_lines(runs)) == lines
    assert set(lines) <= set(caveats(runs))
    assert list(overlaps_with(runs[:1], runs[1:]))[:1] == [
        line.partition(", second and third")[0] for line in lines
    ]


def test_a_killed_run_lasted_at_least_until_its_last_trial_began() -> None:
    late = timestamp(moment_of(STARTED_AT) + timedelta(seconds=60))
    killed = replace(FIRST, trials=(replace(failed("a"), started_at=late),), ending=None)
    [line] = overlap_lines([killed, run_at("second", 30, 300)])
    assert "30 s" in line


def test_of_many_runs_at_the_same_time_the_first_are_named_and_all_are_counted() -> None:
    runs = [run_at(f"run-{number:03}", 0, 100) for number in range(100)]
    [line] = overlap_lines(runs)
    assert "run-000 and run-001 (1 min 40 s on the same nodes), run-000 and run-002" in line
    assert line.endswith(" and 4946 more")  # 100 * 99 / 2 pairs, but for four
    [line] = overlaps_with(runs[:40], runs[40:])
    assert line.endswith(" and 2396 more")  # 40 * 60 pairs, but for four
