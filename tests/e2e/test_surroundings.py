"""What surrounds a script may be wrong: the locale, or a Spark whose driver is not ours."""

from pathlib import Path

import pytest

from .conftest import Spark, own_lines

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
    ("command", "setting", "place"),
    [
        ("jobs/benchmark.py", "SPARK_REMOTE=sc://h", "Spark Connect, which SPARK_REMOTE asks for,"),
        (
            "datagen/generate.py rows",
            "SPARK_API_MODE=connect",
            "Spark Connect, which SPARK_API_MODE",
        ),
        ("datagen/generate.py rows", "DATABRICKS_RUNTIME_VERSION=18.1", "Databricks, whose"),
    ],
)
def test_a_driver_that_is_not_ours(
    command: str, setting: str, place: str, spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    script, *arguments = command.split()
    environment = dict([setting.split("=")])
    done = spark.submit(checkout / script, *arguments, cwd=tmp_path, env=environment, code=2)
    [line] = own_lines(done)
    assert line.startswith(f"{Path(script).name}: error: {place}")
    assert not list(tmp_path.iterdir())
