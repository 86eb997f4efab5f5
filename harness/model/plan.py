"""Plans: the operators with which Spark executed a workload, without what differs each time."""

from __future__ import annotations  # for Python 3.8

from dataclasses import dataclass

from harness.model.bounds import Count, Name

MAX_OPERATORS = 400
"""A plan keeps its first operators, and the number of the others."""


@dataclass(frozen=True)
class Operator:
    """An operator, which reads what the next ones below it return.

    - `depth`: how far it is below the first operator of the plan.
    - `details`: how it works: how it joins, into how many partitions it exchanges, what it scans.
    - `expressions`: what it computes, as Spark prints it, cut.
    """

    depth: Count
    name: Name
    details: str = ""
    expressions: str = ""


@dataclass(frozen=True)
class Plan:
    """The executed plan of a trial; with adaptive execution, the final one.

    - `digest`: the same for plans that mean the same.
    - `operators`: in the order in which Spark prints them. Empty if an earlier trial of the run had this
      plan, or if too many plans were found.
    - `left_out`: how many further operators there are.
    """

    digest: Name
    operators: tuple[Operator, ...] = ()
    left_out: Count = 0
