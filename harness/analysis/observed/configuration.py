"""The runs of one configuration, which are one column of a table, and the caveats of their results."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.analysis.observed.environment import layouts
from harness.analysis.observed.interference import busy_line, disturbed_line, throughout_line
from harness.analysis.observed.logged_runs import logged_runs
from harness.analysis.observed.machines import unlike_peers
from harness.analysis.observed.overlaps import overlap_lines
from harness.analysis.observed.sample import measured_trials
from harness.analysis.observed.silence import silent_lines
from harness.base.errors import BadInput
from harness.base.words import count_of, unique_name
from harness.model.probe import Measurement
from harness.model.run import EMULATED, PROGRAM, Ending, Phase, RecordedRun, Status
from harness.records.lookup import find_runs, probes_beside
from harness.work.same_work import require_same_work


@dataclass(frozen=True)
class ConfigurationRuns:
    """The runs of one configuration, pooled, in the order of their start.

    `name` is the configuration's name; `with_unique_names` numbers equal names. `notes` are lines
    that a reader of the column must know. `alone` are workloads of event logs that no other configuration
    has; the runs do not have them.
    """

    name: str
    runs: tuple[RecordedRun, ...]
    notes: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()

    @property
    def workloads(self) -> tuple[str, ...]:
        """Every workload that was requested, run or omitted, in the order of first appearance."""
        return tuple(
            dict.fromkeys(
                workload
                for recorded in self.runs
                for workload in (
                    *recorded.run.workloads,
                    *(trial.workload for trial in recorded.trials),
                    *recorded.run.omitted,
                )
            )
        )

    @property
    def attempted(self) -> tuple[str, ...]:
        """The workloads with at least one measured trial, ok or failed."""
        counted = {trial.workload for trial in measured_trials(self.runs)}
        return tuple(workload for workload in self.workloads if workload in counted)

    @property
    def counted_runs(self) -> int:
        """How many runs have a time that counts; one that ended in its warm-up has none."""
        return sum(any(trial.wall_s for trial in recorded.counted) for recorded in self.runs)

    @property
    def layouts(self) -> frozenset[str]:
        """The layouts in which the data was observed; empty if none was."""
        return frozenset(layout for recorded in self.runs for layout in layouts(recorded.run))

    @property
    def controls(self) -> frozenset[str]:
        """The workloads that any of the runs declares to be a control."""
        return named_by_runs([self], "controls")


def with_unique_names(columns: Sequence[ConfigurationRuns]) -> tuple[ConfigurationRuns, ...]:
    """Number columns of equal name: `1g`, `1g #2`."""
    unique: list[ConfigurationRuns] = []
    for column in columns:
        taken = [earlier.name for earlier in unique]
        unique.append(replace(column, name=unique_name(column.name, taken)))
    return tuple(unique)


def find_configuration(name: str, results: Path, *, samples: bool = True) -> ConfigurationRuns:
    """Return the pooled runs that `name` denotes.

    `name` is a results file, a directory with the results of one configuration, or the name of a
    configuration under `results`. `samples` is as in `load`. Raises BadInput if it is none of these, and if
    a directory mixes configurations or runs that did different work.
    """
    runs = find_runs(name, results, samples=samples)
    configurations = list(dict.fromkeys(recorded.run.configuration for recorded in runs))
    if len(configurations) > 1:
        raise BadInput(
            f"{name} mixes runs of several configurations ({', '.join(configurations)}); "
            "name a directory with one configuration, or one results file"
        )
    for program in dict.fromkeys(recorded.run.parameters.get(PROGRAM) for recorded in runs):
        of_program = [each.run for each in runs if each.run.parameters.get(PROGRAM) == program]
        require_same_work(name, of_program)
    return ConfigurationRuns(configurations[0], runs)


def find_columns(
    names: Iterable[str], results: Path, *, event_logs: bool, samples: bool = True
) -> list[ConfigurationRuns]:
    """Return the configurations of these names; or those whose runs have event logs of Spark there.

    These are called like file or directory. Raises BadInput like `find_configuration` or `logged_runs`.
    """
    if not event_logs:
        return [find_configuration(name, results, samples=samples) for name in names]
    paths = [Path(name) for name in names]
    has_unique_names = len({path.name for path in paths}) == len(paths)
    return [
        ConfigurationRuns(
            path.name if has_unique_names else str(path), found.runs, found.notes, found.alone
        )
        for path, found in zip(paths, logged_runs(paths), strict=True)
    ]


def probe_measurements(column: ConfigurationRuns) -> tuple[Measurement, ...]:
    """Return what probes measured that are stored beside the configuration's runs; there may be none.

    Raises BadInput if one of their files is malformed.
    """
    return tuple(
        measurement for probed in probes_beside(column.runs) for measurement in probed.measurements
    )


def named_by_runs(columns: Iterable[ConfigurationRuns], parameter: str) -> frozenset[str]:
    """Return the workloads that a parameter of any run lists, such as `controls` or `per_process`."""
    return frozenset(
        name
        for column in columns
        for recorded in column.runs
        for name in recorded.run.parameters.get(parameter) or ()
    )


def caveats(runs: Sequence[RecordedRun]) -> tuple[str, ...]:
    """Return what may make the results of one configuration's runs doubtful, one line per kind."""
    layouts = [(recorded.run.dataset or {}).get("layout", {}) for recorded in runs]
    drifts = (layout["drift"] for layout in layouts if layout.get("drift"))
    shared = filter(None, (each.run.environment.get("shared_processors") for each in runs))
    parameters = [recorded.run.parameters for recorded in runs]
    streams = [each.get("streams") for each in parameters if each.get("in_streams")]
    means = (
        f"{n} streams at once: a workload has the geometric mean of its times in them"
        for n in streams
    )
    return (
        *_unfinished(runs),
        *overlap_lines(runs),
        *_joined("", (warning for recorded in runs for warning in recorded.warnings)),
        *_failed_warm_ups(runs),
        *silent_lines(runs),
        *_trial_notes(runs),
        *filter(None, [disturbed_line(runs), throughout_line(runs), busy_line(runs)]),
        *_joined("the data's layout differed from the manifest: ", drifts),
        *_link_errors(runs),
        *_joined("", shared),
        *_joined("", means),
        *_joined("", (line for recorded in runs for line in unlike_peers(recorded.run))),
        *_joined("emulated: ", emulations(runs)),
    )


