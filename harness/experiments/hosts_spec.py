"""Hosts of the user's own, as an experiment file describes them."""

from dataclasses import replace
from typing import Annotated, Literal

import msgspec

from harness.hosts.transports import TRANSPORTS
from harness.hosts.transports.host import Host, parse_hosts
from harness.model.interface import DEVICE_NAME
from harness.settings.disk_rate import GROUPS, disk_rate
from harness.settings.setting import Setting

SUDO = ("sudo", "-n")

Text = Annotated[str, msgspec.Meta(pattern=r"^[^\0]+\Z", max_length=1000)]
Device = Annotated[str, msgspec.Meta(pattern=rf"^{DEVICE_NAME}\Z")]
DiskPath = Annotated[str, msgspec.Meta(pattern=r"^/[^\0\n]*\Z", max_length=300)]
_GROUP_NAME = r"(?!\.{1,2}(?:/|\Z))[A-Za-z0-9_@:.-]+"
Group = Annotated[
    str, msgspec.Meta(pattern=rf"^{_GROUP_NAME}(?:/{_GROUP_NAME})*\Z", max_length=300)
]
"""A control group below the root. `..` would lead out of it."""
Namespace = Annotated[str, msgspec.Meta(pattern=r"^(?!\.{1,2}\Z)[^\0/]+\Z", max_length=255)]


class HostsSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[site]`: the hosts of a cluster, and how to use them.

    - `hosts`, `via`: as the options --hosts and --via of `clusterlift probe`.
    - `device`: the interface whose link is set; None for the one that leads to the other hosts.
    - `spark`: options of spark-submit, such as `--master spark://host:7077`.
    - `submit_from`: the network namespace in which spark-submit runs; None for this machine's own.
    - `data`: the URI of the directory of the datasets.
    - `sudo`: the user may become root by sudo without a password.
    - `disks`: directories or devices, whose disks a configuration may limit.
    - `disk_group`: the control group that it limits, below /sys/fs/cgroup, with all groups in it.
    """

    hosts: Text
    via: Literal["ssh", "docker", "kubernetes", "netns", "local"] = "ssh"
    device: Device | None = None
    spark: tuple[Text, ...] = ()
    submit_from: Namespace | None = None
    data: Text | None = None
    sudo: bool = False
    disks: tuple[DiskPath, ...] = ()
    disk_group: Group = "system.slice"

    def __post_init__(self) -> None:
        """Raise ValueError if keys contradict each other."""
        if self.submit_from is not None and self.via != "netns":
            raise ValueError('submit_from is a network namespace, and needs via = "netns"')
        if self.sudo and self.via != "ssh":
            raise ValueError(f'sudo needs via = "ssh": by {self.via}, commands run as root')

    def named_hosts(self) -> list[Host]:
        """Return the hosts. Raise BadInput if their names cannot be read."""
        return parse_hosts("hosts", self.hosts, TRANSPORTS[self.via])

    def as_root(self, host: Host) -> Host:
        """Return the host as root reaches it."""
        if self.sudo:
            return replace(host, prefix=(*host.prefix, *SUDO))
        return host

    def disk_rates(self, bytes_s: int) -> list[Setting]:
        """Return the settings of the disks of every host, each to this rate."""
        group = f"{GROUPS}/{self.disk_group}"
        return [disk_rate(f"{at} in {self.disk_group}", at, group, bytes_s) for at in self.disks]

    def __str__(self) -> str:
        return f"{self.hosts} by {self.via}"
