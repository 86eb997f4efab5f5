"""A series: runs of one configuration that are made in the same way, so that one can stand for another."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.model.run import Ending, RecordedRun, Status
from harness.records.directories import configuration_directory, results_files
from harness.records.reader import load
from harness.records.run_lock import SERIES, configuration_lock
from harness.trials.counting import UNPROVEN
from harness.trials.order import in_turns


@dataclass(frozen=True)
class Series:
    """A series in a directory of results. Its runs record its `id`, a digest of all that affects them."""

    results: Path
    configuration: str
    id: str

    def of_configuration(self) -> list[RecordedRun]:
        """Return all runs of its configuration. Raise BadInput if a file cannot be read."""
        files = results_files(configuration_directory(self.results, self.configuration))
        return [load(file, samples=False) for file in files]

    def recorded(self) -> list[RecordedRun]:
        """Return its runs, complete or not. Raise BadInput if a file cannot be read."""
        runs = self.of_configuration()
        return [recorded for recorded in runs if recorded.run.parameters.get("series") == self.id]

    def complete(self) -> list[RecordedRun]:
        """Return its runs that are complete."""
        return [recorded for recorded in self.recorded() if is_complete(recorded)]


@contextmanager
def locked_series(every: Iterable[Series]) -> Iterator[None]:
    """Let no other command make runs of these configurations in the block.

    Raise BadInput, which names the other process, if one makes some.
    """
    configurations = dict.fromkeys((series.results, series.configuration) for series in every)
    with ExitStack() as locks:
        for results, configuration in configurations:
            locks.enter_context(configuration_lock(results, configuration, SERIES))
        yield


def is_complete(recorded: RecordedRun) -> bool:
    """Return whether a run came to its end, and has a trial that did not fail, and whose answer is proven."""
    if recorded.ending is not Ending.COMPLETED:
        return False
    ended_well = [trial for trial in recorded.trials if trial.status is Status.OK]
    return any(trial.disturbed != UNPROVEN for trial in ended_well)


def proven_content(runs: Iterable[RecordedRun]) -> str:
    """Return the fingerprints of the datasets whose rows these runs proved, with blanks between them."""
    found: dict[str, None] = {}
    for recorded in runs:
        dataset = recorded.run.dataset
        if dataset and recorded.run.parameters.get("content_checked"):
            found[dataset.get("fingerprint") or ""] = None
    return " ".join(filter(None, found))


def missing_runs(every: Sequence[Series], runs: int) -> Iterator[tuple[Series, int]]:
    """Yield the runs that each series lacks of this number, as series and number, in turns."""
    complete = {series: len(series.complete()) for series in every}
    for number in range(1, runs + 1):
        for series in in_turns(every, every[0].id, number):
            if number > complete[series]:
                yield series, number
