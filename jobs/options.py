"""The options of a benchmark, read once from the command line."""

import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NotRequired, TypedDict

from datagen.generate import parse as parse_request
from datagen.writer import Request
from harness.base.command_line import Parser
from harness.base.errors import BadInput
from harness.base.option_values import parse_facts, parse_pairs
from harness.model.cache import COLD
from harness.trials.counting import AUTO, DEFAULT_TRIALS
from harness.trials.time_budget import seconds_left
from harness.work.queries import QueryDirectory
from harness.work.script_options import MAX_TIME_S, add_script_options
from jobs.queries import queries_of
from jobs.workload import discover, known_workloads

PROG = "benchmark.py"


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
    - `sql`: the user's queries, None for none; `tables`: where each table is, as `open_table` reads it.
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
    sql: QueryDirectory | None
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

    @property
    def queries(self) -> Mapping[str, str]:
        """The text of each query by its name."""
        return self.sql.texts if self.sql else {}

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
        tables = _tables(given.pop("table") or [])
        queries = given["sql"].texts if given["sql"] else {}
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
    add_script_options(parser, discover())
    return parser


def _tables(texts: Sequence[str]) -> dict[str, str]:
    """Return URIs by the names of tables. Raise BadInput if one has no URI, or no name that SQL can have."""
    tables = parse_pairs(texts, "--table", "name", "orders=hdfs://host:9820/orders")
    for name, uri in tables.items():
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
            raise BadInput(f"--table {name!r} is no name of a table: use letters, digits and _")
        if not uri:
            raise BadInput(f"--table {name} has no URI")
    return tables
