"""What is said of a node whose Python cannot run what is measured there."""

import sys
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import BadInput
from harness.base.failure_reason import MAX_REASON, NO_REASON, reason_of
from jobs import node_python
from jobs.executors import NO_TASK, ExecutorAnswers
from jobs.node_python import python_fault, require_python_on_nodes
from tests.programs import shell_program

MISMATCH = """org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 1089, in main
    check_python_version(infile)
pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different \
version: 3.10 than that in driver: 3.11, PySpark cannot run with different minor versions.
Please check environment variables PYSPARK_PYTHON and PYSPARK_DRIVER_PYTHON are correctly set.

\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:581)
"""


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (
            MISMATCH,
            (
                "PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.10 "
                "than that in driver: 3.11, PySpark cannot run with different minor versions."
            ),
        ),
        (
            (
                'java.io.IOException: Cannot run program "python3": error=2, No such file or directory\n'
                "\tat java.base/java.lang.ProcessBuilder.start(ProcessBuilder.java:1143)\n"
                "Caused by: java.io.IOException: error=2, No such file or directory\n"
            ),
            'IOException: Cannot run program "python3": error=2, No such file or directory',
        ),
        (
            "Traceback (most recent call last):\n  File w.py\nModuleNotFoundError: No module named 'x'\n",
            "ModuleNotFoundError: No module named 'x'",
        ),
        (
            (
                "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)\n"
                "Caused by: java.io.EOFException\n"
            ),
            "SparkException: Python worker exited unexpectedly (crashed)",
        ),
        (
            "ExecutorLostFailure (executor 1 exited caused by one of the running tasks)",
            "ExecutorLostFailure (executor 1 exited caused by one of the running tasks)",
        ),
        ("ValueError: \x1b[2Jcleared", r"ValueError: \x1b[2Jcleared"),
        ("", NO_REASON),
    ],
)
def test_the_reason_of_a_task_is_its_innermost_cause_or_first_line(
    message: str, reason: str
) -> None:
    assert reason_of(message.replace("\\\n", "")) == reason


def test_a_reason_has_a_limited_length() -> None:
    assert len(reason_of(f"ValueError: {'x' * 10_000}")) == MAX_REASON


def test_both_versions_and_all_hosts_are_named_and_what_to_do() -> None:
    faults: dict[str, tuple[str | None, str]] = {
        "n2": ("3.10", "PySparkRuntimeError: ..."),
        "n1": ("3.10", "PySparkRuntimeError: ..."),
        "n3": (None, 'IOException: Cannot run program "python3"'),
        "n4": ("3.11", "ModuleNotFoundError: No module named 'zlib'"),
    }
    assert python_fault(faults, "3.11", "python3") == (
        "the nodes cannot run python3 as this driver needs it, so nothing could be measured there: "
        "n1, n2: Python 3.10 there, and 3.11 on the driver; "
        'n3: IOException: Cannot run program "python3"; '
        "n4: Python 3.11 there, but ModuleNotFoundError: No module named 'zlib'. "
        "Set PYSPARK_PYTHON to a Python that this machine and every node have, such as 3.11"
    )


@pytest.mark.parametrize(
    ("silent", "refused"),
    [
        ({}, None),
        ({"2": NO_TASK}, None),
        ({"2": "ModuleNotFoundError: No module named 'x'"}, "n2: Python 3.9 there"),
        ({"1": NO_TASK, "2": "OSError: no python3"}, "n2: Python 3.9 there"),
    ],
)
def test_a_run_is_refused_if_a_node_has_answered_that_its_python_cannot_run_ours(
    monkeypatch: pytest.MonkeyPatch, silent: dict[str, str], refused: str | None
) -> None:
    spark: Any = None
    monkeypatch.setattr(node_python, "is_local", lambda _: False)
    monkeypatch.setattr(node_python, "executor_hosts", lambda _: {"1": "n1", "2": "n2"})
    monkeypatch.setattr(node_python, "run_on_executors", lambda *_: ExecutorAnswers({}, silent))
    monkeypatch.setattr(node_python, "python_versions", lambda *_: {"2": "3.9"})
    monkeypatch.setattr(node_python, "_program", lambda _: "python3")
    if refused is None:
        require_python_on_nodes(spark)
    else:
        with pytest.raises(BadInput, match=refused):
            require_python_on_nodes(spark)


@pytest.mark.parametrize("printed", ["echo Python 2.7.18 >&2", "echo Python 3.2.1"])
def test_tasks_on_this_machine_have_the_drivers_python_too(printed: str, tmp_path: Path) -> None:
    other = str(shell_program(tmp_path / "python3", printed))
    with pytest.raises(
        BadInput, match=r"Python (2\.7|3\.2) there, and 3\.\d+ on the driver\. Set PYSPARK_"
    ):
        node_python.require_same_python(other)
    node_python.require_same_python(sys.executable)


def test_a_python_that_is_not_on_this_machine_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"No such file.*Set PYSPARK_PYTHON to a Python that this"):
        node_python.require_same_python(str(tmp_path / "python3"))
