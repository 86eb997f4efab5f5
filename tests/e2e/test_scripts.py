"""The entry scripts run under the real spark-submit, by absolute path, from another directory."""

import shutil
from pathlib import Path

import pytest

from datagen.manifest import FILE_NAME, Manifest
from datagen.recipe import Recipe, totals
from harness.cli import main
from harness.model.run import Ending, Phase, RecordedRun, Status
from harness.node.machine import facts_by_node
from harness.records.reader import load
from jobs.workload import discover

from .conftest import Cluster, Completed, Spark, own_lines
from .secrets import leaks, plant

FAST = ("--trials", 1, "--warmup", 0, "--repartition", 4, "--pi-samples", 20_000)
WITHOUT_ARROW = frozenset(name for name, found in discover().items() if not found.requires)
OF_EACH_KIND = frozenset({"inner-join", "calc-pi-python-udf", "supersteps"})
"""A workload that shuffles a dataset, one whose tasks run in Python, and one that exchanges messages."""


def recorded(results: Path) -> RecordedRun:
    """Return the only run in a results directory."""
    [file] = results.glob("*/*.jsonl")
    run = load(file)
    assert not run.warnings
    return run


def one_line(completed: Completed) -> str:
    """Return the only line that the script printed about a user's mistake."""
    lines = own_lines(completed)
    assert len(lines) == 1, completed.stderr
    assert "Traceback" not in completed.stderr
    return lines[0]


def check_complete(
    run: RecordedRun, executors: int, workloads: frozenset[str] = WITHOUT_ARROW
) -> None:
    assert {trial.workload for trial in run.trials} == workloads
    assert [(t.workload, t.error) for t in run.trials if t.status is Status.FAILED] == []
    assert run.ending is Ending.COMPLETED
    assert len(run.run.environment["executors"]) == executors


@pytest.fixture(scope="module")
def benchmarked(
    spark: Spark, checkout: Path, dataset: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Completed, RecordedRun]:
    """A run in local mode with a fact, and with secrets wherever users put them."""
    cwd = tmp_path_factory.mktemp("elsewhere")
    _, environment, facts = plant(cwd)
    done = spark.submit(
        *(checkout / "jobs/benchmark.py", "--dataset", dataset, *FAST, "--warmup", 1),
        *("--configuration", "1g-rs", "--fact", "switch=TEG-7080ES", *facts),
        cwd=cwd,
        env=environment,
    )
    return done, recorded(cwd / "results")


@pytest.mark.smoke
def test_a_run_in_local_mode_is_complete(benchmarked: tuple[Completed, RecordedRun]) -> None:
    _, run = benchmarked
    check_complete(run, executors=1)
    assert "needs pandas, pyarrow" in run.run.omitted["calc-pi-arrow-udf"]
    assert run.run.configuration == "1g-rs"
    assert {trial.phase for trial in run.trials} == {Phase.WARM_UP, Phase.MEASURED}


@pytest.mark.smoke
def test_a_run_records_its_dataset_and_environment(
    benchmarked: tuple[Completed, RecordedRun],
) -> None:
    run = benchmarked[1].run
    assert run.dataset is not None
    assert run.dataset["rows"] == 2_000
    assert run.dataset["layout"] == {"requested": "unknown", "observed": "unknown", "drift": None}
    for fact in ("memory_bytes", "nodes", "spark", "java", "hadoop", "master"):
        assert run.environment[fact], fact
    [facts] = facts_by_node(run.environment).values()
    assert {"kernel", "cpus", "memory"} <= facts.keys()
    assert run.environment["master"] == "local[2]"
    assert run.parameters["pi_samples"] == 20_000
    assert run.parameters["command"].startswith("spark-submit jobs/benchmark.py ")


