"""The contract of a workload, and which workloads a run executes.

A workload is a DataFrame with a known right answer. It defines how to build the DataFrame, which
aggregates over its rows to observe while a sink forces it, and whether the observed values are right.
Where it has many rows, to observe them takes time. So they are observed in a round that does not count, and
trials that count have their number of rows checked, which Spark counts anyway.
"""

from __future__ import annotations  # for Python 3.8

import importlib
import inspect
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from importlib.util import find_spec
from typing import Any, ClassVar, Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import jobs.workloads
from datagen.dataset import digest_expression, digest_text
from datagen.destination import Destination
from datagen.recipe import COLUMNS, Totals
from harness.base.errors import BadInput, ClusterliftError, WrongAnswer
from harness.base.option_values import what_exists
from harness.model.answer import RowsDigest
from harness.model.planning import Planning

Answer = Mapping[str, Any]
"""The observed values of `Workload.observe`'s columns, by name."""


class Bottleneck(IntEnum):
    """The resource that limits a workload most. Workloads run in this order."""

    INPUT = 1
    OUTPUT = 2
    SHUFFLE = 3
    LATENCY = 4
    CPU = 5


@dataclass(frozen=True)
class Context:
    """The input of workloads.

    `data` is the rows of the dataset, which every action reads again, `totals` the right sums over
    them, and `digests` the right digests over some of their columns. If no workload of the run reads
    data, all three are empty. `repartition` and `pi_samples` are options of the benchmark,
    `parallelism` is Spark's default number of partitions. Workloads write to `destination`, None if none
    does. Queries with statements before them have `sessions` of their own, by their names.
    """

    spark: SparkSession
    data: DataFrame
    totals: Totals
    repartition: int
    pi_samples: int
    parallelism: int
    digests: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    sessions: dict[str, SparkSession] = field(default_factory=dict)
    destination: Destination | None = None


class Workload(ABC):
    """A named computation. To add one, write a subclass in a module of `jobs.workloads`."""

    name: str
    bottleneck: ClassVar[Bottleneck]
    reads_data: ClassVar[bool] = True
    """Whether it reads the rows of the dataset."""
    reads_tables: ClassVar[bool] = False
    """Whether it reads tables of the user's, if there are any."""
    control: ClassVar[bool] = False
    """Whether neither network nor storage can affect it: if its time changes, the machine changed."""
    writes: ClassVar[bool] = False
    """Whether the rows of its frame are written to files beside the dataset, instead of thrown away."""
    few_rows: ClassVar[bool] = False
    """Whether the frame has so few rows that observing them takes no time: then every trial does it."""
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

    def observe_data(self, context: Context) -> Mapping[str, Column]:
        """Return aggregates over the rows of `context.data` as they are read, by name.

        They are for a workload whose own rows do not show every value that it read. `check_data` checks them.
        """
        return {}

    def check_data(self, answer: Answer, context: Context) -> None:  # noqa: B027  most observe none
        """Raise WrongAnswer unless the values of `observe_data` are right."""

    def rows(self, context: Context) -> int | None:
        """Return how many rows the frame has, which every trial checks; None if no oracle knows."""
        return None

    def read_back(self, written: DataFrame, context: Context) -> DataFrame:
        """Return what `observe` aggregates over: the rows that were written, or what shows their order."""
        return written

    @abstractmethod
    def observe(self, context: Context) -> Mapping[str, Column]:
        """Return aggregates over the rows of the frame, by name. Their values are scalars, text, or lists."""

    @abstractmethod
    def check(self, answer: Answer, context: Context) -> RowsDigest | None:
        """Raise WrongAnswer unless the answer is right; return what no oracle knows, to be compared."""

    def check_plan(self, plan: str) -> None:  # noqa: B027  most workloads accept any plan
        """Raise WrongAnswer if Spark executed something other than what this workload measures.

        `plan` is the executed tree of operators, as text.
        """

    def planning(self) -> Planning:
        """Return what Spark needed for the text of the last frame. Nothing is known without a text."""
        return Planning()

    def missing(self) -> tuple[str, ...]:
        """Return the required modules that the driver does not have."""
        return tuple(name for name in self.requires if find_spec(name) is None)


def expect(name: str, found: object, right: object) -> None:
    """Raise WrongAnswer unless the two values are equal."""
    if found != right:
        raise WrongAnswer(f"{name} is {found}, not {right}")


def expect_within(name: str, found: float | None, right: float, tolerance: float) -> None:
    """Raise WrongAnswer unless `found` is a number at most `tolerance` away from `right`."""
    # This form of the comparison rejects NaN, too.
    if found is None or not abs(found - right) <= tolerance:
        raise WrongAnswer(f"{name} is {found}, not {right} ± {tolerance:.3g}")


def observed_digest(columns: Collection[str]) -> Mapping[str, Column]:
    """Return the aggregate over these columns of a dataset that `expect_digest` checks."""
    return {"content": F.expr(digest_expression(columns))}


def expect_digest(answer: Answer, columns: tuple[str, ...], context: Context) -> None:
    """Raise WrongAnswer unless the rows have the digest of the dataset, if that is known."""
    if columns in context.digests:
        expect("the digest of the rows", digest_text(answer["content"]), context.digests[columns])


