"""Docker Compose with docker/compose.yaml, and what a lab of another shape adds to that file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.lab import racks
from harness.lab.cluster import MASTER, project
from harness.lab.engine import NO_OUTPUT, run, run_showing_output
from harness.lab.shape import Shape
from harness.local_spark import ROOT
from harness.model.errors import ClusterliftError
from harness.model.link import MAX_MTU
from harness.terminal import last_line, say

FILE = ROOT / "docker/compose.yaml"
WORKERS_IN_FILE = 4
SUMMARY = "ERROR: Encountered errors while bringing up the project."
"""The last line of Compose 1.29 after any error; the reason is before it."""


def results_directory() -> Path:
    """Return the host's directory to which the lab's master writes results."""
    return Path(os.environ.get("RESULTS") or ROOT / "results")


def override(shape: Shape) -> dict[str, Any]:
    """Return the Compose file to read after docker/compose.yaml."""
    additional = range(WORKERS_IN_FILE + 1, shape.workers + 1)
    # Compose 1.29 takes a file without any service for a file of another format.
    services: dict[str, dict[str, Any]] = {
        MASTER: {},
        **{f"worker-{number}": _worker(number) for number in additional},
    }
    content: dict[str, Any] = {"volumes": {f"data-{number}": {} for number in additional}}
    if shape.uplink_bit_s:
        content["networks"] = racks.networks()
        for name, service in racks.services(shape.workers).items():
            services[name] = {**services.get(name, {}), **service}
    return {"services": services, **content}


class Compose:
    """Docker Compose with the files and variables of one shape."""

    def __init__(self, program: Sequence[str], shape: Shape, variables: Mapping[str, str]) -> None:
        self._program = program
        self._shape = shape
        self._environment = {
            **os.environ,
            "STORAGE": shape.storage,
            "NODES": str(shape.workers),
            "CPUS": f"{shape.cpus:g}",
            "MTU": str(MAX_MTU),
            # Whole lines, which can be passed on, instead of a display that is redrawn.
            "BUILDKIT_PROGRESS": "plain",
            **variables,
        }

    def build(self, show: Callable[[str], None] = say) -> None:
        """Build the image, and show the build's progress line by line.

        Raises ClusterliftError with the last line if the build fails.
        """
        self._run("build", MASTER, show=show)

    def up(self) -> None:
        """Start the containers that do not run. Raises ClusterliftError if one cannot be started."""
        self._run("up", "--detach", "--no-build", *self._shape.services)

    def _run(self, *arguments: str, show: Callable[[str], None] | None = None) -> None:
        with _json_file(override(self._shape)) as added:
            files = ["-f", str(FILE), "-f", str(added)]
            command = [*self._program, "--project-name", project(), *files, *arguments]
            if show is None:
                done = run(command, self._environment)
            else:
                done = run_showing_output(command, self._environment, show)
        if done.returncode:
            reason = last_line(done.stderr.replace(SUMMARY, ""), NO_OUTPUT)
            raise ClusterliftError(f"compose {arguments[0]} failed: {reason}")


def _worker(number: int) -> dict[str, Any]:
    return {
        "extends": {"file": str(FILE), "service": "worker-1"},
        "hostname": f"worker-{number}",
        "volumes": [f"data-{number}:/data"],
    }


@contextmanager
def _json_file(content: Mapping[str, Any]) -> Iterator[Path]:
    """Provide a file while entered. JSON is valid YAML."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "override.json"
        file.write_text(json.dumps(content), encoding="utf-8")
        yield file
