"""How many pause frames a network card counted, in the words of its driver."""

from __future__ import annotations

import re
from collections import Counter

from harness.base.checked import count

_COUNTER = re.compile(r"^ *([\w.\[\] -]{1,100}): (\d+)$", re.MULTILINE)
_FRAMES = re.compile(r"pause|(^|[^a-z]|[pl])xo(n|ff)|pfc|_ppp\d", re.IGNORECASE)
# Drivers also count for how long and how often they paused, and what else belongs to pausing.
_NO_FRAMES = re.compile(
    r"duration|transition|storm|watchdog|time|usecs?|(^|[^a-z])us([^a-z]|$)|2_?xo|entered|cycle|quanta|discard|"
    "drop|unsupported|err|stall|state",
    re.IGNORECASE,
)
_PRIORITY = re.compile(r"pri|pfc|ppp|pxo|class|(^|[^a-z])(pb|tc)[^a-z]", re.IGNORECASE)
_DIRECTIONS = {
    "received": re.compile(r"(^|[^a-z])(rx|rcvd|received)([^a-z]|$)|^rx", re.IGNORECASE),
    "sent": re.compile(r"(^|[^a-z])(tx|sent)([^a-z]|$)|^tx", re.IGNORECASE),
}
_LINK = "link"
_PRIORITIES = "priority"
_ALL = "phy"
"""mlx5 counts pause frames at the port, whatever sent them, and once more by their kind."""


def pause_frames(statistics: str) -> int | None:
    """Return how many frames that pause a link were sent and received; None if no counter tells.

    `statistics` has lines of `ethtool -S`. Frames that a driver counts twice, such as in all and for each
    priority, count once. XON and XOFF are separate frames.
    """
    counted: Counter[tuple[str, str, str]] = Counter()
    for name, digits in _COUNTER.findall(statistics):
        frames = count(digits)
        if frames is None or not _FRAMES.search(name) or _NO_FRAMES.search(name):
            continue
        family = re.sub("xo(n|ff)", "xo", re.sub(r"\d+", "#", name), flags=re.IGNORECASE)
        counted[_direction(name), _kind(name), family] += frames
    if not counted:
        return None
    # The families of a kind count the same frames.
    most: Counter[tuple[str, str]] = Counter()
    for (direction, kind, _), frames in counted.items():
        most[direction, kind] = max(frames, most[direction, kind])
    total = 0
    for direction in {direction for direction, _ in most}:
        of_kinds = most[direction, _LINK] + most[direction, _PRIORITIES]
        total += max(of_kinds, most[direction, _ALL])
    return total


def _direction(name: str) -> str:
    for direction, words in _DIRECTIONS.items():
        if words.search(name):
            return direction
    return "unknown"


def _kind(name: str) -> str:
    if name.lower().endswith(_ALL):
        return _ALL
    if _PRIORITY.search(name):
        return _PRIORITIES
    return _LINK
