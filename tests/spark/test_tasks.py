"""Whether tasks still run is known, even when Spark has stopped: who deletes files has to know it."""

import threading

import pytest
from pyspark.sql import SparkSession

from datagen.spark import _has_tasks as has_tasks
from datagen.spark import cancel_jobs_on_error, tasks_have_ended
from tests.waiting import eventually


def test_tasks_run_until_their_job_is_cancelled(spark: SparkSession) -> None:
    frame = spark.range(2).selectExpr("java_method('java.lang.Thread', 'sleep', 60000L + id)")
    failed: list[Exception] = []

    def compute() -> None:
        try:
            frame.write.format("noop").mode("overwrite").save()
        except Exception as error:  # noqa: BLE001  that of a cancelled job, whatever Spark makes of it
            failed.append(error)

    job = threading.Thread(target=compute)
    assert tasks_have_ended(spark)
    job.start()
    eventually(lambda: has_tasks(spark), "a task runs", 60)
    with pytest.raises(KeyboardInterrupt), cancel_jobs_on_error(spark):
        raise KeyboardInterrupt
    assert tasks_have_ended(spark)
    job.join(60)
    assert failed
