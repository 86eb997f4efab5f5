"""The disk of each worker of the lab, limited by the control group of its container.

A container cannot change its own group, so this is set where the Docker engine runs: on this machine.
"""

import os
from pathlib import Path

from harness.base.errors import BadInput
from harness.hosts.transports.host import by_local
from harness.lab.cluster import Lab, Node
from harness.lab.engine import docker
from harness.node.cgroup import io_group
from harness.settings.disk_rate import OLD_GROUPS, disk_rate
from harness.settings.setting import Setting

ENGINE = by_local("engine")
"""The machine on which disks are limited, and whose kernel all nodes share."""
_PLACE = '{{.State.Pid}}{{range .Mounts}}{{if eq .Destination "/data"}} {{.Source}}{{end}}{{end}}'


def disk_rates(lab: Lab, bytes_s: int) -> list[Setting]:
    """Return the settings of the disks of all workers that run, each to this rate.

    Raise BadInput unless they can be set on this machine.
    """
    if os.geteuid():
        raise BadInput(
            "disk_rate: the lab's disks are limited by this machine's control groups: run the command as root"
        )
    return [_disk_rate(node, bytes_s) for node in lab.workers if node.is_running]


def _disk_rate(node: Node, bytes_s: int) -> Setting:
    place = docker("inspect", "--format", _PLACE, node.container).rstrip("\n")
    process, _, data = place.partition(" ")
    group = io_group(int(process))
    if group is None or not Path(data).is_dir():
        raise BadInput(
            f"disk_rate: {node.name} does not run on this machine, which can only limit its own disks"
        )
    return disk_rate(node.name, data, str(group), bytes_s)


def how_limited() -> str:
    """Return what the limits are worth here, for people."""
    limited = "disks limited by control groups"
    if Path(OLD_GROUPS).is_dir():
        return f"{limited} (reads and direct writes)"
    return limited
