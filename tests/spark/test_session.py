"""The session that our scripts start."""

from typing import Any

import pytest
from pyspark.sql import SparkSession


def test_a_jvm_that_hangs_up_leaves_no_stack_trace(
    spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    context: Any = spark.sparkContext
    try:
        raise EOFError
    except EOFError:
        context._accumulatorServer.handle_error(None, ("127.0.0.1", 1))
    assert capfd.readouterr() == ("", "")
