"""The link and the processors of the busiest node over the time of one trial, for each configuration."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.analysis.compare.comparison import Comparison
from harness.analysis.explain.timeline import (
    FULL,
    LinkUse,
    TrialLink,
    link_uses,
    trial_links,
)
from harness.analysis.network.mesh import RECEIVES, SENDS
from harness.model.link import throughput_text
from harness.present import quantities
from harness.present.data_table import DataTable, Quantity
from harness.present.link_table import share_text
from harness.present.report import chart
from harness.present.report.chart import Series, Spec, layered, mark, quantity
from harness.present.report.figure import Figure, Measured, Section, grouped, picture
from harness.terminal import percent, shorten, visible

_MBIT = 1e6
_COLOURS = {RECEIVES: "var(--series-1)", SENDS: "var(--series-2)"}
_CPU_COLOUR = "var(--series-7)"
_KEYS = {
    "received": Series(_COLOURS[RECEIVES], "square", "■"),
    "sent": Series(_COLOURS[SENDS], "square", "■"),
    "busy processors of the node": Series(_CPU_COLOUR, "square", "■"),
}
_NAME_WIDTH = 20
_MIN_LABELLED = 0.05
"""The number of a stage that takes less of the width would not fit into its band."""
LEGEND = (
    "Of each workload, the trial whose time is nearest to the median: what its busiest node received and "
    "sent, in Mbit/s over seconds, and how busy its processors were, in percent. The dashed line is what "
    f"the link can carry; the link is full above {percent(FULL)} of it. Bands are Spark's stages, numbered "
    "in the order of their start."
)


@dataclass(frozen=True)
class Course:
    """The use of the busiest link by a workload in a configuration; its typical trial is drawn."""

    workload: str
    configuration: str
    use: LinkUse

    @property
    def link(self) -> TrialLink:
        """The trial that is drawn."""
        return self.use.typical

    @property
    def text(self) -> str:
        """Return `link of n2 full for 8.20 s (54 %), mostly during stage 3: reads shuffle`."""
        if self.use.full_s is None:
            return f"what the link of {self.use.host} can carry is unknown"
        share = percent(self.use.full_share or 0)
        full = f"link of {self.use.host} full for {quantities.time_text(self.use.full_s)} ({share})"
        return f"{full}, mostly during stage {self.use.stage}" if self.use.stage else full


def courses(comparison: Comparison, measured: Measured) -> tuple[Course, ...]:
    """Return the courses in the order of the table; there are none of controls, or without timelines."""
    uses = {
        column.name: link_uses(trial_links(column, measured.get(column.name, ())))
        for column in comparison.columns
    }
    return tuple(
        Course(row.workload, name, of_column[row.workload])
        for row in comparison.rows
        if row.workload not in comparison.common_controls
        for name, of_column in uses.items()
        if row.workload in of_column
    )


def figure(comparison: Comparison, measured: Measured) -> Figure | None:
    """Return the figure; None if no trial has a timeline."""
    found = courses(comparison, measured)
    if not found:
        return None
    return Figure(
        alternative="Lines over time: what the busiest node received and sent. "
        + "; ".join(
            f"{course.workload} in {course.configuration}: {course.text}" for course in found
        ),
        pictures=tuple(
            picture(_drawn(of_workload, _WIDE), _drawn(of_workload, _NARROW), heading=name)
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
    for name in dict.fromkeys(course.configuration for course in found):
        goodputs = [course.link.goodput for course in found if course.configuration == name]
        for goodput in dict.fromkeys(filter(None, goodputs)):
            rate = throughput_text(min(goodput.received_bit_s, goodput.sent_bit_s))
            yield f"Links carry in {name}: {rate} ({goodput.source})."


def _numbers(course: Course) -> dict[str, str | Quantity]:
    link, use = course.link, course.use
    rates = [rate for _, _, rate in _rates(link) if rate is not None]
    limit = min(_limits_mbit_s(link), default=None)
    busy = [value for value in link.timeline.series(link.node.busy_percent) if value is not None]
    return {
        "workload": course.workload,
        "configuration": course.configuration,
        "trial": f"{link.trial.phase} {link.trial.round} of {link.run.id}",
        "busiest node": use.host,
        "link full": Quantity.of(use.full_s, quantities.time_text),
        "of the time": Quantity.of(use.full_share, share_text),
        "direction": use.direction or "",
        "mostly during stage": use.stage or "",
        "highest": Quantity.of(max(rates, default=0), throughput_text),
        "link carries": Quantity.of(limit, "{:.1f} Mbit/s".format),
        "processors busy": Quantity.of(fmean(busy) if busy else None, "{:.0f}%".format),
    }


def _rates(link: TrialLink) -> Iterator[tuple[str, float, float | None]]:
    """Yield direction, start in seconds and bit/s of each slice."""
    for direction in (RECEIVES, SENDS):
        yield from ((direction, part.start_s, part.bit_s(direction)) for part in link.slices)


@dataclass(frozen=True)
class _Size:
    """Widths and heights; beside the link's chart there is that of the processors, or below it."""

    link_px: tuple[int, int]
    cpu_px: tuple[int, int]
    cpu_is_beside: bool


