"""A trial's log has no events of another trial, also where Spark refuses to write one."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from jobs import spark_event_log
from jobs.spark_event_log import EventLog


def test_the_log_of_a_failed_trial_is_not_that_of_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    conf: Any = SimpleNamespace(get=lambda _name, default: default)
    context = SimpleNamespace(getConf=lambda: conf)
    spark = cast("SparkSession", SimpleNamespace(sparkContext=context))
    removing = SimpleNamespace(removeSparkListener=lambda _: None)
    monkeypatch.setattr(spark_event_log, "scala_context", lambda _: removing)
    monkeypatch.setattr(spark_event_log, "wait_for_events", lambda _: None)
    monkeypatch.setattr(spark_event_log, "executor_cores", lambda _: {})

    def disk_full() -> None:
        raise Py4JError("No space left on device")

    def rename_log() -> None:
        log._file.write_text("the events of the trial that failed\n")

    with EventLog(spark) as log:
        # Spark's listener names the file when it is stopped; after a failure, nothing stopped it.
        log._listener = SimpleNamespace(stop=rename_log)
        monkeypatch.setattr(log, "_attach", disk_full)
        log.begin()
        log.end()
        assert log.read() is None
