"""How `clusterlift` submits an entry script: its driver is a process of this machine."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from harness.child_process import run_to_its_end
from harness.local_spark import BENCHMARK, script_path, spark_environment, spark_submit_command
from harness.minicluster.spark_configuration import DEFAULTS, properties_in, spark_conf_directory
from harness.model.errors import BadInput
from harness.runtime.series import SparkOptions

_PROPERTY_OF = {"--deploy-mode": "spark.submit.deployMode", "--master": "spark.master"}
"""The property that an option sets, too, and then in any case."""


def run_script(
    script: str,
    options: SparkOptions,
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run an entry script with options of spark-submit and of its own; return its exit code.

    `environment` has variables for the script, such as the run's series. Ctrl-C and SIGTERM interrupt the
    script, as does the death of this process. Raise KeyboardInterrupt then, and if another signal ended it.
    """
    command = [*spark_submit_command(), *chain.from_iterable(options), script_path(script)]
    return run_to_its_end([*command, *arguments], {**spark_environment(), **(environment or {})})


def check_submission(options: SparkOptions) -> None:
    """Raise BadInput if there is no Spark here, no script, or if the driver would be on a node."""
    spark_submit_command()
    script_path(BENCHMARK)
    if properties_of(options).get("spark.submit.deployMode") == "cluster":
        raise BadInput(
            "--deploy-mode cluster would leave the results on a node: leave it out, and call the command on "
            "a machine that the executors can connect to"
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
