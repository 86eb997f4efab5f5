"""What a trial that counts takes more than the bare frame: `pytest -s tests/bench/test_proofs.py`.

Both alternate in one virtual machine. `CLUSTERLIFT_BENCH_ROWS` gives the rows, 300,000 by default: a trial
is the median of short executions in turns, so that a burst of the machine is not counted as a cost.
"""

import os
import random
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import exp, log, sqrt
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import pytest
from pyspark.sql import SparkSession
from scipy.stats import t

import jobs
from datagen.recipe import Recipe
from datagen.spark import start_session
from datagen.writer import Request, write_dataset
from harness.commands.bench import ONE_MACHINE_PROPERTIES
from jobs.configuration_side import build_context
from jobs.garbage import collect_garbage
from jobs.options import parse
from jobs.queries import Query
from jobs.sinks import NoopSink
from jobs.workload import Context, Workload, discover
from tests.bench.scale import IS_SMOKE, scaled
from tests.bench.test_sampler import TICKS_PER_S, used_s

ROWS = int(os.environ.get("CLUSTERLIFT_BENCH_ROWS", scaled("300000", smoke="1000")))
TRIALS = scaled(20, smoke=2)
EXECUTIONS = scaled(6, smoke=1)
WARM_UP = scaled(3, smoke=0)
MAX_COST = 0.03
QUERIES = {
    "query-groups": "SELECT prefix2, count(*), avg(float_val) FROM rows GROUP BY prefix2 ORDER BY 2",
    "query-rows": "SELECT prefix4, max(value), sum(float_val) FROM rows GROUP BY prefix4",
    "query-join": (
        "SELECT a.prefix4, count(*) FROM rows a JOIN rows b ON a.prefix8 = b.prefix8 GROUP BY a.prefix4 "
        "ORDER BY 2 DESC, 1 LIMIT 100"
    ),
}


@dataclass
class Times:
    """Seconds of trials: on the clock, and of all processors that the virtual machine used."""

    wall_s: list[float] = field(default_factory=list)
    processor_s: list[float] = field(default_factory=list)


@pytest.fixture(scope="module")
def context() -> Iterator[Context]:
    properties = {
        **ONE_MACHINE_PROPERTIES,
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }
    words = [f"--conf={name}={value}" for name, value in properties.items()]
    os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join(["--master=local[2]", *words, "pyspark-shell"])
    spark = start_session("what proofs take", jobs)
    options = parse(["--repartition=4", f"--pi-samples={ROWS}"])
    uri = Path.home() / ".cache" / "clusterlift" / "datasets" / f"bench-{ROWS}"
    dataset = write_dataset(spark, Request(str(uri), Recipe(ROWS), reuse=True))
    found = build_context(spark, dataset, options)
    found.data.createOrReplaceTempView("rows")
    yield found
    spark.stop()


def measured_workloads() -> list[Workload]:
    """Return all but those that write: what they wrote is proven after the time, and the rest is the same."""
    own = [each for each in discover().values() if not each.writes and not each.missing()]
    return [*own, *[Query(name, text) for name, text in QUERIES.items()]]


def processor_s(spark: SparkSession) -> float:
    """Return the processor time of the virtual machine, which spark-submit has become."""
    context: Any = spark.sparkContext
    return used_s(context._gateway.proc.pid)


def measure(spark: SparkSession, times: Times, run: Callable[[], Any]) -> None:
    collect_garbage(spark)
    processors_s = processor_s(spark)
    start_s = time.perf_counter()
    run()
    times.wall_s.append(time.perf_counter() - start_s)
    times.processor_s.append(max(processor_s(spark) - processors_s, 1 / TICKS_PER_S))


def bare(workload: Workload, context: Context) -> Callable[[], Any]:
    return workload.frame(context).write.format("noop").mode("overwrite").save


def timed(workload: Workload, context: Context) -> Callable[[], Any]:
    return NoopSink(workload, context, 1, proving=False).run


def proving(workload: Workload, context: Context) -> Callable[[], Any]:
    return NoopSink(workload, context, 1, proving=True).run


KINDS = {"bare": bare, "timed": timed, "proving": proving}


def cost(ours: list[float], bares: list[float]) -> tuple[float, float, float]:
    """Return the mean of the ratios less 1, and its 95 % interval."""
    ratios = [log(own / other) for own, other in zip(ours, bares, strict=True)]
    distance = float(t.ppf(0.975, len(ratios) - 1)) * stdev(ratios) / sqrt(len(ratios))
    middle = fmean(ratios)
    return exp(middle) - 1, exp(middle - distance) - 1, exp(middle + distance) - 1


def text(found: tuple[float, float, float]) -> str:
    middle, low, high = found
    return f"{middle:+6.1%} [{low:+6.1%}, {high:+6.1%}]"


def alternate(context: Context, workload: Workload, order: random.Random) -> dict[str, Times]:
    """Return the times of each kind, one after the other in any order: the median of each trial."""
    times = {name: Times() for name in KINDS}
    for number in range(WARM_UP + TRIALS):
        trial = {name: Times() for name in KINDS}
        for execution in range(EXECUTIONS):
            kinds = ["bare", "timed"]
            if execution == 0:  # its cost is larger, and one execution shows it
                kinds.append("proving")
            for name in order.sample(kinds, len(kinds)):
                prewarming = workload.prewarm(context)
                if prewarming is not None:
                    prewarming.collect()
                measure(context.spark, trial[name], KINDS[name](workload, context))
        if number >= WARM_UP:
            for name, kept in times.items():
                kept.wall_s.append(median(trial[name].wall_s))
                kept.processor_s.append(median(trial[name].processor_s))
    return times


def test_a_trial_that_counts_takes_what_the_bare_frame_takes(context: Context) -> None:
    order = random.Random(7)  # noqa: S311  an order, not a secret
    print(
        f"\n{ROWS:,} rows, {TRIALS} trials of {EXECUTIONS} executions (proving: of one); "
        "more than the bare frame, wall and processor"
    )
    too_much = []
    for workload in measured_workloads():
        times = alternate(context, workload, order)
        bares = times["bare"]
        print(f"{workload.name:22} bare {median(bares.wall_s):.2f} s", flush=True)
        costs = {}
        for name in ("timed", "proving"):
            costs[name] = cost(times[name].processor_s, bares.processor_s)
            wall = cost(times[name].wall_s, bares.wall_s)
            print(f"{workload.name:22} {name:8} {text(wall)}   {text(costs[name])}", flush=True)
        if costs["timed"][1] > MAX_COST:
            too_much.append(workload.name)
    assert IS_SMOKE or too_much == []
