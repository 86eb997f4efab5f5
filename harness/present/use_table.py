"""For how long links and disks were full in each workload, for the terminal."""

import shlex
from collections.abc import Mapping, Sequence

from harness.analysis.explain.timeline import DISK_FULL, FULL, FullTime, LinkUse
from harness.base.words import percent, shorten, visible
from harness.present import quantities
from harness.present.attribution_tables import narrow_table
from harness.present.text import fill

LinkUses = Mapping[str, LinkUse]
FullTimes = Mapping[str, FullTime]
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
_NAME_WIDTH, _HOST_WIDTH, _DISK_WIDTH, _STAGE_WIDTH = 20, 14, 22, 32


def link_section(names: Sequence[str], uses: Sequence[LinkUses]) -> str:
    """Return the table with two lines for each workload, and its caption; nothing without a timeline.

    `names` are the names of the two configurations.
    """
    if not any(uses):
        return ""
    limits = ". ".join(
        _limit(name, of_side) for name, of_side in zip(names, uses, strict=True) if of_side
    )
    return f"{_table(_LINK_HEADINGS, uses)}\n\n{fill(f'{LINK_FULL} {limits}.')}"


def disk_section(uses: Sequence[FullTimes]) -> str:
    """Return the same of disks, and of workloads that filled one before or after.

    Return a sentence if none did, and nothing if nothing is known of any disk.
    """
    filling = {name for of_side in uses for name, use in of_side.items() if use.full_share}
    if not filling:
        return fill(f"No disk was full. {DISK_IS_FULL}") if any(uses) else ""
    shown = [{name: side[name] for name in side if name in filling} for side in uses]
    return f"{_table(_DISK_HEADINGS, shown)}\n\n{fill(DISK_IS_FULL)}"


def _table(headings: Sequence[str], uses: Sequence[FullTimes]) -> str:
    unknown = [quantities.UNKNOWN] * len(headings)
    lines = [
        [name, side, *(_cells(use) if (use := of_side.get(workload)) else unknown)]
        for workload in dict.fromkeys(name for of_side in uses for name in of_side)
        for name, side, of_side in zip(
            (shorten(visible(workload), _NAME_WIDTH), ""), SIDES, uses, strict=True
        )
    ]
    return narrow_table(["workload", "", *headings], lines, left_aligned=4)


def _cells(use: FullTime) -> list[str]:
    is_link = isinstance(use, LinkUse)
    return [
        shorten(visible(use.busiest), _HOST_WIDTH if is_link else _DISK_WIDTH),
        shorten(visible(use.stage or quantities.UNKNOWN), _STAGE_WIDTH),
        quantities.if_known(use.full_s, quantities.time_text),
        quantities.if_known(use.full_share, quantities.share),
        *([use.direction or quantities.UNKNOWN] if isinstance(use, LinkUse) else []),
    ]


def _limit(configuration: str, uses: LinkUses) -> str:
    known = [use.goodput for use in uses.values() if use.goodput]
    if not known:
        return (
            f"What links carry in {configuration} is unknown; measure it with: "
            f"clusterlift probe mesh --configuration {shlex.quote(configuration)}"
        )
    return f"Links carry in {configuration}: {', '.join(dict.fromkeys(map(str, known)))}"
