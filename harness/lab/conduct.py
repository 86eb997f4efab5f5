"""Runs an experiment in the lab: what is done is found in its results, so it can be cut off anywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.errors import BadInput, ClusterliftError
from harness.lab import status
from harness.lab.cluster import Lab, running_lab
from harness.lab.experiment import Configuration, Data, Experiment
from harness.lab.lifecycle import up
from harness.lab.link import set_links
from harness.lab.submit import spark_submit, with_facts
from harness.loopback.say import say
from harness.model import Ending
from harness.rate import Link
from harness.record.progress import duration
from harness.record.store import SUFFIX, configuration_directory, load

INTERRUPTED = 130
WITH_FAILURES = 1


@dataclass(frozen=True)
class Step:
    """A configuration's turn in a round."""

    configuration: Configuration
    round: int


def conduct(experiment: Experiment, results: Path) -> int:
    """Run what is not done yet; returns 1 if a trial failed, 130 if it was interrupted, else 0.

    `results` is the experiment's own directory, below the one that the lab's master mounts. Raises
    BadInput if it holds another experiment's, ClusterliftError if data cannot be made.
    """
    done = steps_done(experiment, results)
    todo = [step for step in steps(experiment) if step not in done]
    if done:
        say(f"{len(done)} of {len(done) + len(todo)} runs are done already")
    if not todo:
        return 0
    up(experiment.shape)
    lab = running_lab()
    _generate(experiment, lab)
    return _run(experiment, lab, todo, results)


def steps(experiment: Experiment) -> Iterator[Step]:
    """All of them in order: interleaved, so that what drifts hits every configuration alike."""
    for round_ in range(1, experiment.rounds + 1):
        for configuration in experiment.order(round_):
            yield Step(configuration, round_)


def steps_done(experiment: Experiment, results: Path) -> set[Step]:
    """Those with a run that came to its end. Raises BadInput if there are runs of something else."""
    done = set()
    for configuration in experiment.configurations:
        place = configuration_directory(results, configuration.name)
        for file in sorted(place.glob(f"*{SUFFIX}")):
            recorded = load(file)
            facts = recorded.run.facts
            if facts.get("experiment") != experiment.digest:
                raise BadInput(
                    f"{file} is not of this experiment as it is now; move {results} away, or give "
                    "the experiment another name"
                )
            if recorded.ending is Ending.COMPLETED:
                done.add(Step(configuration, int(facts["round"])))
    return done


def _generate(experiment: Experiment, lab: Lab) -> None:
    """Every dataset once, over links without a limit; generating proves how it lies."""
    set_links(lab.linked, lambda link: Link(None, link.mtu))
    for data in experiment.datasets:
        say(f"data {data.name}: {data.rows:,} rows, layout {data.layout or 'as the storage likes'}")
        layout = ["--layout", data.layout] if data.layout else []
        arguments = [
            *(_uri(experiment, lab, data), "--rows", str(data.rows), "--format", data.format),
            *("--reuse", *layout),
        ]
        if code := spark_submit(lab, "datagen/generate.py", arguments):
            raise ClusterliftError(f"data {data.name} was not made: generate.py ended with {code}")


def _run(experiment: Experiment, lab: Lab, todo: Sequence[Step], results: Path) -> int:
    worst, started = 0, time.monotonic()
    for number, step in enumerate(todo):
        link = step.configuration.link
        left = (time.monotonic() - started) / number * (len(todo) - number) if number else None
        say(
            f"run {number + 1} of {len(todo)}: {step.configuration.name}, round {step.round}, {link}"
            + (f"; about {duration(left)} left" if left else "")
        )
        set_links(lab.linked, partial(_replaced, link))
        facts = {
            **status.facts(lab),
            "experiment": experiment.digest,
            "round": str(step.round),
        }
        arguments = with_facts(_arguments(experiment, lab, step, results), facts)
        code = spark_submit(lab, "jobs/benchmark.py", arguments)
        if code == INTERRUPTED:
            say("interrupted; the same command goes on from here")
            return code
        if code not in {0, WITH_FAILURES}:
            raise ClusterliftError(
                f"{step.configuration.name}, round {step.round}: benchmark.py ended with {code}"
            )
        worst = max(worst, code)
    return worst


def _replaced(link: Link, _: Link) -> Link:
    return link


def _arguments(experiment: Experiment, lab: Lab, step: Step, results: Path) -> list[str]:
    arguments = {
        "--dataset": _uri(experiment, lab, step.configuration.data),
        "--configuration": step.configuration.name,
        "--trials": str(experiment.trials),
        "--warmup": str(experiment.warmup),
        "--results": f"results/{results.name}",
        "--workloads": ",".join(experiment.workloads),
        "--repartition": str(experiment.repartition or ""),
        "--pi-samples": str(experiment.pi_samples or ""),
    }
    return [part for name, value in arguments.items() if value for part in (name, value)]


def _uri(experiment: Experiment, lab: Lab, data: Data) -> str:
    return f"{status.uri(lab)}/{experiment.name}/{data.name}"
