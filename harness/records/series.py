"""A series: runs of one configuration that are made in the same way, so that one can stand for another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness.model.run import Ending, RecordedRun, Status
from harness.records.directories import configuration_directory, results_files
from harness.records.reader import load

T = TypeVar("T")


@dataclass(frozen=True)
class Series:
    """A series in a directory of results. Its runs record its `id`, a digest of all that affects them."""

    results: Path
    configuration: str
    id: str

    def recorded(self) -> list[RecordedRun]:
        """Return its runs, complete or not. Raise BadInput if a file cannot be read."""
        files = results_files(configuration_directory(self.results, self.configuration))
        runs = map(load, files)
        return [recorded for recorded in runs if recorded.run.parameters.get("series") == self.id]

    def complete(self) -> list[RecordedRun]:
        """Return its runs that are complete."""
        return list(filter(is_complete, self.recorded()))


def is_complete(recorded: RecordedRun) -> bool:
    """Return whether a run came to its end, and has a trial that did not fail."""
    return recorded.ending is Ending.COMPLETED and any(
        trial.status is Status.OK for trial in recorded.trials
    )


def missing_runs(every: Sequence[Series], runs: int) -> Iterator[tuple[Series, int]]:
    """Yield the runs that each series lacks of this number, as series and number, in turns."""
    complete = {series: len(series.complete()) for series in every}
    for number in range(1, runs + 1):
        for series in in_turns(every, number):
            if number > complete[series]:
                yield series, number


def in_turns(items: Sequence[T], number: int) -> Sequence[T]:
    """Return what takes turns in its order in round `number`: there and back.

    So a drift of the machine affects the first and the last alike.
    """
    return items if number % 2 else items[::-1]