_WIDE = _Size(link_px=(420, 110), cpu_px=(200, 110), cpu_is_beside=True)
_NARROW = _Size(link_px=(220, 90), cpu_px=(220, 40), cpu_is_beside=False)


def _drawn(of_workload: Sequence[Course], size: _Size) -> Spec:
    """Return the picture: the configurations of one workload above each other, on the same scales."""
    longest_s = max(course.link.timeline.length_s for course in of_workload)
    highest_mbit_s = 1.05 * max(
        *(rate / _MBIT for course in of_workload for _, _, rate in _rates(course.link) if rate),
        *(limit for course in of_workload for limit in _limits_mbit_s(course.link)),
        1.0,
        1.0,
    )
    charts = []
    for course in of_workload:
        names = (course.configuration, course.link.node.host)
        title = ": ".join(shorten(visible(name), _NAME_WIDTH) for name in names)
        link = _link_chart(course.link, longest_s, highest_mbit_s, size.link_px, title)
        cpu = _cpu_chart(course.link, longest_s, size.cpu_px)
        join = "hconcat" if size.cpu_is_beside else "vconcat"
        charts.append({join: [link, cpu], "spacing": 12})
    return {"vconcat": charts, "spacing": 14}


def _limits_mbit_s(link: TrialLink) -> list[float]:
    if link.goodput is None:
        return []
    both = (link.goodput.received_bit_s, link.goodput.sent_bit_s)
    return [round(bit_s / _MBIT, 1) for bit_s in dict.fromkeys(both)]


def _place(longest_s: float, field: str, highest: float) -> Spec:
    """Return the encoding of the seconds of a trial, and of a field whose values are up to `highest`."""
    return {
        "x": quantity(
            "s",
            ends=(0, longest_s),
            axis={"grid": False, "tickCount": 5, "labelFlush": False},
        ),
        "y": quantity(
            field,
            ends=(0, highest),
            axis={"tickCount": 3, "minExtent": 28},
        ),
    }


def _link_chart(
    link: TrialLink, longest_s: float, highest: float, px: tuple[int, int], title: str
) -> Spec:
    place = _place(longest_s, "mbit_s", highest)
    end_s = link.timeline.length_s
    band = {
        "x": place["x"],
        "x2": {"field": "end"},
        "opacity": chart.as_is("opacity"),
    }
    number = {"x": quantity("middle"), "y": {"value": 1}, "text": {"field": "number"}}
    lines = []
    for direction, colour in _COLOURS.items():
        rows = [
            {"s": start_s, "mbit_s": None if rate is None else rate / _MBIT}
            for way, start_s, rate in _rates(link)
            if way == direction
        ]
        rows.append({**rows[-1], "s": end_s})
        lines.append(
            mark("line", place, rows=rows, interpolate="step-after", color=colour, strokeWidth=1.5)
        )
    limits = [{"mbit_s": limit} for limit in _limits_mbit_s(link)]
    return layered(
        _bands(link, longest_s),
        mark("rect", band, fill=chart.FAINT),
        mark("text", number, baseline="top", color=chart.SOFT),
        *lines,
        mark("rule", {"y": place["y"]}, rows=limits, color=chart.INK, strokeDash=chart.DASHES),
        px=px,
        title=title,
    )


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


def _cpu_chart(link: TrialLink, longest_s: float, px: tuple[int, int]) -> Spec:
    busy = link.timeline.series(link.node.busy_percent)
    rows = [
        {"s": number * link.timeline.interval_s, "percent": value}
        for number, value in enumerate((*busy, busy[-1]))
    ]
    place = _place(longest_s, "percent", 100)
    return layered(
        rows,
        mark("area", place, interpolate="step-after", color=_CPU_COLOUR, opacity=0.6),
        px=px,
    )


SECTION = Section(
    50,
    "links",
    "The busiest link over time",
    lambda evidence: figure(evidence.comparison, evidence.measured),
)
