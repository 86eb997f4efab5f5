"""Settings that one command sets. `rate.py`, `speed.py` and `disk_rate.py` have those that need more."""

import hashlib
import shlex
from collections.abc import Callable

from harness.base.checked import mapping
from harness.base.errors import ToolError
from harness.base.failure_reason import failure_reason
from harness.hosts.remote_process import CompletedCommand
from harness.node.iproute2 import json_rows
from harness.settings.setting import Setting, ShellCommand

UP = "up"
DOWN = "down"
APPLIED = "applied"
NOT_APPLIED = "not applied"


def mtu(device: str, size: int) -> Setting:
    """Return the setting of the MTU of a device, in bytes."""
    quoted = shlex.quote(device)

    def read(completed: CompletedCommand) -> str:
        text = completed.output.strip()
        if completed.code or not text:
            raise ToolError(f"there is no device {device}")
        return text

    return _by_line(
        f"MTU of {device}",
        str(size),
        "[0-9]{1,10}",
        f"cat /sys/class/net/{quoted}/mtu",
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
    """Return a kernel setting, such as `net.ipv4.tcp_congestion_control`, with its new text."""

    def read(completed: CompletedCommand) -> str:
        if completed.code:
            raise ToolError(failure_reason(completed.errors) or f"the kernel has no setting {key}")
        return _with_single_spaces(completed.output)

    return _by_line(
        key,
        _with_single_spaces(text),
        r"[^\0\r\n]{0,4096}",
        f"sysctl -n {shlex.quote(key)}",
        read,
        lambda value: f"sysctl -q -w {shlex.quote(f'{key}={value}')}",
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
