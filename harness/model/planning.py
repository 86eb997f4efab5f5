"""What Spark's driver does for a query besides its tasks: a user's stopwatch has it all."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from harness.base.items import known
from harness.model.bounds import MAX_SECONDS, Annotated, Meta

_Seconds = Annotated[float, Meta(ge=0, le=MAX_SECONDS)]
LARGE_SHARE = 0.2
"""A larger part of the time is worth a footnote: it grows neither with the data nor with the cluster."""


@dataclass(frozen=True)
class Planning:
    """Seconds of the driver, on average over the executions of a trial. None: unknown.

    - `parsing_s`, `analysis_s`: of the text of a user's query, before the action. They are not in its time.
    - `planning_s`: from the begin of the action until Spark has optimised and planned it. They are in its
      time.
    """

    parsing_s: _Seconds | None = None
    analysis_s: _Seconds | None = None
    planning_s: _Seconds | None = None


def planning_of_executions(wall_s: float, executed_s: Sequence[float]) -> float | None:
    """Return the mean seconds of planning of executions that took `wall_s` each; None without their events.

    Spark's own execution begins when it is optimised and planned.
    """
    if not executed_s:
        return None
    return max(0.0, wall_s - fmean(executed_s))


def median_planning(found: Iterable[Planning]) -> Planning:
    """Return the medians of what is known."""
    every = list(found)
    return Planning(
        _median(each.parsing_s for each in every),
        _median(each.analysis_s for each in every),
        _median(each.planning_s for each in every),
    )


def _median(values: Iterable[float | None]) -> float | None:
    given = known(values)
    return median(given) if given else None
