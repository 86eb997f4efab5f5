"""The options of jobs/benchmark.py. `clusterlift` reads them, too, and refuses wrong ones before Spark."""

import argparse
import json
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.base.command_line import option_type, whole_number
from harness.base.errors import BadInput
from harness.base.option_values import parse_configuration, parse_time, what_exists
from harness.model.cache import COLD, WARM
from harness.model.limits import (
    DEFAULT_PI_SAMPLES,
    DEFAULT_REPARTITION,
    DEFAULT_SINK,
    MAX_NODES,
    MAX_PARTITIONS,
    MAX_PI_SAMPLES,
    MAX_PROFILE_ROUNDS,
    MAX_STREAMS,
    MAX_TRIALS,
    SINK_NAMES,
)
from harness.trials.counting import AUTO, DEFAULT_TRIALS
from harness.trials.rounds import ROUNDS_PER_TRIAL
from harness.work.queries import read_query_directory

MAX_TIME_S = 30 * 60.0

HELP = frozenset({"-h", "--help"})
_PASSED = frozenset({"default_workloads", "turns"})
"""The options that `clusterlift` itself passes."""


def add_script_options(parser: argparse.ArgumentParser, workloads: Iterable[str] = ()) -> None:
    """Add the options to a parser; the help lists these workloads."""
    add = parser.add_argument
    add("--configuration", default="default", metavar="NAME", type=option_type(parse_configuration),
        help="name of the set-up under test, such as 1g-rs")  # fmt: skip
    add("--results", type=option_type(_results_directory), default=Path("results"), metavar="DIR",
        help="directory of the results; the run is written to "
        "DIR/<configuration>/<run>.jsonl")  # fmt: skip
    add("--sql", metavar="DIR", type=option_type(read_query_directory),
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
        help="number of streams at the same time; each runs all workloads but the controls, in an order of "
        "its own, as one of several users would")  # fmt: skip
    add("--sink", choices=SINK_NAMES, default=DEFAULT_SINK,
        help="what forces the computation of workloads that do not write: Spark's noop data source, or "
        "df.rdd.count() as in the benchmark of 2020")  # fmt: skip
    add("--cache", choices=(WARM, COLD), default=WARM,
        help="warm: trials may find their input in memory; cold: it is put out of the page caches before "
        "each trial, as root where that is needed, and a trial that read from memory nevertheless does "
        "not count")  # fmt: skip
    add("--repartition", type=whole_number(1, MAX_PARTITIONS), default=DEFAULT_REPARTITION, metavar="N",
        help="number of partitions that the workload repartition creates")  # fmt: skip
    add("--pi-samples", type=whole_number(1, MAX_PI_SAMPLES), default=DEFAULT_PI_SAMPLES, metavar="N",
        help="number of points that each calc-pi workload draws")  # fmt: skip
    add("--seed", metavar="SEED",
        help="seed of the random order of the workloads in each round; it is recorded "
        "(default: a random one)")  # fmt: skip
    add("--dataset", metavar="URI", type=option_type(_dataset_uri),
        help="dataset that datagen/generate.py wrote; by default a small one, generated once and "
        "kept in the cache")  # fmt: skip
    add("--generate", metavar="OPTIONS", type=option_type(shlex.split),
        help="generate the dataset unless it is there, with these options of datagen/generate.py: "
        "--generate='--rows 1e6 --layout replicated:2'")  # fmt: skip
    add("--workloads", metavar="A,B,...", type=option_type(_workload_names),
        help=f"workloads to run; by default all: {', '.join(workloads)}")  # fmt: skip
    # Passed by `clusterlift bench`.
    add("--default-workloads", type=option_type(_workload_names), help=argparse.SUPPRESS)
    add("--table", action="append", metavar="NAME=[FORMAT:]URI",
        help="table that queries of --sql read: Parquet, ORC, CSV, or Delta, Iceberg, Hudi or Paimon if "
        "Spark has the jar; NAME=csv,header=false,sep=tab:URI has options of CSV; can be repeated; "
        "tables of the catalogue need none")  # fmt: skip
    add("--max-time", type=option_type(parse_time), metavar="TIME",
        help="with --warmup auto: time for all rounds; no round starts that would "
        "probably end later, except for those that N trials take in any case "
        f"(default: {MAX_TIME_S / 60:.0f}m)")  # fmt: skip
    add("--profile", type=whole_number(0, MAX_PROFILE_ROUNDS), metavar="N",
        help="number of rounds after the measured ones in which tasks are asked for their stacks, which "
        "name what the time was spent on; they are never compared (default: 1 if time is left of the "
        "minutes that a run may take, else 0)")  # fmt: skip
    add("--nodes", type=whole_number(1, MAX_NODES), metavar="N",
        help="number of nodes that the executors have to be on: with another number, the run is "
        "refused")  # fmt: skip
    add("--fact", action="append", metavar="KEY=VALUE",
        help="fact to record with the run, such as switch=TEG-7080ES; can be repeated")  # fmt: skip
    # Passed by `clusterlift experiment`: a list of JSON objects with the fields of Turn.
    add("--turns", type=option_type(_turns), default=(), help=argparse.SUPPRESS)
    add("--skip-content-check", action="store_true",
        help="do not read the whole dataset before the trials to compare its digest with its "
        "manifest")  # fmt: skip
    add("--accept-layout-drift", action="store_true",
        help="run on a dataset that is no longer stored as its manifest says, and record how it is "
        "stored")  # fmt: skip


def read_script_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of the script's arguments. Raise BadInput if one is wrong, or is none of them."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_script_options(parser)
    try:
        found, others = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise BadInput(f"{error.argument_name}: {error.message}") from error
    for name in (word.partition("=")[0] for word in others if word not in HELP):
        known = [f"--{each.replace('_', '-')}" for each in vars(found) if each not in _PASSED]
        those = "clusterlift, spark-submit or jobs/benchmark.py"
        raise BadInput(f"{name} is no option of {those}; {what_exists(name, known)}")
    return found


def _number_or_auto(text: str) -> int | str:
    return AUTO if text == AUTO else whole_number(0, MAX_TRIALS)(text)


def _turns(text: str) -> list[dict[str, Any]]:
    """Return the turns that a text of JSON describes. Raise ValueError unless each can be taken."""
    try:
        turns = json.loads(text)
    except RecursionError as error:
        raise ValueError("the turns are nested too deep") from error
    if not isinstance(turns, list) or not turns:
        raise ValueError("a list of one turn or more is expected")
    for turn in turns:
        if not isinstance(turn, dict) or not turn.keys() >= {"configuration", "dataset", "facts"}:
            raise ValueError("a turn has a configuration, a dataset and facts")
        name = turn["configuration"]
        parse_configuration(name if isinstance(name, str) else "")
        if not isinstance(turn["dataset"], (str, type(None))):
            raise ValueError("the dataset of a turn is a URI")  # noqa: TRY004  as of other options
        for part in ("facts", "tables"):
            values = turn.get(part, {})
            if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
                raise ValueError(f"the {part} of a turn are texts by name")
    return turns


def _results_directory(text: str) -> Path:
    if not text.strip():
        raise ValueError("the name of the directory is empty")
    return Path(text)


def _dataset_uri(text: str) -> str:
    if not text.strip():
        raise ValueError("the URI is empty; leave the option out for the default dataset")
    return text


def _workload_names(text: str) -> tuple[str, ...]:
    """Return the comma-separated names, each once."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError("no workload is named")
    return tuple(dict.fromkeys(names))
