"""Reads results files.

Every line is checked before anything uses it: its shape by the types of the vocabulary, and that no trial or
measurement is recorded twice. Values that are free-form in the vocabulary - environment, parameters,
dataset - are checked as far as another room relies on them. A run that ended has a checksum of its whole
file. Whatever is wrong is one BadInput that names file and line.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from harness.model.errors import BadInput
from harness.model.probe import EVENT_KINDS, ProbeEvent, ProbeRun, RecordedProbes
from harness.model.run import RecordedRun, Run, RunEnd, Trial
from harness.records.checksum import FILE_CHECKSUM
from harness.records.document import MAX_REASON
from harness.records.regular_file import regular_file
from harness.records.rules import (
    MAX_LINE,
    MAX_VALUES,
    FileSize,
    Mistake,
    checked,
    identity,
    is_small,
    is_too_large,
    limited,
    refuse,
)
from harness.records.writer import SCHEMA_VERSION
from harness.runtime.disturbances import counted_trials, with_disturbances
from harness.runtime.warm_up import AUTO, needed_trials
from harness.words import shorten

_RECORDED = {"run": "a run", "probes": "probes"}
"""What a file records, by the kind of its first line."""
_ADVICE = {
    "run": "name a configuration that was measured (clusterlift run)",
    "probes": "name a configuration that was probed (clusterlift probe all)",
}

T = TypeVar("T")
EventT = TypeVar("EventT")


def load(path: Path) -> RecordedRun:
    """Read the results file of a run, complete or cut off.

    Raises BadInput, which names file and line, if the file is anything else.
    """
    run, trials, end, warnings = _read(path, "run", Run, {"trial": Trial})
    needed = needed_trials(run) if run.parameters.get("warmup") == AUTO else None
    trials, throughout = counted_trials(with_disturbances(trials), needed)
    recorded = RecordedRun(
        run, trials, source=str(path), warnings=warnings, disturbed_throughout=throughout
    )
    return replace(recorded, **vars(end)) if end else recorded


def load_probes(path: Path) -> RecordedProbes:
    """Read the results file of a probe run. Raises BadInput like `load`."""
    run, events, end, warnings = _read(path, "probes", ProbeRun, EVENT_KINDS)
    found: tuple[ProbeEvent, ...] = events
    return RecordedProbes(run, found, end.ending if end else None, str(path), warnings)


def _read(
    path: Path, head_kind: str, head_type: type[T], event_types: Mapping[str, type[EventT]]
) -> tuple[T, tuple[EventT, ...], RunEnd | None, tuple[str, ...]]:
    """Return what the first line, the lines between and the last line describe, and the warnings."""
    texts, warnings = _complete_lines(path)
    head, *lines = [_Line.parse(f"{path}:{number}", text) for number, text in enumerate(texts, 1)]
    if head.kind != head_kind:
        found = _RECORDED.get(head.kind, "neither runs nor probes")
        head.refuse(
            f"not a results file of {_RECORDED[head_kind]}: it records {found}; {_ADVICE[head_kind]}"
        )
    version = head.values.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        head.refuse(
            f"schema version {version!r} is not {SCHEMA_VERSION}; use the clusterlift that wrote the file"
        )
    end = None
    if lines and lines[-1].kind == "end":
        line = lines.pop()
        if not _has_its_checksum(texts):
            line.refuse(f"the checksum is not that of the file: {_RESTORE}")
        end = line.convert(RunEnd)
    return head.convert(head_type), tuple(_events(lines, event_types)), end, warnings


def _events(lines: "Iterable[_Line]", types: Mapping[str, type[EventT]]) -> Iterator[EventT]:
    """Yield what each line describes. Raise BadInput for an unknown line, and for a repeated event."""
    first: dict[str, str] = {}
    for line in lines:
        if line.kind == "end":
            line.refuse(f"lines follow after this end of the run: {_RESTORE}")
        if line.kind not in types:
            line.refuse(f"unknown kind of line: {line.kind!r}")
        event = line.convert(types[line.kind])
        name = identity(event)
        if name and (where := first.setdefault(name, line.where)) != line.where:
            line.refuse(f"{name} is also in line {where.rpartition(':')[2]}: {_RESTORE}")
        yield event


def _complete_lines(path: Path) -> tuple[list[bytes], tuple[str, ...]]:
    """Return the lines that have their newline, and a warning if the last one has none.

    Raise BadInput at the first line that is too large to be one, before the next is read.
    """
    lines: list[bytes] = []
    warnings: tuple[str, ...] = ()
    size = FileSize()
    with regular_file(path) as file:
        while line := file.readline(MAX_LINE + 1):
            where = f"{path}:{len(lines) + 1}"
            if is_too_large(line):
                raise BadInput(
                    f"{where}: not a results file: a line has more than {MAX_LINE:,} bytes, or than "
                    f"{MAX_VALUES:,} arrays and objects"
                )
            if reason := size.why_not(line):
                raise BadInput(f"{where}: {reason}")
            if not line.endswith(b"\n"):
                warnings = (f"{where}: the last line is cut off and was skipped",)
                break
            if not line.strip():
                raise BadInput(f"{where}: an empty line: {_RESTORE}")
            lines.append(line[:-1])
    if not lines:
        raise BadInput(f"{path}:1: not a results file: it has no complete line")
    return lines, warnings


_RESTORE = "the file was damaged or edited; restore it, or move it elsewhere"


def _has_its_checksum(lines: Sequence[bytes]) -> bool:
    """Return whether the last line ends with the checksum of all that is before it."""
    last = lines[-1].rpartition(b', "sha256": ')[0]
    digest = hashlib.sha256(b"\n".join((*lines[:-1], last))).hexdigest()
    return lines[-1] == last + FILE_CHECKSUM % digest.encode()


def _parsed(line: bytes) -> Any:
    """Return the value of a line of JSON, in a tenth of the time that json takes, if it is an ordinary one.

    Raise ValueError or RecursionError if it is none, or too large.
    """
    if is_small(line):
        with suppress(msgspec.MsgspecError, OverflowError, UnicodeError):
            value = msgspec.json.decode(line)
            msgspec.msgpack.encode(value)  # refuses whole numbers of more than 64 bits
            return value
    value = json.loads(line.decode(errors="surrogateescape"))
    limited(value, refuse)
    return value


@dataclass(frozen=True)
class _Line:
    """A line of a file; `where` is the file and the number of the line."""

    where: str
    values: dict[str, Any]

    @classmethod
    def parse(cls, where: str, text: bytes) -> "_Line":
        try:
            values = _parsed(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{where}: not a results file: {error}") from error
        if not isinstance(values, dict):
            raise BadInput(f"{where}: not a results file: an object is expected")
        return cls(where, values)

    @property
    def kind(self) -> str:
        return str(self.values.get("kind"))

    def convert(self, type_: type[T]) -> T:
        """Check the shape of the line, and return it as an object of this type."""
        try:
            checked(self.values, refuse)
            return msgspec.convert(self.values, type_)
        except (Mistake, msgspec.ValidationError, UnicodeEncodeError) as error:
            reason = shorten(str(error), MAX_REASON)
            raise BadInput(f"{self.where}: malformed {self.kind} line: {reason}") from error

    def refuse(self, reason: str) -> NoReturn:
        raise BadInput(f"{self.where}: {shorten(reason, MAX_REASON)}")
