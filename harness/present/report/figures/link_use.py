"""The link and the processors of the busiest node over the time of one trial, for each configuration."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import NamedTuple

from harness.analysis.compare.comparison import Comparison
from harness.analysis.explain.timeline import (
    FULL,
    LinkUse,
    TrialLink,
    impossible_bytes,
    link_uses,
    trial_links,
)
from harness.analysis.network.mesh import RECEIVES, SENDS
from harness.model.link import throughput_text
from harness.present import quantities
from harness.present.data_table import DataTable, Quantity
from harness.present.report import chart
from harness.present.report.chart import Series, Spec, layered, mark, quantity
from harness.present.report.figure import (
    Evidence,
    Figure,
    Measured,
    Section,
    alternative,
    grouped,
    picture,
)
from harness.words import percent, shorten, visible

_MBIT = 1e6
_COLOURS = {RECEIVES: "var(--series-1)", SENDS: "var(--series-2)"}
_CPU_COLOUR = "var(--series-7)"
_KEYS = {
    "received": Series(_COLOURS[RECEIVES], "square", "■"),
    "sent": Series(_COLOURS[SENDS], "square", "■"),
    "busy processors of the node": Series(_CPU_COLOUR, "square", "■"),
}
_WIDTH_PX, _LINK_PX, _CPU_PX = 258, 100, 36
_NAME_WIDTH = 20
_MIN_LABELLED = 0.05
"""The number of a stage that takes less of the width would not fit into its band."""
LEGEND = (
    "Of each workload, the trial whose time is nearest to the median: what its busiest node received and "
    "sent, in Mbit/s over seconds, and below it how busy its processors were, in percent. The dashed line is "
    f"what the link can carry; the link is full above {percent(FULL)} of it. Bands are Spark's stages, "
    "numbered in the order of their start."
)


class Course(NamedTuple):
    """The use of the busiest link by a workload in a configuration; its typical trial is drawn."""

    workload: str
    configuration: str
    use: LinkUse

    @property
    def text(self) -> str:
        """Return `link of n2 full for 8.20 s (54 %), mostly during stage 3: reads shuffle`."""
        if self.use.full_s is None:
            return f"what the link of {self.use.host} can carry is unknown"
        share = percent(self.use.full_share or 0)
        full = f"link of {self.use.host} full for {quantities.time_text(self.use.full_s)} ({share})"
        return f"{full}, mostly during stage {self.use.stage}" if self.use.stage else full


def courses(comparison: Comparison, measured: Measured) -> list[Course]:
    """Return the courses in the order of the table; there are none of controls, or without timelines."""
    controls = comparison.common_controls
    uses = {
        column.name: link_uses(trial_links(column, measured.get(column.name, ()), controls))
        for column in comparison.columns
    }
    return [
        Course(row.workload, name, of_column[row.workload])
        for row in comparison.rows
        for name, of_column in uses.items()
        if row.workload in of_column
    ]


@partial(Section, 50, "links", "The busiest link over time")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if no trial has a timeline."""
    found = courses(evidence.comparison, evidence.measured)
    if not found:
        return None
    return Figure(
        alternative=alternative(
            "Lines over time: what the busiest node received and sent.",
            ((f"{course.workload} in {course.configuration}", course.text) for course in found),
        ),
        pictures=tuple(
            picture(*_drawn(of_workload), heading=name)
            for name, of_workload in grouped(found, lambda course: course.workload).items()
        ),
        numbers=DataTable.of(map(_numbers, found)),
        keys=_KEYS,
        remarks=(LEGEND, *_sources(found)),
        lines=tuple(
            f"{course.workload}, {course.configuration}: {course.text}" for course in found
        ),
    )


def _sources(found: Sequence[Course]) -> Iterator[str]:
    """Yield what the links carry, and where that is known from."""
    for name, of_name in grouped(found, lambda course: course.configuration).items():
        goodputs = (course.use.typical.goodput for course in of_name)
        for text in dict.fromkeys(map(str, filter(None, goodputs))):
            yield f"Links carry in {name}: {text}."
        if doubt := impossible_bytes(name, (course.use for course in of_name)):
            yield f"{doubt}."


def _numbers(course: Course) -> dict[str, str | Quantity]:
    link, use = course.use.typical, course.use
    rates = [rate for of_direction in _rates(link).values() for rate in of_direction if rate]
    busy = [value for value in link.timeline.series(link.node.busy_percent) if value is not None]
    return {
        "workload": course.workload,
        "configuration": course.configuration,
        "trial": f"{link.trial.phase} {link.trial.round} of {link.run.id}",
        "busiest node": use.host,
        "link full": Quantity.of(use.full_s, quantities.time_text),
        "of the time": Quantity.of(use.full_share, "{:.0%}".format),
        "direction": use.direction or "",
        "mostly during stage": use.stage or "",
        "highest": Quantity.of(max(rates, default=0) * _MBIT, throughput_text),
        "link carries": Quantity.of(min(_limits(link), default=None), "{:.1f} Mbit/s".format),
        "processors busy": Quantity.of(fmean(busy) if busy else None, "{:.0f}%".format),
    }


