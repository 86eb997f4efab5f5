"""Run an experiment. Its results say what is done, so it can be interrupted and resumed."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from harness.base.clock import duration_text
from harness.base.errors import BadInput, ClusterliftError
from harness.base.terminal import say
from harness.base.words import join_names, shorten
from harness.experiments.experiment import Configuration, Dataset, Experiment
from harness.experiments.site import Configured, Site
from harness.hosts.transports.host import Host
from harness.model.cache import COLD
from harness.model.probe import PROBED_IN, ProbeRun, RecordedProbes
from harness.model.run import PROGRAM, Ending, RecordedRun, Status, new_run_id
from harness.probes.all_probes import all_probes
from harness.probes.mesh import Mesh
from harness.probes.plan import ProbePlan, run_probes
from harness.probes.traffic import Load
from harness.programs.mpi import Placement
from harness.programs.planned_program import ProgramRun, ready_hosts
from harness.programs.program import Program
from harness.programs.program_run import run_program
from harness.records.directories import configuration_directory, probes_directory, results_files
from harness.records.reader import load, load_probes
from harness.records.series import is_complete, proven_content
from harness.records.writer import record_all
from harness.settings.in_force import plan
from harness.settings.journal import Journal, open_journal
from harness.submit.script import BENCHMARK, GENERATE
from harness.trials.counting import AUTO
from harness.trials.hold import DROP_CACHES
from harness.trials.order import in_turns
from harness.work.series import PROVEN

JOURNAL = "settings.journal"
NUMBER = "round"
"""The fact that has the number of a run."""
SET_ASIDE = ".lost"
"""The suffix of a results file whose configuration was not in force all the time."""
DEFAULT_WARM_UP = 1
"""Warm-up trials of a program if the experiment leaves their number to each workload."""


@dataclass(frozen=True)
class PlannedRun:
    """One application: the configurations that it measures, in the order of their first turns."""

    configurations: tuple[Configuration, ...]
    number: int
    programs: tuple[Program, ...] = ()
    has_spark: bool = True

    @property
    def parts(self) -> "list[Part]":
        """The runs on Spark, one for each configuration."""
        return [Part(each, self.number) for each in self.configurations if self.has_spark]

    @property
    def program_parts(self) -> "list[Part]":
        """The runs of programs, one for each configuration and program."""
        return [
            Part(each, self.number, program.name)
            for each in self.configurations
            for program in self.programs
        ]

    def __str__(self) -> str:
        return f"{join_names([each.name for each in self.configurations])}, run {self.number}"


@dataclass(frozen=True)
class Part:
    """A run of one configuration, on Spark or of the program of this name.

    `number`, from 1, counts the runs of this configuration.
    """

    configuration: Configuration
    number: int
    program: str | None = None

    def __str__(self) -> str:
        of_program = f", {self.program}" if self.program else ""
        return f"{self.configuration.name}, run {self.number}{of_program}"


@dataclass(frozen=True)
class ExperimentOutcome:
    """The state of the results, which an exit code of a script does not prove.

    `measured` names the configurations that have a complete run, `undone` are the runs that are not
    complete: they ended early, or all their trials failed. `failed` is whether a trial of a complete one did.
    """

    measured: tuple[str, ...]
    undone: tuple[Part, ...]
    failed: bool


def run_experiment(experiment: Experiment, site: Site) -> ExperimentOutcome:
    """Do the runs that are not done yet; first, put back what an earlier command may have left.

    Raises BadInput if the directory contains results of another experiment, ClusterliftError if a dataset
    cannot be generated, something cannot be set or a run is refused, KeyboardInterrupt if a script was
    interrupted.
    """
    results = results_of(experiment, site)
    with site.lock(), open_journal(results / JOURNAL) as journal:
        _ExperimentRunner(experiment, site, results, journal).run()
    return _outcome(experiment, results)


def put_back_all(experiment: Experiment, site: Site) -> list[str]:
    """Put back what an experiment has left on its hosts, and return a line for each setting.

    Raise ClusterliftError if a host does not answer, or something cannot be put back.
    """
    with site.lock(), open_journal(results_of(experiment, site) / JOURNAL) as journal:
        return [
            f"{change}: {change.before}"
            for change in site.put_back(journal, experiment.configurations)
        ]


def results_of(experiment: Experiment, site: Site) -> Path:
    """Return the experiment's own directory."""
    return site.results / experiment.name


def planned_runs(experiment: Experiment) -> Iterator[PlannedRun]:
    """Yield all runs in order: in turns, so that drift affects all configurations alike."""
    for number in range(1, experiment.runs + 1):
        for configurations in _applications(experiment, number):
            yield PlannedRun(configurations, number, experiment.programs, experiment.has_spark)


