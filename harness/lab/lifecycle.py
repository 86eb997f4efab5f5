"""Start the lab and wait until it is ready; remove it without leaving anything behind."""

import os
import time
from dataclasses import replace

from harness.base.errors import BadInput, ClusterliftError
from harness.base.terminal import say
from harness.lab.cluster import Lab, find_lab, lab_filter, networks
from harness.lab.compose import FILE, Compose, LabSpec, shape_of
from harness.lab.engine import compose_program, docker, last_message
from harness.lab.links import set_links
from harness.lab.qfs_tarball import qfs_variables
from harness.minicluster.daemon import LOCALHOST, port_problem
from harness.model.link import TYPICAL_MTU

READY_S = 600.0
POLL_S = 1.0
PORTS = {"SPARK_UI_PORT": 8080, "HDFS_UI_PORT": 9870, "DRIVER_UI_PORT": 4040}
"""The host's ports of the lab's web pages, by the variable that sets each."""


def up(shape: LabSpec) -> bool:
    """Start a lab and wait until it is ready. Return False if it was up already.

    Raises BadInput if there is no checkout, a lab of another shape is up or a port is taken, ClusterliftError
    if the lab does not get ready.
    """
    if not FILE.is_file():
        raise BadInput("the lab is built from a clone of the repository: call clusterlift there")
    program = compose_program()
    lab = find_lab()
    if lab is not None:
        # A `lab down` that was cut off, or failed at one node, may have left the workers alone.
        running = {node.name for node in lab.nodes if node.is_running}
        if running == set(shape.services) and shape_of(lab) == shape:
            return False
        if shape_of(lab) != shape:
            raise BadInput(
                f"another lab is up: {shape_of(lab)}; remove it first: clusterlift lab down"
            )
    else:
        check_ports()
    has_qfs = "qfs" in shape.storages
    variables = qfs_variables(shape.storage_variable) if has_qfs else {}
    compose = Compose(program, shape, variables)
    if variables or not has_qfs:
        say("building the image; the first time this takes minutes")
        compose.build()
    say(f"starting {shape}")
    compose.up()
    set_links(_started_lab().linked, lambda link: replace(link, mtu=TYPICAL_MTU))
    _wait_until_ready()
    return True


def down() -> None:
    """Remove the lab with everything that it stores. Raises BadInput if there is none."""
    containers = docker("ps", "--all", "--quiet", "--filter", lab_filter()).split()
    volumes = docker("volume", "ls", "--quiet", "--filter", lab_filter()).split()
    found_networks = networks()
    if not (containers or volumes or found_networks):
        raise BadInput("no lab is up; there is nothing to remove")
    # `--force` kills the containers. That loses nothing: the data is removed, too.
    for removal, names in (
        (("rm", "--force", "--volumes"), containers),
        (("volume", "rm", "--force"), volumes),
        (("network", "rm"), found_networks),
    ):
        if names:
            docker(*removal, *names)


def check_ports() -> None:
    """Raise BadInput that names the environment variable of a port that is taken."""
    for variable, default in PORTS.items():
        port = os.environ.get(variable) or str(default)
        if port.isdecimal() and (problem := port_problem(int(port))):
            raise BadInput(f"port {port} {problem} on {LOCALHOST}: set {variable} to another port")


def _started_lab() -> Lab:
    """Return the lab that is starting. Raises ClusterliftError if a node has ended, with its last line."""
    lab = find_lab()
    if lab is None:
        raise ClusterliftError("the lab was removed while it started")
    for node in lab.nodes:
        if not node.is_running:
            message = last_message(node.container)
            raise ClusterliftError(
                f"{node.name} ended: {message}; see docker logs {node.container[:12]}"
            )
    return lab


def _wait_until_ready() -> None:
    deadline = time.monotonic() + READY_S
    while True:
        lab = _started_lab()
        reason = lab.why_not_ready()
        if not reason:
            return
        if time.monotonic() > deadline:
            raise ClusterliftError(
                f"the lab is not ready after {READY_S:.0f} s: {reason}; "
                f"see docker logs {lab.master.container[:12]}"
            )
        time.sleep(POLL_S)
