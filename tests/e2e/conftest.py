"""The real spark-submit as users call it: a plain pyspark, a copy of the checkout, a cluster."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.jvm import COLD_SPARK
from tests.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
SPARK35_PYTHON = ROOT / ".cache/spark-3.5/bin/python"
PYTHONS = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
NEWEST = "newest"
"""The Spark of the development environment."""
TIMEOUT_S = 2400
"""A limit for what takes seconds on an idle machine. A run without options ends within 30 minutes."""

Completed = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Spark:
    """A pyspark and its Python."""

    python: Path

    @property
    def home(self) -> Path:
        """SPARK_HOME: the pyspark package."""
        [found] = self.python.parents[1].glob("lib/python*/site-packages/pyspark")
        return found

    def environment(self, **more: str) -> dict[str, str]:
        """Return a process's environment variables, without the variables of the test's own Python."""
        excluded = {
            "PYTHONPATH",
            "VIRTUAL_ENV",
            "PYSPARK_SUBMIT_ARGS",
            "SPARK_SUBMIT_OPTS",
            "SPARK_HOME",
        }
        inherited = {key: value for key, value in os.environ.items() if key not in excluded}
        return inherited | {
            "PYSPARK_PYTHON": str(self.python),
            "SPARK_LOCAL_IP": "127.0.0.1",
            # Each trial asks for a collection of garbage, which changes no result.
            "JAVA_TOOL_OPTIONS": f"{COLD_SPARK} -XX:+DisableExplicitGC",
            "PATH": f"{self.python.parent}:{os.environ['PATH']}",
            **more,
        }

    def command(self, script: Path, *arguments: object, master: str = "local[2]") -> list[str]:
        submit = [str(self.home / "bin/spark-submit"), "--master", master]
        # Spark's 200 shuffle partitions would be most of the work of a small trial.
        conf = ("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=4")
        return [*submit, *conf, str(script), *map(str, arguments)]

    def submit(
        self,
        script: Path,
        *arguments: object,
        cwd: Path,
        master: str = "local[2]",
        env: Mapping[str, str] | None = None,
        code: int = 0,
    ) -> Completed:
        """Run a script under spark-submit and wait for its end, with this exit code."""
        command = self.command(script, *arguments, master=master)
        return completed(command, cwd, self.environment(**(env or {})), code)


def completed(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], code: int = 0
) -> Completed:
    """Run a command and wait for its end, with this exit code."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def own_lines(done: Completed) -> list[str]:
    """Return the lines that are not log messages of Spark or Java.

    spark-submit sends both of Python's streams to its standard output.
    """
    log_message = re.compile(
        r"WARNING: |Using Spark's default|\d\d/\d\d/\d\d |Setting |To adjust |\s*warnings\.warn|Picked up"
    )
    lines = (done.stdout + done.stderr).splitlines()
    return [line for line in lines if not log_message.match(line)]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Spark:
    """The Python of the development environment with pyspark and no other package."""
    return spark_for(NEWEST, Path(sys.executable), tmp_path_factory.mktemp("plain") / "venv")


def spark_for(version: str, python: Path, directory: Path) -> Spark:
    """Return a Spark in a new environment of a Python, with no other package. Skip without that Spark."""
    subprocess.run([python, "-m", "venv", "--without-pip", directory], check=True)
    [packages] = directory.glob("lib/python*/site-packages")
    for name in ("pyspark", "py4j"):
        (packages / name).symlink_to(_package(version, name))
    return Spark(directory / "bin/python")


def _package(version: str, name: str) -> Path:
    """Return the directory of a package of this Spark. Skip the test if there is none."""
    if version == NEWEST:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.submodule_search_locations
        return Path(spec.submodule_search_locations[0])
    environment = ROOT / f".cache/spark-{version}"
    if not (environment / "installed").exists():
        pytest.skip(
            f"no {environment.relative_to(ROOT)}: make spark{version.replace('.', '')} installs it"
        )
    [found] = environment.glob(f"lib/python*/site-packages/{name}")
    return found


def python_of_version(version: str) -> Path:
    """Return a Python of this version, of pyenv or on the PATH. Skip the test if there is none."""
    found = sorted(PYTHONS.glob(f"{version}.*/bin/python"))
    on_path = shutil.which(f"python{version}")
    if found:
        return found[-1]
    if on_path is None:
        pytest.skip(f"no Python {version}: neither in {PYTHONS} nor on the PATH")
    return Path(on_path)


@pytest.fixture(scope="session")
def spark35() -> Spark:
    """Spark 3.5 in an environment of its own."""
    if not SPARK35_PYTHON.exists():
        pytest.skip(f"no {SPARK35_PYTHON.relative_to(ROOT)}: make spark35 installs it")
    return Spark(SPARK35_PYTHON)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages that a user copies to the master of a cluster."""
    copy = tmp_path_factory.mktemp("somewhere") / "clusterlift"
    for package in ("jobs", "datagen", "harness"):
        shutil.copytree(
            ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    return copy


@pytest.fixture(scope="session")
def dataset(spark: Spark, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of two thousand rows."""
    path = tmp_path_factory.mktemp("data") / "rows"
    spark.submit(checkout / "datagen/generate.py", path, "--rows", 2_000, cwd=path.parent)
    return path


class Cluster:
    """A standalone master and two workers, each a process with a directory of its own."""

    def __init__(self, spark: Spark, home: Path) -> None:
        self._spark = spark
        self._home = home
        self._processes: list[tuple[subprocess.Popen[bytes], Path]] = []
        self.url = ""
        try:
            self._start_all()
        except BaseException:
            self.stop()
            raise

    def _start_all(self) -> None:
        log = self._start("master", "master.Master", "--host", "127.0.0.1", "--port", "0")
        self.url = self._await(log, r"Starting Spark master at (\S+)")
        for number, host in enumerate(("127.0.0.2", "127.0.0.3"), 1):
            self._start_worker(number, host)

    @contextmanager
    def another_worker(self, host: str) -> Iterator[None]:
        """Have one more worker, with one core, in the `with` block."""
        try:
            self._start_worker(3, host)
            yield
        finally:
            process, _ = self._processes.pop()
            process.terminate()
            process.wait(timeout=60)

    def _start_worker(self, number: int, host: str) -> None:
        options = ("--host", host, "--cores", "1", "--memory", "1g")
        log = self._start(f"worker-{number}", "worker.Worker", *options, self.url)
        self._await(log, r"Successfully registered with master (\S+)")

    def _start(self, name: str, main: str, *arguments: str) -> Path:
        directory = self._home / name
        directory.mkdir(parents=True)
        log = directory / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [
                    self._spark.home / "bin/spark-class",
                    f"org.apache.spark.deploy.{main}",
                    *arguments,
                    "--webui-port",
                    "0",
                ],
                cwd=directory,
                env=self._spark.environment(SPARK_WORKER_DIR=str(directory / "work")),
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self._processes.append((process, log))
        return log

    def _await(self, log: Path, pattern: str) -> str:
        def found() -> bool:
            assert all(p.poll() is None for p, _ in self._processes), log.read_text()
            return re.search(pattern, log.read_text()) is not None

        eventually(found, f"{log} had {pattern}")
        match = re.search(pattern, log.read_text())
        assert match
        return match[1]

    def stop(self) -> None:
        for process, _ in reversed(self._processes):
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


@pytest.fixture(scope="session")
def cluster(spark: Spark, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(spark, tmp_path_factory.mktemp("cluster"))
    yield running
    running.stop()
