"""The timelines of real trials: on one machine, on a cluster, and over links that are full."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.analysis.explain.timeline import link_uses, trial_links
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.model.run import Trial
from harness.node.disks import disk_names
from tests.probes.networks import missing

from .benchmarks import recorded
from .conftest import Cluster, Spark
from .shaped_cluster import shaped_cluster

SHORT = ("--workloads", "calc-pi-dataframe", "--pi-samples", 300_000_000, "--warmup", 0)


def assert_complete(trial: Trial) -> None:
    """The timeline has every slice of the trial, and its stages."""
    assert trial.timeline is not None
    assert trial.wall_s is not None
    timeline, whole_s = trial.timeline, trial.wall_s * trial.executions
    assert timeline.slices * timeline.interval_s == pytest.approx(whole_s, rel=0.01, abs=0.05)
    assert timeline.stages
    assert all(0 <= stage.start_s < stage.end_s <= whole_s + 0.1 for stage in timeline.stages)
    for node in timeline.nodes:
        assert (None in timeline.series(node.disk_busy_percent)) == (not disk_names())


def test_a_run_on_one_machine_has_its_disks(spark: Spark, checkout: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    script = checkout / "jobs/benchmark.py"
    spark.submit(script, *SHORT, "--trials", 2, "--results", results, cwd=tmp_path)
    for trial in recorded(results).trials:
        assert_complete(trial)
        assert trial.timeline is not None
        assert [node.clock_error_s for node in trial.timeline.nodes] == [0]


def test_spark_3_5_has_timelines_and_counters_as_well(
    spark35: Spark, checkout: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    script = checkout / "jobs/benchmark.py"
    spark35.submit(script, *SHORT, "--trials", 1, "--results", results, cwd=tmp_path)
    [trial] = recorded(results).trials
    assert_complete(trial)
    assert [bool(node.loops) for node in trial.interference or ()] == [True]


def test_executors_have_timelines_and_a_file_grows_by_at_most_half(
    spark: Spark, checkout: Path, dataset: Path, cluster: Cluster, tmp_path: Path
) -> None:
    """Two workers that share a network are one node."""
    results = tmp_path / "results"
    spark.submit(
        *(checkout / "jobs/benchmark.py", "--dataset", dataset, "--pi-samples", 300_000_000),
        *("--workloads", "sha-512,calc-pi-dataframe", "--trials", 2, "--warmup", 1),
        *("--results", results),
        cwd=tmp_path,
        master=cluster.url,
    )
    run = recorded(results)
    assert all(trial.timeline and len(trial.timeline.hosts) == 1 for trial in run.trials)
    lines = [json.loads(line) for line in Path(run.source).read_text().splitlines()]
    without = [{key: line[key] for key in line.keys() - {"timeline"}} for line in lines]
    with_bytes, without_bytes = (len(json.dumps(each)) for each in (lines, without))
    assert with_bytes <= 1.5 * without_bytes


@pytest.mark.slow
def test_a_slow_link_is_full_while_the_join_shuffles(spark: Spark, tmp_path: Path) -> None:
    if reason := missing():
        pytest.skip(reason)
    results = tmp_path / "results"
    with shaped_cluster(spark, tmp_path / "cluster", "20mbit") as cluster:
        data = f"{cluster.uri}/rows"
        cluster.submit("datagen/generate.py", data, "--rows", 200_000, "--layout", "replicated:1")
        cluster.submit(
            *("jobs/benchmark.py", "--dataset", data, "--workloads", "repartition"),
            *("--trials", 2, "--warmup", 1, "--repartition", 8, "--results", results),
        )
        hosts = {cluster.network.addresses[host] for host in cluster.hosts}
    # What else this machine does must not matter here.
    run = recorded(results)
    run = replace(run, trials=tuple(replace(trial, disturbed=None) for trial in run.trials))
    for trial in run.trials:
        assert_complete(trial)
        assert trial.timeline is not None
        assert set(trial.timeline.hosts) >= hosts - {"10.99.0.1"}
    [use] = link_uses(trial_links(ConfigurationRuns("default", (run,)))).values()
    assert use.goodput is not None
    assert use.goodput.source == "in theory, at 20mbit"
    assert use.full_share is not None
    assert use.full_share > 0.2
    assert use.stage is not None
