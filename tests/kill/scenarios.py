"""What is killed: the commands, what they start from, and what must be true however they end."""

import hashlib
import os
import re
import shutil
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from harness.model.run import Ending, RecordedRun, Status
from harness.records.reader import load
from harness.submit.local_spark import spark_environment, spark_submit_command
from tests.jvm import COLD_SPARK

from .processes import MARK, Ended, Interruption, run

ROOT = Path(__file__).resolve().parents[2]
ROWS = 20_000
SPARK_OPTIONS = (
    *("--master", "local[2]"),
    *("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2"),
)
CLUSTERLIFT = (sys.executable, "-m", "harness")
FINISHED_TRIAL = re.compile(
    r"^\[ *\d+/\d+\] (?P<workload>[\w-]+) +(?P<phase>warm-up|measured) (?P<round>\d+)/\d+ +[\d.]+ s ",
    re.MULTILINE,
)
OF_A_KILLED_JVM = re.compile(r"(spark|blockmgr|artifacts|liblz4-java|snappy|libzstd|hadoop)-.*")
"""What Spark and its libraries delete at their end: after SIGKILL, nothing in the JVM can do that."""


def could_not_be_deleted(entry: Path, interruption: Interruption) -> bool:
    """Return whether this is what an interrupted JVM leaves, whatever it runs.

    Killed, it deletes nothing. Otherwise Spark, while it starts, first creates the directory of its blocks
    and then asks for its removal at the end of the JVM, which is refused when that has begun
    (`DiskBlockManager`, `SparkShutdownHookManager.add`).
    """
    if interruption.number is signal.SIGKILL:
        return OF_A_KILLED_JVM.fullmatch(entry.name) is not None
    return entry.name.startswith("blockmgr-") and not any(entry.iterdir())


class Scenario(ABC):
    """One thing that users run, in a directory of its own. Its name heads a line of the table."""

    name: ClassVar[str]

    def __init__(self, templates: Path) -> None:
        self.templates = templates

    def environment(self, directory: Path, mark: str) -> dict[str, str]:
        """Return the environment variables of the commands: temporary files and cache are their own."""
        temporary = directory.with_name(f"{directory.name}.tmp")
        temporary.mkdir(exist_ok=True)
        return {
            **spark_environment(),
            MARK: mark,
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(temporary),
            "TMPDIR": str(temporary),
            "XDG_CACHE_HOME": str(directory.with_name(f"{directory.name}.cache")),
            "JAVA_TOOL_OPTIONS": f"{COLD_SPARK} -Djava.io.tmpdir={temporary}",
        }

    def prepare(self, directory: Path) -> None:
        """Put into the directory what the commands start from."""
        directory.mkdir()

    @abstractmethod
    def commands(self) -> Sequence[Sequence[str]]:
        """Return the commands to run in turn."""

    @abstractmethod
    def violations(self, directory: Path, ended: Ended) -> Iterator[str]:
        """Yield what is wrong after the interruption."""

    @abstractmethod
    def wrong_outcome(self, directory: Path, ended: Ended) -> Iterator[str]:
        """Yield what is wrong after the same commands ran to their end."""

    def resume(self, directory: Path, mark: str) -> Ended:
        """Run the same commands again."""
        return run(self.commands(), directory, self.environment(directory, mark))

    def temporary_files(
        self, directory: Path, interruption: Interruption | None = None
    ) -> Iterator[str]:
        """Yield the temporary files that are left, but not those that an interrupted JVM has to leave."""
        for entry in directory.with_name(f"{directory.name}.tmp").iterdir():
            if not (interruption and could_not_be_deleted(entry, interruption)):
                yield entry.name

    def external(self, directory: Path) -> Iterator[str]:
        """Yield what is left outside processes and files, such as containers."""
        yield from ()


def spark_submit(script: str, *arguments: object) -> list[str]:
    """Return the command line that runs a script of the checkout on two cores."""
    return [*spark_submit_command(), *SPARK_OPTIONS, str(ROOT / script), *map(str, arguments)]


def content(dataset: Path) -> str:
    """Return a digest of a dataset's rows in order, and "" if nothing claims that it is whole."""
    if not (dataset / "_dataset.json").exists():
        return ""
    digest = hashlib.sha256()
    for part in sorted(dataset.glob("part-*")):
        digest.update(part.read_bytes())
    return digest.hexdigest()


