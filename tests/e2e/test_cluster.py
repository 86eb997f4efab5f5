"""The scripts on a cluster whose executors cannot see the checkout."""

from pathlib import Path

import pytest

from datagen.manifest import FILE_NAME, Manifest
from datagen.recipe import Recipe, totals

from .benchmarks import FAST, KINDS, OF_EACH_KIND, check_complete, recorded
from .conftest import Cluster, Spark


@pytest.mark.smoke
def test_both_scripts_work_on_a_cluster_that_cannot_see_the_checkout(
    spark: Spark, cluster: Cluster, checkout: Path, tmp_path: Path
) -> None:
    path = tmp_path / "rows"
    spark.submit(
        *(checkout / "datagen/generate.py", path, "--rows", 3_000, "--partitions", 5),
        cwd=tmp_path,
        master=cluster.url,
    )
    manifest = Manifest.from_json((path / FILE_NAME).read_text())
    assert manifest.totals.float_sum_e9 == totals(Recipe(3_000)).float_sum_e9

    spark.submit(
        *(checkout / "jobs/benchmark.py", "--dataset", path, *FAST, *OF_EACH_KIND),
        cwd=tmp_path,
        master=cluster.url,
    )
    run = recorded(tmp_path / "results")
    check_complete(run, executors=2, workloads=KINDS)
    assert run.run.environment["executors"] == ["127.0.0.2", "127.0.0.3"]
    assert run.run.parameters["parallelism"] == 2


def test_the_executors_of_that_cluster_find_no_package_of_the_checkout(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    blind = tmp_path / "blind.py"
    blind.write_text(
        "from pyspark.sql import SparkSession\n"
        "def find(_):\n"
        "    from importlib.util import find_spec\n"
        "    return [name for name in ('jobs', 'datagen', 'harness') if find_spec(name)]\n"
        "context = SparkSession.builder.getOrCreate().sparkContext\n"
        "print('seen:', context.parallelize(range(4), 4).map(find).collect())\n"
    )
    done = spark.submit(blind, cwd=tmp_path, master=cluster.url)
    assert "seen: [[], [], [], []]" in done.stdout, done.stderr
