"""The options of the commands that read event logs of Spark in place of results."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import wraps
from pathlib import Path, PurePosixPath
from typing import Any

import click

from harness.analysis.observed.configuration import ConfigurationRuns, find_configuration
from harness.analysis.observed.logged_runs import LoggedSide, logged_runs
from harness.base.errors import BadInput
from harness.base.option_types import converted
from harness.base.option_values import parse_expression, parse_moment
from harness.base.redaction import without_credentials
from harness.records.log_choice import EVERYTHING, Choice, moment

_OPTIONS: dict[str, dict[str, Any]] = {
    "--event-logs": {
        "is_flag": True,
        "help": "BEFORE and AFTER are event logs that Spark wrote of your own applications: directories, "
        "single logs, archives of a History Server, or URLs: http:// of a History Server, s3://, gs://, hdfs://.",
    },
    "--app": {
        "multiple": True,
        "metavar": "PATTERN",
        "help": "With --event-logs: only applications whose name or id matches this pattern, such as "
        "'nightly-*'. Repeatable.",
    },
    "--since": {
        "callback": converted(parse_moment),
        "metavar": "TIME",
        "help": "With --event-logs: only applications that started at this time or later: 2026-11-01, or "
        "2026-11-01T10:00; in UTC, unless it ends with an offset such as +01:00.",
    },
    "--until": {
        "callback": converted(parse_moment),
        "metavar": "TIME",
        "help": "With --event-logs: only applications that started before this time.",
    },
    "--match": {
        "callback": converted(parse_expression),
        "metavar": "REGEX",
        "help": "With --event-logs: take what this regular expression finds out of all names. Names that are "
        "the same without it are one workload.",
    },
    "--before": {
        "callback": converted(parse_moment),
        "metavar": "TIME",
        "help": "Divide the event logs of one place: applications that started before this time are the "
        "baseline.",
    },
    "--after": {
        "callback": converted(parse_moment),
        "metavar": "TIME",
        "help": "Compare applications that started at this time or later with the baseline.  [default: as "
        "--before]",
    },
}


@dataclass(frozen=True)
class NamedSides:
    """What a user names, as sides of a comparison. `given` are the options on event logs, as words."""

    given: tuple[str, ...] = ()
    choice: Choice = EVERYTHING
    differing: re.Pattern[str] | None = None
    before_ms: int | None = None
    after_ms: int | None = None

    def columns(
        self, places: Sequence[str], results: Path, *, samples: bool = True
    ) -> list[ConfigurationRuns]:
        """Return the configurations of these names, with --event-logs of the logs at these places.

        Raises BadInput like `find_configuration` or `logged_runs`, and if the places cannot be divided.
        """
        if self.given:
            return logged_runs(self._logged(places))
        return [find_configuration(name, results, samples=samples) for name in places]

    def _logged(self, places: Sequence[str]) -> list[LoggedSide]:
        if self.before_ms is not None or self.after_ms is not None:
            chosen = _divided(places, self.choice, self.before_ms, self.after_ms)
        else:
            chosen = [
                (name, place, self.choice)
                for name, place in zip(_names(places), places, strict=True)
            ]
        return [LoggedSide(name, place, choice, self.differing) for name, place, choice in chosen]


def log_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options. It gets them as `sides`."""

    @wraps(function)
    def with_sides(*arguments: Any, **others: Any) -> Any:
        given = {name: others.pop(name[2:].replace("-", "_")) for name in _OPTIONS}
        return function(*arguments, sides=_sides(given), **others)

    decorated: Callable[..., Any] = with_sides
    for name, attributes in reversed(_OPTIONS.items()):
        decorated = click.option(name, **attributes)(decorated)
    return decorated


def _sides(given: Mapping[str, Any]) -> NamedSides:
    """Return what these values of the options say. Raise BadInput for any without --event-logs."""
    written = list(_words(given))
    if written and not given["--event-logs"]:
        raise BadInput(f"{written[0]} is about event logs: add --event-logs")
    choice = Choice(given["--app"], given["--since"], given["--until"])
    return NamedSides(tuple(written), choice, given["--match"], given["--before"], given["--after"])


def _words(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options that are given as words of a command."""
    for name, value in given.items():
        if value is True:
            yield name
        elif isinstance(value, tuple):
            yield from (f"{name}={each}" for each in value)
        elif isinstance(value, re.Pattern):
            yield f"{name}={value.pattern}"
        elif isinstance(value, int) and value is not False:
            yield f"{name}={datetime.fromtimestamp(value / 1e3, timezone.utc).isoformat()}"


def _divided(
    places: Sequence[str], choice: Choice, before: int | None, after: int | None
) -> list[tuple[str, str, Choice]]:
    """Return names, place and choice of two sides of one place.

    Raise BadInput for several places, or times in the wrong order.
    """
    if len(places) != 1:
        raise BadInput("--before and --after divide the event logs of one place; name one")
    until_ms = after if before is None else before
    since_ms = before if after is None else after
    if until_ms is None or since_ms is None or until_ms > since_ms:
        raise BadInput(
            "--before is later than --after: an application could be on both sides; write the earlier time "
            "as --before"
        )
    [place] = places
    return [
        (f"before {moment(until_ms)}", place, _until(choice, until_ms)),
        (f"after {moment(since_ms)}", place, _since(choice, since_ms)),
    ]


def _until(choice: Choice, at_ms: int) -> Choice:
    """Return the choice without applications that start at this moment, in milliseconds, or later."""
    if choice.until_ms is not None:
        at_ms = min(choice.until_ms, at_ms)
    return replace(choice, until_ms=at_ms)


def _since(choice: Choice, at_ms: int) -> Choice:
    """Return the choice without applications that start before this moment, in milliseconds."""
    if choice.since_ms is not None:
        at_ms = max(choice.since_ms, at_ms)
    return replace(choice, since_ms=at_ms)


def _names(places: Sequence[str]) -> list[str]:
    """Return the last part of each place, or else the whole, where these would be the same."""
    short = [_last_part(place) for place in places]
    if len(set(short)) == len(short):
        return short
    return [without_credentials(place) for place in places]


def _last_part(place: str) -> str:
    if "://" not in place:
        return PurePosixPath(place).name or place
    path = place.partition("://")[2].partition("?")[0].partition("#")[0]
    return PurePosixPath(path.partition("/")[2]).name or without_credentials(place)