@pytest.mark.smoke
def test_forty_secrets_reach_no_file_and_no_terminal(
    benchmarked: tuple[Completed, RecordedRun],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    done, run = benchmarked
    secrets, _, _ = plant(tmp_path)
    assert len(secrets) == 40
    properties = run.run.environment["spark_conf"]
    assert properties["spark.executorEnv.HARMLESS"].startswith("digest:")
    assert properties["spark.driver.extraJavaOptions"].count("digest:") == 3
    assert run.run.facts["switch"] == "TEG-7080ES"
    for command in ("show", "ready"):
        main([command, run.source])
    printed = capfd.readouterr()
    texts = [done.stdout, done.stderr, printed.out, printed.err]
    assert leaks(secrets, [*texts, Path(run.source).read_bytes()]) == {}
    # The other way round: the search would have found them.
    assert len(leaks(secrets, [(tmp_path / "spark-defaults.conf").read_text()])) == 34


@pytest.mark.smoke
def test_progress_and_a_summary_are_printed(benchmarked: tuple[Completed, RecordedRun]) -> None:
    done, run = benchmarked
    trials = 2 * len(WITHOUT_ARROW)
    assert f"[{trials}/{trials}] sha-512-cached" in done.stdout
    assert " left" in done.stdout
    assert "calc-pi-arrow-udf is left out: needs pandas, pyarrow" in done.stdout
    *table, last = done.stdout.splitlines()[-len(WITHOUT_ARROW) - 2 :]
    assert {line.split()[0] for line in table} == {"workload", *WITHOUT_ARROW}
    assert last == f"results: {Path('results') / '1g-rs' / run.run.id}.jsonl"


def test_a_series_of_runs_is_complete_when_it_has_as_many_as_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--master", "local[1]", "--conf", "spark.ui.enabled=false", *map(str, FAST)]
    for _ in range(2):
        code = main(["run", "--runs", "2", *options, "--workloads", "calc-pi-dataframe"])
        assert code == 0
        runs = [load(file) for file in (tmp_path / "results/default").glob("*.jsonl")]
        assert [run.ending for run in runs] == [Ending.COMPLETED] * 2
        assert len({run.run.parameters["series"] for run in runs}) == 1
    assert "default has 2 complete runs" in capfd.readouterr().out


def test_trials_continue_until_the_time_is_over(
    spark: Spark, checkout: Path, dataset: Path, tmp_path: Path
) -> None:
    done = spark.submit(
        *(checkout / "jobs/benchmark.py", "--dataset", dataset, *FAST),
        *("--trials", "auto", "--precision", "0.001%", "--max-time", "1s"),
        *("--workloads", "group-by,calc-pi-dataframe"),
        cwd=tmp_path,
    )
    run = recorded(tmp_path / "results")
    stopped = (
        "after 1 round, another would not have ended in time; "
        "not reached: group-by (no interval), calc-pi-dataframe (no interval)"
    )
    assert run.stopped == stopped
    assert f"\n{stopped}\n" in done.stdout
    assert (run.run.parameters["trials"], run.run.parameters["precision"]) == ("auto", 1e-5)
    assert [trial.workload for trial in run.trials] == ["group-by", "calc-pi-dataframe"]
    assert run.run.parameters["data_workloads"] == ["group-by"]
    assert "sha-512" in run.run.parameters["not_requested"]


@pytest.mark.smoke
def test_both_scripts_work_on_a_cluster_that_cannot_see_the_checkout(
    spark: Spark, cluster: Cluster, checkout: Path, tmp_path: Path
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

    path = tmp_path / "rows"
    done = spark.submit(
        *(checkout / "datagen/generate.py", path, "--rows", 3_000, "--partitions", 5),
        cwd=tmp_path,
        master=cluster.url,
    )
    manifest = Manifest.from_json((path / FILE_NAME).read_text())
    assert manifest.totals.float_sum_e9 == totals(Recipe(3_000)).float_sum_e9

    chosen = ("--workloads", ",".join(OF_EACH_KIND))
    done = spark.submit(
        *(checkout / "jobs/benchmark.py", "--dataset", path, *FAST, *chosen),
        cwd=tmp_path,
        master=cluster.url,
    )
    run = recorded(tmp_path / "results")
    check_complete(run, executors=2, workloads=OF_EACH_KIND)
    assert run.run.environment["executors"] == ["127.0.0.2", "127.0.0.3"]
    assert run.run.parameters["parallelism"] == 2


@pytest.mark.parametrize("sink", [pytest.param("noop", marks=pytest.mark.smoke), "rdd-count"])
def test_both_scripts_work_on_spark_35(
    spark35: Spark, checkout: Path, tmp_path: Path, sink: str
) -> None:
    path = tmp_path / "rows"
    spark35.submit(checkout / "datagen/generate.py", path, "--rows", 500, cwd=tmp_path)
    spark35.submit(
        *(checkout / "jobs/benchmark.py", "--dataset", path, *FAST, "--sink", sink), cwd=tmp_path
    )
    run = recorded(tmp_path / "results")
    check_complete(run, executors=1)
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


@pytest.mark.slow
def test_without_options_a_dataset_is_generated_once(
    spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    script = checkout / "jobs/benchmark.py"
    first = spark.submit(script, cwd=tmp_path, env=cache)
    assert "generating 300,000 rows once" in first.stdout
    assert recorded(tmp_path / "results").run.configuration == "default"
    again = spark.submit(script, "--workloads", "sha-512", *FAST, cwd=tmp_path, env=cache)
    assert "generating" not in again.stdout


def test_pi_alone_needs_no_dataset(spark: Spark, checkout: Path, tmp_path: Path) -> None:
    no_cache = {"XDG_CACHE_HOME": "/dev/null/cache"}
    spark.submit(
        *(checkout / "jobs/benchmark.py", *FAST, "--workloads", "calc-pi-dataframe"),
        cwd=tmp_path,
        env=no_cache,
    )
    assert recorded(tmp_path / "results").run.dataset is None


NEW_WORKLOAD = """
from pyspark.sql import functions as F
from jobs.workload import Bottleneck, Workload, expect

class Distinct(Workload):
    name = "distinct"
    bottleneck = Bottleneck.SHUFFLE
    def frame(self, context):
        return context.data.select("value").distinct()
    def observe(self, context):
        return {"rows": F.count("*")}
    def check(self, answer, context):
        expect("rows", answer["rows"], context.totals.rows + EXTRA)
"""


@pytest.mark.parametrize(
    ("extra", "status", "code"), [(0, Status.OK, 0), (1, Status.FAILED, 1)], ids=["right", "wrong"]
)
def test_a_workload_is_added_by_one_file(
    spark: Spark,
    checkout: Path,
    dataset: Path,
    tmp_path: Path,
    extra: int,
    status: Status,
    code: int,
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(checkout, copy)
    (copy / "jobs/workloads/distinct.py").write_text(NEW_WORKLOAD.replace("EXTRA", str(extra)))
    workloads = ("--workloads", "distinct,sha-512")
    script = copy / "jobs/benchmark.py"
    spark.submit(script, "--dataset", dataset, *FAST, *workloads, cwd=tmp_path, code=code)
    distinct, sha = recorded(tmp_path / "results").trials
    assert (distinct.workload, distinct.status) == ("distinct", status)
    assert (sha.workload, sha.status) == ("sha-512", Status.OK)
    if extra:
        assert distinct.error == "WrongAnswer: rows is 2000, not 2001"
        assert distinct.wall_s is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--workloads", "calc-pi-arrow-udf"),
            "--workloads: calc-pi-arrow-udf needs pandas, pyarrow",
        ),
        pytest.param(
            ("--dataset", "/nowhere/rows"),
            "file:/nowhere/rows does not exist",
            marks=pytest.mark.smoke,
        ),
        (("--results", "/dev/null/x"), "--results: cannot write to /dev/null/x/default"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    spark: Spark, checkout: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = spark.submit(checkout / "jobs/benchmark.py", *arguments, cwd=tmp_path, code=2)
    assert message in one_line(done)
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rows", "-1"), "--rows: -1 is out of range: it must be from 0 to"),
        pytest.param(("--layout", "rs:6+3"), "--layout rs:6+3: file:", marks=pytest.mark.smoke),
    ],
)
def test_a_mistake_in_generating_is_one_line_and_exit_code_2(
    spark: Spark, checkout: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "rows"
    done = spark.submit(checkout / "datagen/generate.py", path, *arguments, cwd=tmp_path, code=2)
    assert message in one_line(done)
    assert not path.exists()


def test_a_foreign_file_with_an_escape_sequence_in_its_name_is_shown_escaped(
    spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    path = tmp_path / "rows"
    path.mkdir()
    (path / "\x1b[31mred").write_text("")
    done = spark.submit(checkout / "datagen/generate.py", path, "--overwrite", cwd=tmp_path, code=2)
    assert r"(first: \x1b[31mred)" in one_line(done)
