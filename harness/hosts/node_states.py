"""What each host does at this moment, and what its machine is."""

from collections.abc import Sequence
from functools import partial

from harness.hosts.remote_process import CompletedCommand, parse_completed, run_all
from harness.hosts.transports.host import Host, HostError
from harness.node.state import NodeState, read_state, state_command


def read_states(hosts: Sequence[Host]) -> list[NodeState | HostError]:
    """Return the state of every host, in order, or why it is unknown. All look at the same moment."""
    states = run_all((host, state_command()) for host in hosts)
    return [
        parse_completed(host, state, partial(_state, host))
        for host, state in zip(hosts, states, strict=True)
    ]


def _state(host: Host, completed: CompletedCommand) -> NodeState:
    return read_state(host.name, completed.output)
