"""How `clusterlift run` submits one run: its driver is a process of this machine, or of a node of YARN."""

import os
import secrets
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from itertools import chain
from pathlib import Path

from harness.child_process import child_process, continuable, raise_if_interrupted, run_to_its_end
from harness.local_spark import (
    BENCHMARK,
    closing_message,
    packages_archive,
    script_error,
    script_path,
    spark_environment,
    spark_submit_command,
)
from harness.minicluster.spark_configuration import DEFAULTS, properties_in, spark_conf_directory
from harness.model.errors import BadInput, ClusterliftError
from harness.records.directories import check_writable, configuration_directory
from harness.runtime.cluster_mode import NO_APPLICATION, STAGING, staging_in
from harness.runtime.series import SparkOptions
from harness.terminal import Relay

COLLECT = "jobs/collect.py"
CHUNK_BYTES = 2**16

_OF_THE_CLIENT = frozenset(
    f"--{name}"
    for name in (
        *("conf", "driver-class-path", "driver-library-path", "exclude-packages", "jars", "keytab"),
        *("packages", "principal", "properties-file", "proxy-user", "repositories"),
    )
)
"""Options that decide which file system and which user the collector has, too."""

_PROPERTY_OF = {
    "--deploy-mode": "spark.submit.deployMode",
    "--master": "spark.master",
    "--py-files": "spark.submit.pyFiles",
}
"""The property that an option sets, too, and then in any case."""


def submit(
    options: SparkOptions,
    arguments: Sequence[str],
    results: tuple[Path, str],
    environment: Mapping[str, str],
) -> int:
    """Make one run with options of spark-submit and of the script; return its exit code.

    `results` are the directory of all results and the configuration; `environment` has variables for the
    script, such as the run's series, wherever its driver is. Ctrl-C and SIGTERM interrupt the run,
    as does the death of this process. Raise KeyboardInterrupt then, and if another signal ended it.
    """
    if _is_on_node(properties_of(options)):
        return _run_on_node(options, arguments, results, environment)
    return run_script(BENCHMARK, options, arguments, environment)


