"""How many bytes a second the processes of a control group may read from a disk, and write to it.

Groups of version 2 have `io.max` for it, with a line for each disk. Groups of version 1 have a file for reads
and one for writes. With version 1, the kernel does not limit what it writes back later.
"""

import re
import shlex
from collections.abc import Sequence

from harness.base.errors import ToolError
from harness.base.failure_reason import failure_reason
from harness.hosts.remote_process import CompletedCommand
from harness.settings.setting import Setting, ShellCommand

GROUPS = "/sys/fs/cgroup"
OLD_GROUPS = f"{GROUPS}/blkio"
"""Where groups of version 2 are, and where groups of version 1 are."""

_UNLIMITED = "max"
# Limits apply to whole disks. The directory of a partition is in the directory of its disk.
_FIND = f"""say() {{ echo "clusterlift: error: $1" >&2; }}
[ -e "$at" ] || {{ say "$at does not exist"; exit 1; }}
if [ -b "$at" ]; then disk=/sys/class/block/$(basename "$(readlink -f "$at")")
else disk=/sys/dev/block/$(echo $(findmnt -n -o MAJ:MIN -T "$at")); fi
[ ! -e "$disk/partition" ] || disk=$disk/..
disk=$(cat "$disk/dev" 2>/dev/null) || {{ say "$at is on no disk of its own: name a device"; exit 1; }}
new=$group/io.max old=$group/blkio.throttle
[ -e "$new" ] || [ -e "$old.read_bps_device" ] || {{
  below="name a group of version 1 below {OLD_GROUPS}, or of version 2 below {GROUPS}"
  if [ ! -d "$group" ]; then say "$group is no control group here: $below"
  # Each group of version 1 has this file, whatever it limits.
  elif [ -e "$group/tasks" ]; then say "$group is of version 1 and limits no disk: $below"
  else
    say "$group has no io.max (systemctl set-property --runtime ${{group##*/}} IOAccounting=yes makes it)"
  fi
  exit 1
}}
"""
_READ = """if [ -e "$new" ]; then grep "^$disk " "$new"
else grep "^$disk " "$old.read_bps_device" "$old.write_bps_device"; fi || [ $? = 1 ]"""
_SET = """if [ -e "$new" ]; then echo "$disk rbps=$read wbps=$written" >"$new"
else
  echo "$disk $read" | sed s/max/0/ >"$old.read_bps_device" &&
  echo "$disk $written" | sed s/max/0/ >"$old.write_bps_device"
fi"""


def disk_rate(what: str, at: str, group: str, bytes_s: int) -> Setting:
    """Return the setting of the rate of a disk, in bytes a second, each for reading and writing.

    `what` names the disk in journals and messages. `at` is a directory on it, or its device, and `group` the
    directory of the control group.
    """
    name = f"disk rate of {what}"
    find = f"at={shlex.quote(at)} group={shlex.quote(group)}\n{_FIND}"

    def commands(value: str, _: str) -> Sequence[ShellCommand]:
        _, _, limits = value.partition("rbps=")
        read, _, written = limits.partition(" wbps=")
        line = f"(\n{find}read={read} written={written}\n{_SET}\n)"
        return (ShellCommand(line, title=name),)

    return Setting(
        name,
        _value(bytes_s, bytes_s),
        f"rbps=({_UNLIMITED}|[0-9]{{1,19}}) wbps=({_UNLIMITED}|[0-9]{{1,19}})",
        f"{find}{_READ}",
        _limits,
        commands,
    )


def _limits(completed: CompletedCommand) -> str:
    if completed.code:
        raise ToolError(failure_reason(completed.errors) or "the limit of its disk cannot be read")
    new = re.search(r" rbps=(\w+) wbps=(\w+)", completed.output)
    if new:
        return _value(new[1], new[2])
    old = dict(re.findall(r"\.(read|write)_bps_device:\S+ (\d+)", completed.output))
    return _value(old.get("read", _UNLIMITED), old.get("write", _UNLIMITED))


def _value(read: int | str, written: int | str) -> str:
    return f"rbps={read} wbps={written}"
