"""`spark-submit jobs/benchmark.py`: run the workloads on a dataset and record every trial."""

from __future__ import annotations  # for Python 3.8

import sys
from pathlib import Path

# spark-submit puts the script's own directory first; our packages are one level above it.
sys.path[0] = str(Path(__file__).resolve().parents[1])

try:
    from harness.base.interrupt import end_at_ctrl_c
except ModuleNotFoundError:  # with --deploy-mode cluster, the node has this file alone
    sys.stderr.write("benchmark.py: error: submit without --deploy-mode cluster\n")
    sys.exit(2)

if __name__ == "__main__":
    end_at_ctrl_c()  # while the rest is loaded

import gc
from contextlib import ExitStack

import jobs
from datagen.spark import spark_errors_as_one_line, start_session
from harness.base.command_line import run_main
from harness.base.interrupt import interruptible
from harness.records.run_lock import RUN, configuration_lock
from jobs.allocation import fix_executors
from jobs.measuring import benchmark
from jobs.options import PROG, parse


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


if __name__ == "__main__":
    run_main(PROG, main)