def run_script(
    script: str,
    options: SparkOptions,
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run an entry script, and return its exit code. On a node, its driver has our packages.

    Raise KeyboardInterrupt like `submit`.
    """
    if _is_on_node(properties_of(options)):
        options = _with_packages(options, packages_archive())
    command = [*_spark_submit(options), script_path(script), *arguments]
    return run_to_its_end(command, {**spark_environment(), **(environment or {})})


def check_submission(options: SparkOptions) -> None:
    """Raise BadInput if there is no Spark here, no script, or no such way to submit it."""
    spark_submit_command()
    script_path(BENCHMARK)
    properties = properties_of(options)
    if _is_on_node(properties) and properties.get("spark.master") != "yarn":
        raise BadInput(
            "--deploy-mode cluster needs --master yarn; on other clusters leave it out, and call the command "
            "on a machine, or in a pod, that the executors can connect to"
        )


def properties_of(options: SparkOptions) -> Mapping[str, str]:
    """Return the properties that spark-submit will have with these options, and those of its file."""
    named = [Path(value) for name, value in options if name == "--properties-file"]
    own = spark_conf_directory()
    found: dict[str, str] = {}
    for file in named[-1:] or ([own / DEFAULTS] if own else []):
        with suppress(OSError):  # spark-submit says so
            found = properties_in(file.read_text(encoding="utf-8", errors="replace"))
    pairs = (value.partition("=") for option, value in options if option == "--conf")
    found |= {name: value for name, _, value in pairs}
    return found | {_PROPERTY_OF[name]: value for name, value in options if name in _PROPERTY_OF}


def _is_on_node(properties: Mapping[str, str]) -> bool:
    return properties.get("spark.submit.deployMode") == "cluster"


def _run_on_node(
    options: SparkOptions,
    arguments: Sequence[str],
    results: tuple[Path, str],
    environment: Mapping[str, str],
) -> int:
    """Submit the run, and fetch its results until it ends.

    `spark-submit` waits for the application's end, which ends the collector. An interrupt ends
    `spark-submit` first, so that it submits nothing any more; then the collector ends the application.
    """
    check_writable(*results)
    packages = packages_archive()
    with (
        continuable(),
        tempfile.TemporaryDirectory(prefix="clusterlift-") as own,
        _collecting(options, configuration_directory(*results), Path(own)) as collector,
    ):
        submission = _submission(options, arguments, packages, collector, environment)
        log = Path(own) / "log"
        with (
            log.open("wb") as output,
            child_process(submission, spark_environment(), output) as process,
        ):
            threading.Thread(target=_end_after, args=(process, collector), daemon=True).start()
            collector.relay()
        code = collector.process.wait()
        if code == NO_APPLICATION:
            reason = closing_message(log.read_text(errors="replace"))
            raise ClusterliftError(f"spark-submit started no application: {reason}")
        raise_if_interrupted(code)
    return code


def _end_after(process: subprocess.Popen[bytes], collector: "_Collector") -> None:
    process.wait()
    collector.end()


class _Collector:
    """The process that fetches results. It ends after `end`, and when this process ends."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, pipe: int) -> None:
        self.process = process
        self.name = name
        self.staging = ""
        self._output = Relay()
        self._pipe: int | None = pipe
        self._lock = threading.Lock()

    def await_ready(self) -> None:
        """Wait until the application may start. Raise BadInput or ClusterliftError if it may not."""
        assert self.process.stdout is not None  # noqa: S101  it is a pipe
        lines = []
        for line in self.process.stdout:
            text = line.decode(errors="replace").rstrip("\n")
            if (staging := staging_in(text)) is not None:
                self.staging = staging
                return
            lines.append(text)
        raise script_error(lines, COLLECT, self.process.wait())

    def relay(self) -> None:
        """Show what the driver prints, until this process has ended."""
        pipe = self.process.stdout
        assert isinstance(pipe, BufferedReader)  # noqa: S101  as Popen opens pipes
        while chunk := pipe.read1(CHUNK_BYTES):
            self._output.copy(chunk)
        self._output.end()

    def end(self) -> None:
        """Let it end an application that still runs, fetch the rest and clean up."""
        with self._lock:
            pipe, self._pipe = self._pipe, None
        if pipe is not None:
            os.close(pipe)


@contextmanager
def _collecting(options: SparkOptions, directory: Path, own: Path) -> Iterator[_Collector]:
    """Provide a collector that is ready, and wait for its end."""
    name = f"clusterlift-{secrets.token_hex(8)}"
    control = own / "control"
    os.mkfifo(control)
    pipe = os.open(control, os.O_RDWR)  # opening it for writing alone would wait for the reader
    arguments = ("--name", name, "--directory", str(directory), "--control", str(control))
    command = [
        *_spark_submit([each for each in options if each[0] in _OF_THE_CLIENT]),
        *("--master", "local[1]", "--deploy-mode", "client"),
        *(script_path(COLLECT), *arguments),
    ]
    process = subprocess.Popen(  # noqa: S603  Spark's program
        command,
        env=spark_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # a terminal's Ctrl-C does not reach it
    )
    collector = _Collector(process, name, pipe)
    with process:
        try:
            collector.await_ready()
            yield collector
        finally:
            collector.end()
            collector.relay()


def _submission(
    options: SparkOptions,
    arguments: Sequence[str],
    packages: Path,
    collector: _Collector,
    environment: Mapping[str, str],
) -> list[str]:
    """Return the command that submits a run: with the user's options, and what its driver needs."""
    tags = properties_of(options).get("spark.yarn.tags")
    own = {
        "spark.yarn.tags": ",".join(filter(None, (tags, collector.name))),
        # A second attempt would be another run, and would find what the first one left.
        "spark.yarn.maxAppAttempts": "1",
        "spark.yarn.submit.waitAppCompletion": "true",
        f"spark.yarn.appMasterEnv.{STAGING}": collector.staging,
    } | {f"spark.yarn.appMasterEnv.{name}": value for name, value in environment.items()}
    return [
        *_spark_submit(_with_packages(options, packages)),
        *chain.from_iterable(("--conf", f"{key}={own[key]}") for key in own),
        *(script_path(BENCHMARK), *arguments),
    ]


def _with_packages(options: SparkOptions, packages: Path) -> SparkOptions:
    """Return the options with our packages beside the user's own --py-files."""
    files = properties_of(options).get("spark.submit.pyFiles")
    given = [each for each in options if each[0] != "--py-files"]
    return [*given, ("--py-files", ",".join(filter(None, (files, str(packages)))))]


def _spark_submit(options: SparkOptions) -> list[str]:
    return [*spark_submit_command(), *chain.from_iterable(options)]
