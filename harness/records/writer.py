"""Results files: JSON Lines that survive being cut off at any byte.

A file is written by one run and never again: the run first, then a line a trial, then how it ended.
It appears under its name with the first line whole; every later line is flushed and synced before
the next trial starts. A last line without its newline is what a killed run leaves behind: it is
reported and skipped. Anything else malformed is an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from harness.model.run import Ending, Run, Trial, timestamp
from harness.records.directories import SUFFIX, _taken, _unwritable, configuration_directory
from harness.records.json_lines import append_line

SCHEMA_VERSION = 1

Line = dict[str, Any]
LinkErrors = Mapping[str, Mapping[str, int]]
T = TypeVar("T")


class Recording:
    """A results file that is being written: `results/<configuration>/<run id>.jsonl`.

    Raises BadInput where the file cannot be created, and ClusterliftError where it cannot be
    continued: what was recorded until then is kept.
    """

    def __init__(self, results: Path, run: Run) -> None:
        self.path = configuration_directory(results, run.configuration) / f"{run.id}{SUFFIX}"
        temporary = self.path.with_name(f".{self.path.name}.unborn")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Whoever holds the unborn name is alone, so nobody takes the real one meanwhile.
            self._file = temporary.open("xb", buffering=0)
        except FileExistsError as error:
            raise _taken(self.path) from error
        except OSError as error:
            raise _unwritable(self.path.parent, error) from error
        try:
            if self.path.exists():
                raise _taken(self.path)
            self._append({"kind": "run", "schema_version": SCHEMA_VERSION, **asdict(run)})
            temporary.rename(self.path)
            _sync_directory(self.path.parent)
        except BaseException:
            self._file.close()
            temporary.unlink(missing_ok=True)
            raise

    def trial(self, trial: Trial) -> None:
        """Append a trial; it is on the disk when this returns."""
        self._append({"kind": "trial", **asdict(trial)})

    def end(
        self, ending: Ending, stopped: str | None = None, link_errors: LinkErrors | None = None
    ) -> None:
        """Append how the run ended, why no more rounds came, and what links counted. Nothing follows."""
        end = {
            "ending": ending,
            "stopped": stopped,
            "counted": link_errors,
            "ended_at": timestamp(),
        }
        self._append({"kind": "end", **end})

    def _append(self, line: Line) -> None:
        append_line(self._file, self.path, line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
