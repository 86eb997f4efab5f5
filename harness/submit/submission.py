"""Sorts the words of `run` and `bench` into options of spark-submit, and arguments of jobs/benchmark.py."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.own_driver import require_own_driver
from harness.records.series import Series
from harness.submit.local_spark import spark_submit_command
from harness.submit.script import BENCHMARK, script_path
from harness.submit.spark_configuration import DEFAULTS, properties_in, spark_conf_directory
from harness.work.queries import text_digests
from harness.work.script_options import BenchmarkOptions, read_script_options
from harness.work.series import SparkOptions, series_of

SPARK_OPTIONS = frozenset(
    {
        "--archives",
        "--conf",
        "--deploy-mode",
        "--driver-class-path",
        "--driver-cores",
        "--driver-java-options",
        "--driver-library-path",
        "--driver-memory",
        "--exclude-packages",
        "--executor-cores",
        "--executor-memory",
        "--files",
        "--jars",
        "--keytab",
        "--master",
        "--name",
        "--num-executors",
        "--packages",
        "--principal",
        "--properties-file",
        "--proxy-user",
        "--py-files",
        "--queue",
        "--remote",
        "--repositories",
        "--total-executor-cores",
    }
)
"""The options of spark-submit that take a value. The script has no option of the same name."""

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
        options: list[tuple[str, str]] = []
        arguments: list[str] = []
        rest = iter(words)
        for word in rest:
            name, equals, value = word.partition("=")
            if name not in SPARK_OPTIONS:
                arguments.append(word)
                continue
            if not equals:
                value = next(rest, "")
            if not value:
                raise BadInput(f"{name} needs a value")
            options.append((name, value))
        return cls(options, arguments)

    @property
    def option_words(self) -> list[str]:
        """The options of spark-submit as words of its command line."""
        words = []
        for name, value in self.options:
            words += [name, value]
        return words

    @cached_property
    def given(self) -> BenchmarkOptions:
        """The script's options. Raise BadInput if one of the arguments is wrong."""
        return read_script_options(self.arguments)

    @cached_property
    def properties(self) -> Mapping[str, str]:
        """The properties that spark-submit will have."""
        found = self._properties_of_file()
        for name, value in self.options:
            if name == "--conf":
                key, _, text = value.partition("=")
                found[key] = text
        for name, value in self.options:
            if name in _PROPERTY_OF:
                found[_PROPERTY_OF[name]] = value
        return found

    def _properties_of_file(self) -> dict[str, str]:
        """Return the properties of the last file that is named, or else of the user's own configuration."""
        named = [Path(value) for name, value in self.options if name == "--properties-file"]
        own = spark_conf_directory()
        if not named and own:
            named = [own / DEFAULTS]
        with suppress(OSError):  # spark-submit says so
            if named:
                return properties_in(named[-1].read_text(encoding="utf-8", errors="replace"))
        return {}

    def require_submittable(self) -> None:
        """Raise BadInput if this machine cannot submit, or if driver or results would be elsewhere."""
        spark_submit_command()
        script_path(BENCHMARK)
        require_own_driver(self.properties)
        if self.properties.get("spark.submit.deployMode") == "cluster":
            raise BadInput(
                "deploy mode cluster would leave the results on a node: use --deploy-mode client"
            )

    @property
    def series(self) -> Series:
        """The series of its runs. Raise BadInput like `require_submittable`, and if an option is wrong."""
        self.require_submittable()
        # Runs of other texts are no runs of this series.
        texts = [f"--sql={name}={own}" for name, own in text_digests(self.given.queries).items()]
        file_system = os.environ.get("CLUSTERLIFT_FS", "")
        id_ = series_of(self.options, list(self.arguments) + texts, file_system)
        return Series(self.given.results, self.given.configuration, id_)
