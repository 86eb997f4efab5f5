"""Spark is found through SPARK_HOME, this Python's pyspark, or PATH, in this order."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from harness.base.errors import BadInput, ClusterliftError
from harness.submit import script as scripts
from harness.submit.local_spark import (
    hadoop_version,
    spark_environment,
    spark_home,
    spark_submit_command,
)
from harness.submit.script import run_script_silently
from tests.programs import shell_program
from tests.unit.builders import known


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)


def install(home: Path, script: str = "") -> Path:
    """Create a Spark directory whose spark-submit runs a shell script."""
    (home / "jars").mkdir(parents=True)
    return shell_program(home / "bin/spark-submit", script)


def test_spark_home_wins_and_leaves_the_environment_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = install(tmp_path)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert spark_home() == tmp_path
    assert spark_submit_command() == [str(program)]
    assert spark_environment() == os.environ


def test_pyspark_is_used_from_an_environment_that_is_not_activated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    [program] = spark_submit_command()
    assert program == str(spark_home() / "bin/spark-submit")
    environment = spark_environment()
    assert environment["SPARK_HOME"] == str(spark_home())
    python = known(shutil.which("python3", path=environment["PATH"]))
    assert Path(python).parent == Path(sys.executable).parent


@pytest.mark.usefixtures("no_spark")
def test_path_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = install(tmp_path)
    monkeypatch.setenv("PATH", str(program.parent))
    assert spark_submit_command() == [str(program)]
    assert spark_home() == tmp_path
    assert spark_environment() == os.environ


def test_the_hadoop_version_is_read_from_the_name_of_a_jar(tmp_path: Path) -> None:
    install(tmp_path)
    with pytest.raises(BadInput, match=r"has no hadoop-client-api-\*\.jar"):
        hadoop_version(tmp_path)
    (tmp_path / "jars/hadoop-client-api-3.4.1-x.jar").touch()
    assert hadoop_version(tmp_path) == "3.4.1-x"


def test_a_wrong_spark_home_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/no/such")
    with pytest.raises(BadInput, match=r"^SPARK_HOME is /no/such, which has no jars/"):
        spark_home()


@pytest.mark.usefixtures("no_spark")
def test_without_spark_the_error_names_the_remedies() -> None:
    for search in (spark_home, spark_submit_command):
        with pytest.raises(BadInput, match=r"^no Spark: set SPARK_HOME, install pyspark"):
            search()


def test_spark_connect_is_refused_before_spark_fails_with_a_stack_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://h")
    with pytest.raises(BadInput, match="submit without --remote, SPARK_REMOTE"):
        spark_submit_command()


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        ("echo observe.py: error: no such file; exit 2", BadInput, "no such file"),
        ("echo observe.py: error: disk full; echo at java; exit 1", ClusterliftError, "disk full"),
        (
            "echo 24/01/01 WARN; echo 'no master there'; exit 1",
            ClusterliftError,
            "spark-submit observe.py failed: no master there",
        ),
        ("exit 1", ClusterliftError, "spark-submit observe.py failed: it printed nothing"),
    ],
)
def test_a_failing_script_becomes_one_error(
    script: str,
    kind: type[Exception],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(tmp_path, script)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(ClusterliftError) as raised:
        run_script_silently("datagen/observe.py", "hdfs://nn/rows")
    assert type(raised.value) is kind
    assert str(raised.value) == message


def test_without_the_checkout_there_is_nothing_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scripts, "ROOT", tmp_path)
    with pytest.raises(BadInput, match="run clusterlift from a checkout"):
        run_script_silently("datagen/observe.py")
