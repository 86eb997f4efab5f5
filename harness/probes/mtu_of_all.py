"""The same MTU on all hosts of a probe, for the length of a `with` block."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from harness.hosts.transports.host import Host, HostError
from harness.model.interface import HostLink
from harness.probes.mtu import SetMtu
from harness.settings.in_force import in_force
from harness.settings.journal import Journal
from harness.settings.mtu import Mtu


def mtu_of_all(hosts: Sequence[Host], links: Mapping[str, HostLink], journal: Journal) -> SetMtu:
    """Return how to set the MTU of the interface of each host that leads to the others, and put it back.

    What is returned raises HostError, with nothing set, if a host's interface is unknown or does not take
    the MTU, and NotPutBack if it could not be put back.
    """

    @contextmanager
    def set_mtu(mtu_bytes: int) -> Iterator[None]:
        for host in hosts:
            if host.name not in links:
                raise HostError(f"{host}: its interface is unknown, so its MTU cannot be set")
        wanted = {host: [Mtu(links[host.name].device, mtu_bytes)] for host in hosts}
        with in_force(wanted, journal):
            yield

    return set_mtu
