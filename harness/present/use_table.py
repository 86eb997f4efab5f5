"""For how long links and disks were full in each workload, for the terminal."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.analysis.explain.timeline import DISK_FULL, FULL, DiskUse, FullTime, LinkUse
from harness.analysis.observed.executors import executors_in_pods
from harness.base.items import unique
from harness.base.words import join_names, label, percent
from harness.present import quantities
from harness.present.blocks import Block, Paragraph, Table

LinkUses = Mapping[str, LinkUse]
DiskUses = Mapping[str, DiskUse]
FullTimes = Mapping[str, FullTime]
"""By workload."""
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
_NAME_WIDTH = 20
_HOST_WIDTH = 14
_DISK_WIDTH = 22
_STAGE_WIDTH = 32


def use_cells(use: FullTime | None) -> list[str]:
    """Return the busiest link or disk, its stage, and for how long and for which share it was full."""
    if use is None:
        return [quantities.UNKNOWN] * 4
    return [
        use.busiest,
        use.stage or quantities.UNKNOWN,
        quantities.if_known(use.full_s, quantities.time_text),
        quantities.if_known(use.full_share, quantities.share),
    ]


def link_table(names: Sequence[str], uses: Sequence[LinkUses]) -> Iterator[Block]:
    """Yield the table with two lines for each workload, and its caption; nothing without a timeline.

    `names` are the names of the two configurations.
    """
    caption = [LINK_FULL]
    for name, of_side in zip(names, uses, strict=True):
        if of_side:
            caption.append(_limit(name, of_side))
    if any(uses):
        yield _table(_LINK_HEADINGS, uses)
        yield Paragraph(" ".join(caption))


def disk_table(uses: Sequence[DiskUses]) -> Iterator[Block]:
    """Yield the same table of disks, with the workloads that filled a disk before or after.

    If no workload did, yield a sentence; if nothing is known of any disk, yield nothing.
    """
    filling: set[str] = set()
    for of_side in uses:
        filling.update(name for name, use in of_side.items() if use.full_share)
    unseen = _unseen_disks(uses)
    if filling:
        yield _table(_DISK_HEADINGS, uses, filling)
        yield Paragraph(DISK_IS_FULL + unseen)
    elif any(uses):
        yield Paragraph(f"{_no_disk_was_full(uses)} {DISK_IS_FULL}{unseen}")


def _unseen_disks(uses: Sequence[DiskUses]) -> str:
    """Name the nodes whose disks are unknown, though their executors may have used some."""
    hosts: list[str] = []
    for of_side in uses:
        for use in of_side.values():
            hosts += use.unseen
    if not hosts:
        return ""
    return f" Nothing is known of the disks of {join_names(sorted(unique(hosts)))}."


def _no_disk_was_full(uses: Sequence[FullTimes]) -> str:
    """Say that no workload filled a disk, and for which workloads a side is unknown."""
    before, after = uses
    unknown = []
    only_after = sorted(after.keys() - before.keys())
    if only_after:
        unknown.append(f"{join_names(only_after)} before")
    only_before = sorted(before.keys() - after.keys())
    if only_before:
        unknown.append(f"{join_names(only_before)} after")
    if not unknown:
        return "No disk was full."
    return f"No disk was full; nothing is known of {', and of '.join(unknown)}."


def _table(headings: Sequence[str], uses: Sequence[FullTimes], only: Collection[str] = ()) -> Table:
    """Return two lines for each workload; with `only`, for these alone."""
    before, after = uses
    rows = []
    for workload in {**before, **after}:
        if not only or workload in only:
            name = label(workload, _NAME_WIDTH)
            rows.append([name, "before", *_cells(before.get(workload), headings)])
            rows.append(["", "after", *_cells(after.get(workload), headings)])
    return Table(["workload", "", *headings], rows, align="<<<<>", is_dense=True)


def _cells(use: FullTime | None, headings: Sequence[str]) -> list[str]:
    if use is None:
        return [quantities.UNKNOWN] * len(headings)
    busiest, stage, full, share = use_cells(use)
    stage = label(stage, _STAGE_WIDTH)
    if isinstance(use, LinkUse):
        direction = use.direction or quantities.UNKNOWN
        return [label(busiest, _HOST_WIDTH), stage, full, share, direction]
    return [label(busiest, _DISK_WIDTH), stage, full, share]


def _limit(configuration: str, uses: LinkUses) -> str:
    """Return what links carry, or how to find out."""
    known = [str(use.goodput) for use in uses.values() if use.goodput]
    if known:
        carry = f"Links carry in {configuration}: {', '.join(dict.fromkeys(known))}."
        if any(use.full_share is None for use in uses.values()):
            carry += f" How much some node's link carries is unknown; {_measure(configuration)}"
        return carry
    if any(executors_in_pods(use.typical.run.environment) for use in uses.values()):
        return (
            f"It is unknown whether links were full in {configuration}: executors are in pods with a network "
            "of their own, whose interfaces also carry what stays on the node."
        )
    return f"It is unknown how much links carry in {configuration}; {_measure(configuration)}"


def _measure(configuration: str) -> str:
    return f"measure it with: clusterlift probe mesh --configuration {shlex.quote(configuration)}."
