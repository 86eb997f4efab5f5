"""What jobs/benchmark.py does: run the workloads on a dataset and record every trial."""

from __future__ import annotations

import gc
from contextlib import ExitStack

import jobs
from datagen.spark import spark_errors_as_one_line, start_session
from harness.base.interrupt import interruptible
from harness.records.run_lock import RUN, configuration_lock
from jobs.allocation import fix_executors
from jobs.measuring import benchmark
from jobs.options import parse


def main() -> int:
    """Run the benchmark that the command line describes, and return the exit code."""
    options = parse()
    with ExitStack() as locks:
        for directory, name in dict.fromkeys(
            (each.results, each.configuration) for each in options.by_turn()
        ):
            locks.enter_context(configuration_lock(directory, name, RUN))
        spark = start_session(
            "clusterlift benchmark",
            jobs,
            fair=options.streams > 1,
            change=None if options.executors_may_change else fix_executors,
        )
        gc.freeze()  # before each trial, garbage is looked for: never in what was imported
        with interruptible(), spark_errors_as_one_line("Spark failed"):
            return benchmark(spark, options)
