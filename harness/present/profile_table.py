"""Tables of what tasks did, by class: the task seconds of a trial before and after, and the difference."""

import math
from collections.abc import Iterator, Mapping, Sequence

from harness.analysis.explain.blocked import Bound, Gain
from harness.analysis.explain.frames import UNKNOWN
from harness.analysis.explain.profile import MIN_SHARE, ClassTime, ProfiledTime
from harness.base.words import label, percent
from harness.present import quantities
from harness.present.blocks import Block, Paragraph, Table

Sides = Sequence[ProfiledTime | None]
"""A workload before and after, or of one run."""

CAPTION = (
    "Task seconds of a trial by what tasks did, from the stacks of profile rounds; shares with their 95 % "
    "interval. Waiting is the fraction in which the thread was neither running nor ready to run. ?: no rule "
    "knows this frame. Stacks are taken where Java can stop a thread: they do not show the collection of "
    "garbage, which stops all threads, nor what native code does."
)
_HEADINGS = ("before", "share", "wait- ing", "after", "share", "wait- ing", "change")
_ALONE = ("task seconds", "share", "wait- ing")
_NAME_WIDTH = 44


def profile_tables(profiles: Mapping[str, Sides]) -> Iterator[Block]:
    """Yield a table for each workload that has a profile on a side, and the caption; nothing without any."""
    known = {workload: sides for workload, sides in profiles.items() if any(sides)}
    for workload, sides in known.items():
        yield profile_table(workload, sides)
    if known:
        yield Paragraph(CAPTION)


def profile_table(workload: str, sides: Sides) -> Table:
    """Return the table of a workload that has a profile on a side, or on both."""
    largest: dict[str, float] = {}
    for side in filter(None, sides):
        for name, time in side.by_class.items():
            largest[name] = max(largest.get(name, 0.0), time.share)
    rows: list[list[str]] = []
    small = []
    for name in sorted(largest, key=lambda name: -largest[name]):
        if largest[name] >= MIN_SHARE or not rows:
            rows.append(_row(_short(name), sides, [name]))
        else:
            small.append(name)
    if small:
        together = f"less than {percent(MIN_SHARE)} each ({len(small)})"
        rows.append(_row(together, sides, small))
    headings = [label(workload, _NAME_WIDTH)]
    headings += _HEADINGS if len(sides) > 1 else _ALONE
    return Table(headings, rows, is_dense=True, remarks=list(_remarks(sides)))


def _short(name: str) -> str:
    """Return a class, or the end of the frame that no rule knows."""
    if not name.startswith(UNKNOWN):
        return name
    end = ".".join(name.removeprefix(UNKNOWN).split(".")[-2:])
    return UNKNOWN + label(end, _NAME_WIDTH - len(UNKNOWN))


def _row(title: str, sides: Sides, names: Sequence[str]) -> list[str]:
    """Return the row of classes together: three cells of each side, and the difference of two sides."""
    cells = [title]
    seconds = []
    for side in sides:
        time = _together(side, names)
        if time:
            seconds.append(time.seconds)
            cells += [f"{time.seconds:.2f}", _share_text(time), percent(time.waiting)]
        else:
            cells += [quantities.UNKNOWN] * 3
    if len(sides) > 1:
        is_known = len(seconds) == len(sides)
        cells.append(f"{seconds[1] - seconds[0]:+.2f}" if is_known else quantities.UNKNOWN)
    return cells


def _share_text(time: ClassTime) -> str:
    """Return `35 % ±4 %`, or the share alone if it has no interval."""
    text = percent(time.share)
    if time.interval:
        text += f" ±{percent(time.interval.max_distance(time.share))}"
    return text


def _together(side: ProfiledTime | None, names: Sequence[str]) -> ClassTime | None:
    """Return the sum of classes, which has no interval if there are several; None if a side has none."""
    if side is None:
        return None
    if len(names) == 1:
        return side.by_class.get(names[0])
    times = [side.by_class[name] for name in names if name in side.by_class]
    if not times:
        return None
    seconds = math.fsum(time.seconds for time in times)
    waiting_s = math.fsum(time.seconds * time.waiting for time in times)
    share = math.fsum(time.share for time in times)
    return ClassTime(seconds, share, None, waiting_s / seconds if seconds else 0.0)


def _remarks(sides: Sides) -> Iterator[str]:
    """Yield how many samples there are, what waits cost at most, and which executors gave no stacks."""
    names = ("",) if len(sides) == 1 else ("before: ", "after: ")
    known = {name: side for name, side in zip(names, sides, strict=True) if side}
    for name, side in known.items():
        yield (
            f"{name}{side.samples:,} samples, {percent(side.unknown_share)} of them in unknown frames, of "
            f"{side.task_s:.2f} task seconds; collecting garbage took {side.garbage_s:.2f}"
        )
    for name, side in known.items():
        if side.bound:
            yield f"{name}{bound_text(side.bound)}"
    silent: dict[str, None] = {}
    for side in known.values():
        silent.update(dict.fromkeys(side.silent))
    yield from silent


def bound_text(bound: Bound) -> str:
    """Return what a workload gains at most without waits, and how well the replay fits."""
    return (
        f"without any wait for the network, it takes at most {gain_text(bound.network)} less time; without "
        f"any for a disk, at most {gain_text(bound.disk)}. Replayed with their waits, the tasks take "
        f"{percent(bound.replayed)} of the real time"
    )


def gain_text(gain: Gain) -> str:
    """Return `35 % (29 to 41 %)`."""
    return f"{percent(gain.share)} ({quantities.ends_text(gain.interval, percent)})"
