"""What may make the results of a configuration's runs doubtful: the lines below its column."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter

from harness.analysis.observed.environment import drift
from harness.analysis.observed.executors import executor_lines
from harness.analysis.observed.interference import (
    busy_line,
    disturbed_line,
    throughout_line,
    unproven_line,
)
from harness.analysis.observed.machines import unlike_peers
from harness.analysis.observed.overlaps import overlap_lines
from harness.analysis.observed.sample import measured_trials
from harness.analysis.observed.silence import silent_lines
from harness.base.items import grouped, unique
from harness.base.words import count_of
from harness.model.run import EMULATED, Ending, Phase, RecordedRun, Run, Status

_UNFINISHED = {
    None: "did not finish (killed, or still running)",
    Ending.INTERRUPTED: "was interrupted",
    Ending.SPARK_LOST: "lost its Spark application",
}


def caveats(runs: Sequence[RecordedRun]) -> tuple[str, ...]:
    """Return what may make the results of one configuration's runs doubtful, one line per kind."""
    return tuple(_lines(runs))


def _lines(runs: Sequence[RecordedRun]) -> Iterator[str]:
    descriptions = [recorded.run for recorded in runs]
    yield from _unfinished(runs)
    yield from overlap_lines(runs)
    yield from _joined(chain.from_iterable(recorded.warnings for recorded in runs))
    yield from _failed_warm_ups(runs)
    yield from silent_lines(runs)
    yield from executor_lines(runs)
    yield from _trial_notes(runs)
    for line_on in (unproven_line, disturbed_line, throughout_line, busy_line):
        line = line_on(runs)
        if line:
            yield line
    yield from _joined(map(drift, descriptions), "the data's layout differed from the manifest: ")
    yield from _link_errors(runs)
    yield from _joined(run.environment.get("shared_processors") for run in descriptions)
    yield from _joined(map(_streams, descriptions))
    # Equal environments of many runs are one object: see `records.reader`.
    environments = {id(run.environment): run for run in descriptions}
    yield from _joined(chain.from_iterable(map(unlike_peers, environments.values())))
    yield from _joined(emulations(runs), "emulated: ")


def _streams(run: Run) -> str | None:
    if not run.parameters.get("in_streams"):
        return None
    streams = run.parameters.get("streams")
    return f"{streams} streams at once: a workload has the geometric mean of its times in them"


def emulations(runs: Iterable[RecordedRun]) -> tuple[str, ...]:
    """Return the descriptions of the emulated clusters on which the runs were measured."""
    found: dict[str, None] = {}
    for recorded in runs:
        if EMULATED in recorded.run.facts:
            found[recorded.run.facts[EMULATED]] = None
    return tuple(found)


def _joined(texts: Iterable[str | None], introduction: str = "") -> Iterator[str]:
    """Yield the distinct texts as one line; nothing without any."""
    joined = "; ".join(unique(filter(None, texts)))
    if joined:
        yield introduction + joined


def _unfinished(runs: Sequence[RecordedRun]) -> Iterator[str]:
    by_ending = grouped(runs, attrgetter("ending"))
    for ending, description in _UNFINISHED.items():
        own = by_ending.get(ending, ())
        yield from _joined(f"run {recorded.run.id} {description}" for recorded in own)


def _failed_warm_ups(runs: Sequence[RecordedRun]) -> Iterator[str]:
    trials = chain.from_iterable(recorded.trials for recorded in runs)
    warm_ups = (trial for trial in trials if trial.phase is Phase.WARM_UP)
    failed = [trial.workload for trial in warm_ups if trial.status is Status.FAILED]
    if failed:
        yield f"{count_of(len(failed), 'warm-up trial')} failed: {', '.join(unique(failed))}"


def _trial_notes(runs: Sequence[RecordedRun]) -> Iterator[str]:
    noted = [trial for trial in measured_trials(runs) if trial.note]
    notes = [f"{trial.workload}, round {trial.round} ({trial.note})" for trial in noted]
    if notes:
        yield f"{count_of(len(notes), 'measured trial')} had an unusual event: {'; '.join(notes)}"


def _link_errors(runs: Sequence[RecordedRun]) -> Iterator[str]:
    packets: Counter[str] = Counter()
    for recorded in runs:
        for link, counters in (recorded.link_errors or {}).items():
            packets[link] += counters.get("errors", 0)
    links: list[str] = []
    for link, number in sorted(packets.items()):
        if number:
            links.append(f"{link} ({count_of(number, 'packet')})")
    if links:
        yield (
            f"links counted errors during the run: {', '.join(links)}; "
            "check cable, network card and switch port"
        )
