"""The scripts on Spark 3.5, with its Python alone."""

from pathlib import Path

import pytest

from datagen.manifest import FILE_NAME, Manifest
from harness.model.answer import RowsDigest

from .benchmarks import FAST, KINDS, OF_EACH_KIND, WITHOUT_ARROW, check_complete, recorded
from .conftest import Spark


@pytest.mark.parametrize(
    ("options", "workloads"),
    [
        pytest.param(OF_EACH_KIND, KINDS, id="some"),
        pytest.param(("--sink", "rdd-count"), WITHOUT_ARROW, id="all, rdd-count"),
    ],
)
def test_both_scripts_work_on_spark_35(
    spark35: Spark,
    checkout: Path,
    tmp_path: Path,
    options: tuple[str, ...],
    workloads: frozenset[str],
) -> None:
    path = tmp_path / "rows"
    spark35.submit(checkout / "datagen/generate.py", path, "--rows", 500, cwd=tmp_path)
    arguments = ("--dataset", path, *FAST, *options)
    done = spark35.submit(checkout / "jobs/benchmark.py", *arguments, cwd=tmp_path)
    run = recorded(tmp_path / "results")
    check_complete(run, executors=1, workloads=workloads)
    if workloads == WITHOUT_ARROW:
        assert run.run.omitted["calc-pi-arrow-udf"].startswith("needs pandas, pyarrow")
        assert "calc-pi-arrow-udf is left out: needs pandas, pyarrow" in done.stdout
    assert run.run.environment["spark"].startswith("3.5")


def test_spark_35_writes_the_same_rows(
    spark35: Spark, checkout: Path, dataset: Path, tmp_path: Path
) -> None:
    path = tmp_path / "rows"
    options = ("--rows", 2_000, "--partitions", 7, "--format", "parquet")
    spark35.submit(checkout / "datagen/generate.py", path, *options, cwd=tmp_path)
    digests = [
        Manifest.from_json((directory / FILE_NAME).read_text()).digest
        for directory in (dataset, path)
    ]
    assert digests[0] == digests[1]


def test_spark_35_has_the_same_answers_to_queries(
    spark: Spark, spark35: Spark, checkout: Path, dataset: Path, tmp_path: Path
) -> None:
    (tmp_path / "q").mkdir()
    (tmp_path / "q/sums.sql").write_text(
        "SELECT prefix2, sum(float_val) AS sum, map('a', array(float(avg(integer_val)))) AS nested "
        "FROM numbers GROUP BY prefix2"
    )
    found: list[tuple[RowsDigest, ...]] = []
    for version in (spark, spark35):
        options = ("--sql", "q", "--table", f"numbers={dataset}", "--workloads", "sums")
        cwd = tmp_path / f"{len(found)}"
        cwd.mkdir()
        (cwd / "q").symlink_to(tmp_path / "q")
        version.submit(checkout / "jobs/benchmark.py", *FAST, *options, cwd=cwd)
        found += [trial.answers for trial in recorded(cwd / "results").trials]
    [[before], [after]] = found
    assert before.rows == 255
    assert not before.difference(after)
