"""The benchmark's command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.model.errors import BadInput
from harness.model.link import MAX_BIT_S, parse_rate
from harness.runtime.command_line import (
    Parser,
    option_type,
    parse_facts,
    parse_fraction,
    parse_time,
    whole_number,
)
from jobs.sinks import SINKS
from jobs.workload import discover, select

PROG = "benchmark.py"
MAX_TRIALS = 10_000
AUTO = "auto"
PRECISION, MAX_TIME_S = 0.02, 30 * 60.0
"""Of `--trials auto`, where nothing else is said."""


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options.

    `workloads` is a list of names, or None for all; `fact` is a dict; `trials` is a number or AUTO,
    with `precision` as a share and `max_time` in seconds.
    """
    known = discover()
    parser = Parser(
        PROG,
        "Run the workloads on a dataset, and record every trial with all that could explain it.",
    )
    add = parser.add_argument
    add(
        "--dataset",
        metavar="URI",
        help="what datagen/generate.py wrote; by default a small one, generated once and kept in the cache",
    )
    add(
        "--configuration",
        default="default",
        metavar="NAME",
        type=option_type(configuration_name),
        help="the name of the set-up under test, such as 1g-rs",
    )
    add(
        "--workloads",
        metavar="A,B,…",
        type=option_type(workload_names),
        help=f"which ones to run, in this order: {', '.join(known)}; by default all",
    )
    add(
        "--trials",
        type=trials,
        default=6,
        metavar="N",
        help="measured rounds over the workloads; or auto: until every median is precise",
    )
    add(
        "--precision",
        type=option_type(parse_fraction),
        default=argparse.SUPPRESS,
        metavar="SHARE",
        help="with --trials auto: how near to its median each 95%% interval must be (default: 2%%)",
    )
    add(
        "--max-time",
        type=option_type(parse_time),
        default=argparse.SUPPRESS,
        metavar="TIME",
        help="with --trials auto: no round begins that would end later, warm-up included (default: 30m)",
    )
    add(
        "--warmup",
        type=whole_number(0, MAX_TRIALS),
        default=1,
        metavar="N",
        help="rounds before them that do not count",
    )
    add(
        "--sink",
        choices=list(SINKS),
        default="noop",
        help="what forces a computation: Spark's noop data source, or df.rdd.count() as in 2020",
    )
    add(
        "--repartition",
        type=whole_number(1, 10**6),
        default=200,
        metavar="N",
        help="partitions that repartition makes",
    )
    add(
        "--pi-samples",
        type=whole_number(1, 10**13),
        default=10**7,
        metavar="N",
        help="points that each Pi draws",
    )
    add(
        "--results",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="where to write DIR/<configuration>/<run>.jsonl",
    )
    add(
        "--fact",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="something to record with the run, such as switch=TEG-7080ES; can be repeated",
    )
    add(
        "--expect-link",
        metavar="RATE",
        type=option_type(link_rate),
        help="what the links should run at, such as 2500mbit; where they do not, the table will say so",
    )
    add(
        "--skip-content-check",
        action="store_true",
        help="do not read the dataset once beforehand to hold its digest against the manifest",
    )
    add(
        "--accept-layout-drift",
        action="store_true",
        help="run on a dataset that no longer lies as its manifest says, and record how it does lie",
    )
    options = parser.parse_args(arguments)
    if options.trials != AUTO:
        for option in ("precision", "max_time"):
            if option in options:
                parser.error(f"--{option.replace('_', '-')} is of use with --trials auto alone")
    try:
        options.fact = parse_facts(options.fact)
    except BadInput as error:
        parser.error(str(error))
    return argparse.Namespace(**{"precision": PRECISION, "max_time": MAX_TIME_S} | vars(options))


def trials(text: str) -> int | str:
    """A number of rounds, or AUTO."""
    return AUTO if text == AUTO else whole_number(1, MAX_TRIALS)(text)


def configuration_name(text: str) -> str:
    """Any text that shows: a configuration names a directory and the head of a column."""
    if not text.strip() or not text.isprintable():
        raise ValueError("a configuration's name is printable and not empty")
    return text.strip()


def link_rate(text: str) -> int:
    """Bit/s of `2500mbit` or `2.5gbit`; raises BadInput."""
    return parse_rate("--expect-link", text, MAX_BIT_S)


def workload_names(text: str) -> list[str]:
    """The known workloads among comma-separated names; raises BadInput for an unknown one."""
    listed = [name.strip() for name in text.split(",") if name.strip()]
    if not listed:
        raise ValueError("no workload is named")
    return [workload.name for workload in select(listed, discover())]
