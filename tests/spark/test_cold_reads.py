"""A run that asks for cold reads has them, or its trials do not count."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from datagen.dataset import Dataset
from datagen.manifest import Format
from datagen.recipe import Recipe
from datagen.storage.local import Local
from datagen.writer import Request, write_dataset
from harness.analysis.compare.comparison import compare
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.model.cache import cache_text, disk_share, why_not_cold
from harness.model.run import RecordedRun, Trial
from harness.node import page_cache
from harness.node.page_cache import drop_everything
from harness.records.reader import load
from jobs.cold_reads import ColdReads
from jobs.measuring import benchmark
from jobs.options import parse
from tests.disks import require_counted_disk
from tests.unit.printed import printed_table

READER, CONTROL = "sha-512", "sha-512-cached"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def dataset(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    directory = tmp_path_factory.mktemp("data")
    require_counted_disk(directory)
    return write_dataset(spark, Request(str(directory / "d"), Recipe(230_000), Format.CSV, 4))


def run(
    spark: SparkSession,
    dataset: Dataset,
    results: Path,
    cache: str,
    workloads: str = f"{READER},{CONTROL}",
    trials: int = 1,
) -> RecordedRun:
    options = {
        "--dataset": dataset.uri,
        "--results": str(results),
        "--configuration": cache,
        "--cache": cache,
        "--workloads": workloads,
        "--trials": str(trials),
        "--warmup": "0",
        "--proof": "trials",
        "--pi-samples": "10000",
    }
    words = [word for pair in options.items() for word in pair]
    # The fixture has just written what it is.
    assert benchmark(spark, parse([*words, "--skip-content-check"])) == 0
    [file] = (results / cache).glob("*.jsonl")
    return load(file)


def trials(recorded: RecordedRun, workload: str = READER) -> list[Trial]:
    found = [trial for trial in recorded.trials if trial.workload == workload]
    assert len(found) == recorded.run.parameters["trials"]
    return found


def test_cold_trials_read_disks_and_warm_ones_memory_and_tables_say_so(
    spark: SparkSession, dataset: Dataset, tmp_path: Path, capsys: Captured
) -> None:
    runs = {
        "warm": run(spark, dataset, tmp_path, "warm", READER),
        "cold": run(spark, dataset, tmp_path, "cold", trials=2),
    }
    warm, cold = (disk_share(trials(recorded)) for recorded in runs.values())
    assert warm is not None
    assert cold is not None
    assert warm <= 0.1
    assert cold >= 0.9
    assert not any(why_not_cold(trial) or trial.executions > 1 for trial in trials(runs["cold"]))
    assert not any(trial.to_be_cold for trial in trials(runs["cold"], CONTROL))
    assert "docs/cold-reads.md" not in capsys.readouterr().err
    columns = [ConfigurationRuns(name, (recorded,)) for name, recorded in runs.items()]
    table = " ".join(printed_table(compare(columns)).split())
    assert f"Input was {cache_text(warm)} in warm; {cache_text(cold)} in cold." in table
    assert f"cache of the input: {cache_text(cold)} here, {cache_text(warm)} in warm" in table


def test_what_something_read_into_memory_again_is_noticed_and_does_not_count(
    spark: SparkSession,
    dataset: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    drop = ColdReads.drop

    def drop_and_read(self: ColdReads) -> None:
        drop(self)
        for name in dataset.manifest.files:
            Path(dataset.uri.removeprefix("file:"), name).read_bytes()

    monkeypatch.setattr(ColdReads, "drop", drop_and_read)
    recorded = run(spark, dataset, tmp_path, "cold")
    assert all(map(why_not_cold, trials(recorded)))
    assert not any(map(why_not_cold, trials(recorded, CONTROL)))
    lines = capsys.readouterr().err
    assert (
        f"no trial of {READER} was cold, so none counts: the storage itself keeps what it reads "
        "(docs/cold-reads.md says what to do)" in lines
    )


def test_who_may_drop_nothing_learns_it_and_has_trials_that_do_not_count(
    spark: SparkSession,
    dataset: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.setattr(Local, "drop_cached", lambda *_: drop_everything)
    monkeypatch.setattr(page_cache, "_DROP_CACHES", str(tmp_path / "no/drop_caches"))
    recorded = run(spark, dataset, tmp_path / "results", "cold", READER)
    assert all(map(why_not_cold, trials(recorded)))
    assert f"{tmp_path}/no/drop_caches: No such file or directory (docs" in capsys.readouterr().err
