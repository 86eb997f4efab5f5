"""The link of the busiest node over the time of one trial, for each workload and configuration."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from harness.analysis.compare.comparison import Comparison
from harness.analysis.explain.timeline import FULL, LinkUse, TrialLink, link_uses, trial_links
from harness.analysis.network.measured import RECEIVES, SENDS
from harness.base.words import percent
from harness.model.link import throughput_text
from harness.present import quantities
from harness.present.blocks import table_of
from harness.present.report import chart
from harness.present.report.chart import Series, Spec, layered, mark, quantity
from harness.present.report.figure import Evidence, Figure, Measured, Section, grouped, picture

_MBIT = 1e6
_COLOURS = {RECEIVES: "var(--series-1)", SENDS: "var(--series-2)"}
_KEYS = {
    "received": Series(_COLOURS[RECEIVES], "square", "■"),
    "sent": Series(_COLOURS[SENDS], "square", "■"),
}
_PX = (258, 100)
LEGEND = (
    "Of each workload, the trial whose time is nearest to the median: what its busiest node received and "
    "sent, in Mbit/s over seconds, of all executions if a trial has several. The dashed line is what "
    f"the link can carry; the link is full above {percent(FULL)} of it."
)


class UsedLink(NamedTuple):
    """The use of the busiest link by a workload in a configuration; its typical trial is drawn."""

    workload: str
    configuration: str
    use: LinkUse

    @property
    def name(self) -> str:
        """Return `inner-join in 2.5g-rs: node2`."""
        return f"{self.workload} in {self.configuration}: {self.use.typical.node.host}"

    @property
    def text(self) -> str:
        """Return `a link full for 8.20 s (54 %), mostly during stage 3: reads shuffle`."""
        if self.use.full_s is None:
            return "what the links can carry is unknown"
        share = percent(self.use.full_share or 0)
        full = f"a link full for {quantities.time_text(self.use.full_s)} ({share})"
        return f"{full}, mostly during stage {self.use.stage}" if self.use.stage else full


def used_links(comparison: Comparison, measured: Measured) -> list[UsedLink]:
    """Return the links in the order of the table; there are none of controls, or without timelines."""
    controls = comparison.common_controls
    uses = {
        column.name: link_uses(trial_links(column, measured.get(column.name, ()), controls))
        for column in comparison.columns
    }
    return [
        UsedLink(row.workload, name, of_column[row.workload])
        for row in comparison.rows
        for name, of_column in uses.items()
        if row.workload in of_column
    ]


@partial(Section, 50, "links", "The busiest link over time")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if no trial has a timeline."""
    found = used_links(evidence.comparison, evidence.measured)
    if not found:
        return None
    return Figure(
        alternative="Lines over time: what the busiest node received and sent.",
        pictures=tuple(
            picture(drawn, heading=link.name)
            for of_workload in grouped(found, lambda link: link.workload).values()
            for link, drawn in _drawn(of_workload)
        ),
        numbers=table_of([_numbers(link) for link in found]),
        keys=_KEYS,
        remarks=(LEGEND, *_sources(found)),
        lines=tuple(f"{link.workload}, {link.configuration}: {link.text}" for link in found),
    )


def _sources(found: Sequence[UsedLink]) -> Iterator[str]:
    for name, of_name in grouped(found, lambda link: link.configuration).items():
        goodputs = (link.use.typical.goodput for link in of_name)
        for text in dict.fromkeys(map(str, filter(None, goodputs))):
            yield f"Links carry in {name}: {text}."


def _numbers(link: UsedLink) -> dict[str, str]:
    use, typical = link.use, link.use.typical
    rates = [rate for of_direction in _rates(typical).values() for rate in of_direction if rate]
    return {
        "workload": link.workload,
        "configuration": link.configuration,
        "trial": f"{typical.trial.phase} {typical.trial.round} of {typical.run.id}",
        "busiest node": use.busiest,
        "link full": quantities.if_known(use.full_s, quantities.time_text),
        "of the time": quantities.if_known(use.full_share, quantities.share),
        "direction": use.direction or "",
        "mostly during stage": use.stage or "",
        "highest": throughput_text(max(rates, default=0) * _MBIT),
        "link carries": quantities.if_known(
            min(_limits(typical), default=None), "{:.1f} Mbit/s".format
        ),
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


def _drawn(of_workload: Sequence[UsedLink]) -> Iterator[tuple[UsedLink, Spec]]:
    """Yield each link of one workload with its picture, all on the same scales."""
    links = [link.use.typical for link in of_workload]
    longest_s = max(link.timeline.length_s for link in links)
    rates = [rate for link in links for way in _rates(link).values() for rate in way if rate]
    limits = [limit for link in links for limit in _limits(link)]
    highest = 1.05 * max([*rates, *limits, 1.0])
    x = quantity("s", ends=(0, longest_s), axis={"grid": False, "tickCount": 5})
    y = quantity("value", ends=(0, highest), axis={"tickCount": 3, "minExtent": 28})
    for used, link in zip(of_workload, links, strict=True):
        rows = [
            {"s": number * link.timeline.interval_s, "value": value, "colour": _COLOURS[way]}
            for way, values in _rates(link).items()
            for number, value in enumerate((*values, values[-1]))
        ]
        line = mark(
            "line", {"x": x, "y": y, **chart.COLOUR}, interpolate="step-after", strokeWidth=1.5
        )
        limit_rows = [{"value": limit} for limit in _limits(link)]
        limit = mark("rule", {"y": y}, rows=limit_rows, color=chart.INK, strokeDash=chart.DASHES)
        yield used, layered(rows, line, limit, px=_PX)
