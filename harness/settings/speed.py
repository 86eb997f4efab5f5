"""The speed that a network card negotiates with the switch, by ethtool.

Unlike a limit of the rate, this changes the wire itself. The link is down for some seconds meanwhile.
"""

import re
from collections.abc import Sequence

from harness.hosts.remote_process import CompletedCommand
from harness.model.errors import ToolError
from harness.settings.setting import Setting, ShellCommand

UP_S = 20
"""Negotiation takes about three seconds, with a switch that looks for loops more."""
AUTOMATIC = "automatic"

_MODE = re.compile(r"(\d+base\S+)")
_FIELD = re.compile(r"^\t([A-Z][A-Za-z -]*): (.*(?:\n\t {8,}\S.*)*)", re.MULTILINE)


class Speed(Setting, frozen=True, tag="speed"):
    """The only speed, in Mbit/s, that a device offers to its switch."""

    device: str
    mbit_s: int

    @property
    def name(self) -> str:
        """`speed of eth0`."""
        return f"speed of {self.device}"

    @property
    def value(self) -> str:
        """`1000 Mbit/s`."""
        return f"{self.mbit_s} Mbit/s"

    def reading(self) -> ShellCommand:
        """Return the command that prints the device's modes."""
        return ShellCommand(f"ethtool {self.device}")

    def read(self, completed: CompletedCommand) -> str:
        """Return the only speed that is offered, or `automatic` if every supported one is.

        Raise ToolError if the card does not negotiate, or offers something else, which could not be put back.
        """
        fields = dict(_FIELD.findall(completed.output))
        supported = set(_MODE.findall(fields.get("Supported link modes", "")))
        offered = set(_MODE.findall(fields.get("Advertised link modes", "")))
        if not supported or fields.get("Auto-negotiation") != "on":
            raise ToolError(
                f"{self.device} does not negotiate its speed, so that ethtool cannot change it and put it "
                "back; limit its rate instead"
            )
        if offered == supported:
            return AUTOMATIC
        speeds = {mode.partition("base")[0] for mode in offered}
        if len(speeds) != 1:
            raise ToolError(
                f"{self.device} offers {', '.join(sorted(offered))}, a selection that could not be put back"
            )
        return f"{speeds.pop()} Mbit/s"

    def commands_to_set(self, before: str) -> Sequence[ShellCommand]:
        """Return the commands that offer this speed alone, and wait until the link is up."""
        del before
        return _offer(self.device, self.value)

    def commands_to_put_back(self, before: str) -> Sequence[ShellCommand]:
        """Return the commands that offer what was offered before, and wait until the link is up."""
        return _offer(self.device, before)


def _offer(device: str, value: str) -> Sequence[ShellCommand]:
    # Without a speed, ethtool offers every mode that the card supports.
    speed = "" if value == AUTOMATIC else f"speed {value.partition(' ')[0]} duplex full "
    up = f'[ "$(cat /sys/class/net/{device}/carrier 2>/dev/null)" = 1 ]'
    wait = f"n=0; until {up}; do n=$((n + 1)); [ $n -le {UP_S} ] || break; sleep 1; done; {up}"
    return (
        ShellCommand(f"ethtool -s {device} {speed}autoneg on"),
        ShellCommand("sleep 1"),  # until the link has gone down
        ShellCommand(f"({wait})"),
    )
