"""Which executors came and ended from one trial to the next, by what Spark lists."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

import datagen.spark
from datagen.spark import executor_hosts
from harness.model.executors import LostExecutor, TrialExecutors
from jobs import executor_watch
from jobs.executor_watch import ExecutorWatch


class Option:
    """A value of Scala that may be missing."""

    def __init__(self, value: str | None) -> None:
        self._value = value

    def isDefined(self) -> bool:  # noqa: N802  Scala's name
        return self._value is not None

    def get(self) -> str | None:
        return self._value


def executor(id_: str, host: str | None, reason: str | None = None, *, ended: bool = False) -> Any:
    is_alive = reason is None and not ended
    return SimpleNamespace(
        id=lambda: id_,
        hostPort=lambda: host and f"{host}:40001",
        isActive=lambda: is_alive,
        removeReason=lambda: Option(reason),
    )


DRIVER = executor("driver", "head")
KILLED = "Command exited with code 137"


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What Spark lists, which a test changes."""
    entries: list[Any] = []
    store = SimpleNamespace(
        executorList=lambda _: SimpleNamespace(
            size=lambda: len(entries), apply=lambda number: entries[number]
        )
    )
    context = SimpleNamespace(statusStore=lambda: store)
    monkeypatch.setattr(datagen.spark, "scala_context", lambda _: context)
    for module in (datagen.spark, executor_watch):
        monkeypatch.setattr(module, "is_local", lambda _: False)
    return entries


def watch_of(listed: list[Any], *entries: Any) -> ExecutorWatch:
    """Return a watch that began with these executors."""
    listed[:] = [DRIVER, *entries]
    watch = ExecutorWatch(cast("SparkSession", None))
    watch.start()
    return watch


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        (
            [executor("1", "n1"), executor("2", "n2")],
            TrialExecutors({"n1": 1, "n2": 1}),
        ),
        (
            [executor("1", "n1"), executor("2", "n2", KILLED)],
            TrialExecutors({"n1": 1}, {}, {"2": LostExecutor("n2", KILLED)}),
        ),
        (
            [executor("1", "n1"), executor("2", "n2"), executor("3", "n2")],
            TrialExecutors({"n1": 1, "n2": 2}, {"3": "n2"}),
        ),
        # It moved.
        (
            [executor("1", "n1"), executor("2", "n2", KILLED), executor("3", "n3")],
            TrialExecutors({"n1": 1, "n3": 1}, {"3": "n3"}, {"2": LostExecutor("n2", KILLED)}),
        ),
        # It came, and ended, between two looks.
        (
            [executor("1", "n1"), executor("2", "n2"), executor("3", "n2", KILLED)],
            TrialExecutors({"n1": 1, "n2": 1}, {"3": "n2"}, {"3": LostExecutor("n2", KILLED)}),
        ),
        # Spark does not say why, or has forgotten it.
        (
            [executor("1", "n1"), executor("2", "n2", ended=True)],
            TrialExecutors({"n1": 1}, {}, {"2": LostExecutor("n2")}),
        ),
        ([executor("1", "n1")], TrialExecutors({"n1": 1}, {}, {"2": LostExecutor("n2")})),
    ],
)
def test_what_changed_since_the_trial_before(
    listed: list[Any], then: list[Any], expected: TrialExecutors
) -> None:
    watch = watch_of(listed, executor("1", "n1"), executor("2", "n2"))
    listed[:] = [DRIVER, *then]
    assert watch.trial_executors() == expected


def test_a_change_belongs_to_one_trial(listed: list[Any]) -> None:
    watch = watch_of(listed, executor("1", "n1"), executor("2", "n2"))
    listed[:] = [DRIVER, executor("1", "n1"), executor("2", "n2", KILLED)]
    watch.start()  # as each trial does
    assert watch.trial_executors() == TrialExecutors(
        {"n1": 1}, {}, {"2": LostExecutor("n2", KILLED)}
    )
    assert watch.trial_executors() == TrialExecutors({"n1": 1})


def test_an_executor_that_ended_before_the_run_is_nobodys(listed: list[Any]) -> None:
    watch = watch_of(listed, executor("1", "n1"), executor("2", "n2", KILLED))
    assert watch.trial_executors() == TrialExecutors({"n1": 1})


def test_an_executor_whose_host_spark_does_not_know_yet_has_not_come(listed: list[Any]) -> None:
    watch = watch_of(listed, executor("1", "n1"), executor("2", None))
    spark: Any = None
    assert executor_hosts(spark) == {"1": "n1"}
    assert watch.trial_executors() == TrialExecutors({"n1": 1})
    listed[:] = [DRIVER, executor("1", "n1"), executor("2", "n2")]
    assert watch.trial_executors() == TrialExecutors({"n1": 1, "n2": 1}, {"2": "n2"})


def test_in_local_mode_there_is_none_to_watch(
    listed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_watch, "is_local", lambda _: True)
    assert watch_of(listed).trial_executors() is None
