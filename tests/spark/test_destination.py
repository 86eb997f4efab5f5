"""What workloads write is stored like the dataset, and gone when the trial and the run have ended."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from datagen import written
from datagen.dataset import Dataset, open_dataset
from datagen.destination import Destination, destination_beside
from datagen.filesystem import Directory
from datagen.manifest import Format
from datagen.marker import MARKER, Marker
from datagen.recipe import Recipe
from datagen.writer import Request, write_dataset
from datagen.written import PURPOSE
from harness.base.errors import BadInput
from harness.model.task_metrics import WrittenBytes
from jobs.sinks import StorageSink
from tests.unit.builders import known

from .conftest import RunOn, Write

RECIPE = Recipe(2_000, seed=5)
PART = "part-00000-00000000-0000-0000-0000-000000000000-c000.csv"


def names(directory: Path) -> set[str]:
    """Return the files below a directory but results; Spark's random job ids and our tokens are left out."""
    paths = {str(path.relative_to(directory)) for path in directory.rglob("*")}
    kept = (path for path in paths if not path.startswith("results"))
    return {re.sub(r"-[0-9a-f-]{36}-|[0-9a-f]{16}-", "-", path) for path in kept}


@pytest.mark.parametrize("format_", Format)
def test_the_files_are_like_those_of_the_dataset_and_nothing_is_left(
    write: Write, run_on: RunOn, tmp_path: Path, format_: Format
) -> None:
    dataset = write(RECIPE, format_=format_)
    before = names(tmp_path)
    run = run_on(dataset, "write,sort-write", "--sink", "rdd-count")
    for trial in run.trials:
        assert trial.written is not None, trial.error
        assert (trial.written.layout, trial.written.stored_bytes) == ("unknown", None)
        assert trial.written.data_bytes == pytest.approx(dataset.manifest.bytes, rel=0.5)
        assert known(trial.tasks).output_bytes == pytest.approx(trial.written.data_bytes, rel=0.1)
    assert run.run.parameters["writing_workloads"] == ["write", "sort-write"]
    assert names(tmp_path) == before


def test_the_save_with_its_commit_is_timed_and_nothing_else(
    write: Write, run_on: RunOn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[str]] = []
    real, beside = StorageSink.run, tmp_path / "dataset.written"

    def run(self: StorageSink) -> None:
        seen.append(names(beside))
        real(self)
        seen.append(names(beside))

    monkeypatch.setattr(StorageSink, "run", run)
    run_on(write(RECIPE), "write")
    before, after = seen
    assert before == {MARKER, "-1"}
    assert "-1/_SUCCESS" in after - before
    assert not [name for name in after if "_temporary" in name]


def lose_rows(beside: Path) -> None:
    part = min(beside.rglob("part-*"))
    part.write_text("")
    part.with_name(f".{part.name}.crc").unlink()


def replace_by_a_link(beside: Path) -> None:
    beside.rename(beside.with_name("moved"))
    beside.with_name("elsewhere").mkdir()
    beside.symlink_to(beside.with_name("elsewhere"))


def replace_the_marker(beside: Path) -> None:
    (beside / MARKER).write_text("another process")


def delete(beside: Path) -> None:
    subprocess.run(["rm", "-r", beside], check=True)


TAKEN_OVER = "ClusterliftError: another process took over writing file:"


@pytest.mark.parametrize(
    ("happens", "error", "left"),
    [
        (lose_rows, "WrongAnswer: rows is ", set()),
        (replace_by_a_link, TAKEN_OVER, {"moved", "elsewhere", "dataset.written"}),
        (replace_the_marker, TAKEN_OVER, {"dataset.written"}),
        (delete, TAKEN_OVER, set()),
    ],
)
def test_what_happens_to_the_files_of_a_trial_fails_it_in_one_line(
    run_on: RunOn,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[Path], None],
    error: str,
    left: set[str],
) -> None:
    """What somebody else put there stays; what the trial wrote does not, where it can be reached."""
    real = Destination.prove

    def prove(self: Destination, number: int) -> WrittenBytes:
        happens(tmp_path / "dataset.written")
        return real(self, number)

    dataset = write(RECIPE, format_=Format.CSV)
    monkeypatch.setattr(Destination, "prove", prove)
    run = run_on(dataset, "write", code=1)
    [trial] = run.trials
    assert (trial.error or "").startswith(error), trial.error
    assert {path.name for path in tmp_path.iterdir()} == {"dataset", "results"} | left
    assert not list(tmp_path.glob("dataset.written/*-[0-9]*"))
    assert not list(tmp_path.glob("elsewhere/*"))


