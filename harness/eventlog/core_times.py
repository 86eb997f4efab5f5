"""How many cores an application's executors had at each time: they register late, and come and go."""

from __future__ import annotations  # for Python 3.8

from bisect import bisect_right


class CoreTimes:
    """The cores of all executors together, from each change to the next. Times are in milliseconds."""

    def __init__(self) -> None:
        self._changed_ms: list[int] = []
        self._cores: list[int] = []

    def changed(self, at_ms: int, cores: int) -> None:
        """Add how many cores there are from a time on."""
        if self._changed_ms:
            at_ms = max(at_ms, self._changed_ms[-1])  # clocks may step back
        self._changed_ms.append(at_ms)
        self._cores.append(cores)

    def mean(self, start_ms: int, end_ms: int) -> float | None:
        """Return the mean of the cores over the part of this time that had any; None if none had.

        The time is a millisecond or longer.
        """
        end_ms = max(end_ms, start_ms + 1)
        core_ms = 0
        ms = 0
        number = max(0, bisect_right(self._changed_ms, start_ms) - 1)
        while number < len(self._cores) and self._changed_ms[number] < end_ms:
            until_ms = end_ms
            if number + 1 < len(self._cores):
                until_ms = min(end_ms, self._changed_ms[number + 1])
            lasted_ms = until_ms - max(start_ms, self._changed_ms[number])
            if self._cores[number]:
                core_ms += self._cores[number] * lasted_ms
                ms += lasted_ms
            number += 1
        return core_ms / ms if ms else None
