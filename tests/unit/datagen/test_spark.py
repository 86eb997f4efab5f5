"""The end of Spark is reported in one line, and nothing waits for it."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from datagen.spark import STOPPED, completed_tasks, root_cause, spark_errors_as_one_line
from harness.base.errors import ClusterliftError

ended = pytest.mark.parametrize(
    "error", [ConnectionRefusedError(111, "Connection refused"), Py4JNetworkError("no answer")]
)
"""What py4j raises when the virtual machine is gone: at the first request, or at a later one."""


@ended
def test_a_spark_that_has_ended_is_named(error: Exception) -> None:
    with (
        pytest.raises(ClusterliftError, match=r"^Spark failed: Spark has ended$"),
        spark_errors_as_one_line("Spark failed"),
    ):
        raise error


@ended
def test_no_task_has_completed_in_a_spark_that_has_ended(error: Exception) -> None:
    def status_tracker() -> object:
        raise error

    spark = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=status_tracker))
    assert completed_tasks(cast("SparkSession", spark)) == 0


class JavaError(ValueError):
    """As py4j has it."""

    java_exception: Any = None


def java_error(*causes: str) -> Exception:
    """An error of py4j, from the outermost cause to the innermost."""
    java = None
    for text in reversed(causes):
        java = SimpleNamespace(toString=lambda text=text: text, getCause=lambda inner=java: inner)
    error = JavaError("An error occurred while calling o1.save.")
    error.java_exception = java
    return error


NO_RIGHT = (
    'configmaps is forbidden: User "me" cannot create resource "configmaps" in API group "" in the '
    'namespace "default"'
)
REFUSED = (
    "io.fabric8.kubernetes.client.KubernetesClientException: Failure executing: POST at: "
    f"https://10.0.0.1/api/v1/namespaces/default/configmaps. Message: {NO_RIGHT}. Received status: "
    f"Status(apiVersion=v1, code=403, message={NO_RIGHT}, status=Failure)."
)
UNKNOWN_HOST = "java.net.UnknownHostException: nn"
CANNOT_RUN = 'Cannot run program "python9": error=2, No such file'
FROM_PYTHON = (
    "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
    '  File "w.py", line 1\nModuleNotFoundError: No module named pyarrow\n'
)


@pytest.mark.parametrize(
    ("causes", "reason"),
    [
        (
            ("org.apache.spark.SparkException: Job aborted.", "java.io.IOException: No space left on device"),
            "No space left on device",
        ),
        (
            (f"java.lang.IllegalArgumentException: {UNKNOWN_HOST}", UNKNOWN_HOST),
            UNKNOWN_HOST,
        ),
        (
            (
                f"org.apache.spark.SparkException: Job aborted: java.io.IOException: {CANNOT_RUN}",
                f"java.io.IOException: {CANNOT_RUN}",
                "java.io.IOException: error=2, No such file",
            ),
            CANNOT_RUN,
        ),
        ((FROM_PYTHON,), "ModuleNotFoundError: No module named pyarrow"),
        (
            ("org.apache.hadoop.ipc.RemoteException(java.io.IOException): file is open",),
            "file is open",
        ),
        ((REFUSED,), NO_RIGHT),
        (("java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",), STOPPED),
    ],
)  # fmt: skip
def test_the_reason_is_the_innermost_cause_in_java(causes: tuple[str, ...], reason: str) -> None:
    assert root_cause(java_error(*causes)) == reason