class EveryRow(Workload):
    """A workload whose frame has the rows of the dataset, all of them, in any order."""

    def rows(self, context: Context) -> int:
        return context.totals.rows

    def observe(self, context: Context) -> Mapping[str, Column]:
        return {"rows": F.count("*"), **observed_digest(COLUMNS)}

    def check(self, answer: Answer, context: Context) -> None:
        expect("rows", answer["rows"], context.totals.rows)
        expect_digest(answer, COLUMNS, context)


def shuffles(plan: str) -> int:
    """Return the number of shuffles in a tree of operators; broadcasts do not count."""
    return len(re.findall(r"(?<![A-Za-z])Exchange\b", plan))


@dataclass(frozen=True)
class Selection:
    """The workloads of a run, in order.

    `omitted` has the reason for each workload that cannot run here, by name. `not_requested` names the
    workloads that the user did not choose. If the user `named` the workloads, none may be omitted. With
    `streams`, this number of them run all workloads but controls at once.
    """

    workloads: tuple[Workload, ...]
    omitted: Mapping[str, str]
    not_requested: tuple[str, ...]
    named: bool
    streams: int = 1

    @property
    def in_streams(self) -> tuple[Workload, ...]:
        """The workloads that run in several streams at once; controls, which nothing may affect, do not."""
        if self.streams == 1:
            return ()
        return tuple(each for each in self.workloads if not each.control)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all that is timed.

        The first is the name of all streams together, if there are several.
        """
        names = tuple(workload.name for workload in self.workloads)
        if self.in_streams:
            return (f"streams-{self.streams}", *names)
        return names

    @property
    def reads_data(self) -> bool:
        return any(workload.reads_data or workload.writes for workload in self.workloads)

    @property
    def writing(self) -> tuple[str, ...]:
        """The names of the workloads that write."""
        return tuple(workload.name for workload in self.workloads if workload.writes)

    def without_writing(self, reason: str) -> Selection:
        """Return the selection with all workloads that write omitted for this reason.

        Raise BadInput if the user named them.
        """
        if self.named and self.writing:
            raise BadInput(f"--workloads: {' and '.join(self.writing)} cannot write: {reason}")
        kept = tuple(workload for workload in self.workloads if not workload.writes)
        omitted = {**self.omitted, **dict.fromkeys(self.writing, f"cannot write: {reason}")}
        return replace(self, workloads=kept, omitted=omitted)


def select_workloads(
    names: Sequence[str] | None,
    queries: Sequence[Workload] = (),
    default: Sequence[str] | None = None,
) -> Selection:
    """Return the selection of these names; if they are None, of what can run here of `default`, or of all.

    A user's `queries` take the place of those that read a dataset, which then run only if they are named.
    Raises BadInput for an unknown name, and for a named workload that cannot run here.
    """
    runnable = []
    omitted = {}
    requested = known_workloads(names or default, queries)
    for workload in requested:
        missing = ", ".join(workload.missing())
        if not missing:
            runnable.append(workload)
        elif names is None:
            omitted[workload.name] = f"needs {missing}, which this Python does not have"
        else:
            raise BadInput(
                f"--workloads: {workload.name} needs {missing}; install it for the "
                "driver's and the executors' Python, or leave the workload out"
            )
    others: tuple[str, ...] = ()
    if not queries:
        known = {workload.name for workload in requested}
        others = tuple(name for name in discover() if name not in known)
    return Selection(tuple(runnable), omitted, others, named=names is not None)


def discover() -> dict[str, Workload]:
    """Return every workload by name: the subclasses of Workload in the modules of jobs.workloads.

    An abstract class without a name is a base of workloads, and no workload itself. Raises ClusterliftError
    unless a workload's file is named like the workload, which is how others know the names without Spark.
    """
    found: list[Workload] = []
    for entry in pkgutil.iter_modules(jobs.workloads.__path__):
        module = importlib.import_module(f"{jobs.workloads.__name__}.{entry.name}")
        for member in vars(module).values():
            if not _is_workload(member) or member.__module__ != module.__name__:
                continue
            if entry.name.replace("_", "-") != member.name:
                raise ClusterliftError(
                    f"jobs/workloads/{entry.name}.py has the workload {member.name}; name the file like it"
                )
            found.append(member())
    found.sort(key=lambda workload: (workload.bottleneck, workload.name))
    return {workload.name: workload for workload in found}


def _is_workload(member: object) -> bool:
    if not isinstance(member, type) or not issubclass(member, Workload):
        return False
    return hasattr(member, "name") or not inspect.isabstract(member)


def known_workloads(
    names: Sequence[str] | None, queries: Sequence[Workload] = ()
) -> list[Workload]:
    """Return the workloads with these names, in this order, each once; all if `names` is None.

    With a user's `queries`, all are these and the controls that read no data. Raises BadInput for an unknown
    name, with the most similar known names, and for a query with the name of another workload.
    """
    own = discover()
    known = {query.name: query for query in queries}
    taken = own.keys() & known.keys()
    if taken:
        raise BadInput(
            f"--sql: {min(taken)} is the name of a workload; rename the file of the query"
        )
    if queries and names is None:
        controls = [name for name, workload in own.items() if workload.control]
        names = [*known, *controls]
    known.update(own)
    for name in names or ():
        if name not in known:
            raise BadInput(f"--workloads: unknown workload '{name}'; {what_exists(name, known)}")
    return [known[name] for name in dict.fromkeys(names or known)]