def names(directory: Path) -> list[str]:
    """Return the files below a directory, with Spark's random job ids and our tokens left out."""
    return sorted(
        re.sub(r"-[0-9a-f]{16}-|-[0-9a-f-]{36}-", "-", str(path.relative_to(directory)))
        for path in directory.rglob("*")
    )


class Generate(Scenario):
    """A new dataset."""

    name = "generate"
    seed = 1

    def commands(self) -> Sequence[Sequence[str]]:
        # Of CSV, the same rows are the same bytes.
        options = ("--rows", ROWS, "--partitions", 2, "--seed", self.seed, "--format", "csv")
        return [spark_submit("datagen/generate.py", "data/rows", *options)]

    def violations(self, directory: Path, ended: Ended) -> Iterator[str]:
        found = content(directory / "data/rows")
        if found not in {"", self.whole()}:
            yield "what claims to be a dataset has other rows"

    def wrong_outcome(self, directory: Path, ended: Ended) -> Iterator[str]:
        if content(directory / "data/rows") != self.whole():
            yield "the dataset is not what was asked for"
        if names(directory / "data") != names(self._template()):
            yield f"files are left: {names(directory / 'data')}"

    def resume(self, directory: Path, mark: str) -> Ended:
        """Run the same command again; where that is refused, follow what it says."""
        again = super().resume(directory, mark)
        if again.code == 2 and "--overwrite" in again.output:
            [command] = self.commands()
            return run([[*command, "--overwrite"]], directory, self.environment(directory, mark))
        return again

    def whole(self) -> str:
        """Return the digest of the rows that the command writes."""
        return content(self._template() / "rows")

    def _template(self) -> Path:
        """Return a directory with the dataset, written once without a signal."""
        template = self.templates / f"dataset-{self.seed}"
        if not template.exists():
            template.mkdir()
            ended = run(
                self.commands(), template, self.environment(template, f"template-{self.seed}")
            )
            assert ended.code == 0, ended.output
        return template / "data"


class Overwrite(Generate):
    """A dataset in place of an old one."""

    name = "generate --overwrite"
    seed = 2

    def prepare(self, directory: Path) -> None:
        directory.mkdir()
        shutil.copytree(self.old()._template(), directory / "data")

    def commands(self) -> Sequence[Sequence[str]]:
        [command] = super().commands()
        return [[*command, "--overwrite"]]

    def violations(self, directory: Path, ended: Ended) -> Iterator[str]:
        found = content(directory / "data/rows")
        if found and found not in {self.old().whole(), self.whole()}:
            yield "what claims to be a dataset has the rows of neither the old nor the new one"
        if not found:
            yield from self._not_there(directory)

    def old(self) -> Generate:
        """Return how the old dataset was written."""
        return Generate(self.templates)

    def _not_there(self, directory: Path) -> Iterator[str]:
        """Yield what is wrong unless a benchmark finds a whole dataset or refuses in one line."""
        command = spark_submit(
            *("jobs/benchmark.py", "--dataset", "data/rows", "--workloads", "sha-512"),
            *("--trials", 1, "--warmup", 0, "--results", directory.with_name("refused")),
        )
        ended = run([command], directory, self.environment(directory, "refusal"))
        if ended.code == 0:
            if content(directory / "data/rows") not in {self.old().whole(), self.whole()}:
                yield "a benchmark accepted half a dataset"
        elif ended.code != 2 or ended.output.count("benchmark.py: error: ") != 1:
            yield f"half a dataset was not refused in one line: {ended.output[-300:]}"


