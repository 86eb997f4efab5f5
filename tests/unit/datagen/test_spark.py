"""What is asked of Spark meanwhile is answered even if Spark has ended."""

from types import SimpleNamespace
from typing import cast

from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from datagen.spark import completed_tasks


def test_no_task_has_completed_in_a_spark_that_has_ended() -> None:
    def ended() -> object:
        raise Py4JNetworkError("an error occurred while trying to connect to the Java server")

    spark = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=ended))
    assert completed_tasks(cast("SparkSession", spark)) == 0