def _rates(link: TrialLink) -> Mapping[str, list[float | None]]:
    """Return the Mbit/s of each slice, by direction; None is unknown."""
    return {
        way: [None if (rate := part.bit_s(way)) is None else rate / _MBIT for part in link.slices]
        for way in _COLOURS
    }


def _limits(link: TrialLink) -> list[float]:
    """Return the Mbit/s that the link can carry: one number, or one each way; none if unknown."""
    if link.goodput is None:
        return []
    both = (link.goodput.received_bit_s, link.goodput.sent_bit_s)
    return [round(bit_s / _MBIT, 1) for bit_s in dict.fromkeys(both)]


def _drawn(of_workload: Sequence[Course]) -> Iterator[Spec]:
    """Yield a picture of each configuration of one workload, all on the same scales."""
    links = [course.use.typical for course in of_workload]
    longest_s = max(link.timeline.length_s for link in links)
    rates = [rate for link in links for way in _rates(link).values() for rate in way if rate]
    limits = [limit for link in links for limit in _limits(link)]
    highest = 1.05 * max([*rates, *limits, 1.0])
    for course, link in zip(of_workload, links, strict=True):
        names = (course.configuration, link.node.host)
        title = ": ".join(shorten(visible(name), _NAME_WIDTH) for name in names)
        parts = [_link_chart(link, longest_s, highest, title), _cpu_chart(link, longest_s)]
        yield {"vconcat": parts, "spacing": 8}


def _place(longest_s: float, highest: float, *, labels: bool, **y_axis: object) -> Spec:
    """Return the encoding of the seconds of a trial, and of values up to `highest`."""
    x_axis = {"grid": False, "tickCount": 5, "labelFlush": False} if labels else None
    axis = {"minExtent": 28, **y_axis}
    return {
        "x": quantity("s", ends=(0, longest_s), axis=x_axis),
        "y": quantity("value", ends=(0, highest), axis=axis),
    }


def _link_chart(link: TrialLink, longest_s: float, highest: float, title: str) -> Spec:
    place = _place(longest_s, highest, labels=False, tickCount=3)
    band = {"x": place["x"], "x2": {"field": "end"}, "opacity": chart.as_is("opacity")}
    number = {"x": quantity("middle"), "y": {"value": 1}, "text": {"field": "number"}}
    rates = [
        {"s": s, "value": value, "colour": _COLOURS[way]}
        for way, values in _rates(link).items()
        for s, value in _steps(link, values)
    ]
    limits = [{"value": limit} for limit in _limits(link)]
    return layered(
        _bands(link, longest_s),
        mark("rect", band, fill=chart.FAINT),
        mark("text", number, baseline="top", color=chart.SOFT),
        mark(
            "line", {**place, **chart.COLOUR}, rows=rates, interpolate="step-after", strokeWidth=1.5
        ),
        mark("rule", {"y": place["y"]}, rows=limits, color=chart.INK, strokeDash=chart.DASHES),
        px=(_WIDTH_PX, _LINK_PX),
        title=title,
    )


def _steps(link: TrialLink, values: Sequence[float | None]) -> Iterator[tuple[float, float | None]]:
    """Yield the second and the value of each slice, and the last value once more at the end."""
    for number, value in enumerate((*values, values[-1])):
        yield number * link.timeline.interval_s, value


def _bands(link: TrialLink, longest_s: float) -> Iterator[dict[str, object]]:
    """Yield a row for each stage."""
    for number, stage in enumerate(link.timeline.stages, 1):
        start_s, end_s = (min(s, link.timeline.length_s) for s in (stage.start_s, stage.end_s))
        is_wide = stage.end_s - stage.start_s >= _MIN_LABELLED * longest_s
        yield {
            "s": start_s,
            "end": end_s,
            "middle": (start_s + end_s) / 2,
            "opacity": 0.35 if number % 2 else 0.7,
            "number": str(number) if is_wide else "",
        }


def _cpu_chart(link: TrialLink, longest_s: float) -> Spec:
    busy = link.timeline.series(link.node.busy_percent)
    return layered(
        [{"s": s, "value": value} for s, value in _steps(link, busy)],
        mark(
            "area",
            _place(longest_s, 100, labels=True, values=[0, 100]),
            interpolate="step-after",
            color=_CPU_COLOUR,
            opacity=0.6,
        ),
        px=(_WIDTH_PX, _CPU_PX),
    )
