"""Settings that one command sets. `rate.py`, `speed.py` and `disk_rate.py` have those that need more."""

import hashlib
import re
import shlex
from collections.abc import Callable

from harness.base.checked import mapping
from harness.base.errors import ToolError
from harness.base.failure_reason import failure_reason
from harness.hosts.remote_process import CompletedCommand
from harness.model.link import MIN_IPV6_MTU
from harness.node.iproute2 import json_rows
from harness.settings.setting import Setting, ShellCommand

UP = "up"
DOWN = "down"
APPLIED = "applied"
NOT_APPLIED = "not applied"

# With the MTU of a device, Linux lowers the MTUs of VLANs, macvlans and the like, whose `iflink` is this
# device, and does not raise them again. A bridge has the lowest MTU of its ports, and an ipvlan has that of
# the device.
_KEEP_MTUS = """refuse() { echo "clusterlift: error: $1" >&2; exit 1; }
keep() {
  for upper in "$1"/upper_*; do
    type=$(sed -n s/^DEVTYPE=//p "$upper/uevent" 2>/dev/null)
    [ "$type" != bridge ] || keep "$upper"
    [ "$(cat "$upper/iflink" 2>/dev/null)" = "$(cat "$1/ifindex")" ] || continue
    found=$(cat "$upper/mtu")
    [ "$type" != macsec ] || found=$(cat "$1/mtu")  # its own has no room for what it adds
    [ "$type" = ipvlan ] || [ "$found" -le "$size" ] || refuse "Linux would lower the MTU of \
${upper##*/upper_}, too, and not put it back: set it to $size at most yourself"
  done
}
keep "/sys/class/net/$device"
"""
# Linux makes addresses of scope 20, which are link-local, again.
_KEEP_ADDRESSES = """[ ! -e /proc/net/if_inet6 ] || while read -r _ _ _ scope _ name; do
  [ "$name" != "$device" ] || [ "$scope" = 20 ] || refuse "with an MTU of $size, Linux would take \
away the IPv6 addresses of $device, and not put them back: choose 1280 or more"
done </proc/net/if_inet6
"""

_TWINS = (
    ("vm.dirty_ratio", "vm.dirty_bytes"),
    ("vm.dirty_background_ratio", "vm.dirty_background_bytes"),
    ("vm.overcommit_ratio", "vm.overcommit_kbytes"),
)
"""Pairs of kernel settings: one is in force, and the other one is 0. Setting one makes the other one 0."""
_CHANGES_MORE = re.compile(
    r"net\.ipv4\.ip_forward|net\.ipv[46]\.conf\..+\.forwarding|net\.ipv6\.conf\..+\.disable_ipv6"
    r"|kernel\.watchdog|vm\.drop_caches"
)
"""Kernel settings with which Linux changes others, removes addresses, or does something at once."""


def mtu(device: str, size: int) -> Setting:
    """Return the setting of the MTU of a device, in bytes."""
    quoted = shlex.quote(device)
    reading = f"cat /sys/class/net/{quoted}/mtu || exit\ndevice={quoted} size={size}\n{_KEEP_MTUS}"
    if size < MIN_IPV6_MTU:
        reading += _KEEP_ADDRESSES

    def read(completed: CompletedCommand) -> str:
        text = completed.output.strip()
        if completed.code or not text:
            raise ToolError(f"there is no device {device}")
        return text

    return _by_line(
        f"MTU of {device}",
        str(size),
        "[0-9]{1,10}",
        reading,
        read,
        lambda value: f"ip link set dev {quoted} mtu {value}",
    )


def bond_member(device: str) -> Setting:
    """Return the setting that a member of a bond is down, which shows what the member is worth."""
    quoted = shlex.quote(device)

    def read(completed: CompletedCommand) -> str:
        """Return `up` or `down`. Refuse a device outside of a bond, which would lose its routes."""
        try:
            [link] = json_rows(completed.output, "ip link")
            flags = link["flags"]
        except (ToolError, ValueError, KeyError) as error:
            raise ToolError(f"there is no device {device}") from error
        if mapping(link, "linkinfo").get("info_slave_kind") != "bond":
            raise ToolError(f"{device} is not a member of a bond, so it is not taken down")
        if "UP" in flags:
            return UP
        return DOWN

    return _by_line(
        f"bond member {device}",
        DOWN,
        f"{UP}|{DOWN}",
        f"ip -j -d link show dev {quoted}",
        read,
        lambda value: f"ip link set dev {quoted} {value}",
    )


def sysctl(key: str, text: str) -> Setting:
    """Return a kernel setting, such as `net.ipv4.tcp_congestion_control`, with its new text.

    While its twin is in force, its value is the twin's, `vm.dirty_bytes=268435456`, which is put back.
    """
    canonical = key.replace("/", ".")
    twin = _twin_of(canonical)
    values = r"[^\0\r\n]{0,4096}"
    if _CHANGES_MORE.fullmatch(canonical):
        values = re.escape(_with_single_spaces(text))  # no other value could be put back

    def read(completed: CompletedCommand) -> str:
        if completed.code:
            raise ToolError(failure_reason(completed.errors) or f"the kernel has no setting {key}")
        if twin is None:
            return _with_single_spaces(completed.output)
        own, of_twin = completed.output.split()
        if own == "0" and of_twin != "0":
            return f"{twin}={of_twin}"
        return own

    def line(value: str) -> str:
        assignment = f"{key}={value}"
        if twin and value.startswith(f"{twin}="):
            assignment = value
        return f"sysctl -q -w {shlex.quote(assignment)}"

    return _by_line(
        key,
        _with_single_spaces(text),
        values,
        f"sysctl -n {shlex.join(filter(None, (key, twin)))}",
        read,
        line,
    )


def own_command(apply: str, revert: str, check: str, name: str | None = None) -> Setting:
    """Return a setting made of the user's own commands, for what no other setting covers.

    Each is a line for `sh`. `check` exits with 0 while it is applied. `revert` may run several times, also if
    `apply` did not run, or only half. The commands may have secrets in them, so that without a `name` a
    digest of the three stands for them.
    """
    digest = hashlib.sha256(repr((apply, revert, check)).encode()).hexdigest()[:12]
    title = f"command {name or digest}"

    def commands(value: str, _: str) -> tuple[ShellCommand, ...]:
        line = _alone(apply if value == APPLIED else revert)
        return (ShellCommand(line, title=title),)

    return Setting(
        title,
        APPLIED,
        f"{APPLIED}|{NOT_APPLIED}",
        _alone(check),
        lambda completed: NOT_APPLIED if completed.code else APPLIED,
        commands,
        has_parts=True,
    )


def _twin_of(key: str) -> str | None:
    for one, other in _TWINS:
        if key == one:
            return other
        if key == other:
            return one
    return None


def _by_line(
    name: str,
    value: str,
    values: str,
    reading: str,
    read: Callable[[CompletedCommand], str],
    line: Callable[[str], str],
) -> Setting:
    """Return a setting whose `line` sets any value, whatever it was before."""
    return Setting(
        name, value, values, reading, read, lambda wanted, _: (ShellCommand(line(wanted)),)
    )


def _alone(line: str) -> str:
    # So that an `exit` or an open quote does not end the other commands. No `sh -c`: `ps` would show it.
    return f"(eval {shlex.quote(line)})"


def _with_single_spaces(text: str) -> str:
    """Return the words of a text; the kernel separates the numbers of a setting by tabs."""
    return " ".join(text.split())
