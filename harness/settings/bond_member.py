"""A member of a bond that is taken out of service, which shows what it is worth."""

import json
from collections.abc import Sequence

from harness.hosts.remote_process import CompletedCommand
from harness.model.errors import ToolError
from harness.settings.setting import Setting, ShellCommand

UP, DOWN = "up", "down"


class BondMember(Setting, frozen=True, tag="bond member"):
    """A member of a bond that is down."""

    device: str

    @property
    def name(self) -> str:
        """`bond member eth1`."""
        return f"bond member {self.device}"

    @property
    def value(self) -> str:
        """`down`."""
        return DOWN

    def reading(self) -> ShellCommand:
        """Return the command that describes the device."""
        return ShellCommand(f"ip -j -d link show dev {self.device}")

    def read(self, completed: CompletedCommand) -> str:
        """Return `up` or `down`.

        Raise ToolError unless the device is a member of a bond: any other would lose its routes.
        """
        try:
            [link] = json.loads(completed.output)
            kind, flags = link.get("linkinfo", {}).get("info_slave_kind"), link["flags"]
        except (ValueError, KeyError, AttributeError) as error:
            raise ToolError(f"there is no device {self.device}") from error
        if kind != "bond":
            raise ToolError(f"{self.device} is not a member of a bond, so it is not taken down")
        return UP if "UP" in flags else DOWN

    def commands_to_set(self, before: str) -> Sequence[ShellCommand]:
        """Return the command of iproute2."""
        del before
        return (ShellCommand(f"ip link set dev {self.device} {DOWN}"),)

    def commands_to_put_back(self, before: str) -> Sequence[ShellCommand]:
        """Return the command of iproute2."""
        return (ShellCommand(f"ip link set dev {self.device} {before}"),)
