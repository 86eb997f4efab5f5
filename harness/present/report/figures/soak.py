"""The links of a soak over time: what hosts received, and when something was wrong."""

from functools import partial
from statistics import median
from typing import Any, NamedTuple

from harness.analysis.network.soak import SoakVerdict, judge_soak, received_in_transfers
from harness.model.probe import RecordedProbes
from harness.present.data_table import DataTable, Quantity
from harness.present.findings import MAX_FINDINGS, moment_text
from harness.present.probes.soak import sentences
from harness.present.report import chart
from harness.present.report.chart import BLUE, Spec, layered, mark, quantity
from harness.present.report.figure import Evidence, Figure, Section, alternative, picture

_PX = (680, 130)
MAX_BINS = 240
"""More would be finer than what a screen shows."""
_MBIT = 1e6
_LEGEND = (
    "Line and band: the median, and the lowest and highest, of what hosts received in a second of a "
    "transfer. Ticks at the bottom: faults."
)


class Bin(NamedTuple):
    """What all hosts received in the seconds around a moment, in Mbit/s."""

    minute: float
    lowest: float
    median: float
    highest: float


@partial(Section, 100, "soak", "The network under load, over time")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure of each configuration's soak; None if there is none."""
    found = {name: (bins(probed), judge_soak(probed)) for name, probed in evidence.soaks.items()}
    drawn = {name: (of_name, soaked) for name, (of_name, soaked) in found.items() if of_name}
    if not drawn:
        return None
    texts = [(name, text) for name, (_, soaked) in drawn.items() for text in sentences(soaked)]
    return Figure(
        alternative=alternative("Lines of what hosts received, by minutes.", texts),
        pictures=tuple(
            picture(_drawn(of_name, soaked), heading=f"{name}, Mbit/s by minutes")
            for name, (of_name, soaked) in drawn.items()
        ),
        numbers=DataTable(
            ("configuration", "moment", "host or pair", "fault"),
            tuple(
                (name, Quantity(moment_text(at_s), at_s), fault.subject, fault.text)
                for name, (_, soaked) in drawn.items()
                for fault in soaked.faults[:MAX_FINDINGS]
                if (at_s := fault.at_s) is not None
            ),
        ),
        remarks=(_LEGEND, *(f"{name}: {text}" for name, text in texts)),
    )


def bins(probed: RecordedProbes) -> list[Bin]:
    """Return the seconds of all hosts in which a transfer ran, in equal parts of the soak."""
    found = received_in_transfers(probed)
    if not found:
        return []
    width_s = max(1.0, (max(at_s for at_s, _ in found) + 1) / MAX_BINS)
    by_bin: dict[int, list[float]] = {}
    for at_s, rate in found:
        by_bin.setdefault(int(at_s / width_s), []).append(rate / _MBIT)
    return [
        Bin((number + 0.5) * width_s / 60, min(rates), median(rates), max(rates))
        for number, rates in sorted(by_bin.items())
    ]


def _drawn(found: list[Bin], soaked: SoakVerdict) -> Spec:
    last = max(found[-1].minute, 1 / 60)
    top = 1.05 * max(part.highest for part in found)
    ends = (0, max(top, 1e-6))
    x = {"x": quantity("minute", ends=(0, last), axis={"tickCount": 8, "grid": False})}
    y = {"y": quantity("median", ends=ends, axis={"tickCount": 4})}
    band = {**x, "y": quantity("lowest", ends=ends), "y2": {"field": "highest"}}
    moments = ((fault.at_s or 0.0) / 60 for fault in soaked.faults)
    faults = [{"minute": min(minute, last), "median": 0.0} for minute in moments]
    tick: dict[str, Any] = {"orient": "vertical", "thickness": 2, "size": 16}
    return layered(
        [part._asdict() for part in found],
        mark("area", band, color=BLUE, opacity=0.25),
        mark("line", {**x, **y}, color=BLUE, strokeWidth=1.5),
        mark("tick", {**x, **y}, rows=faults, color=chart.INK, **tick),
        px=_PX,
    )