def emulations(runs: Iterable[RecordedRun]) -> tuple[str, ...]:
    """Return the descriptions of the emulated clusters on which the runs were measured."""
    facts = (recorded.run.facts for recorded in runs)
    return tuple(dict.fromkeys(str(known[EMULATED]) for known in facts if EMULATED in known))


def _joined(introduction: str, texts: Iterable[str]) -> Iterator[str]:
    if distinct := dict.fromkeys(texts):
        yield introduction + "; ".join(distinct)


_UNFINISHED = {
    None: "did not finish (killed, or still running)",
    Ending.INTERRUPTED: "was interrupted",
    Ending.SPARK_LOST: "lost its Spark application",
}


def _unfinished(runs: Sequence[RecordedRun]) -> Iterator[str]:
    for ending, description in _UNFINISHED.items():
        ids = [recorded.run.id for recorded in runs if recorded.ending is ending]
        if ids:
            yield "; ".join(f"run {id_} {description}" for id_ in ids)


def _failed_warm_ups(runs: Sequence[RecordedRun]) -> Iterator[str]:
    failed = [
        trial.workload
        for recorded in runs
        for trial in recorded.trials
        if trial.phase is Phase.WARM_UP and trial.status is Status.FAILED
    ]
    if failed:
        yield f"{count_of(len(failed), 'warm-up trial')} failed: {', '.join(dict.fromkeys(failed))}"


def _trial_notes(runs: Sequence[RecordedRun]) -> Iterator[str]:
    notes = [
        f"{trial.workload}, round {trial.round} ({trial.note})"
        for trial in measured_trials(runs)
        if trial.note
    ]
    if notes:
        yield f"{count_of(len(notes), 'measured trial')} had an unusual event: {'; '.join(notes)}"


def _link_errors(runs: Sequence[RecordedRun]) -> Iterator[str]:
    packets: Counter[str] = Counter()
    for recorded in runs:
        for link, counters in (recorded.link_errors or {}).items():
            packets[link] += counters.get("errors", 0)
    links = [f"{link} ({count_of(n, 'packet')})" for link, n in sorted(packets.items()) if n]
    if links:
        yield (
            f"links counted errors during the run: {', '.join(links)}; "
            "check cable, network card and switch port"
        )
