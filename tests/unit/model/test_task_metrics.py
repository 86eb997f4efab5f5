"""Task metrics and link counters: which values are possible, and how they are stored and read."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import BadInput
from harness.model.task_metrics import (
    MAX_QUANTITY,
    MIN_QUANTITY,
    NodeBytes,
    Stragglers,
    TaskMetrics,
    TaskTime,
    WireBytes,
    WrittenBytes,
)
from harness.records.reader import load
from harness.records.writer import Recording, record_all
from tests.unit.builders import a_run, change_line, ok
from tests.unit.metrics_builders import task_metrics

SECONDS = st.just(0.0) | st.floats(MIN_QUANTITY, 1e9)
COUNTS = st.integers(0, int(MAX_QUANTITY))
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    int: COUNTS,
    int | None: st.none() | COUNTS,
    float: SECONDS,
    float | None: st.none() | SECONDS,
    str: st.text(),
    str | None: st.none() | st.text(),
    Mapping[str, int]: st.dictionaries(st.text(), COUNTS, max_size=3),
    tuple[str, ...]: st.lists(st.text(), max_size=3).map(tuple),
}
"""Possible values by annotation."""


def possible(record: type) -> st.SearchStrategy[Any]:
    """Return the possible records of a class, whose fields have the annotations in VALUES."""
    types = get_type_hints(record)
    return st.builds(record, **{field.name: VALUES[types[field.name]] for field in fields(record)})


VALUES |= {
    TaskTime: possible(TaskTime),
    Stragglers | None: st.none() | possible(Stragglers),
    tuple[NodeBytes, ...]: st.lists(possible(NodeBytes), max_size=3).map(tuple),
}
TIME = TaskTime(1, 2, 3, None, 4, 5, 6, 7)
METRICS = task_metrics(
    stragglers=Stragglers(2, 1), input_bytes_by_locality={"ANY": 7, "NODE_LOCAL": 5}
)


class TestValues:
    def test_input_bytes_are_those_of_all_localities(self) -> None:
        assert METRICS.input_bytes == 12

    @pytest.mark.parametrize("impossible", [-1, 5e-324, float("nan"), float("inf")])
    def test_values_that_nothing_can_be_computed_from_are_refused(self, impossible: float) -> None:
        with pytest.raises(ValueError, match=r"cpu_s is .*, and must be 0, or 1e-30 to 1e\+18"):
            replace(TIME, cpu_s=impossible)
        with pytest.raises(ValueError, match="input_bytes_by_locality"):
            replace(METRICS, input_bytes_by_locality={"ANY": impossible})  # type: ignore[dict-item]


class TestStored:
    @given(possible(TaskMetrics), possible(WireBytes))
    def test_any_values_are_read_as_they_were_recorded(
        self, tmp_path_factory: pytest.TempPathFactory, tasks: TaskMetrics, wire: WireBytes
    ) -> None:
        trial = ok("pi", 1.5, tasks=tasks, wire=wire)
        path = record_all(tmp_path_factory.mktemp("results"), a_run(), [trial])
        assert load(path).trials == (trial,)

    def test_fields_of_a_later_version_are_ignored(self, tmp_path: Path) -> None:
        path = file_with_tasks(tmp_path, asdict(METRICS) | {"heat_j": 5})
        assert load(path).trials[0].tasks == METRICS

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"tasks": True}, "Expected `int`, got `bool` - at `$.tasks.tasks`"),
            ({"tasks": -1}, "tasks is -1, and must be 0, or 1e-30 to 1e+18 - at `$.tasks`"),
            ({"time": {}}, "missing required field `fetch_wait_s` - at `$.tasks.time`"),
            ({"input_bytes_by_locality": {"ANY": 10**400}}, "- at `$.tasks`"),
        ],
    )
    def test_impossible_values_are_refused_by_file_and_line(
        self, tmp_path: Path, change: dict[str, Any], reason: str
    ) -> None:
        path = file_with_tasks(tmp_path, asdict(METRICS) | change)
        with pytest.raises(BadInput) as caught:
            load(path)
        assert str(caught.value).startswith(f"{path}:2: ")
        assert str(caught.value).endswith(reason)


def file_with_tasks(results: Path, tasks: dict[str, Any]) -> Path:
    """Return a results file whose only trial has these task metrics."""
    with Recording(results, a_run()) as recording:
        recording.trial(ok("pi", 1.5))
    return change_line(recording.path, 2, {"tasks": tasks})


class TestPerExecution:
    def test_sums_are_divided_and_what_is_no_sum_stays(self) -> None:
        whole = task_metrics(
            slots=4,
            tasks=30,
            cpu_s=6,
            python_worker_s=None,
            gc_share=0.1,
            stragglers=Stragglers(2, 1),
            input_bytes_by_locality={"NODE_LOCAL": 300},
            shuffle_written_bytes=3000,
            incomplete="jobs without an end: 1",
        )
        each = whole.per_execution(3)
        assert each == replace(
            whole,
            tasks=10,
            time=replace(whole.time, cpu_s=2),
            input_bytes_by_locality={"NODE_LOCAL": 100},
            shuffle_written_bytes=1000,
        )

    def test_a_failure_in_one_execution_does_not_disappear(self) -> None:
        assert task_metrics(failed_tasks=1).per_execution(10).failed_tasks == 1

    def test_one_execution_is_the_whole(self) -> None:
        whole = task_metrics(tasks=7)
        assert whole.per_execution(1) is whole

    @given(COUNTS, st.integers(1, 100))
    def test_every_field_is_divided_or_known_to_be_no_sum(
        self, count: int, executions: int
    ) -> None:
        no_sums = {"slots", "gc_share", "largest_scan_bytes", "stragglers", "incomplete"}
        sums = {field.name for field in fields(TaskMetrics)} - no_sums - {"time"}
        counts: dict[str, Any] = {
            name: {"ANY": count} if name.endswith("by_locality") else count for name in sums
        }
        whole = task_metrics(**counts)
        each = whole.per_execution(executions)
        for name in sums:
            value = getattr(each, name)
            least = value["ANY"] if isinstance(value, dict) else value
            assert least * executions >= count > (least - 1) * executions

    def test_the_bytes_of_each_node_are_divided(self) -> None:
        whole = WireBytes((NodeBytes("n1", 3001, 300),), unread=("n2",))
        assert whole.per_execution(3) == WireBytes((NodeBytes("n1", 1001, 100),), unread=("n2",))

    def test_what_was_written_is_averaged_and_unknown_if_one_is(self) -> None:
        first, second = WrittenBytes("replicated:2", 10, 20), WrittenBytes("replicated:2", 11, 22)
        assert WrittenBytes.average([first, second]) == WrittenBytes("replicated:2", 11, 21)
        unknown = WrittenBytes("unknown", 10, None)
        assert WrittenBytes.average([first, unknown]) == WrittenBytes(
            "replicated:2, unknown", 10, None
        )
