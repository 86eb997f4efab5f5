"""What each host does at this moment, and what its machine is."""

from collections.abc import Sequence

from harness.hosts.remote_process import ask
from harness.hosts.transports.host import Host, HostError
from harness.node.state import NodeState, read_state, state_command


def read_states(hosts: Sequence[Host]) -> list[NodeState | HostError]:
    """Return the state of every host, in order, or why it is unknown. All look at the same moment."""
    commands = {host: (host, state_command()) for host in hosts}
    states = ask(commands, lambda host, completed: read_state(host.name, completed.output))
    return list(states.values())
