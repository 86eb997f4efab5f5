"""The options of a benchmark, read once from the command line."""

import argparse
import json
import math
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NotRequired, TypedDict

from datagen.generate import parse as parse_request
from datagen.writer import Request
from harness.model.cache import COLD
from harness.model.errors import BadInput
from harness.model.limits import MAX_NODES, MAX_PROFILE_ROUNDS
from harness.runtime.command_line import Parser, option_type, whole_number
from harness.runtime.option_values import parse_facts, parse_pairs, parse_time
from harness.runtime.shared_options import add_shared_options
from harness.runtime.time_budget import seconds_left
from harness.runtime.warm_up import AUTO, DEFAULT_TRIALS
from jobs.queries import queries_of
from jobs.workload import discover, known_workloads

PROG = "benchmark.py"

MAX_TIME_S = 30 * 60.0


class Turn(TypedDict):
    """A configuration that takes turns with others in one run, with its data and its own facts."""

    configuration: str
    dataset: str | None
    facts: dict[str, str]
    tables: NotRequired[dict[str, str]]


@dataclass(frozen=True)
class BenchmarkOptions:
    """All options.

    - `dataset`: a URI; None for the default dataset.
    - `generate`: what to write there unless it is there; None for nothing.
    - `workloads`: names of what to run; None for those of `default_workloads`, or all,
      that can run here.
    - `queries`: the text of each query by its name; `tables`: where each table is, as `open_table` reads it.
    - `warmup`: the number of warm-up rounds; None to run until every workload is steady.
    - `trials`: how many trials have to count.
    - `max_time_s`: the time for rounds until every workload is steady; None if their number is fixed.
    - `profile`: the number of profile rounds after all others; None for one if time is left.
    - `seed`: of the order of the workloads in each round.
    - `streams`: how many run all workloads but controls at the same time.
    - `sink`: a name in SINKS.
    - `cache`: COLD if what trials read has to come from the disks, else WARM.
    - `facts`: what the user declares.
    - `nodes`: the number of nodes that the executors have to be on; None if any will do.
    - `turns`: the configurations that take turns; if there are any, they replace configuration and dataset.
    """

    configuration: str
    results: Path
    dataset: str | None
    generate: Request | None
    workloads: tuple[str, ...] | None
    default_workloads: tuple[str, ...] | None
    queries: Mapping[str, str]
    tables: Mapping[str, str]
    warmup: int | None
    trials: int
    max_time_s: float | None
    profile: int | None
    seed: str
    streams: int
    sink: str
    cache: str
    repartition: int
    pi_samples: int
    facts: Mapping[str, str]
    nodes: int | None
    turns: Sequence[Turn]
    skip_content_check: bool
    accept_layout_drift: bool

    def by_turn(self) -> "list[BenchmarkOptions]":
        """Return the options of each configuration; a single one without turns."""
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
        ] or [self]


def parse(arguments: list[str] | None = None) -> BenchmarkOptions:
    """Read the command line; exit with code 2, and one line on the reason, if it is wrong."""
    parser = _parser()
    given = vars(parser.parse_args(arguments))
    # Time buys runs, and a run that waits for steadiness takes several times as long.
    trials, warmup = (1, 1) if math.isfinite(seconds_left()) else (DEFAULT_TRIALS, None)
    if given["warmup"] != AUTO:
        warmup = given["warmup"]
    max_time_s = given.pop("max_time")
    if max_time_s is not None and warmup is not None:
        parser.error("--max-time has no effect without --warmup auto")
    try:
        facts = parse_facts(given.pop("fact") or [])
        queries, tables = given.pop("sql") or {}, _tables(given.pop("table") or [])
        known_workloads(given["workloads"], queries_of(queries))
    except BadInput as error:
        parser.error(str(error))
    if tables and not queries:
        parser.error("--table has no effect without --sql")
    if given["streams"] > 1 and given["cache"] == COLD:
        parser.error("--cache cold: of several streams, one finds in memory what another one read")
    if queries and given["cache"] == COLD and not (tables or given["turns"]):
        parser.error("--cache cold with --sql needs --table: other files are not known")
    words = given.pop("generate")
    if words is not None and given["dataset"] is None:
        parser.error("--generate needs --dataset")
    if given["nodes"] is not None:
        facts = {"nodes": str(given["nodes"]), **facts}
    decided = {
        "generate": None if words is None else parse_request([given["dataset"], "--reuse", *words]),
        "warmup": warmup,
        "trials": given["trials"] or trials,
        "max_time_s": (max_time_s or MAX_TIME_S) if warmup is None else None,
        "facts": facts,
        "queries": queries,
        "tables": tables,
        "seed": given["seed"] or secrets.token_hex(4),
    }
    return BenchmarkOptions(**given | decided)


def _parser() -> Parser:
    parser = Parser(
        PROG,
        "Run the workloads on a dataset, and record every trial and everything that could explain "
        "its time.",
    )
    add_shared_options(parser)
    add = parser.add_argument
    add("--dataset", metavar="URI", type=option_type(_dataset_uri),
        help="dataset that datagen/generate.py wrote; by default a small one, generated once and "
        "kept in the cache")  # fmt: skip
    add("--generate", metavar="OPTIONS", type=option_type(shlex.split),
        help="generate the dataset unless it is there, with these options of datagen/generate.py: "
        "--generate='--rows 1e6 --layout replicated:2'")  # fmt: skip
    add("--workloads", metavar="A,B,...", type=option_type(_workload_names),
        help=f"workloads to run; by default all: {', '.join(discover())}")  # fmt: skip
    # Passed by `clusterlift bench`.
    add("--default-workloads", type=option_type(_workload_names), help=argparse.SUPPRESS)
    add("--table", action="append", metavar="NAME=[FORMAT:]URI",
        help="table that queries of --sql read: Parquet, ORC, CSV with a header, or Delta or Iceberg if "
        "Spark has the jar; can be repeated; tables of the catalogue need none")  # fmt: skip
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
    add("--turns", type=json.loads, default=(), help=argparse.SUPPRESS)
    add("--skip-content-check", action="store_true",
        help="do not read the whole dataset before the trials to compare its digest with its "
        "manifest")  # fmt: skip
    add("--accept-layout-drift", action="store_true",
        help="run on a dataset that is no longer stored as its manifest says, and record how it is "
        "stored")  # fmt: skip
    return parser


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


def _tables(texts: Sequence[str]) -> dict[str, str]:
    """Return URIs by the names of tables. Raise BadInput if one has no URI, or no name that SQL can have."""
    tables = parse_pairs(texts, "--table", "name", "orders=hdfs://host:9820/orders")
    for name, uri in tables.items():
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
            raise BadInput(f"--table {name!r} is no name of a table: use letters, digits and _")
        if not uri:
            raise BadInput(f"--table {name} has no URI")
    return tables
