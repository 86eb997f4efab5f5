"""Commands of the user's own, for what no other setting can do, such as a switch's port or a file system."""

import shlex
from collections.abc import Sequence

from harness.hosts.remote_process import CompletedCommand
from harness.settings.setting import Setting, ShellCommand

APPLIED, NOT_APPLIED = "applied", "not applied"


class OwnCommand(Setting, frozen=True, tag="command"):
    """A command to apply something, one to revert it, and one to check whether it is applied.

    Each is a line for `sh`; `check` exits with 0 if it is applied. `revert` may run several times, also if
    `apply` did not run, or only half.
    """

    apply: str
    revert: str
    check: str

    @property
    def name(self) -> str:
        """The command itself."""
        return f"command `{self.apply}`"

    @property
    def value(self) -> str:
        """`applied`."""
        return APPLIED

    def reading(self) -> ShellCommand:
        """Return the user's check."""
        return _shell(self.check)

    def read(self, completed: CompletedCommand) -> str:
        """Return `applied` if the check exits with 0, else `not applied`."""
        return NOT_APPLIED if completed.code else APPLIED

    def commands_to_set(self, before: str) -> Sequence[ShellCommand]:
        """Return the user's command that applies it."""
        del before
        return (_shell(self.apply),)

    def commands_to_put_back(self, before: str) -> Sequence[ShellCommand]:
        """Return the user's command that reverts it."""
        return (_shell(self.apply if before == APPLIED else self.revert),)


def _shell(line: str) -> ShellCommand:
    # In a shell of its own, so that an `exit` or an open quote does not end the other commands.
    return ShellCommand(f"sh -c {shlex.quote(line)}")
