"""The command line of the benchmark: what it gives is checked against the workloads that there are."""

from __future__ import annotations

import math
import secrets
from dataclasses import replace

from datagen.generating import parse as parse_request
from datagen.writer import Request
from harness.base.command_line import Parser
from harness.base.errors import BadInput
from harness.trials.counting import AUTO
from harness.trials.time_budget import seconds_left
from harness.work.script_options import BenchmarkOptions, add_options, options_from
from jobs.queries import queries_of
from jobs.workload import discover, known_workloads

PROG = "benchmark.py"


def parse(arguments: list[str] | None = None) -> BenchmarkOptions:
    """Read the command line; exit with code 2, and one line on the reason, if it is wrong."""
    parser = _parser()
    try:
        options = _within_time(options_from(parser.parse_args(arguments)))
        known_workloads(options.workloads, queries_of(options.queries))
    except BadInput as error:
        parser.error(str(error))
    requested_dataset(options)  # or exit
    if options.seed:
        return options
    return replace(options, seed=secrets.token_hex(4))


def requested_dataset(options: BenchmarkOptions) -> Request | None:
    """Return what to write unless it is there; None for nothing. Exit with code 2 if the request is wrong."""
    if options.generate is None or options.dataset is None:
        return None
    return parse_request([options.dataset, "--reuse", *options.generate])


def _within_time(options: BenchmarkOptions) -> BenchmarkOptions:
    """Return the options of a run that has to end in time, if it has to.

    Time buys runs, and a run that waits for steadiness takes several times as long.
    """
    if math.isinf(seconds_left()):
        return options
    trials = options.trials if "trials" in options.given else 1
    warmup = 1 if options.warmup == AUTO else options.warmup
    return replace(options, trials=trials, warmup=warmup)


def _parser() -> Parser:
    parser = Parser(
        PROG,
        "Run workloads on a dataset, and record every trial and everything that could explain its time. "
        f"The workloads are {', '.join(discover())}.",
    )
    add_options(parser)
    return parser