def test_a_full_disk_fails_the_trial_in_one_line_and_leaves_nothing(
    spark: SparkSession, run_on: RunOn, small_disk: Path
) -> None:
    request = Request(str(small_disk / "rows"), Recipe(8_000), Format.CSV, 2)
    dataset = write_dataset(spark, request)
    run = run_on(dataset, "sha-512,write", code=1)
    errors = {trial.workload: trial.error for trial in run.trials}
    assert errors["sha-512"] is None
    where = re.escape(f"writing to {dataset.uri}.written/")
    assert re.search(rf"{where}\S+: No space left on device$", errors["write"] or "")
    assert [path.name for path in small_disk.iterdir()] == ["rows"]


# Where nothing can be written.


def foreign(beside: Path) -> None:
    beside.mkdir()
    (beside / "thesis.tex").write_text("years of work")


def dangling(beside: Path) -> None:
    beside.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (foreign, "clusterlift has not made it: move it elsewhere"),
        (dangling, "refused to create it"),
    ],
)
def test_workloads_that_cannot_write_are_refused_if_they_are_named_and_else_left_out(
    run_on: RunOn,
    write: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    happens: Callable[[Path], None],
    reason: str,
) -> None:
    dataset = write(RECIPE)
    happens(tmp_path / "dataset.written")
    before = names(tmp_path)
    refusal = rf"--workloads: write and sort-write cannot write: .*{reason}"
    with pytest.raises(BadInput, match=refusal) as refused:
        run_on(dataset, "write,sort-write")
    assert "\n" not in str(refused.value)
    left = run_on(dataset, "sha-512,write,sort-write", named=False)
    assert [trial.workload for trial in left.trials] == ["sha-512"]
    assert left.run.omitted.keys() == {"write", "sort-write"}
    said = capsys.readouterr().err
    assert re.search(
        rf"^write and sort-write are left out: cannot write: .*{reason}", said, re.MULTILINE
    )
    assert names(tmp_path) == before


def test_trials_of_a_run_do_not_write_to_the_same_directories(
    spark: SparkSession, write: Write
) -> None:
    with destination_beside(spark, write(RECIPE)) as destination:
        assert [destination.take(2), destination.take(1)] == [[1, 2], [3]]


def test_the_root_of_a_file_system_has_nothing_beside_it(
    spark: SparkSession, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write(RECIPE)
    monkeypatch.setattr(Dataset, "uri", "s3a://bucket/")
    with (
        pytest.raises(BadInput, match="s3a://bucket/ is the root of its file system"),
        destination_beside(spark, dataset),
    ):
        pass


def left_by_a_killed_run(spark: SparkSession, dataset: Dataset) -> Path:
    """Return the directory of an execution of a run whose process has ended."""
    beside = Directory(spark, f"{dataset.uri}.written")
    marker = Marker.put(beside, PURPOSE)
    written = Path(known(beside.local_path), f"{marker.token}-1")
    (written / "_temporary/0").mkdir(parents=True)
    for name in (PART, f".{PART}.crc", "_SUCCESS"):
        (written / name).write_text("rows")
    return written


def test_what_a_killed_run_left_is_removed_by_the_next_one_that_writes(
    spark: SparkSession,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    dataset = write(RECIPE)
    monkeypatch.setattr(written, "has_ended", lambda _identity: True)
    left = left_by_a_killed_run(spark, dataset)
    open_dataset(spark, dataset.uri)
    assert left.exists()
    capsys.readouterr()
    with destination_beside(spark, dataset):
        assert not left.exists()
    assert re.fullmatch(
        rf"removed {dataset.uri}.written, which process \d+ on .*, since .* had left\n",
        capsys.readouterr().err,
    )
