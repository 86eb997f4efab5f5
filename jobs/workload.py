"""The contract of a workload.

A workload is a DataFrame with a known right answer. It defines how to build the DataFrame, which
aggregates over its rows to observe while a sink forces it, and whether the observed values are right.
So the answer is checked without running anything twice, and outside the measured time.
"""

from __future__ import annotations

import importlib.util
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar

from pyspark.sql import Column, DataFrame, SparkSession

from datagen.recipe import Totals
from harness.model.errors import WrongAnswer

Answer = Mapping[str, Any]
"""The observed values of `Workload.observe`'s columns, by name."""


class Bottleneck(IntEnum):
    """What limits the speed of a workload. Workloads run in this order."""

    SHUFFLE = 1
    CPU = 2


@dataclass(frozen=True)
class Context:
    """What workloads are built from.

    `data` is the rows of the dataset, which every action reads again, and `totals` the right sums over
    them. If no workload of the run reads data, both are those of no rows. `repartition` and
    `pi_samples` are options of the benchmark, `parallelism` is Spark's default number of partitions.
    """

    spark: SparkSession
    data: DataFrame
    totals: Totals
    repartition: int
    pi_samples: int
    parallelism: int


class Workload(ABC):
    """A named computation. To add one, write a subclass in a module of `jobs.workloads`."""

    name: ClassVar[str]
    bottleneck: ClassVar[Bottleneck]
    reads_data: ClassVar[bool] = True
    control: ClassVar[bool] = False
    """Whether neither network nor storage can affect it: if its time changes, the machine changed."""
    requires: ClassVar[tuple[str, ...]] = ()
    """Python modules that it needs besides pyspark, on the driver and on the executors."""

    @abstractmethod
    def frame(self, context: Context) -> DataFrame:
        """Return the computation, not yet run."""

    def prewarm(self, context: Context) -> DataFrame | None:
        """Return what to run before each trial, outside its measured time; None for nothing.

        Spark stops Python workers that were idle for a minute. Without prewarming, the time that the
        other workloads take would decide whether a trial has to start its workers.
        """
        return None

    @abstractmethod
    def observe(self, context: Context) -> Mapping[str, Column]:
        """Return aggregates over the rows of the frame, by name. Their values are scalars or text."""

    @abstractmethod
    def check(self, answer: Answer, context: Context) -> None:
        """Raise WrongAnswer unless the answer is right."""

    def check_plan(self, plan: str) -> None:  # noqa: B027  most workloads accept any plan
        """Raise WrongAnswer if Spark executed something other than what this workload measures.

        `plan` is the executed tree of operators, as text.
        """

    def missing(self) -> tuple[str, ...]:
        """Return the required modules that the driver does not have."""
        return tuple(name for name in self.requires if importlib.util.find_spec(name) is None)


def expect(name: str, found: object, right: object) -> None:
    """Raise WrongAnswer unless the two values are equal."""
    if found != right:
        raise WrongAnswer(f"{name} is {found}, not {right}")


def expect_within(name: str, found: float | None, right: float, tolerance: float) -> None:
    """Raise WrongAnswer unless `found` is a number at most `tolerance` away from `right`."""
    # This form of the comparison rejects NaN, too.
    if found is None or not abs(found - right) <= tolerance:
        raise WrongAnswer(f"{name} is {found}, not {right} ± {tolerance:.3g}")


def shuffles(plan: str) -> int:
    """Return the number of shuffles in a tree of operators; broadcasts do not count."""
    return len(re.findall(r"(?<![A-Za-z])Exchange\b", plan))
