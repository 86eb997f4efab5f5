"""What surrounds a script may be wrong or change while it runs: the locale, the place of its results."""

import shutil
import subprocess
from pathlib import Path

from tests.waiting import eventually

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


def test_a_results_directory_that_is_deleted_meanwhile_ends_the_run(
    spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    endless = ("--workloads", "calc-pi-dataframe", "--pi-samples", 1000, "--trials", 10_000)
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            spark.command(checkout / "jobs/benchmark.py", *endless),
            cwd=tmp_path,
            env=spark.environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: list(tmp_path.glob("results/*/*.jsonl")), log.read_text(), TIMEOUT_S)
        shutil.rmtree(tmp_path / "results")
        assert process.wait(TIMEOUT_S) == 1
    finally:
        process.kill()
        process.wait()
    printed = log.read_text()
    assert "jsonl: it was deleted, with all that it had; start the run again" in printed
    assert "Traceback" not in printed
