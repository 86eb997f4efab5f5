"""Starts the lab and waits until it is ready. Removes it without leaving anything behind."""

import os
import time

from harness.base.errors import BadInput, ClusterliftError
from harness.base.terminal import say
from harness.lab.cluster import Lab, LabSpec, find_lab, lab_filter
from harness.lab.compose import FILE, Compose
from harness.lab.engine import compose_program, docker, last_message
from harness.lab.links import set_links
from harness.lab.qfs_tarball import qfs_variables
from harness.minicluster.daemon import LOCALHOST, port_problem
from harness.model.link import TYPICAL_MTU, Link

UNSHAPED = Link(None, TYPICAL_MTU)
"""The link of every node when the lab starts."""
READY_S = 600.0
POLL_S = 1.0
PORTS = {"SPARK_UI_PORT": 8080, "HDFS_UI_PORT": 9870, "DRIVER_UI_PORT": 4040}
"""The host's ports of the lab's web pages, by the variable that sets each."""


def up(shape: LabSpec) -> bool:
    """Start a lab, or its nodes that ended, and wait until it is ready. Return False if all were up already.

    Raise BadInput if there is no checkout, a lab of another shape is up or a port is taken, ClusterliftError
    if the lab does not get ready.
    """
    if not FILE.is_file():
        raise BadInput("the lab is built from a clone of the repository: call clusterlift there")
    program = compose_program()
    lab = find_lab()
    if lab is None:
        check_ports()
    # A `lab down` that was cut off, or failed at one node, may have left only workers.
    elif lab.shape != shape:
        raise BadInput(f"another lab is up: {lab.shape}; remove it first: clusterlift lab down")
    elif {node.name for node in lab.running} == set(shape.services):
        return False
    compose = Compose(program, shape, qfs_variables(shape))
    if compose.variables or "qfs" not in shape.storages:
        say("building the image; the first time this takes minutes")
        compose.build()
    say(f"starting {shape}")
    compose.up()
    set_links({node.host: UNSHAPED for node in _started_lab().nodes})
    _wait_until_ready()
    return True


def down() -> None:
    """Remove the lab with everything that it stores. Raise BadInput if there is none."""
    kinds = (
        # `--force` kills the containers. That loses nothing: the data is removed, too.
        (["ps", "--all"], ["rm", "--force", "--volumes"]),
        (["volume", "ls"], ["volume", "rm", "--force"]),
        (["network", "ls"], ["network", "rm"]),
    )
    is_found = False
    for listing, removal in kinds:
        names = docker(*listing, "--quiet", "--filter", lab_filter()).split()
        if names:
            is_found = True
            docker(*removal, *names)
    if not is_found:
        raise BadInput("no lab is up; there is nothing to remove")


def check_ports() -> None:
    """Raise BadInput that names the environment variable of a port that is taken."""
    for variable, default in PORTS.items():
        port = os.environ.get(variable) or str(default)
        problem = port_problem(int(port)) if port.isdecimal() else None
        if problem:
            raise BadInput(f"port {port} {problem} on {LOCALHOST}: set {variable} to another port")


def _started_lab() -> Lab:
    """Return the lab that is starting. Raise ClusterliftError if a node has ended, with its last line."""
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