def _applications(experiment: Experiment, number: int) -> list[tuple[Configuration, ...]]:
    """Return the configurations that one application measures in turns: it stays on its nodes."""
    order = in_turns(experiment.configurations, experiment.id, number)
    if experiment.turns == "runs":
        return [(configuration,) for configuration in order]
    numbers = dict.fromkeys(configuration.nodes for configuration in order)
    together = [[c for c in experiment.configurations if c.nodes == nodes] for nodes in numbers]
    return [tuple(in_turns(each, f"{experiment.id}-{number}", 1)) for each in together]


def completed_parts(experiment: Experiment, results: Path) -> dict[Part, RecordedRun]:
    """Return the complete parts. Raises BadInput if a results file is of another experiment."""
    completed = {}
    for configuration in experiment.configurations:
        for file in results_files(configuration_directory(results, configuration.name)):
            recorded = load(file)
            if recorded.run.facts.get("experiment") != experiment.id:
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
    return {
        Part(configuration, _number(probed.run.facts, probed.source)): probed
        for configuration in experiment.configurations
        for file in results_files(probes_directory(results, configuration.name))
        if (probed := load_probes(file)).ending is Ending.COMPLETED
        and probed.run.facts.get("experiment") == experiment.id
    }


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


def _outcome(experiment: Experiment, results: Path) -> ExperimentOutcome:
    completed = completed_parts(experiment, results)
    measured = {part.configuration for part in completed}
    trials = (trial for recorded in completed.values() for trial in recorded.trials)
    planned = (
        part for run in planned_runs(experiment) for part in (*run.parts, *run.program_parts)
    )
    return ExperimentOutcome(
        tuple(c.name for c in experiment.configurations if c in measured),
        tuple(part for part in planned if part not in completed),
        any(trial.status is Status.FAILED for trial in trials),
    )


