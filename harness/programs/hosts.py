"""Read facts and counters of hosts around the trials of a program: machines, processors, traffic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.terminal import say
from harness.base.words import join_names
from harness.hosts.remote_process import answers_of_all, ask_all
from harness.hosts.transports.host import Host
from harness.model.task_metrics import MAX_QUANTITY
from harness.node.counters import kernel_counters
from harness.node.iproute2 import positive
from harness.node.machine import (
    MachineFacts,
    lines_by_path,
    machine_command,
    read_machine,
    unread_facts,
)
from harness.node.processor_ticks import ticks_of_each_processor
from harness.node.sampler import interface_bytes
from harness.node.snapshot import NodeReading

_DESCRIPTION = "echo $(cat /proc/sys/kernel/random/boot_id); mpirun --version | head -n 1"
_COUNTERS = (
    "grep -s . /dev/null /proc/uptime /proc/stat /proc/vmstat /proc/pressure/* /proc/self/net/dev; "
    "cat /sys/class/infiniband/*/ports/*/counters/port_*_data 2>/dev/null | sed 's/^/rdma:/'"
)
_RDMA_WORD_BYTES = 4
"""The counters of RDMA ports count words of 32 bits (the kernel's stable sysfs-class-infiniband)."""
RDMA_PORTS = "its RDMA ports"
"""Stands for all of them, where names of interfaces do."""
UNKNOWN_PROCESSORS = 10**6
"""Processors of a machine that does not say how many it has."""


@dataclass(frozen=True)
class Machines:
    """The facts of the hosts, by their names; and which share a machine.

    `mpi` is the version of Open MPI, all of them if they differ. `hosts` and `processors` are by machine.
    """

    facts: Mapping[str, MachineFacts]
    mpi: str | None
    hosts: Mapping[str, Sequence[str]]
    processors: Mapping[str, int]

    def shared_processors(self, per_host: int) -> str | None:
        """Return which hosts have fewer processors than processes because they are one machine."""
        lines = [
            f"{len(hosts) * per_host} processes share the {self.processors[machine]} processors of one "
            f"machine: {join_names(list(hosts))}"
            for machine, hosts in self.hosts.items()
            if len(hosts) * per_host > self.processors[machine]
        ]
        return "; ".join(lines) or None


def describe_hosts(hosts: Sequence[Host]) -> Machines:
    """Return what the hosts say about themselves and Open MPI. Raise HostError if one does not answer."""
    described = answers_of_all(hosts, machine_command(), _read_description)
    facts = {host.name: own for host, (own, _) in described.items()}
    for host, (_, unread) in described.items():
        if unread:
            say(f"{host}: {unread}")
    on_machine: dict[str, list[str]] = {}
    versions = []
    descriptions = answers_of_all(hosts, ("sh", "-c", _DESCRIPTION), str)
    for host, text in descriptions.items():
        boot, _, mpi = text.partition("\n")
        on_machine.setdefault(boot or host.name, []).append(host.name)
        versions.append(mpi.strip())
    processors = {
        machine: positive(facts[names[0]].get("cpus"), UNKNOWN_PROCESSORS) or UNKNOWN_PROCESSORS
        for machine, names in on_machine.items()
    }
    distinct = ", ".join(dict.fromkeys(filter(None, versions)))
    return Machines(facts, distinct or None, on_machine, processors)


def _read_description(text: str) -> tuple[MachineFacts, str | None]:
    return read_machine(text), unread_facts(text)


def read_counters(hosts: Sequence[Host]) -> dict[str, NodeReading]:
    """Return the counters and the traffic by the names of the hosts that answered."""
    found = ask_all(hosts, ("sh", "-c", _COUNTERS), parse_counters)
    return {
        host.name: replace(each, host=host.name, namespace=host.name)
        for host, each in found.items()
        if isinstance(each, NodeReading)
    }


def exchanged_bytes(
    before: Mapping[str, NodeReading], after: Mapping[str, NodeReading], host: str, device: str
) -> int | None:
    """Return the bytes that a host received and sent over an interface, or RDMA_PORTS; None if unknown."""
    if host not in before or host not in after:
        return None
    first, then = (side[host].traffic.get(device) for side in (before, after))
    if first is None or then is None or sum(then) < sum(first):
        return None
    return sum(then) - sum(first)


def parse_counters(text: str) -> NodeReading:
    """Return what a host's files in /proc say. Raise one of UNEXPECTED if they cannot be read."""
    lines = lines_by_path(text)
    counters = kernel_counters(lambda path: "\n".join(lines.get(f"/{path}", ())))
    counters["clock_s"] = float(lines["/proc/uptime"][0].split()[0])
    counters["processors"] = len(ticks_of_each_processor(lines["/proc/stat"]))
    if not counters["processors"] or not all(0 <= n <= MAX_QUANTITY for n in counters.values()):
        raise ValueError("no processor, or no clock")
    traffic = interface_bytes(lines["/proc/self/net/dev"])
    if words := lines.get("rdma"):
        traffic[RDMA_PORTS] = sum(map(int, words)) * _RDMA_WORD_BYTES, 0
    return NodeReading("", counters=counters, traffic=traffic)
