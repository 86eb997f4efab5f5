"""Submit an entry script: sort the words of `run` and `bench` into options of spark-submit and arguments."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from harness.base.child_process import run_to_its_end
from harness.base.errors import BadInput
from harness.base.own_driver import require_own_driver
from harness.records.series import Series
from harness.submit.local_spark import (
    BENCHMARK,
    script_path,
    spark_environment,
    spark_submit_command,
)
from harness.submit.spark_configuration import DEFAULTS, properties_in, spark_conf_directory
from harness.work.queries import text_digests
from harness.work.script_options import BenchmarkOptions, read_script_options
from harness.work.series import SparkOptions, series_of

SPARK_OPTIONS = frozenset(
    f"--{name}"
    for name in (
        *("archives", "conf", "deploy-mode", "driver-class-path", "driver-cores"),
        *("driver-java-options", "driver-library-path", "driver-memory", "exclude-packages"),
        *("executor-cores", "executor-memory", "files", "jars", "keytab", "master", "name"),
        *("num-executors", "packages", "principal", "properties-file", "proxy-user", "py-files"),
        *("queue", "remote", "repositories", "total-executor-cores"),
    )
)
"""The options of spark-submit that take a value. None of them is an option of the script."""

_PROPERTY_OF = {
    "--deploy-mode": "spark.submit.deployMode",
    "--master": "spark.master",
    "--remote": "spark.remote",
}
"""The property that an option sets."""


@dataclass(frozen=True)
class Submission:
    """Options of spark-submit, and the arguments of jobs/benchmark.py."""

    options: SparkOptions
    arguments: Sequence[str]

    @classmethod
    def of(cls, words: Iterable[str]) -> "Submission":
        """Sort the words of a command line. Raise BadInput if an option of spark-submit has no value."""
        options, arguments = list[tuple[str, str]](), list[str]()
        rest = iter(words)
        for word in rest:
            name, equals, value = word.partition("=")
            if name not in SPARK_OPTIONS:
                arguments.append(word)
            elif found := value if equals else next(rest, ""):
                options.append((name, found))
            else:
                raise BadInput(f"{name} needs a value")
        return cls(options, arguments)

    @cached_property
    def given(self) -> BenchmarkOptions:
        """The script's options."""
        return read_script_options(self.arguments)

    @cached_property
    def properties(self) -> Mapping[str, str]:
        """The properties that spark-submit will have."""
        named = [Path(value) for name, value in self.options if name == "--properties-file"]
        own = spark_conf_directory()
        found: dict[str, str] = {}
        for file in named[-1:] or ([own / DEFAULTS] if own else []):
            with suppress(OSError):  # spark-submit says so
                found = properties_in(file.read_text(encoding="utf-8", errors="replace"))
        pairs = (value.partition("=") for name, value in self.options if name == "--conf")
        found |= {name: value for name, _, value in pairs}
        return found | {_PROPERTY_OF[n]: value for n, value in self.options if n in _PROPERTY_OF}

    @property
    def series(self) -> Series:
        """The series of its runs. Raise BadInput if nothing can be submitted so, or from here."""
        spark_submit_command()
        script_path(BENCHMARK)
        require_own_driver(self.properties)
        if self.properties.get("spark.submit.deployMode") == "cluster":
            raise BadInput(
                "deploy mode cluster would leave the results on a node: use --deploy-mode client"
            )
        # Runs of other texts are no runs of this series.
        texts = [f"--sql={name}={own}" for name, own in text_digests(self.given.queries).items()]
        fs = os.environ.get("CLUSTERLIFT_FS", "")
        id_ = series_of(self.options, [*self.arguments, *texts], fs)
        return Series(self.given.results, self.given.configuration, id_)


def run_script(
    script: str,
    options: SparkOptions,
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run an entry script under spark-submit, and return its exit code.

    Ctrl-C and SIGTERM interrupt it, as does the death of this process. Raise KeyboardInterrupt then, and
    if another signal ended it.
    """
    command = [*spark_submit_command(), *chain.from_iterable(options), script_path(script)]
    return run_to_its_end([*command, *arguments], {**spark_environment(), **(environment or {})})
