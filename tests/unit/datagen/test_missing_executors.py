"""While jobs run: that no executor is left is said, and Kubernetes is asked why none comes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from datagen import missing_executors
from datagen.missing_executors import missing_executors_explained
from tests.waiting import eventually

WAITS = "no executor is left: Spark waits until one comes"
QUOTA = "exceeded quota: pods=1"


class Cluster:
    """Executors whose number a test changes, and jobs. `explained` counts how often pods were asked about.

    If it has a `refusal`, no pod can run.
    """

    def __init__(self) -> None:
        self.jobs = [1]
        self.number = 2
        self.seen: list[int] = []
        self.explained = 0
        self.is_asked = False
        self.refusal = ""
        self.is_stopped = False

    @property
    def spark(self) -> Any:
        tracker = SimpleNamespace(getActiveJobsIds=lambda: self.jobs)
        context = SimpleNamespace(statusTracker=lambda: tracker, cancelAllJobs=self.jobs.clear)
        return SimpleNamespace(sparkContext=context)

    def executor_count(self, _: object) -> int:
        self.seen.append(self.number)
        return self.number

    @contextmanager
    def pods_explained(self, _: object, give_up: Callable[[str], object]) -> Iterator[None]:
        self.explained += 1
        self.is_asked = True
        if self.refusal:
            give_up(self.refusal)
            give_up(self.refusal)
        yield
        self.is_asked = False

    def stop(self) -> None:
        self.is_stopped = True

    def becomes(self, number: int) -> None:
        """Have another number of executors, and wait until it was seen."""
        self.number = number
        self.seen.clear()
        eventually(lambda: len(self.seen) > 3, "the executors were counted again")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    for name, value in {
        "POLL_S": 0.001,
        "SAID_AFTER_S": 0.0,
        "executor_count": made.executor_count,
        "pods_explained": made.pods_explained,
        "is_local": lambda _: False,
        "scala_context": lambda _: made,
    }.items():
        monkeypatch.setattr(missing_executors, name, value)
    return made


def test_nothing_is_said_while_all_executors_are_there(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with missing_executors_explained(cluster.spark):
        cluster.becomes(2)
        cluster.becomes(3)
    assert (cluster.explained, capsys.readouterr().err) == (0, "")


def test_pods_are_asked_about_until_the_executors_are_back(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with missing_executors_explained(cluster.spark):
        cluster.becomes(2)
        cluster.becomes(1)
        assert cluster.is_asked
        cluster.becomes(2)
        assert not cluster.is_asked
    assert capsys.readouterr().err == ""


def test_that_none_is_left_is_said_once(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with missing_executors_explained(cluster.spark):
        cluster.becomes(2)
        cluster.becomes(0)
        cluster.becomes(2)
    assert capsys.readouterr().err.count(WAITS) == 1


def test_executors_that_go_because_there_is_no_job_are_not_missed(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.jobs.clear()
    with missing_executors_explained(cluster.spark):
        cluster.becomes(2)
        cluster.becomes(0)
    assert capsys.readouterr().err == ""


def test_one_that_does_not_come_back_is_not_waited_for_without_end(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_executors, "LATE_EXECUTOR_S", 0.0)
    with missing_executors_explained(cluster.spark):
        cluster.becomes(2)
        cluster.becomes(1)
        cluster.becomes(1)
        assert not cluster.is_asked
    assert cluster.explained == 1


def test_where_none_can_run_spark_is_ended_and_the_reason_is_said_once(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.refusal = QUOTA
    with missing_executors_explained(cluster.spark):
        cluster.becomes(2)
        cluster.becomes(0)
    assert (cluster.jobs, cluster.is_stopped) == ([], True)
    assert capsys.readouterr().err.count(f"none can run: {QUOTA}") == 1


def test_in_local_mode_nothing_is_counted(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_executors, "is_local", lambda _: True)
    with missing_executors_explained(cluster.spark):
        pass
    assert cluster.seen == []
