"""The shape of a lab, and the lab that is up, read from Docker each time: nothing can be out of date."""

import json
import os
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from harness.base.errors import BadInput, ClusterliftError
from harness.base.words import count_of
from harness.hosts.transports.host import Host, by_docker
from harness.lab.engine import docker
from harness.lab.storages import ceph_bucket
from harness.records.directories import cache_directory, locked

MASTER = "master"
RESULTS = "/opt/clusterlift/results"
LOCAL_DIRS = "/data"
"""SPARK_LOCAL_DIRS in docker/compose.yaml."""
_COLUMNS = (
    '{{.ID}}\t{{.State}}\t{{.Label "com.docker.compose.service"}}\t'
    '{{.Label "clusterlift.storage"}}\t{{.Label "clusterlift.cpus"}}'
)


@dataclass(frozen=True)
class Node:
    """A container. `state` is Docker's: running, exited, ..."""

    name: str
    container: str
    state: str

    @property
    def is_running(self) -> bool:
        """Whether commands can be run in it."""
        return self.state == "running"

    @property
    def host(self) -> Host:
        """The node as a host, under the name by which the other nodes reach it."""
        return by_docker(self.name, self.name, self.container)

    def execute(self, *command: str) -> str:
        """Run a command as root and return its output. Raise ClusterliftError if it fails."""
        return docker("exec", "--user", "root", self.container, *command)


@dataclass(frozen=True)
class LabSpec:
    """The number of workers, the processors of each, and the file systems."""

    workers: int
    cpus: float
    storages: tuple[str, ...]

    @property
    def services(self) -> list[str]:
        """The names of the nodes, which are Compose's services."""
        return [MASTER] + [f"worker-{number}" for number in range(1, self.workers + 1)]

    @property
    def storage_variable(self) -> str:
        """The value of Compose's variable STORAGE, and the tag of the image."""
        return "-".join(self.storages)

    def __str__(self) -> str:
        workers = count_of(self.workers, "worker")
        return f"{workers} of {self.cpus:g} processors, {', '.join(self.storages)}"


@dataclass(frozen=True)
class Lab:
    """A master and workers. `storages` are its file systems, `cpus` the processors that a worker may use."""

    nodes: tuple[Node, ...]
    storages: tuple[str, ...]
    cpus: float

    @property
    def shape(self) -> LabSpec:
        """The shape of the lab. Some of its nodes may have ended."""
        return LabSpec(len(self.workers), self.cpus, self.storages)

    @property
    def master(self) -> Node:
        """The node of Spark's master and of the file system's head. Raise BadInput if it does not run."""
        return self.node(MASTER)

    @property
    def workers(self) -> list[Node]:
        """The nodes that compute and store, in the order of their numbers."""
        return [node for node in self.nodes if node.name.startswith("worker-")]

    @property
    def running(self) -> list[Node]:
        """The nodes that run."""
        return [node for node in self.nodes if node.is_running]

    @property
    def hosts(self) -> list[Host]:
        """The nodes that run, as hosts."""
        return [node.host for node in self.running]

    def uri(self, storage: str | None = None, layout: str | None = None) -> str:
        """Return the URI of a file system, by default of the first, for data of a layout.

        The first one is Spark's default, so a path alone refers to it, too.
        """
        match storage or self.storages[0]:
            case "qfs":
                addresses = self.master.execute("hostname", "-i").split()
                return f"qfs://{addresses[0]}:20000"
            case "ceph":
                return f"s3a://{ceph_bucket(layout, len(self.workers))}"
            case _:
                return "hdfs://master:9820"

    @property
    def results(self) -> Path:
        """The host's directory of results, which the master mounted when it started."""
        mounts = docker("inspect", "--format", "{{json .Mounts}}", self.master.container)
        sources = {each["Destination"]: each["Source"] for each in json.loads(mounts)}
        return Path(sources[RESULTS])

    def node(self, name: str) -> Node:
        """Return the running node of this name. Raise BadInput if there is none."""
        running = {node.name: node for node in self.running}
        if name not in running:
            raise BadInput(
                f"no running node of the lab is called {name!r} (running: {', '.join(running)})"
            )
        return running[name]

    def why_not_ready(self) -> str:
        """Return what the master still waits for; empty if the lab is ready."""
        try:
            self.master.execute("ready", MASTER)
        except BadInput:
            raise
        except ClusterliftError as error:
            return str(error)
        return ""


def project() -> str:
    """Return the lab's project name for Compose. Another name is another lab."""
    return os.environ.get("COMPOSE_PROJECT_NAME") or "clusterlift"


def lab_lock() -> AbstractContextManager[None]:
    """Return a context in which the lab is locked: two commands would spoil each other's work.

    To enter it raises BadInput if another command of this user has it, or if the cache cannot be written.
    """
    return locked(
        cache_directory() / f"lab-{quote(project(), safe='')}.lock",
        "the lock of the lab",
        "another command is using the lab: wait until it has finished, or set COMPOSE_PROJECT_NAME for a "
        "second lab",
    )


def lab_filter() -> str:
    """Return the `--filter` that selects the lab's containers, volumes and networks."""
    return f"label=com.docker.compose.project={project()}"


def find_lab() -> Lab | None:
    """Return the lab that is up, or what is left of it; None if there is no container of it."""
    listed = docker("ps", "--all", "--no-trunc", "--filter", lab_filter(), "--format", _COLUMNS)
    nodes = []
    for line in listed.splitlines():
        container, state, name, storages, cpus = line.split("\t")
        nodes.append(Node(name, container, state))
    if not nodes:
        return None
    nodes.sort(key=_by_number)
    return Lab(tuple(nodes), tuple(storages.split("-")), _cpus(cpus))


def _cpus(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) or float(text) == 0:
        raise BadInput(
            f"the lab was started with CPUS={text!r}, which is no number of processors: remove it "
            "(clusterlift lab down), and start it with clusterlift lab up --cpus X"
        )
    return float(text)


def _by_number(node: Node) -> tuple[str, int]:
    name, _, number = node.name.partition("-")
    return name, int(number) if number.isdecimal() else 0


def running_lab() -> Lab:
    """Return the lab that is up. Raise BadInput if there is none, or if its master does not run."""
    lab = find_lab()
    if lab is None:
        raise BadInput("no lab is up; start one: clusterlift lab up")
    lab.node(MASTER)
    return lab
