"""What the results of an experiment say is done, so that it can be interrupted and resumed."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.base.words import shorten
from harness.experiments.experiment import Configuration, Experiment
from harness.experiments.schedule import Part, planned_runs
from harness.model.probe import RecordedProbes
from harness.model.run import PROGRAM, Ending, RecordedRun, Status
from harness.records.directories import configuration_directory, probes_directory, results_files
from harness.records.reader import load, load_probes
from harness.records.series import is_complete

EXPERIMENT = "experiment"
"""The fact that has the id of the experiment of a run."""
NUMBER = "round"
"""The fact that has the number of a run."""
SET_ASIDE = ".lost"
"""The suffix of a results file whose configuration was not in force all the time."""


@dataclass(frozen=True)
class ExperimentOutcome:
    """The state of the results, which an exit code of a script does not prove.

    `measured` names the configurations that have a complete run, `undone` are the runs that are not
    complete: they ended early, or all their trials failed. `failed` is whether a trial of a complete one did.
    """

    measured: tuple[str, ...]
    undone: tuple[Part, ...]
    failed: bool


def outcome_of(experiment: Experiment, results: Path) -> ExperimentOutcome:
    """Return what the results of an experiment say."""
    completed = completed_parts(experiment, results)
    measured = {part.configuration.name for part in completed}
    undone: list[Part] = []
    for run in planned_runs(experiment):
        undone += [part for part in run.parts if part not in completed]
    has_failed = False
    for recorded in completed.values():
        has_failed |= any(trial.status is Status.FAILED for trial in recorded.trials)
    names = [each.name for each in experiment.configurations if each.name in measured]
    return ExperimentOutcome(tuple(names), tuple(undone), has_failed)


def completed_parts(experiment: Experiment, results: Path) -> dict[Part, RecordedRun]:
    """Return the complete parts. Raises BadInput if a results file is of another experiment."""
    completed = {}
    for configuration in experiment.configurations:
        for file in results_files(configuration_directory(results, configuration.name)):
            recorded = load(file)
            if recorded.run.facts.get(EXPERIMENT) != experiment.id:
                raise BadInput(
                    f"{file} is not of this experiment as it is now; move {results} away, or give "
                    "the experiment another name"
                )
            part = _part(configuration, recorded)
            if is_complete(recorded):
                completed[part] = recorded
    return completed


def probed_parts(experiment: Experiment, results: Path) -> dict[Part, RecordedProbes]:
    """Return the parts, without a program, whose network was probed completely."""
    found = {}
    for configuration in experiment.configurations:
        for file in results_files(probes_directory(results, configuration.name)):
            probed = load_probes(file)
            facts = probed.run.facts
            if probed.ending is Ending.COMPLETED and facts.get(EXPERIMENT) == experiment.id:
                found[Part(configuration, _number(facts, probed.source))] = probed
    return found


def files_of(parts: Iterable[Part], results: Path) -> set[Path]:
    """Return the results files of the configurations of these parts."""
    files: set[Path] = set()
    for part in parts:
        files.update(results_files(configuration_directory(results, part.configuration.name)))
    return files


def set_parts_aside(
    parts: Iterable[Part], results: Path, reason: str, former: Collection[Path]
) -> None:
    """Let the results files of these parts not count, except the `former` ones: they lost nothing."""
    for part in parts:
        for file in sorted(files_of([part], results)):
            if file not in former and _part(part.configuration, load(file)) == part:
                set_aside(file, str(part), reason)


def set_aside(file: Path, what: str, reason: str) -> None:
    """Let a results file not count, and say why."""
    aside = file.rename(file.with_suffix(SET_ASIDE))
    say(f"{what}: {reason}; so {aside} does not count; the same command repeats it")


def _part(configuration: Configuration, recorded: RecordedRun) -> Part:
    """Return which part of the experiment a run is. Raises BadInput if it does not declare its number."""
    number = _number(recorded.run.facts, recorded.source)
    return Part(configuration, number, recorded.run.parameters.get(PROGRAM))


def _number(facts: Mapping[str, str], source: str) -> int:
    text = facts.get(NUMBER, "")
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise BadInput(
            f"{source} is of this experiment, but its fact {NUMBER!r} is {shorten(text, 40)!r}; "
            "move it elsewhere"
        )
    return int(text)
