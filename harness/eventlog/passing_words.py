"""Words in names that differ each time that an application runs: dates, times, ids, batches, locations.

Each kind has forms of its own. A short number alone has none: `q1` and `q2` are different queries.
"""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_START = r"(?<![0-9A-Za-z])"
_END = r"(?![0-9A-Za-z])"
_YEAR = r"(?:19|20)\d\d"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12]\d|3[01])"
_NAMED_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?[ _-])?"
_HOUR = r"(?:[01]\d|2[0-3])"
_SIXTY = r"[0-5]\d"
_SECONDS = rf"(?:{_SIXTY}(?:[.,]?\d{{1,9}})?)"
_ZONE = r"(?:Z|[ ]?(?:UTC|GMT)|[ ]?[+-]\d\d:?\d\d|[ ]?[AP]M)?"


_LOOKS_RANDOM = "what looks like random ids"
_TEMPORARY_TABLES = "numbers of temporary tables"
_LOCATIONS = "locations"
UNCERTAIN = frozenset({_LOOKS_RANDOM, _TEMPORARY_TABLES, _LOCATIONS})
"""Kinds of words that may name the work after all."""
_PLACEHOLDER = re.compile(r"<[a-z*]{1,20}>")
_NAMING = re.compile(r"[^\W\d_]{2}")
"""Two letters: a text without any names no work."""


@dataclass(frozen=True)
class Rule:
    """A kind of words, and what is written in their place, after what a form calls `kept`.

    `forms` are regular expressions. They are compiled on first use, because that takes time and most commands
    need no rule.
    """

    kind: str
    forms: tuple[str, ...]
    placeholder: str

    @cached_property
    def form(self) -> re.Pattern[str]:
        """The compiled form of all."""
        either = "|".join(self.forms)
        return re.compile(rf"{_START}(?:{either})", re.IGNORECASE)

    def apply(self, text: str) -> str:
        """Return a text with the placeholder in place of each word of this kind."""

        def replaced(found: re.Match[str]) -> str:
            kept = found.groupdict().get("kept") or ""
            return kept + self.placeholder

        return self.form.sub(replaced, text)


def _rule(kind: str, placeholder: str, *forms: str) -> Rule:
    return Rule(kind, forms, placeholder)


_IDS = _rule(
    "ids",
    "<id>",
    rf"[0-9a-f]{{8}}(?:[-_][0-9a-f]{{4}}){{3}}[-_][0-9a-f]{{12}}{_END}",
    rf"(?:application|job|container|attempt|task)_\d{{1,20}}_\d{{1,20}}(?:_[a-z0-9]{{1,20}}){{0,4}}{_END}",
    rf"app-\d{{14}}-\d{{4,9}}{_END}",
    rf"(?:local|spark-application)-\d{{13}}{_END}",
)
_DATES = _rule(
    "dates",
    "<date>",
    r"(?P<kept>(?:year|month|day|week|yyyy|mm|dd)=|week[ _-]?)\d{1,4}" + _END,
    # Times come later, so a date may be followed by one without a space.
    rf"(?:{_YEAR}(?P<between>[-/._]){_MONTH}(?P=between){_DAY}|{_YEAR}{_MONTH}{_DAY})"
    rf"(?={_END}|T\d|{_HOUR}{_SIXTY}{_SECONDS}?Z?{_END})",
    rf"{_YEAR}[-/._]?(?:W{_SIXTY}|Q[1-4]){_END}",
    rf"{_YEAR}[-/._]{_MONTH}{_END}",
    rf"{_WEEKDAY}\d\d?(?P<apart>[-/._ ])(?:\d\d?|{_NAMED_MONTH})(?P=apart){_YEAR}(?={_END}|T\d)",
    rf"{_WEEKDAY}{_NAMED_MONTH}[-/._ ]{{1,2}}\d\d?(?:st|nd|rd|th)?,?[-/._ ]{_YEAR}(?={_END}|T\d)",
    rf"{_WEEKDAY}{_NAMED_MONTH}[ ]{{1,2}}\d\d? {_HOUR}:{_SIXTY}:{_SIXTY}(?: [A-Z]{{3,4}})? {_YEAR}{_END}",
    rf"{_YEAR}[-/._ ]?{_NAMED_MONTH}[-/._ ]?\d\d?{_END}",
    rf"\d\d?[-/._ ]?{_NAMED_MONTH}[-/._ ]?{_YEAR}{_END}",
    rf"[23]\d{_MONTH}{_DAY}{_END}",
    rf"\d\d?-{_NAMED_MONTH}-\d\d{_END}",
    rf"(?:{_NAMED_MONTH}[-/._ ]?|{_MONTH}[-/.]){_YEAR}{_END}",
    rf"(?<=[-_])20[0-3]\d{_MONTH}{_END}",
    # In Chinese and Japanese.
    rf"{_YEAR}\u5e74\d\d?\u6708(?:\d\d?\u65e5)?",
)
_TIMES = _rule(
    "times",
    "<time>",
    r"(?P<kept>(?:hour|hr|hh|minute)=|<date>[T ._-]{0,2})"
    rf"(?:{_HOUR}(?P<between>[-:._h]?){_SIXTY}(?:(?P=between){_SECONDS})?{_ZONE}|\d{{1,2}}){_END}",
    rf"{_HOUR}:{_SIXTY}(?::{_SECONDS})?{_ZONE}(?![\w:])",
    rf"1[4-9]\d{{8}}(?:(?<!00000)(?:\.\d{{1,9}})?|(?:\d{{3}}){{1,3}}){_END}",
)
_RANDOM_IDS = _rule(
    _LOOKS_RANDOM,
    "<id>",
    rf"(?=[a-f]{{0,63}}\d)(?=\d{{0,63}}[a-f])[0-9a-f]{{7,64}}{_END}",
    # Letters and digits in turns.
    rf"(?=[0-9a-z]{{5,64}}{_END})[a-z]{{0,63}}\d{{1,63}}[a-z]{{1,63}}\d[0-9a-z]{{0,63}}",
    # Kubernetes ends names with five or ten letters and digits that spell no word.
    rf"(?<=-)(?![a-z]{{1,9}}\d{{1,9}}{_END}|\d{{1,9}}[a-z]{{0,9}}{_END})"
    rf"(?:[bcdfghjklmnpqrstvwxz2456789]{{5}}){{1,2}}{_END}",
    rf"\d{{8,40}}(?<!000){_END}",
)
_BATCHES = _rule(
    "numbers of runs and batches",
    "<number>",
    r"(?P<kept>(?:run|batch|attempt|epoch|try|build|session)(?:[-_ ]?(?:id|no|nr|number))?[-_=:#.\s]{0,4})"
    rf"\d{{1,20}}{_END}",
)
_TEMPORARY = _rule(
    _TEMPORARY_TABLES,
    "<number>",
    r"(?P<kept>(?:tmp|temp|temporary)(?:[-_][a-z]{1,40}){0,4}[-_]?)"
    rf"[a-z]{{0,20}}\d[0-9a-z]{{0,64}}{_END}",
)
_LOCATION = re.compile(
    r"""(?<![\w.=%+@:~/-])(?:[a-z][a-z0-9+.-]{1,20}:/{1,3}|/)[^\s,;'"()\[\]]{1,4096}""",
    re.IGNORECASE,
)
_SITE = re.compile(r"[A-Za-z][\w+.-]{0,20}:(?://[^/]*)?")
_LISTED = re.compile(r"(?:(?:(?P<first><location>[^\s,]{0,200})|\.\.\.),?\s{0,3}){2,}")
_PATHS = re.compile(r"\b\d{1,9} (?=paths?\b)")


