"""When stages ran, and what they did, from the lines of an event log."""

import pytest

from harness.eventlog.trial import read_log
from harness.model.timeline import Stage
from tests.unit.eventlog.event_log_lines import (
    stage_ended,
    stage_started,
    task_counters,
    task_ended,
    task_started,
)


def stages_of(*lines: bytes, start_ms: float = 1_000) -> tuple[Stage, ...]:
    return read_log(lines, None, start_ms).stages


def a_stage(start_ms: int, end_ms: int, number: int = 0, **counted: int) -> list[bytes]:
    metrics = task_counters(**counted)
    return [
        stage_started(number, at_ms=start_ms),
        task_started(number),
        task_ended(number, start_ms, end_ms, metrics=metrics),
        stage_ended(number, at_ms=end_ms),
    ]


def test_times_are_in_seconds_since_the_trials_start() -> None:
    assert stages_of(*a_stage(1_250, 3_000)) == (Stage("computes", 0.25, 2.0),)


@pytest.mark.parametrize(
    ("counted", "work"),
    [
        ({}, "computes"),
        ({"input_bytes": 1}, "reads data"),
        ({"input_bytes": 1, "written_bytes": 1}, "reads data, writes shuffle"),
        ({"remote_bytes": 1, "written_bytes": 1}, "reads shuffle, writes shuffle"),
        ({"local_bytes": 1}, "reads shuffle"),
        ({"local_bytes": 1, "output_bytes": 1}, "reads shuffle, writes data"),
    ],
)
def test_work_is_what_the_tasks_counted(counted: dict[str, int], work: str) -> None:
    [stage] = stages_of(*a_stage(1_000, 2_000, **counted))
    assert stage.work == work


def test_the_largest_scan_is_that_of_one_stage() -> None:
    """The second one reads the data of the first once more, and some of it twice."""
    first, again = (
        a_stage(1_000, 2_000, 0, input_bytes=70),
        a_stage(2_000, 3_000, 1, input_bytes=60),
    )
    again.insert(2, task_ended(1, 2_000, 3_000, metrics=task_counters(input_bytes=30)))
    for lines in (first + again, again + first):
        assert read_log(lines, None).metrics.largest_scan_bytes == 90


def test_stages_may_run_at_the_same_time() -> None:
    (one, other), (end_one, end_other) = (
        (stage_started(1, at_ms=1_000), stage_started(2, at_ms=1_100)),
        (stage_ended(1, at_ms=3_000), stage_ended(2, at_ms=2_000)),
    )
    assert stages_of(one, other, end_other, end_one) == (
        Stage("computes", 0.1, 1.0),
        Stage("computes", 0.0, 2.0),
    )


def test_a_clock_that_was_set_back_gives_no_negative_time() -> None:
    assert stages_of(*a_stage(500, 300)) == (Stage("computes", 0.0, 0.0),)


@pytest.mark.parametrize(
    "lines",
    [
        [stage_started(0), stage_ended(0)],
        [stage_started(0, at_ms=1_000), stage_ended(0)],
        [stage_started(0), stage_ended(0, at_ms=2_000)],
        [stage_started(0, at_ms=1_000)],
        [stage_ended(0, at_ms=2_000)],
    ],
)
def test_a_stage_without_its_times_is_left_out(lines: list[bytes]) -> None:
    assert stages_of(*lines) == ()
