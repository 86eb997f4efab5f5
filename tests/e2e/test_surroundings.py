"""What surrounds a script may be wrong: the locale."""

from pathlib import Path

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
