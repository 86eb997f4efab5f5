"""What surrounds a script may be wrong: the locale, or a Spark whose driver is not ours."""

import os
import re
from pathlib import Path

import pytest

from .conftest import Spark, completed, own_lines

TIMEOUT_S = 300


def test_a_locale_in_which_java_cannot_read_the_command_line(
    spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    name = "ä-日本"
    done = spark.submit(
        checkout / "datagen/generate.py", name, cwd=tmp_path, env={"LC_ALL": "C"}, code=2
    )
    [line] = own_lines(done)
    assert line.startswith("generate.py: error: '??-??????' has question marks where Java cannot")
    assert line.endswith("set LC_ALL=C.UTF-8")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("submission", "place"),
    [
        ("spark-submit --remote sc://h jobs/benchmark.py", "Spark Connect gives"),
        ("SPARK_REMOTE=sc://h spark-submit datagen/generate.py rows", "Spark Connect gives"),
        (
            "spark-submit --conf spark.api.mode=connect datagen/generate.py rows",
            "Spark Connect gives",
        ),
        (
            "DATABRICKS_RUNTIME_VERSION=18 spark-submit datagen/generate.py rows",
            "Databricks, whose",
        ),
    ],
)
def test_a_spark_whose_driver_is_not_ours(
    submission: str, place: str, spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    words = [str(checkout / word) if word.endswith(".py") else word for word in submission.split()]
    environment = spark.environment(PATH=f"{spark.home / 'bin'}:{os.environ['PATH']}")
    done = completed(["env", *words], tmp_path, environment, code=2)
    [line] = own_lines(done)
    assert re.match(rf"(benchmark|generate)\.py: error: {place}", line)
    assert not list(tmp_path.iterdir())