class _ExperimentRunner:
    """The runs of an experiment that are not done yet."""

    def __init__(self, experiment: Experiment, site: Site, results: Path, journal: Journal) -> None:
        self._experiment = experiment
        self._site = site
        self._results = results
        self._journal = journal
        self._done = completed_parts(experiment, results)
        self._probed = probed_parts(experiment, results)
        self._cannot_drop: set[str] = set()

    def run(self) -> None:
        planned = list(planned_runs(self._experiment))
        runs = [run for run in planned if self._to_measure(run) or self._to_probe(run)]
        if done := len(planned) - sum(map(self._to_measure, planned)):
            say(f"{done} of {len(planned)} runs are done already")
        self._prepare(runs)
        started = time.monotonic()
        for number, run in enumerate(runs):
            left = (time.monotonic() - started) / number * (len(runs) - number) if number else None
            links = "; ".join(dict.fromkeys(filter(None, map(str, run.configurations))))
            say(
                f"application {number + 1} of {len(runs)}: {run}{links and f', {links}'}"
                + (f"; about {duration_text(left)} left" if left else "")
            )
            with _Turns(self._site, self._journal) as turns:
                for part in self._to_probe(run):
                    self._probe(part, turns)
                for part in run.program_parts:
                    if part not in self._done:
                        self._run_program(part, turns)
                if any(part not in self._done for part in run.parts):
                    self._benchmark(run, turns)

    def _prepare(self, runs: Sequence[PlannedRun]) -> None:
        """Put back what an earlier command left; for these runs, if any, open the site and generate data."""
        if runs or self._journal.outstanding():
            for change in self._site.put_back(self._journal, self._experiment.configurations):
                say(f"put back what an earlier command left: {change}: {change.before}")
        if runs:
            self._site.open(self._programs(runs))
            # What cannot be set, or could not be put back, is found before a dataset is generated.
            for wanted in dict.fromkeys(
                each.on_hosts for run in runs for each in run.configurations
            ):
                plan(self._site.settings(wanted))
            self._generate([part for run in runs if self._to_measure(run) for part in run.parts])

    def _to_measure(self, run: PlannedRun) -> bool:
        return any(part not in self._done for part in (*run.parts, *run.program_parts))

    def _to_probe(self, run: PlannedRun) -> list[Part]:
        """Return what to probe; the first turn's configuration comes last, so that it can stay."""
        if self._experiment.probe_seconds is None:
            return []
        turns = [Part(each, run.number) for each in run.configurations]
        return [part for part in turns[::-1] if part not in self._probed]

    def _programs(self, runs: Sequence[PlannedRun]) -> list[str]:
        """Return the programs that every host needs for these runs; they are checked before data exists."""
        probes = self._probe_plan(()).programs if any(map(self._to_probe, runs)) else ()
        own = (program.executables for run in runs for program in run.programs)
        return list(dict.fromkeys((*probes, *chain.from_iterable(own))))

    def _generate(self, parts: Sequence[Part]) -> None:
        """Generate and verify each dataset once, before anything is set."""
        for data in dict.fromkeys(filter(None, (part.configuration.data for part in parts))):
            say(f"data {describe_data(data)}")
            layout = ["--layout", data.layout] if data.layout else []
            arguments = [
                *(self._site.uri(data), "--rows", str(data.rows), "--format", data.format),
                *("--reuse", *layout),
            ]
            if code := self._site.submit(GENERATE, arguments):
                raise ClusterliftError(
                    f"data {data.name} was not generated: generate.py ended with {code}"
                )

    def _probe(self, part: Part, turns: "_Turns") -> None:
        """Probe the network, unless this run of another configuration with the same links has done so."""
        for other, probed in self._probed.items():
            if (
                other.number == part.number
                and other.configuration.links == part.configuration.links
            ):
                self._probed[part] = self._record_for(part, probed)
                return
        configured = turns.take(part.configuration)
        probe_run = ProbeRun(
            configuration=part.configuration.name,
            hosts=tuple(host.name for host in configured.hosts),
            parameters={"probe": "all", "seconds": str(self._experiment.probe_seconds)},
            facts=self._facts(part),
        )
        probed = run_probes(self._probe_plan(configured.hosts), probe_run, self._results)
        if lost := turns.lost():
            turns.end()
            _set_aside(Path(probed.source), f"the probe of {part}", lost)
        else:
            self._probed[part] = probed
        if probed.ending is Ending.INTERRUPTED:
            raise _interrupted()

    def _probe_plan(self, hosts: Sequence[Host]) -> ProbePlan:
        return all_probes(hosts, Load(self._experiment.probe_seconds or 1), Mesh())

    def _record_for(self, part: Part, probed: RecordedProbes) -> RecordedProbes:
        """Record another configuration's probes for this one, too, because the network is the same."""
        say(f"{part}: {probed.run.configuration} has the same links, which were probed")
        run = replace(
            probed.run,
            id=new_run_id(),
            configuration=part.configuration.name,
            facts={PROBED_IN: probed.run.configuration, **self._facts(part)},
        )
        record_all(self._results, run, probed.events)
        return replace(probed, run=run)

    def _run_program(self, part: Part, turns: "_Turns") -> None:
        experiment = self._experiment
        program = next(each for each in experiment.programs if each.name == part.program)
        configured = turns.take(part.configuration)
        hosts = ready_hosts(program, configured.hosts[: part.configuration.nodes])
        planned = ProgramRun(
            program,
            Placement(hosts, experiment.per_host),
            part.configuration.name,
            growing=experiment.growing,
            trials=experiment.trials,
            warmup=DEFAULT_WARM_UP if experiment.warmup == AUTO else int(experiment.warmup),
            facts=self._facts(part),
        )
        recorded = run_program(planned, self._results)
        if lost := turns.lost():
            turns.end()
            self._set_parts_aside([part], lost)
        if recorded.ending is Ending.INTERRUPTED:
            raise _interrupted()

    def _benchmark(self, run: PlannedRun, turns: "_Turns") -> None:
        first, *others = run.parts
        by_name = {each.name: each for each in self._experiment.configurations}
        properties = [f"{key}={value}" for key, value in first.configuration.spark.items()]
        arguments = [*self._arguments(), f"--seed={self._experiment.id}-{run.number}"]
        done = completed_parts(self._experiment, self._results)
        proven = {PROVEN: proven_content(done.values())}
        if nodes := first.configuration.nodes:
            arguments += ["--nodes", str(nodes)]

        def answer(request: str) -> None:
            if request == DROP_CACHES:
                self._drop_caches()
            else:
                turns.begin(by_name[request])

        if others:
            # In the order of the file: the seed makes the order of the run from it.
            of_run = {part.configuration.name: part for part in run.parts}
            parts = [of_run[name] for name in by_name if name in of_run]
            arguments += ["--turns", json.dumps([self._turn(part) for part in parts])]
            code = self._site.submit(BENCHMARK, arguments, properties, proven, answer)
        else:
            turns.take(first.configuration)
            if data := first.configuration.data:
                arguments += ["--dataset", self._site.uri(data)]
            tables = self._tables(first.configuration)
            arguments += [f"--table={name}={uri}" for name, uri in tables.items()]
            arguments += ["--configuration", first.configuration.name]
            arguments += [f"--fact={key}={value}" for key, value in self._facts(first).items()]
            on_request = answer if self._experiment.cache == COLD else None
            code = self._site.submit(BENCHMARK, arguments, properties, proven, on_request)
        if lost := turns.lost():
            self._set_parts_aside(run.parts, lost)
        if code == BadInput.exit_code:
            raise ClusterliftError(f"{run}: benchmark.py refused to run; its error is above")
        if code:
            say(f"{run}: benchmark.py ended with {code}")

    def _drop_caches(self) -> None:
        """Let hosts drop their page caches before a trial, and say once which of them cannot."""
        for error in self._site.drop_caches():
            if error not in self._cannot_drop:
                self._cannot_drop.add(error)
                say(f"{error}: what it stores stays in its memory")

    def _turn(self, part: Part) -> dict[str, object]:
        configuration = part.configuration
        return {
            "configuration": configuration.name,
            "dataset": configuration.data and self._site.uri(configuration.data),
            "facts": self._facts(part),
            "tables": self._tables(configuration),
        }

    def _tables(self, configuration: Configuration) -> dict[str, str]:
        """Return where the tables of queries are; `{dataset}` is the URI of the configuration's dataset."""
        data = configuration.data and self._site.uri(configuration.data)
        return {
            name: uri.replace("{dataset}", data or "") for name, uri in configuration.tables.items()
        }

    def _set_parts_aside(self, parts: Sequence[Part], reason: str) -> None:
        for part in parts:
            directory = configuration_directory(self._results, part.configuration.name)
            for file in results_files(directory):
                if _part(part.configuration, load(file)) == part:
                    _set_aside(file, str(part), reason)

    def _facts(self, part: Part) -> dict[str, str]:
        """Return the facts to record; `layout` is the requested one, if the file names one."""
        layout = part.configuration.data and part.configuration.data.layout
        return {
            **self._site.facts(part.configuration),
            **({"layout": layout} if layout else {}),
            "experiment": self._experiment.id,
            NUMBER: str(part.number),
        }

    def _arguments(self) -> list[str]:
        experiment = self._experiment
        arguments = {
            "--trials": str(experiment.trials),
            "--warmup": str(experiment.warmup),
            "--results": self._site.path_there(self._results),
            "--sql": experiment.sql and self._site.path_there(Path(experiment.sql).absolute()),
            "--workloads": ",".join(experiment.workloads or ()),
            "--streams": str(experiment.streams) if experiment.streams > 1 else "",
            "--sink": experiment.sink or "",
            "--cache": experiment.cache,
            "--profile": str(experiment.profile or ""),
            "--repartition": str(experiment.repartition or ""),
            "--pi-samples": str(experiment.pi_samples or ""),
        }
        return [part for name, value in arguments.items() if value for part in (name, value)]


