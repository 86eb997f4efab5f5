"""The options that name hosts, for all commands that measure or run something there."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import click

from harness.base.errors import BadInput
from harness.hosts.transports import TRANSPORTS
from harness.hosts.transports.host import Host, by_local
from harness.lab.cluster import LOCAL_DIRS, running_lab
from harness.lab.submit import facts
from harness.node.block_devices import DIRECTORIES
from harness.probes.options import NamedHosts

DEFAULT_VIA = "ssh"


def on_site(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name hosts. Its first argument is a NamedHosts."""

    @wraps(command)
    def with_site(names: str | None, *, in_lab: bool, via: str, **others: Any) -> Any:
        if in_lab:
            if via != DEFAULT_VIA:
                raise BadInput(f"--lab reaches its nodes by Docker: leave out --via {via}")
            return command(_lab_site(names), **others)
        transport = TRANSPORTS[via]
        local_dirs = None
        if transport is by_local:
            # Only this machine's directories are known to be ours.
            local_dirs = os.environ.get(DIRECTORIES["local_dirs"]) or "/tmp"  # noqa: S108  Spark's default
        return command(NamedHosts(names, transport, local_dirs=local_dirs), **others)

    for option in _HOST_OPTIONS:
        with_site = option(with_site)
    return with_site


def _lab_site(names: str | None) -> NamedHosts:
    """Return the running lab as NamedHosts. Raise BadInput if there is none."""
    lab = running_lab()

    def reach(name: str, address: str) -> Host:
        host = lab.node(name).host
        return replace(host, address=address or host.address)

    workers = [worker.host for worker in lab.workers if worker.is_running]
    return NamedHosts(names, reach, workers, facts(lab), local_dirs=LOCAL_DIRS)


_HOST_OPTIONS = (
    click.option(
        "--via",
        type=click.Choice(list(TRANSPORTS)),
        default=DEFAULT_VIA,
        show_default=True,
        help="How to reach the hosts: ssh without a password; docker, kubernetes (nodes, by kubectl) or "
        "netns (network namespaces) by their names; or local, which runs everything on this machine.",
    ),
    click.option("--lab", "in_lab", is_flag=True, help="Use the nodes of the running lab."),
    click.option(
        "--hosts",
        "names",
        metavar="NAMES",
        help="Names such as node[1-4], or with other addresses: a=10.0.0.1,b=10.0.0.2.",
    ),
)
"""The last one is the first in the help."""