def _without_locations(text: str) -> str:
    located = _LOCATION.sub(lambda found: f"<location>/{place(found[0])}".rstrip("/"), text)
    listed = _LISTED.sub(lambda found: f"{found['first'] or '...'} ", located)
    return _PATHS.sub("", listed)


_WORDS = (_IDS, _DATES, _TIMES, _RANDOM_IDS, _BATCHES, _TEMPORARY)
_STEPS: list[tuple[str, Callable[[str], str]]] = [(rule.kind, rule.apply) for rule in _WORDS]
_STEPS.append((_LOCATIONS, _without_locations))


class Step(NamedTuple):
    """A text without the words of some kinds. `kinds` are those that were found in it.

    It is certain if these words have forms of their own, and others are left that name the work. Else only
    what the work reads can tell whether it is the same.
    """

    text: str
    kinds: tuple[str, ...]
    is_certain: bool = True


def steps(text: str) -> list[Step]:
    """Return a text in steps, each without one more kind of words. The last is without all kinds."""
    found: list[Step] = []
    kinds: tuple[str, ...] = ()
    for kind, without in _STEPS:
        shorter = without(text)
        if shorter != text and kind not in kinds:
            kinds = (*kinds, kind)
        text = shorter
        is_certain = UNCERTAIN.isdisjoint(kinds) and bool(
            _NAMING.search(_PLACEHOLDER.sub("", text))
        )
        found.append(Step(text, kinds, is_certain))
    return found


def without_passing_words(text: str) -> str:
    """Return a text without any of these words, but with placeholders for them."""
    return steps(text)[-1].text


_GENERAL = frozenset(
    (
        *("current", "data", "delta", "files", "final", "input", "landing", "latest", "output"),
        *("parquet", "raw", "table", "tables", "tmp"),
    )
)
"""Names of directories that alone do not tell which table it is."""


def place(location: str) -> str:
    """Return the last directory of a location that is no partition and the same each time; empty if none.

    If its name is general, such as `data`, the directory above it comes first.
    """
    for rule in _WORDS:
        location = rule.apply(location)
    path = _SITE.sub("", location, count=1)
    lasting = [part for part in path.split("/") if part and "=" not in part and "<" not in part]
    if not lasting:
        return ""
    if lasting[-1].lower() in _GENERAL:
        return "/".join(lasting[-2:])
    return lasting[-1]
