"""Read facts and counters of hosts around the trials of a program: machines, processors, traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.base.checked import positive
from harness.base.terminal import say
from harness.base.words import first_line, join_names
from harness.hosts.remote_process import answers_of_all, ask
from harness.hosts.transports.host import Host
from harness.node.counters import counters_command, parse_counters
from harness.node.machine import MachineFacts, machine_command, read_machine, unread_facts
from harness.node.program import BOOT, first_lines
from harness.node.snapshot import NodeReading

_MPI_VERSION = ("sh", "-c", "mpirun --version | head -n 1")
UNKNOWN_PROCESSORS = 10**6
"""Processors of a machine that does not say how many it has."""


@dataclass(frozen=True)
class Machines:
    """The facts of the hosts, by their names, and which hosts share a machine.

    `mpi` is the version of Open MPI, or all versions if they differ. `hosts` and `processors` are by machine.
    """

    facts: Mapping[str, MachineFacts]
    mpi: str | None
    hosts: Mapping[str, Sequence[str]]
    processors: Mapping[str, int]

    def shared_processors(self, per_host: int) -> str | None:
        """Return which hosts have fewer processors than processes because they are one machine."""
        found = []
        for machine, hosts in self.hosts.items():
            processes = len(hosts) * per_host
            processors = self.processors[machine]
            if processes > processors:
                found.append(
                    f"{processes} processes share the {processors} processors of one machine: "
                    f"{join_names(list(hosts))}"
                )
        return "; ".join(found) or None


def describe_hosts(hosts: Sequence[Host]) -> Machines:
    """Return what the hosts say about themselves and Open MPI. Raise HostError if one does not answer."""
    facts = {}
    on_machine: dict[str, list[str]] = {}
    processors: dict[str, int] = {}
    for host, text in answers_of_all(hosts, machine_command(), str).items():
        name = host.name
        facts[name] = read_machine(text)
        unread = unread_facts(text)
        if unread:
            say(f"{host}: {unread}")
        machine = first_lines(text).get(BOOT, name)
        on_machine.setdefault(machine, []).append(name)
        number = positive(facts[name].get("cpus"), UNKNOWN_PROCESSORS)
        processors.setdefault(machine, number or UNKNOWN_PROCESSORS)
    versions = answers_of_all(hosts, _MPI_VERSION, first_line).values()
    distinct = ", ".join(dict.fromkeys(each for each in versions if each))
    return Machines(facts, distinct or None, on_machine, processors)


def read_counters(hosts: Sequence[Host]) -> dict[str, NodeReading]:
    """Return the counters and the traffic by the names of the hosts that answered."""
    commands = {host: (host, counters_command()) for host in hosts}
    answers = ask(commands, lambda host, done: parse_counters(host.name, done.output))
    return {host.name: each for host, each in answers.items() if isinstance(each, NodeReading)}


def exchanged_bytes(
    before: Mapping[str, NodeReading], after: Mapping[str, NodeReading], host: str, device: str
) -> int | None:
    """Return the bytes that a host received and sent over an interface, or RDMA_PORTS; None if unknown."""
    if host not in before or host not in after:
        return None
    first = before[host].traffic.get(device)
    then = after[host].traffic.get(device)
    if first is None or then is None or sum(then) < sum(first):
        return None
    return sum(then) - sum(first)
