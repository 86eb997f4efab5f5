"""The largest packet of a device."""

import re
from collections.abc import Sequence

from harness.hosts.remote_process import CompletedCommand
from harness.model.errors import ToolError
from harness.settings.setting import Setting, ShellCommand


class Mtu(Setting, frozen=True, tag="mtu"):
    """The MTU of a device, in bytes."""

    device: str
    size: int

    @property
    def name(self) -> str:
        """`MTU of eth0`."""
        return f"MTU of {self.device}"

    @property
    def value(self) -> str:
        """`9000`."""
        return str(self.size)

    def reading(self) -> ShellCommand:
        """Return the command that prints the MTU."""
        return ShellCommand(f"cat /sys/class/net/{self.device}/mtu")

    def read(self, completed: CompletedCommand) -> str:
        """Return the MTU. Raise ToolError if the device is missing."""
        text = completed.output.strip()
        if not re.fullmatch("[0-9]{1,10}", text):
            raise ToolError(f"there is no device {self.device}")
        return text

    def commands_to_set(self, before: str) -> Sequence[ShellCommand]:
        """Return the command of iproute2."""
        del before
        return (_set(self.device, self.value),)

    def commands_to_put_back(self, before: str) -> Sequence[ShellCommand]:
        """Return the command of iproute2."""
        return (_set(self.device, before),)


def _set(device: str, size: str) -> ShellCommand:
    return ShellCommand(f"ip link set dev {device} mtu {size}")
