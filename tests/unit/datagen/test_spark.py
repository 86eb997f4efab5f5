"""What is asked of Spark meanwhile is answered even if Spark has ended."""

from types import SimpleNamespace
from typing import cast

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from datagen.spark import completed_tasks


@pytest.mark.parametrize("error", [ConnectionRefusedError(), Py4JNetworkError("no answer")])
def test_no_task_has_completed_in_a_spark_that_has_ended(error: Exception) -> None:
    def ended() -> object:
        raise error

    spark = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=ended))
    assert completed_tasks(cast("SparkSession", spark)) == 0
