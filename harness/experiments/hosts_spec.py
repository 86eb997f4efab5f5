"""Hosts of the user's own, as an experiment file describes them."""

from dataclasses import dataclass, replace

from harness.hosts.transports.host import TRANSPORTS, Host, parse_hosts

SUDO = ("sudo", "-n")


@dataclass(frozen=True)
class HostsSpec:
    """The hosts of a cluster, and how to use them.

    - `via`, `names`: as the options --via and --hosts of `clusterlift probe`.
    - `device`: the interface whose link is set; None for the one that leads to the other hosts.
    - `spark`: options of spark-submit, such as `--master spark://host:7077`.
    - `submit_from`: the network namespace in which spark-submit runs; None for this machine's own.
    - `data`: the URI of the directory of the datasets.
    - `sudo`: the user may become root by sudo without a password.
    """

    via: str
    names: str
    device: str | None = None
    spark: tuple[str, ...] = ()
    submit_from: str | None = None
    data: str | None = None
    sudo: bool = False

    def hosts(self) -> list[Host]:
        """Return the hosts. Raise BadInput if their names cannot be read."""
        return parse_hosts("hosts", self.names, TRANSPORTS[self.via])

    def as_root(self, host: Host) -> Host:
        """Return the host as root reaches it."""
        return replace(host, prefix=(*host.prefix, *SUDO)) if self.sudo else host

    def __str__(self) -> str:
        return f"{self.names} by {self.via}"
