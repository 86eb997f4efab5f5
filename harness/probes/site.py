"""What a probe is given to measure: hosts, racks of hosts, and where it may keep a journal."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.hosts.transports.host import Host


@dataclass(frozen=True)
class Rack:
    """Hosts that reach each other without the uplink."""

    name: str
    hosts: tuple[Host, ...]


class Site(Protocol):
    """The hosts that a user names. `directory` is that of the results."""

    @property
    def directory(self) -> Path: ...

    def hosts(self) -> list[Host]:
        """Return the named hosts. Raise BadInput if there are none."""

    def racks(self, options: Sequence[str]) -> list[Rack]:
        """Return the two racks of `NAME=HOSTS`. Raise BadInput if there are not two."""
