"""For how long links and disks were full in each workload, and the same over time, for the terminal."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from harness.analysis.explain.timeline import DISK_FULL, FULL, DiskUse, LinkUse
from harness.present import quantities
from harness.present.attribution_tables import narrow_table
from harness.present.text import fill
from harness.words import percent, shorten, visible

UseT = TypeVar("UseT", bound=LinkUse | DiskUse)
LinkUses = Mapping[str, LinkUse]
DiskUses = Mapping[str, DiskUse]
"""By workload."""
SIDES = ("before", "after")
LINK_FULL = (
    f"Link full is for how long some node received or sent more than {percent(FULL)} of what its link can "
    "carry, within the time of one execution."
)
DISK_IS_FULL = (
    f"Disk full is for how long some disk of a node had requests for more than {percent(DISK_FULL)} of the "
    "time, within the time of one execution. A disk that serves several requests at once, as flash does, may "
    "be able to do more."
)
_STAGE = "mostly during this stage"
_LINK_HEADINGS = ("busiest node", _STAGE, "link full", "of the time", "direc- tion")
_DISK_HEADINGS = ("busiest disk", _STAGE, "disk full", "of the time")
_OVER_TIME = (
    "Over time, from left to right in the trial whose time is nearest to the median; the higher, the "
    "more "
)
_OF_LINKS = (
    f"{_OVER_TIME}the link of the busiest node carried, in the direction that carried more. "
    "█: it was full."
)
_OF_DISKS = f"{_OVER_TIME}of the time the busiest disk of any node was busy. █: it was full."
_EXECUTIONS = " x 3: the line has three executions, the time is that of one."
_LEVELS, _FULL_LEVEL, _UNKNOWN_LEVEL = " ▁▂▃▄▅▆▇", "█", "·"
_SPARKLINE_WIDTH = 56
_NAME_WIDTH, _HOST_WIDTH, _DISK_WIDTH, _STAGE_WIDTH = 20, 14, 22, 32


def link_section(names: Sequence[str], uses: Sequence[LinkUses]) -> str:
    """Return the table with two lines for each workload, its caption, and the rate of the links over time.

    Return nothing without a timeline. `names` are the names of the two configurations.
    """
    if not any(uses):
        return ""
    limits = ". ".join(
        _limit(name, of_side) for name, of_side in zip(names, uses, strict=True) if of_side
    )
    table = _table(_LINK_HEADINGS, uses)
    return "\n\n".join([table, fill(f"{LINK_FULL} {limits}."), *_drawn(_OF_LINKS, uses)])


def disk_section(uses: Sequence[DiskUses]) -> str:
    """Return the same of disks, and of workloads that filled one before or after.

    Return a sentence if none did, and nothing if nothing is known of any disk.
    """
    filling = {name for of_side in uses for name, use in of_side.items() if use.full_share}
    if not filling:
        return fill(f"No disk was full. {DISK_IS_FULL}") if any(uses) else ""
    shown = [{name: side[name] for name in side if name in filling} for side in uses]
    table = _table(_DISK_HEADINGS, shown)
    return "\n\n".join([table, fill(DISK_IS_FULL), *_drawn(_OF_DISKS, shown)])


def _table(headings: Sequence[str], uses: Sequence[Mapping[str, UseT]]) -> str:
    unknown = [quantities.UNKNOWN] * len(headings)
    lines = [
        [name, side, *(_cells(use) if use else unknown)]
        for workload in _workloads(uses)
        for name, side, use in _sides(workload, uses)
    ]
    return narrow_table(["workload", "", *headings], lines, left_aligned=4)


def _cells(use: LinkUse | DiskUse) -> list[str]:
    return [
        shorten(visible(use.busiest), _DISK_WIDTH if isinstance(use, DiskUse) else _HOST_WIDTH),
        shorten(visible(use.stage or quantities.UNKNOWN), _STAGE_WIDTH),
        quantities.if_known(use.full_s, quantities.time_text),
        quantities.if_known(use.full_share, quantities.share),
        *([use.direction or quantities.UNKNOWN] if isinstance(use, LinkUse) else []),
    ]


def _workloads(uses: Sequence[Mapping[str, UseT]]) -> list[str]:
    return list(dict.fromkeys(name for of_side in uses for name in of_side))


def _sides(
    workload: str, uses: Sequence[Mapping[str, UseT]]
) -> Iterator[tuple[str, str, UseT | None]]:
    """Yield the name of the workload, in the first line alone, the side, and the use."""
    names = (shorten(visible(workload), _NAME_WIDTH), "")
    for name, side, of_side in zip(names, SIDES, uses, strict=True):
        yield name, side, of_side.get(workload)


def _drawn(introduction: str, uses: Sequence[Mapping[str, UseT]]) -> list[str]:
    """Return the introduction and a sparkline for each side of each workload; nothing if none is known."""
    lines = [line for workload in _workloads(uses) for line in _sparklines(workload, uses)]
    text = introduction + _EXECUTIONS * any(" x " in line for line in lines)
    return [fill(text), "\n".join(lines)] if lines else []


def _sparklines(workload: str, uses: Sequence[Mapping[str, UseT]]) -> Iterator[str]:
    """Yield a sparkline before and after, on one scale of time, where anything is known."""
    found = {
        side: use.typical
        for _, side, use in _sides(workload, uses)
        if use and any(level is not None for level in use.typical.levels)
    }
    longest_s = max((typical.trial.wall_s or 0 for typical in found.values()), default=0)
    name = shorten(visible(workload), _NAME_WIDTH)
    for side, typical in found.items():
        wall_s = typical.trial.wall_s or 0
        drawn = sparkline(typical.levels, max(1, round(_SPARKLINE_WIDTH * wall_s / longest_s)))
        length = quantities.time_text(wall_s)
        executions = f" x {typical.trial.executions}" if typical.trial.executions > 1 else ""
        yield f"{name:{_NAME_WIDTH}} {side:6} {drawn}| {length}{executions}"
        name = ""


def sparkline(levels: Sequence[float | None], width: int) -> str:
    """Return a character for each part of the time: the highest level in it, where above 1 is full."""
    count = len(levels)
    parts = (
        levels[cell * count // width : max(cell * count // width + 1, (cell + 1) * count // width)]
        for cell in range(width)
    )
    return "".join(map(_character, parts))


def _character(levels: Sequence[float | None]) -> str:
    known = [level for level in levels if level is not None]
    if not known:
        return _UNKNOWN_LEVEL
    highest = max(known)
    return _FULL_LEVEL if highest > 1 else _LEVELS[round(highest * (len(_LEVELS) - 1))]


def _limit(configuration: str, uses: LinkUses) -> str:
    known = [use.goodput for use in uses.values() if use.goodput]
    if not known:
        return (
            f"What links carry in {configuration} is unknown; measure it with: "
            f"clusterlift probe mesh --configuration {shlex.quote(configuration)}"
        )
    return f"Links carry in {configuration}: {', '.join(dict.fromkeys(map(str, known)))}"
