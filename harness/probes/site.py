"""What a command line names to be measured: hosts, and racks of hosts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.errors import BadInput
from harness.hosts.transports.host import Host, Transport, parse_hosts

RACKS = 2


@dataclass(frozen=True)
class Rack:
    """Hosts that reach each other without the uplink."""

    name: str
    hosts: tuple[Host, ...]


@dataclass(frozen=True)
class Site:
    """The hosts that `--hosts` names, and the transport that reaches them.

    In a lab, `nodes` are the hosts that need not be named, and `facts` say that it is emulated, and how.
    `directory` is that of the results. `local_dirs` is where Spark writes in the lab or on this machine, with
    commas between directories; None on hosts that may be somebody else's.
    """

    names: str | None
    transport: Transport
    nodes: Sequence[Host] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    directory: Path = Path("results")
    local_dirs: str | None = None

    def hosts(self) -> list[Host]:
        """Return the named hosts, or else the nodes of the lab. Raise BadInput if there are none."""
        if self.names is not None:
            return parse_hosts("--hosts", self.names, self.transport)
        if not self.nodes:
            raise BadInput("name the hosts, such as --hosts node[1-4], or use the lab's: --lab")
        return list(self.nodes)

    def racks(self, options: Sequence[str]) -> list[Rack]:
        """Return the racks of `--rack NAME=HOSTS`. Raise BadInput if these are not two."""
        if self.names is not None:
            raise BadInput("--hosts: name them by --rack, because a host is in one of two racks")
        racks = [self._rack(text) for text in options]
        if len(racks) != RACKS or racks[0].name == racks[1].name:
            raise BadInput("name two racks: --rack a=node[1-20] --rack b=node[21-40]")
        in_both = {host.name for host in racks[0].hosts} & {host.name for host in racks[1].hosts}
        if in_both:
            raise BadInput(f"--rack: {', '.join(sorted(in_both))} cannot be in both racks")
        return racks

    def _rack(self, text: str) -> Rack:
        name, equals, names = text.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--rack {text!r} has no name: write --rack a=node[1-20]")
        return Rack(name.strip(), tuple(parse_hosts("--rack", names, self.transport)))
