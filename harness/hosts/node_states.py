"""What each host does at this moment, and what its machine is."""

from collections.abc import Sequence
from functools import partial

from harness.hosts.remote_process import CompletedCommand, parse_completed, run_all
from harness.hosts.transports.host import Host, HostError
from harness.node.machine import MachineFacts, machine_command, read_machine
from harness.node.state import NodeState, read_state, state_command


def read_states(hosts: Sequence[Host]) -> list[NodeState | HostError]:
    """Return the state of every host, in order, or why it is unknown. All look at the same moment."""
    machines = run_all((host, machine_command()) for host in hosts)
    states = run_all((host, state_command()) for host in hosts)
    facts = [parse_completed(*pair, _facts) for pair in zip(hosts, machines, strict=True)]
    return [
        found
        if isinstance(found, HostError)
        else parse_completed(host, state, partial(_state, host, found))
        for host, found, state in zip(hosts, facts, states, strict=True)
    ]


def _facts(completed: CompletedCommand) -> MachineFacts:
    return read_machine(completed.output)


def _state(host: Host, facts: MachineFacts, completed: CompletedCommand) -> NodeState:
    return read_state(host.name, facts, completed.output)
