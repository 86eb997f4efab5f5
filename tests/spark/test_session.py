"""The session that our scripts start."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from pyspark.sql import SparkSession


def test_a_jvm_that_hangs_up_leaves_no_stack_trace(
    spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    context: Any = spark.sparkContext
    server = context._accumulatorServer
    with socket.create_connection(server.server_address) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""  # the server has met the error and closed the connection
    assert capfd.readouterr() == ("", "")
