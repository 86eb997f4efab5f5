"""The state of hosts at this moment, and the faults of this machine before trials begin."""

import os
import platform
from collections.abc import Sequence
from contextlib import suppress

from harness.analysis.ready.health import health
from harness.base.errors import ClusterliftError
from harness.base.terminal import say
from harness.hosts.remote_process import ask
from harness.hosts.transports.host import Host, HostError, by_local
from harness.node.state import NodeState, read_state, state_command
from harness.present.findings import finding_lines


def warn_of_faults() -> None:
    """Print the faults of this machine, before trials begin. Print none if it cannot be looked at."""
    with suppress(ClusterliftError):
        findings = health(known_states(read_states([this_machine()])))
        for line in finding_lines([finding for finding in findings if finding.is_fault]):
            say(line)


def this_machine() -> Host:
    """Return this machine as a host, by its own name."""
    return by_local(platform.node() or "this machine")


def read_states(hosts: Sequence[Host]) -> list[NodeState | HostError]:
    """Return the state of every host, in order, or why it is unknown. All look at the same moment."""
    command = state_command(tasks_python=_python_of_tasks())
    commands = {host: (host, command) for host in hosts}
    states = ask(commands, lambda host, done: read_state(host.name, done.output))
    return list(states.values())


def _python_of_tasks() -> str:
    """Return what Spark would start as Python on every host; one in a submitted archive is nowhere yet."""
    named = os.environ.get("PYSPARK_PYTHON", "")
    if named and (named.startswith("/") or "/" not in named):
        return named
    return "python3"


def known_states(states: Sequence[NodeState | HostError]) -> list[NodeState]:
    """Return the states of the hosts that answered."""
    return [state for state in states if isinstance(state, NodeState)]
