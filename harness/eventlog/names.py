"""What workloads of an event log are called: after what users and Spark say of them.

A batch of a streaming query is called like the query. If Spark describes an execution by its call site alone,
its name also has the tables that it reads: all reads and writes of a Python program have one call site.
"""

from __future__ import annotations  # for Python 3.8

import re
from functools import lru_cache
from typing import NamedTuple

from harness.base.redaction import digest, without_credentials
from harness.base.words import shorten
from harness.eventlog.passing_words import Step, steps

MAX_NAME = 60
MAX_READ = 10_000
"""Characters."""
BY_USER = "what --match finds"
_PLACEHOLDER = "<*>"
_DIRECTORIES = re.compile(r"(?<=\S at )(?:[^\s/]{0,255}/){1,64}(?=[^/\s]{1,255}:\d)")
"""The directories of a file in which an execution was called."""
_FROM_PYTHON = " at NativeMethodAccessorImpl.java:0"
"""The call site of all that Python asks for. It tells nothing."""
_CALL_SITE = re.compile(r"\S{1,255} at \S{1,255}:\d{1,9}")
_LINE = r"(?:<br/>|\n)"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_BATCH = re.compile(
    rf"(?P<name>[^\n]{{0,1000}}?){_LINE}?id = (?P<id>{_UUID}){_LINE}"
    rf"(?P<batch>runId = {_UUID}{_LINE}batch = (?:\d{{1,20}}|init))(?P<rest>[\s\S]*)"
)


class Described(NamedTuple):
    """How a workload is described: its name in steps without what differs each time, and its tables.

    `tables` is empty if the plan does not tell which they are.
    """

    steps: tuple[Step, ...]
    tables: frozenset[str] = frozenset()


class Names(NamedTuple):
    """The name of a workload, and the same in steps.

    `batch` is the batch of a streaming query, else empty.
    """

    name: str
    steps: tuple[Step, ...]
    batch: str = ""

    def numbered(self, number: int) -> Names:
        """Return the names of the workload with this number among those that are described alike."""
        if number == 1:
            return self
        every = tuple(step._replace(text=f"{step.text} #{number}") for step in self.steps)
        return Names(f"{self.name} #{number}", every, self.batch)


def execution_names(
    description: str, tables: frozenset[str], differing: re.Pattern[str] | None
) -> Names:
    """Return what an execution with this description is called.

    `differing` is what a user says differs each time; else the kinds of `passing_words` do. If a description
    is longer than MAX_READ, a digest stands for its middle, so that it still differs from others.
    """
    if len(description) > MAX_READ:
        half = MAX_READ // 2
        middle = f"{digest(description)} {digest(description[::-1])}"
        description = f"{description[:half]} {middle} {description[-half:]}"
    return _names(description, tables, differing)


@lru_cache(1_000)
def _names(description: str, tables: frozenset[str], differing: re.Pattern[str] | None) -> Names:
    text = description
    batch = ""
    found = _BATCH.match(description)
    if found:
        text = found["name"].strip() or f"streaming query {found['id']}"
        text += found["rest"]
        batch = found["batch"]
    about = without_credentials(_DIRECTORIES.sub("", text)) or "SQL"
    if tables and _CALL_SITE.fullmatch(about):
        action = about.replace(_FROM_PYTHON, "")
        about = f"{action} of {', '.join(sorted(tables))}"
    return Names(cut(about), name_steps(about, differing), batch)


def name_steps(text: str, differing: re.Pattern[str] | None = None) -> tuple[Step, ...]:
    """Return a name in steps, each with less of what differs each time."""
    if differing is None:
        return tuple(step._replace(text=cut(step.text)) for step in steps(text))
    without = differing.sub(_PLACEHOLDER, text)
    kinds = () if without == text else (BY_USER,)
    return (Step(cut(without), kinds),)


def cut(text: str, most: int = MAX_NAME) -> str:
    """Return a text in one line; if it is longer, cut, with a digest of the whole."""
    line = " ".join(text.split())
    if len(line) > most:
        return f"{shorten(line, most)} ({digest(line)})"
    return line
