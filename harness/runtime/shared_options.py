"""The options of jobs/benchmark.py that `clusterlift` reads, too: where results go, and what work is done."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from harness.model.cache import COLD, WARM
from harness.model.errors import BadInput
from harness.model.limits import (
    DEFAULT_PI_SAMPLES,
    DEFAULT_REPARTITION,
    DEFAULT_SINK,
    MAX_PARTITIONS,
    MAX_PI_SAMPLES,
    MAX_STREAMS,
    MAX_TRIALS,
    SINK_NAMES,
)
from harness.runtime.command_line import option_type, whole_number
from harness.runtime.option_values import parse_configuration
from harness.runtime.queries import read_queries
from harness.runtime.rounds import ROUNDS_PER_TRIAL
from harness.runtime.warm_up import AUTO, DEFAULT_TRIALS


def add_shared_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    add = parser.add_argument
    add("--configuration", default="default", metavar="NAME", type=option_type(parse_configuration),
        help="name of the set-up under test, such as 1g-rs")  # fmt: skip
    add("--results", type=option_type(_results_directory), default=Path("results"), metavar="DIR",
        help="directory of the results; the run is written to "
        "DIR/<configuration>/<run>.jsonl")  # fmt: skip
    add("--sql", metavar="DIR", type=option_type(read_queries),
        help="run your own queries, each file NAME.sql of this directory, in place of the workloads that "
        "read a dataset")  # fmt: skip
    add("--trials", type=whole_number(1, MAX_TRIALS), metavar="N",
        help="number of trials of each workload that have to count "
        f"(default: {DEFAULT_TRIALS}; within --minutes of run or bench, 1)")  # fmt: skip
    add("--warmup", type=_number_or_auto, default=AUTO, metavar="N",
        help="number of warm-up rounds before the measured ones, or auto: the trials of a workload count "
        "from where they no longer become faster, and rounds are run until that is so for every "
        f"workload, at most {ROUNDS_PER_TRIAL} rounds for each trial; warm-up trials are recorded, but "
        "not compared")  # fmt: skip
    add("--streams", type=whole_number(1, MAX_STREAMS), default=1, metavar="N",
        help="number of streams, as many users would be, that each run all workloads but the controls at the "
        "same time, in an order of its own")  # fmt: skip
    add("--sink", choices=SINK_NAMES, default=DEFAULT_SINK,
        help="what forces the computation of workloads that do not write: Spark's noop data source, or "
        "df.rdd.count() as in the benchmark of 2020")  # fmt: skip
    add("--cache", choices=(WARM, COLD), default=WARM,
        help="whether trials may find what they read in memory (warm), or read it from disks: cold puts it "
        "out of the page caches before each trial, as root where that is needed, and what was read from "
        "memory nevertheless does not count")  # fmt: skip
    add("--repartition", type=whole_number(1, MAX_PARTITIONS), default=DEFAULT_REPARTITION, metavar="N",
        help="number of partitions that the workload repartition creates")  # fmt: skip
    add("--pi-samples", type=whole_number(1, MAX_PI_SAMPLES), default=DEFAULT_PI_SAMPLES, metavar="N",
        help="number of points that each calc-pi workload draws")  # fmt: skip
    add("--seed", metavar="SEED",
        help="what the random order of the workloads in each round follows from, and is recorded "
        "(default: a random one)")  # fmt: skip


def read_shared_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Return these options of the script's arguments. Raise BadInput if one cannot be read."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_shared_options(parser)
    try:
        return parser.parse_known_args(arguments)[0]
    except argparse.ArgumentError as error:
        raise BadInput(f"{error.argument_name}: {error.message}") from error


def _number_or_auto(text: str) -> int | str:
    return AUTO if text == AUTO else whole_number(0, MAX_TRIALS)(text)


def _results_directory(text: str) -> Path:
    if not text.strip():
        raise ValueError("the name of the directory is empty")
    return Path(text)