class Benchmark(Scenario):
    """Trials that are recorded as they end."""

    name = "benchmark"
    workloads = ("calc-pi-python-udf", "sha-512", "write")  # the first has Python workers
    rounds = 4

    def prepare(self, directory: Path) -> None:
        directory.mkdir()
        shutil.copytree(Generate(self.templates)._template(), directory / "data")

    def commands(self) -> Sequence[Sequence[str]]:
        return [spark_submit("jobs/benchmark.py", *self.options())]

    def options(self) -> list[object]:
        """Return the options of the script."""
        options = {
            "--dataset": "data/rows",
            "--workloads": ",".join(self.workloads),
            "--trials": self.rounds,
            "--warmup": 1,
            "--pi-samples": 10_000,
        }
        return [part for pair in options.items() for part in pair]

    def violations(self, directory: Path, ended: Ended) -> Iterator[str]:
        runs = list(recorded(directory / "results"))
        yield from lost_trials(ended.output, runs)
        if content(directory / "data/rows") != Generate(self.templates).whole():
            yield "the benchmark changed its dataset"

    def wrong_outcome(self, directory: Path, ended: Ended) -> Iterator[str]:
        completed = [
            run for run in recorded(directory / "results") if run.ending is Ending.COMPLETED
        ]
        if not completed:
            yield "no completed run is recorded"
        for run_ in completed:
            ok = sum(trial.status is Status.OK for trial in run_.trials)
            if ok != len(self.workloads) * (self.rounds + 1):
                yield f"{ok} trials are recorded as ok"
        yield from lost_trials(ended.output, completed)
        yield from hidden_files(directory / "results")
        if names(directory / "data") != names(Generate(self.templates)._template()):
            yield f"files are left: {names(directory / 'data')}"


class Runs(Benchmark):
    """Runs; a complete one is not repeated."""

    name = "run"
    runs = 2
    rounds = 2

    def commands(self) -> Sequence[Sequence[str]]:
        return [
            [
                *(*CLUSTERLIFT, "run", "--runs", str(self.runs), *SPARK_OPTIONS),
                *map(str, self.options()),
            ]
        ]

    def wrong_outcome(self, directory: Path, ended: Ended) -> Iterator[str]:
        yield from super().wrong_outcome(directory, ended)
        endings = [run.ending for run in recorded(directory / "results")]
        if endings.count(Ending.COMPLETED) != self.runs:
            yield f"the runs ended: {endings}"


def recorded(results: Path) -> Iterator[RecordedRun]:
    """Yield every run below a directory; each must be accepted by the reader."""
    for file in sorted(results.rglob("*.jsonl")):
        if not file.name.startswith("."):
            yield load(file)


def lost_trials(output: str, runs: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield the trials that the output reports as finished and that no file has."""
    found = {
        (trial.workload, str(trial.phase), trial.round) for run in runs for trial in run.trials
    }
    for match in FINISHED_TRIAL.finditer(output):
        if (match["workload"], match["phase"], int(match["round"])) not in found:
            yield f"lost: {match[0]}"


def hidden_files(directory: Path) -> Iterator[str]:
    """Yield temporary files beside results."""
    for path in directory.rglob(".*"):
        yield f"left: {path.name}"


class HdfsRun(Scenario):
    """A file system for the length of a command."""

    name = "hdfs run"

    def commands(self) -> Sequence[Sequence[str]]:
        work = 'sleep 2; echo "on $CLUSTERLIFT_FS"; sleep 1'
        return [[*CLUSTERLIFT, "local", "hdfs", "run", "--datanodes", "1", "--", "sh", "-c", work]]

    def environment(self, directory: Path, mark: str) -> dict[str, str]:
        variables = super().environment(directory, mark)
        clusters = Path(variables["XDG_CACHE_HOME"]) / "clusterlift"
        if not clusters.exists():
            clusters.mkdir(parents=True)
            (clusters / "jars").symlink_to(shared_jars())
        return variables

    def violations(self, directory: Path, ended: Ended) -> Iterator[str]:
        yield from ()

    def wrong_outcome(self, directory: Path, ended: Ended) -> Iterator[str]:
        if "on hdfs://127.0.0.1:" not in ended.output:
            yield "the command did not run"

    def external(self, directory: Path) -> Iterator[str]:
        clusters = directory.with_name(f"{directory.name}.cache") / "clusterlift/minicluster"
        for path in clusters.glob("*"):
            if path.name != "logs":
                yield f"cluster {path.name}"


def shared_jars() -> Path:
    """Return the user's own directory of fetched jars."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    jars = Path(cache) / "clusterlift/jars"
    jars.mkdir(parents=True, exist_ok=True)
    return jars
