"""The lab's containers, as docker/compose.yaml describes them, and what a shape other than its adds."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.lab import racks
from harness.lab.cluster import MASTER, ROUTER, project
from harness.lab.engine import docker, last_line, run
from harness.local_spark import ROOT
from harness.minicluster.qfs_home import CHUNKSERVER, METASERVER, PING, QfsHome
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import MAX_MTU, rate_text

FILE = ROOT / "docker/compose.yaml"
WRITTEN_WORKERS = 4
"""How many workers that file has."""
SUMMARY = "ERROR: Encountered errors while bringing up the project."
"""What Compose 1.29 says last, whatever it was."""


def results_directory() -> Path:
    """Where the lab's master puts results, on the host."""
    return Path(os.environ.get("RESULTS") or ROOT / "results")


@dataclass(frozen=True)
class Shape:
    """What a lab is made of. `uplink_bit_s` is between two racks; None: there is one rack."""

    workers: int
    cpus: float
    storage: str
    uplink_bit_s: int | None = None

    @property
    def services(self) -> list[str]:
        """The containers' names."""
        workers = [f"worker-{number}" for number in range(1, self.workers + 1)]
        return [MASTER, *workers, *([ROUTER] if self.uplink_bit_s else [])]

    def __str__(self) -> str:
        between = f", an uplink of {rate_text(self.uplink_bit_s)}" if self.uplink_bit_s else ""
        return f"{self.workers} workers of {self.cpus:g} processors, {self.storage}{between}"


def override(shape: Shape) -> dict[str, Any]:
    """What compose has to read after docker/compose.yaml."""
    more = range(WRITTEN_WORKERS + 1, shape.workers + 1)
    # Compose 1.29 takes a file without any service for one of another format.
    services: dict[str, dict[str, Any]] = {MASTER: {}, **{f"worker-{i}": _worker(i) for i in more}}
    added: dict[str, Any] = {"volumes": {f"data-{i}": {} for i in more}}
    if shape.uplink_bit_s:
        added["networks"] = racks.networks()
        for name, service in racks.services(shape.workers).items():
            services[name] = {**services.get(name, {}), **service}
    return {"services": services, **added}


class Compose:
    """Docker Compose with one shape's files and variables."""

    def __init__(self, program: Sequence[str], shape: Shape, variables: Mapping[str, str]) -> None:
        self._program = program
        self._shape = shape
        self._environment = {
            **os.environ,
            "STORAGE": shape.storage,
            "NODES": str(shape.workers),
            "CPUS": f"{shape.cpus:g}",
            "MTU": str(MAX_MTU),
            **variables,
        }

    def build(self) -> None:
        """Make the image; quick if nothing changed. Raises ClusterliftError if it cannot be made."""
        self._run("build", MASTER)

    def up(self) -> None:
        """Start what does not run. Raises ClusterliftError if it cannot be."""
        self._run("up", "--detach", "--no-build", *self._shape.services)

    def _run(self, *arguments: str) -> None:
        with _file(override(self._shape)) as added:
            files = ["-f", str(FILE), "-f", str(added)]
            command = [*self._program, "--project-name", project(), *files, *arguments]
            done = run(command, self._environment)
        if done.returncode:
            said = last_line(done.stderr.replace(SUMMARY, ""))
            raise ClusterliftError(f"compose {arguments[0]} failed: {said}")


def _worker(number: int) -> dict[str, Any]:
    return {
        "extends": {"file": str(FILE), "service": "worker-1"},
        "hostname": f"worker-{number}",
        "volumes": [f"data-{number}:/data"],
    }


@contextmanager
def _file(content: Mapping[str, Any]) -> Iterator[Path]:
    """A file while entered. JSON is YAML, too."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "override.json"
        file.write_text(json.dumps(content), encoding="utf-8")
        yield file


# MERGED from harness.lab.qfs_tarball: 'Where the image gets QFS from: a binary tarball of it, which is on no package registry.'
IN_CONTEXT = "docker/qfs.tgz"
PROGRAMS = (METASERVER, CHUNKSERVER, PING, "bin/tools/qfs", "bin/tools/qfsfileenum")
IMAGE = "clusterlift-lab:qfs"


def qfs_variables() -> dict[str, str]:
    """The build argument QFS_TARBALL as compose is to have it; empty if the image is there already.

    A file comes into the build context. Raises BadInput if there is no QFS anywhere.
    """
    if named := os.environ.get("QFS_TARBALL"):
        return {"QFS_TARBALL": named if "://" in named else _copied(Path(named))}
    if home := os.environ.get("QFS_HOME"):
        return {"QFS_TARBALL": _packed(QfsHome(Path(home).absolute()))}
    if docker("image", "ls", "--quiet", IMAGE).strip():
        return {}
    raise BadInput(
        "--storage qfs: set QFS_TARBALL to a binary tarball of QFS (a URL or a file), or QFS_HOME to "
        "where one was unpacked"
    )


def _copied(tarball: Path) -> str:
    try:
        shutil.copyfile(tarball, ROOT / IN_CONTEXT)
    except shutil.SameFileError:
        pass
    except OSError as error:
        raise BadInput(f"QFS_TARBALL is {tarball}: {error.strerror}") from error
    return IN_CONTEXT


def _packed(home: QfsHome) -> str:
    """The same bytes for the same files, so that the image is only made anew for others."""
    for program in PROGRAMS:
        home.program(program)
    home.class_path()  # complains of what lacks
    try:
        with (
            (ROOT / IN_CONTEXT).open("wb") as file,
            gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            for part in sorted([*PROGRAMS, *_libraries(home)]):
                archive.add(home.directory / part, f"qfs/{part}")
    except OSError as error:
        raise BadInput(f"QFS_HOME is {home.directory}: {error.strerror}") from error
    return IN_CONTEXT


def _libraries(home: QfsHome) -> list[str]:
    files = [*home.libraries.glob("*.so*"), *home.libraries.glob("*.jar")]
    return [f"lib/{file.name}" for file in files]
