"""An experiment in a lab of its own: the smallest that compares two configurations."""

import json
import socket
import subprocess
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.lab.compose import CPU_PERIOD_US
from harness.lab.engine import compose_program
from harness.lab.lifecycle import PORTS
from harness.model.errors import ClusterliftError
from harness.model.run import Ending

from .processes import Ended, run
from .scenarios import CLUSTERLIFT, Scenario, hidden_files, lost_trials, recorded

PROJECT = "clusterlift-kill"
CPUS = 0.5
EXPERIMENT = f"""
name = "NAME"
nodes = 1
cpus = {CPUS}
runs = 1
turns = "TURNS"
trials = 1
warmup = 0
workloads = ["calc-pi-dataframe", "sha-512"]
pi_samples = 1000
[datasets.small]
rows = 2000
layout = "replicated:1"
[configurations.slow]
dataset = "small"
rate = "50mbit"
[configurations.fast]
dataset = "small"
rate = "100mbit"
"""


class LabExperiment(Scenario):
    """Two runs in one lab, which stays up between the cases; each case has an experiment of its own."""

    name = "experiment"
    runs_jvm = False

    def __init__(self, templates: Path) -> None:
        super().__init__(templates)
        self._results = templates / "lab-results"
        self._turns = deque(("runs", "rounds"))
        with ExitStack() as stack:
            servers = {name: stack.enter_context(socket.create_server(("", 0))) for name in PORTS}
            self._ports = {name: str(server.getsockname()[1]) for name, server in servers.items()}

    def environment(self, directory: Path, mark: str) -> dict[str, str]:
        return {
            **super().environment(directory, mark),
            **self._ports,
            "COMPOSE_PROJECT_NAME": PROJECT,
            "RESULTS": str(self._results),
        }

    def prepare(self, directory: Path) -> None:
        directory.mkdir()
        if not self._results.exists():
            try:
                compose_program()
            except ClusterliftError as error:
                pytest.skip(f"{error} (.ci/engine installs and starts one)")
            self._results.mkdir()
            self._run("up", "--nodes", "1", "--cpus", str(CPUS))
        name = self._experiment(directory)
        # Both kinds of turns, each in its turn.
        self._turns.rotate()
        text = EXPERIMENT.replace("NAME", name).replace("TURNS", self._turns[0])
        (directory / "experiment.toml").write_text(text)

    def commands(self) -> Sequence[Sequence[str]]:
        return [[*CLUSTERLIFT, "experiment", "experiment.toml"]]

    def violations(self, directory: Path, ended: Ended) -> Iterator[str]:
        yield from lost_trials(ended.output, list(recorded(self._recorded(directory))))

    def wrong_outcome(self, directory: Path, ended: Ended) -> Iterator[str]:
        results = self._recorded(directory)
        runs = [each for each in recorded(results) if each.ending is Ending.COMPLETED]
        if sorted(each.run.configuration for each in runs) != ["fast", "slow"]:
            yield f"completed: {[each.run.configuration for each in runs]}"
        if any(len(each.trials) != 2 for each in runs):
            yield "a run has not all of its trials"
        if not (results / "comparison.md").exists():
            yield "there is no table"
        yield from hidden_files(results)

    def external(self, directory: Path) -> Iterator[str]:
        containers = docker(
            "ps", "--all", "--quiet", f"--filter=label=com.docker.compose.project={PROJECT}"
        )
        for container in json.loads(docker("inspect", *containers.split()) or "[]"):
            service = container["Config"]["Labels"]["com.docker.compose.service"]
            limit = container["HostConfig"]["CpuQuota"] / CPU_PERIOD_US
            queues = docker("exec", container["Id"], "tc", "qdisc", "show", "dev", "eth0")
            if "tbf" in queues:
                yield f"the link of {service} is limited"
            if service not in {"master", "worker-1"}:
                yield f"container {service}"
            elif service == "worker-1" and limit != CPUS:
                yield f"{service} may use {limit:g} processors"
            elif service == "master":
                yield from (
                    line
                    for line in docker("exec", container["Id"], "ps", "-eo", "args").splitlines()
                    if "/opt/clusterlift/" in line
                )
                found = docker("exec", container["Id"], "sh", "-c", "ls /tmp")
                yield from (name for name in found.split() if name.startswith("clusterlift-"))

    def close(self) -> None:
        """Remove the lab."""
        if self._results.exists():
            self._run("down")

    def _run(self, command: str, *options: str) -> None:
        place = self.templates / f"lab-{command}"
        place.mkdir()
        environment = self.environment(place, f"lab-{command}")
        ended = run([[*CLUSTERLIFT, "lab", command, *options]], place, environment)
        assert ended.code == 0, ended.output

    def _recorded(self, directory: Path) -> Path:
        return self._results / self._experiment(directory)

    def _experiment(self, directory: Path) -> str:
        return f"{directory.parent.name}-{directory.name}"[-60:].lstrip("-._")


def docker(*arguments: str) -> str:
    """Return the output of a docker command; empty if it fails, as for what has just been removed."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""
