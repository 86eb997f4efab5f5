"""The Workload contract, and how workloads are found.

A workload is a DataFrame with a known right answer. It says how to build the DataFrame, which
aggregates over its rows to observe while a sink forces it, and whether what was observed is right.
So the answer is checked without running anything twice, and outside the time that is measured.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar

from pyspark.sql import Column, DataFrame, SparkSession

import jobs.workloads
from datagen.recipe import Totals
from harness.model.errors import BadInput, WrongAnswer

Answer = Mapping[str, Any]
"""What was observed: the values of `Workload.observe`'s columns, by name."""


class Bottleneck(IntEnum):
    """What a workload is bound by; they run in this order."""

    SHUFFLE = 1
    CPU = 2


@dataclass(frozen=True)
class Context:
    """What workloads are built from.

    `data` is the dataset's rows, read anew by every action, and `totals` the right answers about
    them; both are there if any workload of the run reads data.
    """

    spark: SparkSession
    data: DataFrame
    totals: Totals
    repartition: int
    pi_samples: int
    parallelism: int


class Workload(ABC):
    """A named computation. Subclass it in a module of `jobs.workloads`; nothing else is to do."""

    name: ClassVar[str]
    kind: ClassVar[Bottleneck]
    reads_data: ClassVar[bool] = True
    control: ClassVar[bool] = False
    """Whether neither network nor storage can affect it: if it moves, the machine moved."""
    requires: ClassVar[tuple[str, ...]] = ()
    """Python modules that it needs besides pyspark, on the driver and on the executors."""

    @abstractmethod
    def frame(self, context: Context) -> DataFrame:
        """The computation, not yet run."""

    def prewarm(self, context: Context) -> DataFrame | None:
        """What is run before each trial, outside its time; None: nothing.

        Spark ends Python workers that were idle for a minute. Whether a trial finds them, with all
        that they have imported, would otherwise depend on how long the other workloads took.
        """
        return None

    @abstractmethod
    def observe(self, context: Context) -> Mapping[str, Column]:
        """Aggregates over the frame's rows, by name; their values are scalars or text."""

    @abstractmethod
    def check(self, answer: Answer, context: Context) -> None:
        """Raise WrongAnswer unless the answer is the right one."""

    def check_plan(self, plan: str) -> None:  # noqa: B027  most plans may be what Spark likes
        """Raise WrongAnswer if Spark executed something else than this workload is about.

        `plan` is the executed tree of operators, as text.
        """

    def missing(self) -> tuple[str, ...]:
        """Which of the required modules the driver does not have."""
        return tuple(name for name in self.requires if importlib.util.find_spec(name) is None)


def expect(what: str, found: object, right: object) -> None:
    """Raise WrongAnswer unless the two are equal."""
    if found != right:
        raise WrongAnswer(f"{what} is {found}, not {right}")


def expect_within(what: str, found: float | None, right: float, tolerance: float) -> None:
    """Raise WrongAnswer unless `found` is a number at most `tolerance` away from `right`."""
    # Written so that NaN, too, is wrong.
    if found is None or not abs(found - right) <= tolerance:
        raise WrongAnswer(f"{what} is {found}, not {right} ± {tolerance:.3g}")


def shuffles(plan: str) -> int:
    """How many shuffles a tree of operators has; broadcasts are none."""
    return len(re.findall(r"(?<![A-Za-z])Exchange\b", plan))


def discover() -> dict[str, Workload]:
    """Every workload by name: the Workload subclasses that the modules of jobs.workloads define."""
    found: list[Workload] = []
    for entry in pkgutil.iter_modules(jobs.workloads.__path__, f"{jobs.workloads.__name__}."):
        module = importlib.import_module(entry.name)
        found += [
            member()
            for member in vars(module).values()
            if isinstance(member, type)
            and issubclass(member, Workload)
            and member.__module__ == module.__name__
        ]
    return {one.name: one for one in sorted(found, key=lambda one: (one.kind, one.name))}


def select(names: Sequence[str], known: Mapping[str, Workload]) -> list[Workload]:
    """The workloads of these names, in this order, each once.

    Raises BadInput for an unknown name, with the nearest known ones.
    """
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
            hint = f"did you mean {' or '.join(near)}?" if near else "there are"
            listed = "" if near else f" {', '.join(known)}"
            raise BadInput(f"unknown workload '{name}'; {hint}{listed}")
    return [known[name] for name in dict.fromkeys(names)]
