"""A series: the runs that were made with the same arguments, so that one of them can stand for another."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Sequence, Tuple

from harness.base.redaction import without_credentials
from harness.model.spark_properties import recorded_properties

SERIES = "CLUSTERLIFT_SERIES"
"""The environment variable that gives a run its series; without it, the run is of none."""

PROVEN = "CLUSTERLIFT_PROVEN"
"""The environment variable with the fingerprints of datasets whose rows earlier runs read, as
`records.series.proven_content` returns them."""

SparkOptions = Sequence[Tuple[str, str]]
"""Options of spark-submit, each with its value: `("--conf", "spark.executor.memory=1g")`."""


def series_of(options: SparkOptions, arguments: Sequence[str], file_system: str = "") -> str:
    """Return a digest of spark-submit's options and the script's arguments.

    `--option=value` and `--option value` are the same. The URI `file_system` does not matter: a minicluster
    has another port each time that it starts. Values count as a run records them: results get published, and
    must not confirm a guess at a secret.
    """
    words = []
    for option, value in options:
        words += [option, _recorded(option, value)]
    for argument in arguments:
        words += [without_credentials(word) for word in _words(argument)]
    if file_system:
        words = [word.replace(file_system, "") for word in words]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:12]


def current_series() -> str | None:
    """Return the series of the run that this process makes; None if it is of none."""
    return os.environ.get(SERIES) or None


def _recorded(option: str, value: str) -> str:
    name, _, text = value.partition("=")
    if option == "--driver-java-options":
        name, text = "spark.driver.extraJavaOptions", value
    elif option != "--conf":
        return without_credentials(value)
    return f"{name}={recorded_properties({name: text})[name]}"


def _words(argument: str) -> list[str]:
    option, equals, value = argument.partition("=")
    if equals and option.startswith("--"):
        return [option, value]
    return [argument]
