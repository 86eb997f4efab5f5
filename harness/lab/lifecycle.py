"""The lab is brought up until it is ready to work, and taken down without a rest."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace

from harness.lab import racks
from harness.lab.cluster import Lab, find_lab, networks, ours, running_lab
from harness.lab.compose import Compose, Shape, qfs_variables
from harness.lab.engine import compose_program, docker, free_bytes, last_line
from harness.lab.links import read_link, set_links
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import TYPICAL_MTU
from harness.terminal import say

READY_S = 300.0
POLL_S = 1.0
NEEDED_BYTES = 5 * 10**9
"""The image and its making take three, and there has to be some for trying things."""


def up(shape: Shape, data_bytes: int = 0) -> bool:
    """Bring a lab up and wait until it is ready; False if it is up already.

    `data_bytes` is how much a new one is to store. Raises BadInput if another one is up, a port is
    taken or the disk is full, ClusterliftError if it does not get ready.
    """
    program = compose_program()
    lab = find_lab()
    if lab is not None:
        if is_whole(lab, shape):
            return False
        _check_same(lab, shape)
    else:
        check_ports()
    _check_disk(NEEDED_BYTES + (0 if lab else data_bytes))
    variables = qfs_variables() if shape.storage == "qfs" else {}
    compose = Compose(program, shape, variables)
    if shape.storage == "hdfs" or variables:
        say("building the image; the first time that takes minutes")
        compose.build()
    say(f"starting {shape}")
    compose.up()
    _connect(shape)
    _await_ready()
    return True


def down() -> None:
    """Remove the lab with all that it stores. Raises BadInput if there is none."""
    containers = docker("ps", "--all", "--quiet", "--filter", ours()).split()
    volumes = docker("volume", "ls", "--quiet", "--filter", ours()).split()
    left = networks()
    if not (containers or volumes or left):
        raise BadInput("no lab is up; there is nothing to take down")
    # There is nothing to flush: the data goes too.
    for removal, things in (
        (("rm", "--force", "--volumes"), containers),
        (("volume", "rm", "--force"), volumes),
        (("network", "rm"), left),
    ):
        if things:
            docker(*removal, *things)


def shape_of(lab: Lab) -> Shape:
    """What a lab is made of."""
    uplink = None
    if lab.router is not None and lab.router.is_running:
        uplink = racks.uplink_bit_s(lab.router, read_link(lab.master).mtu)
    return Shape(len(lab.workers), lab.cpus, lab.storage, uplink)


def is_whole(lab: Lab, shape: Shape) -> bool:
    """Whether a lab is of that shape and all of it runs."""
    return all(node.is_running for node in lab.nodes) and shape_of(lab) == shape


def _check_same(lab: Lab, shape: Shape) -> None:
    """Raise BadInput if a lab that is up is of another shape; one that lost nodes is brought back."""
    is_there = replace(shape_of(lab), uplink_bit_s=shape.uplink_bit_s)
    if is_there != shape or (lab.router is None) != (shape.uplink_bit_s is None):
        raise BadInput(
            f"another lab is up: {shape_of(lab)}; take it down first: clusterlift lab down"
        )


def _check_disk(needed: int) -> None:
    free = free_bytes()
    if free is not None and free < needed:
        raise BadInput(
            f"Docker's disk has {free / 1e9:.1f} GB left, and the lab needs {needed / 1e9:.1f}: "
            "make room, for example with docker system prune"
        )


def _connect(shape: Shape) -> None:
    """Links as they are usual, and the way between the racks."""
    lab = running_lab()
    set_links(lab.linked, lambda link: replace(link, mtu=TYPICAL_MTU))
    if shape.uplink_bit_s:
        racks.connect(lab, shape.uplink_bit_s, TYPICAL_MTU)


def _await_ready() -> None:
    deadline = time.monotonic() + READY_S
    while True:
        lab = running_lab()
        for node in lab.nodes:
            if not node.is_running:
                said = last_line(docker("logs", "--tail", "20", node.container))
                raise ClusterliftError(
                    f"{node.name} ended and said: {said}; docker logs {node.container[:12]} has more"
                )
        awaited = _awaited(lab)
        if not awaited:
            return
        if time.monotonic() > deadline:
            raise ClusterliftError(
                f"the lab is not ready after {READY_S:.0f} s: {awaited}; "
                f"docker logs {lab.master.container[:12]} may tell why"
            )
        time.sleep(POLL_S)


def _awaited(lab: Lab) -> str:
    """What is not there yet, in the master's words; empty if nothing."""
    try:
        lab.master.execute("ready", "master")
    except BadInput:
        raise
    except ClusterliftError as error:
        return str(error)
    return ""


# MERGED from harness.lab.ports: "The ports of the host that show the lab's web pages."
PORTS = {"SPARK_UI_PORT": 8080, "HDFS_UI_PORT": 9870, "DRIVER_UI_PORT": 4040}
LOCALHOST = "127.0.0.1"


def check_ports() -> None:
    """Raise BadInput that names the variable if a port is taken or is none."""
    for variable, default in PORTS.items():
        text = os.environ.get(variable) or str(default)
        if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**16):
            raise BadInput(f"{variable} is {text!r}: set it to a port, such as {default}")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOCALHOST, int(text)))
            except OSError as error:
                raise BadInput(
                    f"port {text} of {LOCALHOST} cannot be had ({error.strerror}): set {variable} to "
                    "another"
                ) from error