class _Turns(ExitStack):
    """A context in which configurations take turns; the last of them is put back when it is left."""

    def __init__(self, site: Site, journal: Journal) -> None:
        super().__init__()
        self._site = site
        self._journal = journal
        self._current: Configuration | None = None
        self._configured: Configured | None = None
        self._lost: str | None = None

    def take(self, configuration: Configuration) -> Configured:
        """Put a configuration in force, if it is not, in place of the one before."""
        if self._configured is None or self._current != configuration:
            self._leave()
            context = self._site.configured(configuration, self._journal)
            self._configured = self.enter_context(context)
            self._current = configuration
        return self._configured

    def end(self) -> None:
        """End the turn, whatever it has lost; the next one sets everything anew."""
        self._leave()
        self._lost = None

    def _leave(self) -> None:
        self.close()
        self._current, self._configured = None, None

    def begin(self, configuration: Configuration) -> None:
        """Begin a turn, and look whether the turn before ended as it began."""
        self._lost = self.lost()
        self.take(configuration)

    def lost(self) -> str | None:
        """Return in one line what was not as it was set at the end of a turn; None if all was."""
        return self._lost or (self._configured.lost() if self._configured else None)


def _set_aside(file: Path, what: str, reason: str) -> None:
    aside = file.rename(file.with_suffix(SET_ASIDE))
    say(f"{what}: {reason}; so {aside} does not count; the same command repeats it")


def _interrupted() -> KeyboardInterrupt:
    say("the same command resumes the experiment")
    return KeyboardInterrupt()


def describe_data(data: Dataset) -> str:
    """Return a dataset for people: `coded: 1,000 rows, layout xor:2+1, on hdfs`."""
    storage = f", on {data.storage}" if data.storage else ""
    return f"{data.name}: {data.rows:,} rows, layout {data.layout or 'of the file system'}{storage}"
