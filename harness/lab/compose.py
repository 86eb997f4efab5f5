"""Docker Compose, which starts a lab of any shape from docker/compose.yaml."""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.child_process import ENGLISH
from harness.base.errors import ClusterliftError
from harness.base.failure_reason import failure_reason
from harness.lab.cluster import MASTER, LabSpec, project
from harness.lab.engine import NO_OUTPUT
from harness.records.directories import kept_in
from harness.submit.script import ROOT

FILE = ROOT / "docker/compose.yaml"
WORKERS_IN_FILE = 4
MAX_WORKERS = 64
MIN_CPUS = 0.1
MAX_CPUS = 1024
CPU_PERIOD_US = 20_000
"""A worker that has used its share of the processors stands still until the end of the period.

With the kernel's default of 100 ms, work of 0.15 s of half a processor varied by 11 %, with 20 ms by 2 %.
"""
SUMMARY = "ERROR: Encountered errors while bringing up the project."
"""The last line of Compose 1.29 after any error. The reason is before it."""
_STANDARD_ERROR = 2


def cpu_quota_us(cpus: float) -> int:
    """Return the processor time of each period, in microseconds, that is as much as `cpus` processors."""
    return round(cpus * CPU_PERIOD_US)


def results_directory() -> Path:
    """Return the host's directory to which the lab's master writes results, as an absolute path."""
    return Path(os.environ.get("RESULTS") or ROOT / "results").absolute()


def override(shape: LabSpec) -> dict[str, Any]:
    """Return the Compose file to read after docker/compose.yaml."""
    # Compose 1.29 takes a file without any service for a file of another format, and no variable for a quota.
    services: dict[str, dict[str, Any]] = {MASTER: {}}
    volumes: dict[str, Any] = {}
    for number in range(1, shape.workers + 1):
        service: dict[str, Any] = {"cpu_quota": cpu_quota_us(shape.cpus)}
        if number > WORKERS_IN_FILE:
            service["extends"] = {"file": str(FILE), "service": "worker-1"}
            service["hostname"] = f"worker-{number}"
            service["volumes"] = [f"data-{number}:/data"]
            volumes[f"data-{number}"] = {}
        services[f"worker-{number}"] = service
    return {"services": services, "volumes": volumes}


@dataclass(frozen=True)
class Compose:
    """Docker Compose with the files of a shape, and with these variables."""

    program: Sequence[str]
    shape: LabSpec
    variables: Mapping[str, str]

    def build(self) -> None:
        """Build the image, and show the progress on standard error. A failed build leaves no container.

        Raise ClusterliftError if the build fails.
        """
        self._run("build", "--force-rm", MASTER, output=_STANDARD_ERROR)

    def up(self) -> None:
        """Start the containers that do not run. Raise ClusterliftError if one cannot be started.

        Raise BadInput if there cannot be a directory for results: Docker would make one that is root's.
        """
        with kept_in(results_directory(), "results", "set RESULTS to a directory of your own"):
            pass
        self._run("up", "--detach", "--no-build", *self.shape.services)

    def _run(self, *arguments: str, output: int = subprocess.PIPE) -> None:
        environment = {
            **os.environ,
            "STORAGE": self.shape.storage_variable,
            "NODES": str(self.shape.workers),
            "CPUS": f"{self.shape.cpus:g}",
            # Compose takes a relative path for one beside its file, and a mere name for a volume.
            "RESULTS": str(results_directory()),
            **self.variables,
            **ENGLISH,
        }
        # A file without a name, which Compose opens as its standard input: nothing is left if we are killed.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as added:
            json.dump(override(self.shape), added)  # JSON is valid YAML
            added.seek(0)
            command = [*self.program, "--project-name", project()]
            command += ["-f", str(FILE), "-f", "/dev/stdin", *arguments]
            done = subprocess.run(
                command, env=environment, stdin=added, stdout=output, stderr=output, text=True,
                errors="replace", check=False,
            )  # fmt: skip
        if done.returncode:
            printed = "see above" if done.stderr is None else done.stderr.replace(SUMMARY, "")
            reason = failure_reason(printed) or NO_OUTPUT
            raise ClusterliftError(f"compose {arguments[0]} failed: {reason}")
