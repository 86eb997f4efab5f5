"""Tables of what tasks did, by class: the task seconds of a trial before and after, and the difference."""

import math
from collections.abc import Iterator, Mapping, Sequence

from harness.analysis.explain.blocked import Bound, Gain
from harness.analysis.explain.profile import MIN_SHARE, UNKNOWN, ClassTime, ProfiledTime
from harness.base.words import percent, shorten, visible
from harness.present import quantities
from harness.present.attribution_tables import narrow_table
from harness.present.text import fill

Sides = Sequence[ProfiledTime | None]
"""A workload before and after, or of one run."""

CAPTION = (
    "Task seconds of a trial by what tasks did, from the stacks of profile rounds; shares with their 95 % "
    "interval. Waiting is the fraction in which the thread was neither running nor ready to run. ?: no rule "
    "knows this frame. Stacks are taken where Java can stop a thread: they do not show the collection of "
    "garbage, which stops all threads, nor what native code does."
)
_HEADINGS = ("", "before", "share", "wait- ing", "after", "share", "wait- ing", "change")
_ALONE = ("", "task seconds", *_HEADINGS[2:4])
_NAME_WIDTH = 44


def profile_section(profiles: Mapping[str, Sides]) -> str:
    """Return a table for each workload that has a profile on a side, and the caption; nothing without any."""
    tables = [
        table for workload, sides in profiles.items() if (table := profile_table(workload, sides))
    ]
    return "\n\n".join([*tables, fill(CAPTION)]) if tables else ""


def profile_table(workload: str, sides: Sides) -> str:
    """Return the table of a workload; nothing if no side has a profile."""
    if not any(sides):
        return ""
    largest: dict[str, float] = {}
    for side in sides:
        for name, time in (side.by_class if side else {}).items():
            largest[name] = max(largest.get(name, 0.0), time.share)
    ordered = sorted(largest, key=lambda name: -largest[name])
    kept = [name for name in ordered if largest[name] >= MIN_SHARE] or ordered[:1]
    small = ordered[len(kept) :]
    lines = [
        [_short(name), *_cells([side.by_class.get(name) if side else None for side in sides])]
        for name in kept
    ]
    if small:
        together = [_together(side, small) if side else None for side in sides]
        lines.append([f"less than {percent(MIN_SHARE)} each ({len(small)})", *_cells(together)])
    headings = _ALONE if len(sides) == 1 else _HEADINGS
    title = shorten(visible(workload), _NAME_WIDTH)
    table = narrow_table([title, *headings[1:]], lines)
    return "\n".join([table, *(fill(remark, "  ") for remark in _remarks(sides))])


def _short(name: str) -> str:
    """Return a class, or the end of the frame that no rule knows."""
    if not name.startswith(UNKNOWN):
        return name
    end = ".".join(name.removeprefix(UNKNOWN).split(".")[-2:])
    return UNKNOWN + shorten(visible(end), _NAME_WIDTH - len(UNKNOWN))


def _cells(times: Sequence[ClassTime | None]) -> Iterator[str]:
    for time in times:
        if time is None:
            yield from (quantities.UNKNOWN,) * 3
        else:
            yield f"{time.seconds:.2f}"
            yield _share(time)
            yield percent(time.waiting)
    if len(times) > 1:
        before, after = (time.seconds if time else None for time in times)
        yield quantities.UNKNOWN if before is None or after is None else f"{after - before:+.2f}"


def _share(time: ClassTime) -> str:
    if time.interval is None:
        return percent(time.share)
    return f"{percent(time.share)} ±{percent(time.interval.max_distance(time.share))}"


def _together(side: ProfiledTime, names: Sequence[str]) -> ClassTime | None:
    times = [side.by_class[name] for name in names if name in side.by_class]
    if not times:
        return None
    seconds = math.fsum(time.seconds for time in times)
    waiting = math.fsum(time.seconds * time.waiting for time in times) / seconds if seconds else 0.0
    return ClassTime(seconds, math.fsum(time.share for time in times), None, waiting)


def _remarks(sides: Sides) -> Iterator[str]:
    """Yield how many samples there are, what waits cost at most, and which executors gave no stacks."""
    names = ("",) if len(sides) == 1 else ("before: ", "after: ")
    known = [(name, side) for name, side in zip(names, sides, strict=True) if side]
    for name, side in known:
        yield (
            f"{name}{side.samples:,} samples, {percent(side.unknown_share)} of them in unknown frames, of "
            f"{side.task_s:.2f} task seconds; collecting garbage took {side.garbage_s:.2f}"
        )
    for name, side in known:
        if side.bound:
            yield f"{name}{bound_text(side.bound)}"
    yield from dict.fromkeys(line for _, side in known for line in side.silent)


def bound_text(bound: Bound) -> str:
    """Return what a workload gains at most without waits, and how well the replay fits."""
    return (
        f"without any wait for the network, it takes at most {gain_text(bound.network)} less time; without "
        f"any for a disk, at most {gain_text(bound.disk)}. Replayed with their waits, the tasks take "
        f"{percent(bound.replayed)} of the real time"
    )


def gain_text(gain: Gain) -> str:
    """Return `35 % (29 to 41 %)`."""
    low, high = gain.interval
    return f"{percent(gain.share)} ({percent(low)} to {percent(high)})"
