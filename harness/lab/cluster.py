"""The lab as the engine knows it: nothing is written down elsewhere, so nothing can be out of date."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.lab.engine import docker
from harness.model.errors import BadInput, ClusterliftError
from harness.probes.transports.host import Host, by_docker

NETWORK_MTU = "com.docker.network.driver.mtu"
MASTER, ROUTER = "master", "router"


@dataclass(frozen=True)
class Node:
    """A container. `state` is the engine's word: running, exited, ..."""

    name: str
    container: str
    state: str

    @property
    def is_running(self) -> bool:
        """Whether commands can be run in it."""
        return self.state == "running"

    @property
    def host(self) -> Host:
        """The node as probes reach it, by the name that the others know it by."""
        return by_docker(self.name, self.name, self.container)

    def execute(self, *command: str) -> str:
        """Run a command as root, and return what it prints. Raises ClusterliftError if it fails."""
        return docker("exec", "--user", "root", self.container, *command)


@dataclass(frozen=True)
class Lab:
    """Master, workers, and a router if there are racks. `cpus` is each worker's share, 0: no limit."""

    nodes: tuple[Node, ...]
    storage: str
    cpus: float

    @property
    def master(self) -> Node:
        """The node of Spark's master and of the file system's head."""
        return self.node(MASTER)

    @property
    def workers(self) -> list[Node]:
        """The nodes that compute and store, by number."""
        return [node for node in self.nodes if node.name.startswith("worker-")]

    @property
    def linked(self) -> list[Node]:
        """The nodes whose link is shaped: all that run but the router."""
        return [node for node in self.nodes if node.is_running and node.name != ROUTER]

    @property
    def router(self) -> Node | None:
        """What is between the racks; None if all nodes are on one network."""
        return next((node for node in self.nodes if node.name == ROUTER), None)

    def node(self, name: str) -> Node:
        """One by name. Raises BadInput if there is none, or it does not run."""
        for node in self.nodes:
            if node.name == name and node.is_running:
                return node
        there = ", ".join(node.name for node in self.nodes if node.is_running)
        raise BadInput(f"no node of the lab that runs is called {name!r} (there: {there})")

    def select(self, names: Sequence[str]) -> list[Node]:
        """Those nodes. Raises BadInput like `node`."""
        return [self.node(name) for name in names]


def project() -> str:
    """The name that the engine knows it by; another one is another lab."""
    return os.environ.get("COMPOSE_PROJECT_NAME") or "clusterlift"


def ours() -> str:
    """What a thing of the engine's that belongs to the lab is filtered by."""
    return f"label=com.docker.compose.project={project()}"


def find_lab() -> Lab | None:
    """The lab that is up, or what is left of it; None if there is nothing."""
    containers = _containers()
    if not containers:
        return None
    nodes = sorted((_node(one) for one in containers), key=_by_number)
    host = next((one for one in containers if _service(one).startswith("worker-")), containers[0])
    environment = dict(entry.split("=", 1) for entry in host["Config"]["Env"])
    cpus = host["HostConfig"]["NanoCpus"] / 1e9
    return Lab(tuple(nodes), environment.get("STORAGE", "hdfs"), cpus)


def running_lab() -> Lab:
    """The lab that is up. Raises BadInput if none is, or its master is gone."""
    lab = find_lab()
    if lab is None:
        raise BadInput("no lab is up; start one: clusterlift lab up")
    lab.node(MASTER)
    return lab


def networks() -> list[str]:
    """Names of the lab's networks."""
    return docker("network", "ls", "--filter", ours(), "--format", "{{.Name}}").split()


def largest_mtu() -> int:
    """Bytes that the lab's network carries in a frame."""
    options = json.loads(docker("network", "inspect", *networks()))
    return min(int(one["Options"].get(NETWORK_MTU, 1500)) for one in options)


def _containers(attempts: int = 3) -> list[dict[str, Any]]:
    """What the engine knows of each of them."""
    ids = docker("ps", "--all", "--quiet", "--filter", ours()).split()
    if not ids:
        return []
    try:
        found: list[dict[str, Any]] = json.loads(docker("inspect", *ids))
    except ClusterliftError:
        if attempts == 1:
            raise
        return _containers(attempts - 1)  # one of them was being taken away
    return found


def _node(container: dict[str, Any]) -> Node:
    return Node(_service(container), str(container["Id"]), str(container["State"]["Status"]))


def _service(container: dict[str, Any]) -> str:
    return str(container["Config"]["Labels"]["com.docker.compose.service"])


def _by_number(node: Node) -> tuple[str, int]:
    name, _, number = node.name.partition("-")
    return name, int(number) if re.fullmatch(r"\d+", number) else 0
