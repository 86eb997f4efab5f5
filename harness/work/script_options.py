"""All options of jobs/benchmark.py. `clusterlift` reads them, too, and refuses wrong ones before Spark."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from harness.base.command_line import Parser
from harness.base.errors import BadInput
from harness.base.option_values import (
    parse_configuration,
    parse_directory,
    parse_facts,
    parse_names,
    parse_pairs,
    parse_time,
    what_exists,
    whole_number,
)
from harness.model.cache import COLD
from harness.model.limits import MAX_NODES
from harness.trials.counting import AUTO
from harness.work.options import WorkOptions, option, options_of, switch

DEFAULT_TIME_S = 30 * 60.0

HELP = frozenset({"-h", "--help"})


def _turns(text: str) -> list[dict[str, Any]]:
    """Return the turns that a text of JSON describes. Raise ValueError unless each can be taken."""
    try:
        turns = json.loads(text)
    except RecursionError as error:
        raise ValueError("the turns are nested too deep") from error
    if not isinstance(turns, list) or not turns:
        raise ValueError("a list of one turn or more is expected")
    for turn in turns:
        _require_turn(turn)
    return turns


def _require_turn(turn: object) -> None:
    if not isinstance(turn, dict) or not turn.keys() >= {"configuration", "dataset", "facts"}:
        raise ValueError("a turn has a configuration, a dataset and facts")
    name = turn["configuration"]
    parse_configuration(name if isinstance(name, str) else "")
    if not isinstance(turn["dataset"], (str, type(None))):
        raise ValueError("the dataset of a turn is a URI")  # noqa: TRY004  as of other options
    for part in ("facts", "tables"):
        texts = turn.get(part, {})
        if not isinstance(texts, dict) or not all(isinstance(v, str) for v in texts.values()):
            raise ValueError(f"the {part} of a turn are texts by name")


def _dataset_uri(text: str) -> str:
    if not text.strip():
        raise ValueError("the URI is empty; leave the option out for the default dataset")
    return text


def _tables(texts: Sequence[str]) -> dict[str, str]:
    """Return URIs by the names of tables. Raise BadInput if one has no URI, or no name that SQL can have."""
    tables = parse_pairs(texts, "--table", "name", "orders=hdfs://host:9820/orders")
    for name, uri in tables.items():
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
            raise BadInput(f"--table {name!r} is no name of a table: use letters, digits and _")
        if not uri:
            raise BadInput(f"--table {name} has no URI")
    return tables


@dataclass(frozen=True)
class BenchmarkOptions(WorkOptions):
    """All options of a run of jobs/benchmark.py.

    `given` has the names of those that the command line gives. If there are `turns`, they replace
    configuration and dataset.
    """

    configuration: str = option(
        parse_configuration, "default", "name of the set-up under test, such as 1g-rs", "NAME"
    )
    results: Path = option(
        parse_directory,
        Path("results"),
        "directory of the results; the run is written to DIR/<configuration>/<run>.jsonl",
        "DIR",
    )
    dataset: str | None = option(
        _dataset_uri,
        None,
        "dataset that datagen/generate.py wrote; by default a small one, generated once and kept in "
        "the cache",
        "URI",
    )
    generate: Sequence[str] | None = option(
        shlex.split,
        None,
        "generate the dataset unless it is there, with these options of datagen/generate.py: "
        "--generate='--rows 1e6 --layout replicated:2'",
        "OPTIONS",
    )
    tables: Mapping[str, str] = option(
        _tables,
        None,
        "table that queries of --sql read: Parquet, ORC, CSV, or Delta, Iceberg, Hudi or Paimon if Spark has "
        "the jar; NAME=csv,header=false,sep=tab:URI has options of CSV; can be repeated; tables of the "
        "catalogue need none",
        "NAME=[FORMAT:]URI",
        flag="--table",
        is_repeated=True,
    )
    default_workloads: tuple[str, ...] | None = option(parse_names, None, None)
    max_time_s: float = option(
        parse_time,
        DEFAULT_TIME_S,
        "time for all rounds, with --warmup auto; no round starts that would probably end later, except for "
        f"the first --trials + 1 rounds (default: {DEFAULT_TIME_S / 60:.0f}m)",
        "TIME",
        flag="--max-time",
    )
    seed: str = option(
        str,
        "",
        "seed of the random order of the workloads in each round; it is recorded (default: a random one)",
        "SEED",
    )
    nodes: int | None = option(
        whole_number(1, MAX_NODES),
        None,
        "number of nodes that the executors have to be on: with another number, the run is refused",
        "N",
    )
    facts: Mapping[str, str] = option(
        parse_facts,
        None,
        "fact to record with the run, such as switch=TEG-7080ES; can be repeated",
        "KEY=VALUE",
        flag="--fact",
        is_repeated=True,
    )
    turns: Sequence[Mapping[str, Any]] = option(_turns, (), None)
    skip_content_check: bool = switch(
        "do not read the whole dataset before the trials to compare its digest with its manifest"
    )
    accept_layout_drift: bool = switch(
        "run on a dataset that is no longer stored as its manifest says, and record how it is stored"
    )
    given: frozenset[str] = field(default=frozenset(), compare=False)

    def __post_init__(self) -> None:
        """Raise BadInput if options contradict each other."""
        super().__post_init__()
        if "max_time_s" in self.given and self.warmup != AUTO:
            raise BadInput("--max-time has no effect without --warmup auto")
        if self.tables and not self.sql:
            raise BadInput("--table has no effect without --sql")
        if self.sql and self.cache == COLD and not (self.tables or self.turns):
            raise BadInput("--cache cold with --sql needs --table: other files are not known")
        if self.generate is not None and self.dataset is None:
            raise BadInput("--generate needs --dataset")

    def by_turn(self) -> list[BenchmarkOptions]:
        """Return the options of each configuration that takes turns; a single one without turns."""
        if not self.turns:
            return [self]
        return [
            replace(
                self,
                configuration=turn["configuration"],
                dataset=turn["dataset"],
                facts={**self.facts, **turn["facts"]},
                tables={**self.tables, **turn.get("tables", {})},
                turns=(),
            )
            for turn in self.turns
        ]


BENCHMARK_OPTIONS = options_of(BenchmarkOptions)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options to a parser. It returns only those that are given."""
    for each in BENCHMARK_OPTIONS:
        attributes: dict[str, Any] = {"dest": each.name, "default": argparse.SUPPRESS}
        if each.is_switch:
            attributes["action"] = "store_true"
        else:
            attributes["metavar"] = each.metavar
            if each.is_repeated:
                attributes["action"] = "append"
            else:
                attributes["type"] = each.read
        shown = each.help
        if shown is None:
            shown = argparse.SUPPRESS
        elif each.default and not each.is_repeated and "(default" not in shown:
            shown += f" (default: {each.default})"
        parser.add_argument(each.flag, help=shown, **attributes)


def options_from(found: argparse.Namespace) -> BenchmarkOptions:
    """Return the options that a parser has found. Raise BadInput if they contradict each other."""
    values = vars(found)
    for each in BENCHMARK_OPTIONS:
        if each.is_repeated and each.name in values:
            values[each.name] = each.read(values[each.name])
    return BenchmarkOptions(**values, given=frozenset(values))


class _Reader(Parser):
    """A parser for another program: a wrong option does not end the process."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(message.replace("argument ", "", 1))


def read_script_options(arguments: Sequence[str]) -> BenchmarkOptions:
    """Return the options of the script's arguments. Raise BadInput if one is wrong or unknown."""
    parser = _Reader("benchmark.py", add_help=False)
    add_options(parser)
    found, others = parser.parse_known_args(arguments)
    for word in others:
        name = word.partition("=")[0]
        if name not in HELP:
            known = [each.flag for each in BENCHMARK_OPTIONS if each.help]
            those = "clusterlift, spark-submit or jobs/benchmark.py"
            raise BadInput(f"{name} is no option of {those}; {what_exists(name, known)}")
    return options_from(found)
