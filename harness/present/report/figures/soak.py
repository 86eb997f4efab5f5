"""The transfers of a soak over time: the goodput of hosts by minutes."""

from collections import defaultdict
from functools import partial
from statistics import median
from typing import NamedTuple

from harness.analysis.network.soak import soak_flows
from harness.model.link import throughput_text
from harness.model.probe import RecordedProbes
from harness.present.data_table import DataTable
from harness.present.report.chart import BLUE, Spec, layered, mark, quantity
from harness.present.report.figure import Evidence, Figure, Section, alternative, picture

_PX = (680, 130)
MAX_POINTS = 240
"""More would be finer than what a screen shows."""
_MBIT = 1e6
_LEGEND = (
    "Line and band: the median, and the lowest and highest, of a round's transfers; a failure is 0."
)


class Point(NamedTuple):
    """The goodput of transfers that began at about the same time, in Mbit/s."""

    minute: float
    lowest: float
    median: float
    highest: float


@partial(Section, 100, "soak", "The network under load, over time")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure of each configuration's soak; None if there is none."""
    drawn = {name: found for name, probed in evidence.soaks.items() if (found := points(probed))}
    if not drawn:
        return None
    texts = (
        (name, f"{throughput_text(_MBIT * min(point.lowest for point in found))} or more")
        for name, found in drawn.items()
    )
    return Figure(
        alternative=alternative("Lines of the goodput of hosts, by minutes.", texts),
        pictures=tuple(
            picture(_drawn(found), heading=f"{name}, Mbit/s by minutes")
            for name, found in drawn.items()
        ),
        numbers=DataTable(
            ("configuration", "minute", "lowest", "median", "highest"),
            tuple(
                (
                    name,
                    f"{point.minute:.1f}",
                    *(throughput_text(_MBIT * rate) for rate in point[1:]),
                )
                for name, found in drawn.items()
                for point in found
            ),
        ),
        remarks=(_LEGEND,),
    )


def points(probed: RecordedProbes) -> list[Point]:
    """Return a point for each round; of many rounds, for some together."""
    by_moment: dict[float, list[float]] = defaultdict(list)
    flows = soak_flows(probed)
    width_s = max((flow.start_s for flow in flows), default=0.0) / MAX_POINTS
    for flow in flows:
        moment_s = flow.start_s // width_s * width_s if width_s else 0.0
        by_moment[moment_s].append((flow.goodput_bit_s or 0.0) / _MBIT)
    return [
        Point(moment_s / 60, min(rates), median(rates), max(rates))
        for moment_s, rates in sorted(by_moment.items())
    ]


def _drawn(found: list[Point]) -> Spec:
    top = max(1e-6, 1.05 * max(point.highest for point in found))
    ends = (0.0, top)
    last = max(found[-1].minute, 1 / 60)
    x = {"x": quantity("minute", ends=(0, last), axis={"tickCount": _PX[0] // 90, "grid": False})}
    y = {"y": quantity("median", ends=ends, axis={"tickCount": 4})}
    band = {**x, "y": quantity("lowest", ends=ends), "y2": {"field": "highest"}}
    return layered(
        [point._asdict() for point in found],
        mark("area", band, color=BLUE, opacity=0.25),
        mark("line", {**x, **y}, color=BLUE, strokeWidth=1.5),
        px=_PX,
    )
