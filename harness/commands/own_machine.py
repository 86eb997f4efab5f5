"""Warn of what is wrong with this machine, in commands that begin trials."""

import platform
from collections.abc import Sequence
from contextlib import suppress

from harness.analysis.observed.health import health
from harness.hosts.node_states import read_states
from harness.hosts.transports.host import Host, HostError, by_local
from harness.model.errors import ClusterliftError
from harness.node.state import NodeState
from harness.present.findings import finding_lines
from harness.terminal import say


def warn_of_faults() -> None:
    """Print the faults of this machine, before trials begin; if nothing can be looked at, none."""
    with suppress(ClusterliftError):
        findings = health(known_states(read_states([this_machine()])))
        for line in finding_lines([finding for finding in findings if finding.is_fault]):
            say(line)


def this_machine() -> Host:
    """Return this machine as a host, by its own name."""
    return by_local(platform.node() or "this machine")


def known_states(states: Sequence[NodeState | HostError]) -> list[NodeState]:
    """Return the states of the hosts that answered."""
    return [state for state in states if isinstance(state, NodeState)]
