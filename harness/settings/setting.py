"""A setting of a host: how it is read, set and put back. One file for each kind of setting."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from harness.hosts.remote_process import CompletedCommand


@dataclass(frozen=True)
class ShellCommand:
    """A line for a shell of root on a host.

    `modules` are the kernel modules that it needs. A command that `may_fail` removes something that may not
    exist.
    """

    line: str
    modules: str = ""
    may_fail: bool = False


class Setting(msgspec.Struct, frozen=True, tag=True):
    """Something that can be set on a host and put back, with the value to set.

    A value is text in one form: what `read` returns after `commands_to_set` equals `value`.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What is set, without the value: `MTU of eth0`."""

    @property
    @abstractmethod
    def value(self) -> str:
        """The value to set: `9000`."""

    @abstractmethod
    def reading(self) -> ShellCommand:
        """Return the command that prints the current value."""

    @abstractmethod
    def read(self, completed: CompletedCommand) -> str:
        """Return the current value. Raise ToolError if it is unknown, or could not be put back."""

    @abstractmethod
    def commands_to_set(self, before: str) -> Sequence[ShellCommand]:
        """Return the commands that set the value in place of `before`."""

    @abstractmethod
    def commands_to_put_back(self, before: str) -> Sequence[ShellCommand]:
        """Return the commands that set the value `before`. They can be repeated."""


def script(commands: Sequence[ShellCommand]) -> str:
    """Return a script for `sh` that runs the commands until one fails.

    Its exit code tells which one: see `failed_command`.
    """
    return "\n".join(
        f"{command.line} 2>/dev/null || :"
        if command.may_fail
        else f"{command.line} || exit {_FIRST_CODE + number}"
        for number, command in enumerate(commands)
    )


def failed_command(commands: Sequence[ShellCommand], code: int) -> ShellCommand | None:
    """Return the command that failed, from the exit code of its script; None if nobody knows."""
    number = code - _FIRST_CODE
    return commands[number] if 0 <= number < len(commands) else None


_FIRST_CODE = 10
"""Lower ones are those of `sh` itself."""
