"""The link of the busiest node over the time of one trial, for each workload and configuration."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from harness.analysis.compare.comparison import Comparison
from harness.analysis.explain.timeline import FULL, LinkUse, TrialLink, link_uses, trial_links
from harness.analysis.network.measured import RECEIVES, SENDS
from harness.base.items import grouped
from harness.base.words import percent
from harness.model.link import throughput_text
from harness.present import quantities
from harness.present.blocks import table_of
from harness.present.report import chart
from harness.present.report.chart import Style, layered, mark, quantity, scale
from harness.present.report.figure import Evidence, Figure, Measured, Picture, Section, picture
from harness.present.use_table import use_cells

_MBIT = 1e6
_COLOURS = {RECEIVES: "var(--series-1)", SENDS: "var(--series-2)"}
_KEYS = {
    "received": Style(_COLOURS[RECEIVES], "square", "■"),
    "sent": Style(_COLOURS[SENDS], "square", "■"),
}
_PX = (258, 100)
LEGEND = (
    "What the busiest node received and sent, in Mbit/s over seconds, in the trial whose time is nearest to "
    "the workload's median. If a trial has several executions, all of them are shown. The dashed line is "
    f"what the link can carry; the link is full above {percent(FULL)} of it."
)


class UsedLink(NamedTuple):
    """The use of the busiest link by a workload in a configuration. Its typical trial is drawn."""

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
        text = f"a link full for {quantities.time_text(self.use.full_s)} ({share})"
        if self.use.stage:
            text += f", mostly during stage {self.use.stage}"
        return text


def used_links(comparison: Comparison, measured: Measured) -> list[UsedLink]:
    """Return the links in the order of the table, without controls. Trials need a timeline."""
    controls = comparison.controls
    uses = {}
    for column in comparison.columns:
        links = trial_links(column, measured.get(column.name, ()), controls)
        uses[column.name] = link_uses(links)
    found = []
    for row in comparison.rows:
        for name, of_column in uses.items():
            if row.workload in of_column:
                found.append(UsedLink(row.workload, name, of_column[row.workload]))
    return found


@partial(Section, 50, "links", "The busiest link over time")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if no trial has a timeline."""
    found = used_links(evidence.comparison, evidence.measured)
    if not found:
        return None
    pictures = []
    for of_workload in grouped(found, lambda link: link.workload).values():
        pictures += _pictures(of_workload)
    return Figure(
        alternative="Lines over time: what the busiest node received and sent.",
        pictures=tuple(pictures),
        numbers=table_of([_numbers(link) for link in found]),
        keys=_KEYS,
        remarks=(LEGEND, *_sources(found)),
        lines=tuple(f"{link.workload}, {link.configuration}: {link.text}" for link in found),
    )


def _sources(found: Sequence[UsedLink]) -> list[str]:
    sentences = []
    for name, of_name in grouped(found, lambda link: link.configuration).items():
        for link in of_name:
            goodput = link.use.typical.goodput
            if goodput:
                sentences.append(f"Links carry in {name}: {goodput}.")
    return list(dict.fromkeys(sentences))


def _numbers(link: UsedLink) -> dict[str, str]:
    use = link.use
    busiest, _, full, share = use_cells(use)
    typical = use.typical
    limits = _limits(typical)
    return {
        "workload": link.workload,
        "configuration": link.configuration,
        "trial": f"{typical.trial.phase} {typical.trial.round} of {typical.run.id}",
        "busiest node": busiest,
        "link full": full,
        "of the time": share,
        "direction": use.direction or "",
        "mostly during stage": use.stage or "",
        "highest": throughput_text(_highest(typical) * _MBIT),
        "link carries": f"{min(limits):.1f} Mbit/s" if limits else quantities.UNKNOWN,
    }


def _rates(link: TrialLink, way: str) -> list[float | None]:
    """Return the Mbit/s of each slice in a direction; None is unknown."""
    rates = []
    for part in link.slices:
        bit_s = part.bit_s(way)
        rates.append(None if bit_s is None else bit_s / _MBIT)
    return rates


def _highest(link: TrialLink) -> float:
    """Return the highest known rate in Mbit/s, 0 if there is none."""
    rates = _rates(link, RECEIVES) + _rates(link, SENDS)
    return max(filter(None, rates), default=0)


def _limits(link: TrialLink) -> list[float]:
    """Return the Mbit/s that the link can carry: one number, or one each way; none if unknown."""
    if link.goodput is None:
        return []
    both = dict.fromkeys([link.goodput.received_bit_s, link.goodput.sent_bit_s])
    return [round(bit_s / _MBIT, 1) for bit_s in both]


def _pictures(of_workload: Sequence[UsedLink]) -> list[Picture]:
    """Return a picture for each link of one workload, all on the same scales."""
    links = [used.use.typical for used in of_workload]
    longest_s = max(link.timeline.length_s for link in links)
    highest = 1.0
    for link in links:
        highest = max([highest, _highest(link), *_limits(link)])
    x = quantity("s", scale=scale(0, longest_s), axis={"grid": False, "tickCount": 5})
    y = quantity("value", scale=scale(0, 1.05 * highest), axis={"tickCount": 3, "minExtent": 28})
    place = {"x": x, "y": y, **chart.COLOUR}
    pictures = []
    for used, link in zip(of_workload, links, strict=True):
        rows = _points(link, RECEIVES) + _points(link, SENDS)
        limits = [{"value": limit} for limit in _limits(link)]
        spec = layered(
            rows,
            mark("line", place, interpolate="step-after", strokeWidth=1.5),
            mark("rule", {"y": y}, rows=limits, color=chart.INK, strokeDash=chart.DASHES),
            px=_PX,
        )
        pictures.append(picture(spec, heading=used.name))
    return pictures


def _points(link: TrialLink, way: str) -> list[dict[str, Any]]:
    """Return the beginning of each slice, and the end of the last one."""
    rates = _rates(link, way)
    interval_s = link.timeline.interval_s
    return [
        {"s": number * interval_s, "value": value, "colour": _COLOURS[way]}
        for number, value in enumerate([*rates, rates[-1]])
    ]
