"""The entry scripts run under the real spark-submit, by absolute path, from another directory."""

import shutil
from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.model.run import Ending, Phase, RecordedRun, Status
from harness.node.machine import facts_by_node
from harness.records.reader import load

from .benchmarks import FAST, check_complete, recorded
from .conftest import Completed, Spark, own_lines
from .secrets import leaks, plant

WORKLOADS = frozenset({"inner-join", "calc-pi-python-udf"})


@pytest.fixture(scope="module")
def benchmarked(
    spark: Spark, checkout: Path, dataset: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Completed, RecordedRun]:
    """A run in local mode with a fact, and with secrets wherever users put them."""
    cwd = tmp_path_factory.mktemp("elsewhere")
    _, environment, facts = plant(cwd)
    done = spark.submit(
        *(checkout / "jobs/benchmark.py", "--dataset", dataset, *FAST),
        *("--workloads", ",".join(WORKLOADS)),
        *("--warmup", 1, "--configuration", "1g-rs", "--fact", "switch=TEG-7080ES", *facts),
        cwd=cwd,
        env=environment,
    )
    return done, recorded(cwd / "results")


@pytest.mark.smoke
def test_a_run_in_local_mode_is_complete(benchmarked: tuple[Completed, RecordedRun]) -> None:
    _, run = benchmarked
    check_complete(run, executors=1, workloads=WORKLOADS)
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
    for fact in ("nodes", "spark", "java", "hadoop", "master"):
        assert run.environment[fact], fact
    [facts] = facts_by_node(run.environment).values()
    assert {"kernel", "cpus", "memory", "local_dirs_used", "data_dir_used"} <= facts.keys()
    assert run.environment["master"] == "local[2]"
    assert run.parameters["pi_samples"] == 20_000
    assert run.parameters["command"].startswith("spark-submit jobs/benchmark.py ")


@pytest.mark.smoke
def test_forty_secrets_reach_no_file_and_no_terminal(
    benchmarked: tuple[Completed, RecordedRun], tmp_path: Path, capfd: pytest.CaptureFixture[str]
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
    assert "\n[4/4] " in done.stdout
    assert " left" in done.stdout
    *table, last = done.stdout.splitlines()[-len(WORKLOADS) - 2 :]
    assert {line.split()[0] for line in table} == {"workload", *WORKLOADS}
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


def test_rounds_continue_until_every_workload_is_steady(
    spark: Spark, checkout: Path, dataset: Path, tmp_path: Path
) -> None:
    done = spark.submit(
        *(checkout / "jobs/benchmark.py", "--dataset", dataset, *FAST),
        *("--warmup", "auto", "--max-time", "1s"),
        *("--workloads", "group-by,calc-pi-dataframe"),
        cwd=tmp_path,
    )
    run = recorded(tmp_path / "results")
    assert str(run.stopped).startswith("after 2 rounds, ")
    assert f"\n{run.stopped}\n" in done.stdout
    assert (run.run.parameters["warmup"], run.run.parameters["max_time_s"]) == ("auto", 1)
    assert [trial.round for trial in run.trials] == [1, 1, 2, 2]
    assert run.run.parameters["data_workloads"] == ["group-by"]
    assert "sha-512" in run.run.parameters["not_requested"]


def test_streams_share_the_executors_fairly(spark: Spark, checkout: Path, tmp_path: Path) -> None:
    options = ("--streams", 2, "--workloads", "supersteps", *FAST)
    spark.submit(checkout / "jobs/benchmark.py", *options, cwd=tmp_path)
    run = recorded(tmp_path / "results")
    assert run.run.environment["spark_conf"]["spark.scheduler.mode"] == "FAIR"
    assert [trial.workload for trial in run.trials] == ["streams-2", "supersteps"]


@pytest.mark.slow
def test_without_options_a_dataset_is_generated_once(
    spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    script = checkout / "jobs/benchmark.py"
    first = spark.submit(script, cwd=tmp_path, env=cache)
    assert "generating 300,000 rows once" in first.stdout
    run = recorded(tmp_path / "results")
    assert run.run.configuration == "default"
    check_complete(run, executors=1)
    again = spark.submit(script, "--workloads", "sha-512", *FAST, cwd=tmp_path, env=cache)
    assert "generating" not in again.stdout


NEW_WORKLOAD = """
from pyspark.sql import functions as F
from jobs.workload import Bottleneck, Workload, expect

class Distinct(Workload):
    name = "NAME"
    bottleneck = Bottleneck.SHUFFLE
    def frame(self, context):
        return context.data.select("value").distinct()
    def observe(self, context):
        return {"rows": F.count("*")}
    def check(self, answer, context):
        expect("rows", answer["rows"], context.totals.rows + EXTRA)
"""


def test_a_workload_is_added_by_one_file_and_a_wrong_answer_is_no_time(
    spark: Spark, checkout: Path, dataset: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(checkout, copy)
    for name, extra in (("distinct", 0), ("mistaken", 1)):
        text = NEW_WORKLOAD.replace("NAME", name).replace("EXTRA", str(extra))
        (copy / f"jobs/workloads/{name}.py").write_text(text)
    script = copy / "jobs/benchmark.py"
    workloads = ("--workloads", "distinct,mistaken")
    spark.submit(script, "--dataset", dataset, *FAST, *workloads, cwd=tmp_path, code=1)
    trials = {trial.workload: trial for trial in recorded(tmp_path / "results").trials}
    assert trials["distinct"].status is Status.OK
    mistaken = trials["mistaken"]
    assert (mistaken.status, mistaken.wall_s) == (Status.FAILED, None)
    assert mistaken.error == "WrongAnswer: rows is 2000, not 2001"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param(
            ("benchmark.py", "--dataset", "/nowhere/rows"),
            "file:/nowhere/rows does not exist",
            marks=pytest.mark.smoke,
        ),
        pytest.param(
            ("generate.py", "rows", "--rows", "-1"),
            "--rows: -1 is out of range: it must be from 0 to",
            marks=pytest.mark.smoke,
        ),
        (("generate.py", "rows", "--layout", "rs:6+3"), "--layout rs:6+3: file:"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    spark: Spark, checkout: Path, tmp_path: Path, command: tuple[str, ...], message: str
) -> None:
    [script] = checkout.glob(f"*/{command[0]}")
    done = spark.submit(script, *command[1:], cwd=tmp_path, code=2)
    [line] = own_lines(done)
    assert message in line
    assert "Traceback" not in done.stderr
    assert not [*tmp_path.rglob("*.jsonl"), *tmp_path.glob("rows")]
