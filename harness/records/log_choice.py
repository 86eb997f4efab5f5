"""Which applications are chosen among those whose event logs are at a place."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from typing import NamedTuple

from harness.base.words import count_of, join_names


class Start(NamedTuple):
    """What is known of an application since its start."""

    name: str
    id: str
    at_ms: int


@dataclass(frozen=True)
class Choice:
    """Applications by the patterns of their names or ids, and by their start, in ms since 1970.

    An application that starts at `since_ms` is chosen, one that starts at `until_ms` is not.
    """

    patterns: tuple[str, ...] = ()
    since_ms: int | None = None
    until_ms: int | None = None

    @property
    def is_everything(self) -> bool:
        """Whether it chooses every application."""
        return not self.patterns and self.since_ms is None and self.until_ms is None

    def admits(self, start: Start) -> bool:
        """Whether an application is chosen."""
        if self.since_ms is not None and start.at_ms < self.since_ms:
            return False
        if self.until_ms is not None and start.at_ms >= self.until_ms:
            return False
        if not self.patterns:
            return True
        names = (start.name, start.id)
        if not set(self.patterns).isdisjoint(names):  # as in "[prod] etl", which is no pattern
            return True
        return any(fnmatchcase(name, pattern) for pattern in self.patterns for name in names)

    def __str__(self) -> str:
        said = [f"named {' or '.join(self.patterns)}"] if self.patterns else []
        if self.since_ms is not None:
            said.append(f"started at {moment(self.since_ms)} or later")
        if self.until_ms is not None:
            said.append(f"started before {moment(self.until_ms)}")
        return " and ".join(said)


EVERYTHING = Choice()


def nothing_chosen(place: str, choice: Choice, passed_over: Sequence[Start]) -> str:
    """Return why a choice leaves nothing of these applications, one or more."""
    first = moment(min(start.at_ms for start in passed_over))
    last = moment(max(start.at_ms for start in passed_over))
    names = join_names(sorted({start.name for start in passed_over}))
    return (
        f"{place}: {count_of(len(passed_over), 'application')}, and none is {choice}; "
        f"they started from {first} to {last}, and are called {names}"
    )


def moment(at_ms: int) -> str:
    """Return a day, or a time that is not midnight, in UTC."""
    text = f"{datetime.fromtimestamp(at_ms / 1e3, timezone.utc):%Y-%m-%d %H:%M}"
    return text.removesuffix(" 00:00")
