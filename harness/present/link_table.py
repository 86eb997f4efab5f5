"""The link of the busiest node over time, and for how long it was full, for the terminal."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from harness.analysis.explain.timeline import FULL, LinkUse, TrialLink
from harness.analysis.network.mesh import RECEIVES, SENDS
from harness.present import quantities
from harness.present.attribution_tables import narrow_table
from harness.present.text import fill
from harness.words import percent, shorten, visible

LinkUses = Mapping[str, LinkUse]
"""By workload."""

EXPLANATION = (
    f"Link full is for how long some node received or sent more than {percent(FULL)} of what its link can "
    "carry, within the time of one execution."
)
_HEADINGS = (
    *("workload", "", "busiest node", "mostly during this stage"),
    *("link full", "of the time", "direc- tion"),
)
_OVER_TIME = (
    "Over time, from left to right in the trial whose time is nearest to the median; the higher, the more "
    "the link of the busiest node carried, in the direction that carried more. █: it was full."
)
_EXECUTIONS = " x 3: the line has three executions, the time is that of one."
_LEVELS, _FULL_LEVEL, _UNKNOWN_LEVEL = " ▁▂▃▄▅▆▇", "█", "·"
_SPARKLINE_WIDTH = 56
_NAME_WIDTH, _HOST_WIDTH, _STAGE_WIDTH = 20, 14, 32


def link_section(names: Sequence[str], uses: Sequence[LinkUses]) -> str:
    """Return the table with two lines for each workload, its caption, and the rate of the links over time.

    Return nothing without a timeline. `names` are the names of the two configurations.
    """
    workloads = list(dict.fromkeys(name for of_side in uses for name in of_side))
    if not workloads:
        return ""
    lines = [line for name in workloads for line in _lines(name, uses)]
    limits = ". ".join(
        _limit(name, of_side) for name, of_side in zip(names, uses, strict=True) if of_side
    )
    table = narrow_table(_HEADINGS, lines, left_aligned=4)
    sparklines = [line for name in workloads for line in _sparklines(name, uses)]
    over_time = _OVER_TIME + _EXECUTIONS * any(" x " in line for line in sparklines)
    drawn = [fill(over_time), "\n".join(sparklines)] if sparklines else []
    return "\n\n".join([table, fill(f"{EXPLANATION} {limits}."), *drawn])


def _lines(workload: str, uses: Sequence[LinkUses]) -> Iterator[tuple[str, ...]]:
    names = (shorten(visible(workload), _NAME_WIDTH), "")
    for name, side, of_side in zip(names, ("before", "after"), uses, strict=True):
        yield name, side, *_cells(of_side.get(workload))


def _cells(use: LinkUse | None) -> tuple[str, ...]:
    if use is None:
        return (quantities.UNKNOWN,) * (len(_HEADINGS) - 2)
    return (
        shorten(visible(use.host), _HOST_WIDTH),
        shorten(visible(use.stage or quantities.UNKNOWN), _STAGE_WIDTH),
        quantities.if_known(use.full_s, quantities.time_text),
        quantities.if_known(use.full_share, quantities.share),
        use.direction or quantities.UNKNOWN,
    )


def _sparklines(workload: str, uses: Sequence[LinkUses]) -> Iterator[str]:
    """Yield a sparkline of the link before and after, on one scale of time, where the goodput is known."""
    found = {
        side: of_side[workload].typical
        for side, of_side in zip(("before", "after"), uses, strict=True)
        if workload in of_side and of_side[workload].goodput
    }
    longest_s = max((link.trial.wall_s or 0 for link in found.values()), default=0)
    name = shorten(visible(workload), _NAME_WIDTH)
    for side, link in found.items():
        wall_s = link.trial.wall_s or 0
        width = max(1, round(_SPARKLINE_WIDTH * wall_s / longest_s))
        length = quantities.time_text(wall_s)
        executions = f" x {link.trial.executions}" if link.trial.executions > 1 else ""
        yield f"{name:{_NAME_WIDTH}} {side:6} {sparkline(link, width)}| {length}{executions}"
        name = ""


def sparkline(link: TrialLink, width: int) -> str:
    """Return a character for each part of a trial's time: the highest rate of the busiest link in it."""
    count = len(link.slices)
    cells = [
        range(cell * count // width, max(cell * count // width + 1, (cell + 1) * count // width))
        for cell in range(width)
    ]
    return "".join(_level(link, cell) for cell in cells)


def _level(link: TrialLink, cell: range) -> str:
    parts = [
        rate / (FULL * link.goodput.bit_s(direction))
        for number in cell
        for direction in (RECEIVES, SENDS)
        if link.goodput and (rate := link.slices[number].bit_s(direction)) is not None
    ]
    if not parts:
        return _UNKNOWN_LEVEL
    highest = max(parts)
    return _FULL_LEVEL if highest > 1 else _LEVELS[round(highest * (len(_LEVELS) - 1))]


def _limit(configuration: str, uses: LinkUses) -> str:
    """Return what the links of a configuration can carry, and where that is known from."""
    known = [use.goodput for use in uses.values() if use.goodput]
    if not known:
        return (
            f"What links carry in {configuration} is unknown; measure it with: "
            f"clusterlift probe mesh --configuration {shlex.quote(configuration)}"
        )
    return f"Links carry in {configuration}: {', '.join(dict.fromkeys(map(str, known)))}"
