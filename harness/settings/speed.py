"""The speed that a network card negotiates with the switch, by ethtool.

Unlike a limit of the rate, this changes the wire itself. The link is down for some seconds meanwhile.
"""

import re
import shlex
from collections.abc import Sequence
from functools import partial

from harness.base.errors import ToolError
from harness.hosts.remote_process import CompletedCommand
from harness.settings.setting import Setting, ShellCommand

UP_S = 20
"""Negotiation takes about three seconds, with a switch that looks for loops more."""
AUTOMATIC = "automatic"

_MODE = re.compile(r"\b(\d+base\S+)")
_FIELD = re.compile(r"^\t([A-Z][A-Za-z -]*): (.*(?:\n\t {8,}\S.*)*)", re.MULTILINE)


def speed(device: str, mbit_s: int) -> Setting:
    """Return the setting of the only speed, in Mbit/s, that a device offers to its switch."""
    return Setting(
        name=f"speed of {device}",
        value=f"{mbit_s} Mbit/s",
        values=f"{AUTOMATIC}|[0-9]{{1,7}} Mbit/s",
        reading=f"ethtool {shlex.quote(device)}",
        read=partial(_read, device),
        commands=lambda value, _: _offer(device, value),
    )


def _read(device: str, completed: CompletedCommand) -> str:
    """Return the only speed that is offered, or `automatic` if several are, and every supported one.

    Raise ToolError if the card does not negotiate, or offers something else, which could not be put back.
    """
    fields = dict(_FIELD.findall(completed.output))
    supported = set(_MODE.findall(fields.get("Supported link modes", "")))
    offered = set(_MODE.findall(fields.get("Advertised link modes", "")))
    if not supported or fields.get("Auto-negotiation") != "on":
        raise ToolError(
            f"{device} does not negotiate its speed, so that ethtool cannot change it and put it back; limit "
            "its rate instead"
        )
    speeds = {mode.partition("base")[0] for mode in offered}
    if len(speeds) == 1:
        return f"{speeds.pop()} Mbit/s"
    if offered == supported:
        return AUTOMATIC
    raise ToolError(
        f"{device} offers {', '.join(sorted(offered))}, a selection that could not be put back"
    )


def _offer(device: str, value: str) -> Sequence[ShellCommand]:
    device = shlex.quote(device)
    # Without a speed, ethtool offers every mode that the card supports.
    offered = "" if value == AUTOMATIC else f"speed {value.partition(' ')[0]} duplex full "
    up = f'[ "$(cat /sys/class/net/{device}/carrier 2>/dev/null)" = 1 ]'
    wait = f"n=0; until {up}; do n=$((n + 1)); [ $n -le {UP_S} ] || break; sleep 1; done; {up}"
    return (
        ShellCommand(f"ethtool -s {device} {offered}autoneg on"),
        ShellCommand("sleep 1"),  # until the link has gone down
        ShellCommand(f"({wait})"),
    )
