"""Run an experiment: probe, run programs, and submit the benchmark, in the turns of its schedule."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.base.errors import BadInput, ClusterliftError
from harness.base.terminal import say
from harness.experiments.done import (
    EXPERIMENT,
    NUMBER,
    ExperimentOutcome,
    completed_parts,
    files_of,
    outcome_of,
    probed_parts,
    set_aside,
    set_parts_aside,
)
from harness.experiments.experiment import Configuration, DatasetSpec, Experiment
from harness.experiments.making import with_outlook
from harness.experiments.schedule import LeftOver, Part, PlannedRun, left_over
from harness.experiments.site import Site
from harness.experiments.turns import Turns
from harness.hosts.transports.host import Host
from harness.model.cache import COLD
from harness.model.probe import PROBED_IN, ProbeRun, RecordedProbes
from harness.model.run import Ending, new_run_id
from harness.probes.all_probes import all_probes
from harness.probes.mesh import Mesh
from harness.probes.plan import ProbePlan, run_probes
from harness.probes.traffic import Load
from harness.programs.mpi import Placement
from harness.programs.planned_program import ProgramRun, ready_hosts
from harness.programs.program_run import run_program
from harness.records.series import proven_content
from harness.records.writer import record_all
from harness.settings.in_force import plan
from harness.settings.journal import Journal, open_journal
from harness.submit.script import BENCHMARK, GENERATE
from harness.trials.counting import AUTO
from harness.trials.hold import DROP_CACHES
from harness.work.series import PROVEN

JOURNAL = "settings.journal"
DEFAULT_WARM_UP = 1
"""Warm-up trials of a program if the experiment leaves their number to each workload."""


def run_experiment(experiment: Experiment, site: Site) -> ExperimentOutcome:
    """Do the runs that are not done yet; first, put back what an earlier command may have left.

    Raises BadInput if the directory contains results of another experiment, ClusterliftError if a dataset
    cannot be generated, something cannot be set or a run is refused, KeyboardInterrupt if a script was
    interrupted.
    """
    results = results_of(experiment, site)
    with site.lock(), open_journal(results / JOURNAL) as journal:
        _ExperimentRunner(experiment, site, results, journal).run()
    return outcome_of(experiment, results)


def put_back_all(experiment: Experiment, site: Site) -> list[str]:
    """Put back what an experiment has left on its hosts, and return a line for each setting.

    Raise ClusterliftError if a host does not answer, or something cannot be put back.
    """
    with site.lock(), open_journal(results_of(experiment, site) / JOURNAL) as journal:
        changes = site.put_back(journal, experiment.configurations)
        return [f"{change}: {change.before}" for change in changes]


def results_of(experiment: Experiment, site: Site) -> Path:
    """Return the experiment's own directory."""
    return site.results / experiment.name


