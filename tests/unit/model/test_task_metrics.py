"""What a trial's tasks did and its links carried: what can be recorded, and how it is stored."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.errors import BadInput
from harness.model.task_metrics import (
    NodeBytes,
    ScheduleSimulation,
    Stragglers,
    TaskMetrics,
    TaskTime,
    WireBytes,
)
from harness.records.reader import load
from harness.records.typed import built
from harness.records.writer import Recording
from tests.unit.builders import a_run, ok

SECONDS = st.floats(0, 1e9)
COUNTS = st.integers(0, 2**63)
BY_LOCALITY = st.dictionaries(st.text(), COUNTS, max_size=3)
TASK_TIMES = st.builds(
    TaskTime,
    fetch_wait_s=SECONDS,
    cpu_s=SECONDS,
    shuffle_write_s=SECONDS,
    python_worker_s=st.none() | SECONDS,
    unattributed_s=SECONDS,
    deserialization_s=SECONDS,
    result_s=SECONDS,
    scheduler_delay_s=SECONDS,
)
TASK_METRICS = st.builds(
    TaskMetrics,
    tasks=COUNTS,
    failed_tasks=COUNTS,
    killed_tasks=COUNTS,
    speculative_tasks=COUNTS,
    time=TASK_TIMES,
    slots=st.none() | SECONDS,
    gc_share=st.none() | SECONDS,
    stragglers=st.none() | st.builds(Stragglers, SECONDS, SECONDS),
    simulation=st.none() | st.builds(ScheduleSimulation, SECONDS, SECONDS, SECONDS),
    tasks_by_locality=BY_LOCALITY,
    input_bytes_by_locality=BY_LOCALITY,
    output_bytes=COUNTS,
    shuffle_local_bytes=COUNTS,
    shuffle_remote_bytes=COUNTS,
    shuffle_written_bytes=COUNTS,
    memory_spilled_bytes=COUNTS,
    disk_spilled_bytes=COUNTS,
    peak_execution_memory_bytes=COUNTS,
    incomplete=st.none() | st.text(),
)
WIRE_BYTES = st.builds(
    WireBytes,
    st.lists(st.builds(NodeBytes, st.text(), COUNTS, COUNTS), max_size=3).map(tuple),
    st.lists(st.text(), max_size=3).map(tuple),
)
TIME = TaskTime(1, 2, 3, None, 4, 5, 6, 7)
METRICS = TaskMetrics(
    *(9, 1, 0, 0),
    time=TIME,
    slots=4,
    gc_share=0.01,
    stragglers=Stragglers(2, 1),
    simulation=ScheduleSimulation(3, 2, 1),
    tasks_by_locality={"ANY": 9},
    input_bytes_by_locality={"ANY": 7, "NODE_LOCAL": 5},
    output_bytes=0,
    shuffle_local_bytes=1,
    shuffle_remote_bytes=2,
    shuffle_written_bytes=3,
    memory_spilled_bytes=0,
    disk_spilled_bytes=0,
    peak_execution_memory_bytes=8,
)


class TestQuantities:
    def test_the_parts_of_task_time_add_up_without_the_unknown(self) -> None:
        assert TIME.total_s == 1 + 2 + 3 + 4 + 5 + 6 + 7

    def test_input_is_of_all_localities(self) -> None:
        assert METRICS.input_bytes == 12

    @pytest.mark.parametrize("impossible", [-1, float("nan"), float("inf")])
    def test_none_is_negative_or_endless(self, impossible: float) -> None:
        with pytest.raises(ValueError, match=r"cpu_s is .*, not a finite number"):
            replace(TIME, cpu_s=impossible)
        with pytest.raises(ValueError, match="tasks_by_locality"):
            replace(METRICS, tasks_by_locality={"ANY": impossible})


class TestStored:
    @given(TASK_METRICS, WIRE_BYTES)
    def test_what_was_stored_is_read(self, tasks: TaskMetrics, wire: WireBytes) -> None:
        assert built(TaskMetrics, through_json(asdict(tasks))) == tasks
        assert built(WireBytes, through_json(asdict(wire))) == wire

    def test_it_stands_with_its_trial(self, tmp_path: Path) -> None:
        trial = ok("pi", 1.5, tasks=METRICS, wire=WireBytes((NodeBytes("n1", 10, 20),), ("n2",)))
        with Recording(tmp_path, a_run()) as recording:
            recording.trial(trial)
        assert load(recording.path).trials == (trial,)

    def test_what_a_later_version_adds_is_passed_over(self) -> None:
        stored = asdict(METRICS) | {"heat_j": 5}
        assert built(TaskMetrics, stored) == METRICS

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"tasks": "many"}, "TaskMetrics.tasks: 'many' is not of type int"),
            ({"tasks": True}, "TaskMetrics.tasks: True is not of type int"),
            ({"tasks": -1}, "tasks is -1, not a finite number of 0 or more"),
            ({"slots": "two"}, "TaskMetrics.slots: 'two' is not of type float"),
            ({"time": None}, "TaskMetrics.time: None is not of type dict"),
            ({"tasks_by_locality": {"ANY": None}}, "tasks_by_locality: None is not of type int"),
        ],
    )
    def test_what_cannot_be_is_an_error_with_file_and_line(
        self, tmp_path: Path, change: dict[str, Any], said: str
    ) -> None:
        path = stored_with(tmp_path, asdict(METRICS) | change)
        with pytest.raises(BadInput, match=":2: malformed trial line") as caught:
            load(path)
        assert said in str(caught.value)

    def test_what_lacks_is_named(self, tmp_path: Path) -> None:
        held = asdict(METRICS)
        del held["time"]["cpu_s"]
        with pytest.raises(BadInput, match="'cpu_s' is missing"):
            load(stored_with(tmp_path, held))


def through_json(value: object) -> Any:
    return json.loads(json.dumps(value))


def stored_with(results: Path, tasks: dict[str, Any]) -> Path:
    """A results file whose only trial has these metrics."""
    with Recording(results, a_run()) as recording:
        recording.trial(ok("pi", 1.5))
    run, trial = recording.path.read_text().splitlines()
    recording.path.write_text(f"{run}\n{json.dumps(json.loads(trial) | {'tasks': tasks})}\n")
    return recording.path