class _ExperimentRunner:
    """Makes the runs of an experiment that are not done yet."""

    def __init__(self, experiment: Experiment, site: Site, results: Path, journal: Journal) -> None:
        self._experiment = experiment
        self._site = site
        self._results = results
        self._journal = journal
        self._probed = probed_parts(experiment, results)
        self._cannot_drop: set[str] = set()

    def run(self) -> None:
        completed = completed_parts(self._experiment, self._results)
        every = left_over(self._experiment, completed, self._probed)
        done = sum(each.is_measured for each in every)
        if done:
            say(f"{done} of {len(every)} runs are done already")
        left = [each for each in every if each.to_probe or not each.is_measured]
        self._prepare(left)
        for number, (each, outlook) in enumerate(with_outlook(left), 1):
            settings = each.run.link_texts
            say(f"application {number} of {len(left)}: {each.run}{settings}{outlook}")
            with Turns(self._site, self._journal) as turns:
                for part in each.to_probe:
                    self._probe(part, turns)
                for part in each.programs:
                    self._run_program(part, turns)
                if each.on_spark:
                    self._benchmark(each.run, turns)

    def _prepare(self, left: Sequence[LeftOver]) -> None:
        """Put back what an earlier command left; for these runs, if any, open the site and generate data."""
        if left or self._journal.outstanding():
            for change in self._site.put_back(self._journal, self._experiment.configurations):
                say(f"put back what an earlier command left: {change}: {change.before}")
        if not left:
            return
        self._site.open(self._needed_programs(left))
        wanted: dict[Configuration, None] = {}
        datasets: dict[DatasetSpec, None] = {}
        for each in left:
            for configuration in each.run.configurations:
                wanted[configuration.on_hosts] = None
                if configuration.data and each.run.has_spark and not each.is_measured:
                    datasets[configuration.data] = None
        # This finds what cannot be set, or could not be put back, before a dataset is generated.
        for configuration in wanted:
            plan(self._site.settings(configuration))
        self._generate(datasets)

    def _needed_programs(self, left: Sequence[LeftOver]) -> list[str]:
        """Return the programs that every host needs for these runs. They are checked before data exists."""
        names: list[str] = []
        if any(each.to_probe for each in left):
            names += self._probe_plan(()).programs
        for each in left:
            for program in each.run.programs:
                names += program.executables
        return list(dict.fromkeys(names))

    def _generate(self, datasets: Iterable[DatasetSpec]) -> None:
        """Generate and verify each dataset once, before anything is set."""
        for data in datasets:
            say(f"data {describe_data(data)}")
            arguments = [self._site.uri(data), "--rows", str(data.rows)]
            arguments += ["--format", data.format, "--reuse"]
            if data.layout:
                arguments += ["--layout", data.layout]
            code = self._site.submit(GENERATE, arguments)
            if code:
                raise ClusterliftError(
                    f"data {data.name} was not generated: generate.py ended with {code}"
                )

    def _probe(self, part: Part, turns: Turns) -> None:
        """Probe the network, unless this run of another configuration with the same links has done so."""
        links = part.configuration.links
        for other, probed in self._probed.items():
            if other.number == part.number and other.configuration.links == links:
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
        lost = turns.lost()
        if lost:
            turns.end()
            set_aside(Path(probed.source), f"the probe of {part}", lost)
        else:
            self._probed[part] = probed
        _require_end(probed.ending)

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

    def _run_program(self, part: Part, turns: Turns) -> None:
        experiment = self._experiment
        [program] = [each for each in experiment.programs if each.name == part.program]
        configured = turns.take(part.configuration)
        hosts = ready_hosts(program, configured.hosts[: part.configuration.nodes])
        warm_up = DEFAULT_WARM_UP if experiment.work.warmup == AUTO else int(experiment.work.warmup)
        planned = ProgramRun(
            program,
            Placement(hosts, experiment.per_host),
            part.configuration.name,
            growing=experiment.growing,
            trials=experiment.work.trials,
            warmup=warm_up,
            facts=self._facts(part),
        )
        with self._counting_unless_lost([part], turns):
            recorded = run_program(planned, self._results)
        _require_end(recorded.ending)

    def _benchmark(self, run: PlannedRun, turns: Turns) -> None:
        """Submit the benchmark for the configurations of a run, which take turns if there are several."""
        by_name = {each.name: each for each in self._experiment.configurations}

        def answer(request: str) -> None:
            if request == DROP_CACHES:
                self._drop_caches()
            else:
                turns.begin(by_name[request])

        first = run.configurations[0]
        properties = [f"{key}={value}" for key, value in first.spark.items()]
        arguments = self._arguments(run)
        done = completed_parts(self._experiment, self._results)
        proven = {PROVEN: proven_content(done.values())}
        is_alone = len(run.configurations) == 1
        if is_alone:
            turns.take(first)
        has_requests = not is_alone or self._experiment.work.cache == COLD
        on_request = answer if has_requests else None
        with self._counting_unless_lost(run.spark_parts, turns):
            code = self._site.submit(BENCHMARK, arguments, properties, proven, on_request)
        if code == BadInput.exit_code:
            raise ClusterliftError(f"{run}: benchmark.py refused to run; its error is above")
        if code:
            say(f"{run}: benchmark.py ended with {code}")

    @contextmanager
    def _counting_unless_lost(self, parts: Sequence[Part], turns: Turns) -> Iterator[None]:
        """Let what the block records of these parts not count if their settings were lost meanwhile."""
        former = files_of(parts, self._results)
        try:
            yield
        finally:  # also if it was interrupted, or a turn could not begin
            lost = turns.lost()
            if lost:
                set_parts_aside(parts, self._results, lost, former)
                turns.end()

    def _drop_caches(self) -> None:
        """Let hosts drop their page caches before a trial, and say once which of them cannot."""
        for error in self._site.drop_caches():
            if error not in self._cannot_drop:
                self._cannot_drop.add(error)
                say(f"{error}: what it stores stays in its memory")

    def _arguments(self, run: PlannedRun) -> list[str]:
        """Return the arguments of the benchmark for a run."""
        experiment = self._experiment
        path_there = self._site.path_there
        arguments = list(experiment.work.arguments(path_there))
        arguments.append(f"--results={path_there(self._results)}")
        arguments.append(f"--seed={experiment.id}-{run.number}")
        nodes = run.configurations[0].nodes
        if nodes:
            arguments.append(f"--nodes={nodes}")
        if len(run.configurations) > 1:
            return [*arguments, f"--turns={json.dumps(self._turns(run))}"]
        turn = self._turn(run.spark_parts[0])
        if turn["dataset"]:
            arguments.append(f"--dataset={turn['dataset']}")
        arguments.append(f"--configuration={turn['configuration']}")
        arguments += [f"--table={name}={uri}" for name, uri in turn["tables"].items()]
        arguments += [f"--fact={name}={value}" for name, value in turn["facts"].items()]
        return arguments

    def _turns(self, run: PlannedRun) -> list[dict[str, Any]]:
        """Return the turns of a run in the order of the file. The seed makes the order of the run from it."""
        parts = {part.configuration: part for part in run.spark_parts}
        order = self._experiment.configurations
        return [self._turn(parts[each]) for each in order if each in parts]

    def _turn(self, part: Part) -> dict[str, Any]:
        """Return the turn of a configuration, as the option --turns has it.

        In the URI of a table, `{dataset}` stands for the URI of the configuration's dataset.
        """
        configuration = part.configuration
        data = configuration.data and self._site.uri(configuration.data)
        tables = configuration.tables.items()
        return {
            "configuration": configuration.name,
            "dataset": data,
            "facts": self._facts(part),
            "tables": {name: uri.replace("{dataset}", data or "") for name, uri in tables},
        }

    def _facts(self, part: Part) -> dict[str, str]:
        """Return the facts to record. `layout` is the requested one, if the file names one."""
        facts = self._site.facts(part.configuration)
        data = part.configuration.data
        if data and data.layout:
            facts = {**facts, "layout": data.layout}
        return {**facts, EXPERIMENT: self._experiment.id, NUMBER: str(part.number)}


def _require_end(ending: Ending | None) -> None:
    if ending is Ending.INTERRUPTED:
        say("the same command resumes the experiment")
        raise KeyboardInterrupt


def describe_data(data: DatasetSpec) -> str:
    """Return a dataset for people: `coded: 1,000 rows, layout xor:2+1, on hdfs`."""
    storage = f", on {data.storage}" if data.storage else ""
    return f"{data.name}: {data.rows:,} rows, layout {data.layout or 'of the file system'}{storage}"
