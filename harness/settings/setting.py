"""A setting of a host as a value: how it is read, set and put back."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.hosts.remote_process import CompletedCommand
from harness.hosts.transports.host import Host


@dataclass(frozen=True)
class ShellCommand:
    """A line for a shell of root on a host.

    `modules` are the kernel modules that it needs. A command that `may_fail` removes something that may not
    exist. Errors show `title` in place of a line that may have secrets in it.
    """

    line: str
    modules: str = ""
    may_fail: bool = False
    title: str = ""


@dataclass(frozen=True)
class Setting:
    """Something that can be set on a host and put back, with the value to set.

    A value is text in one form: what `read` returns after the value was set equals `value`.

    - `name`: what is set, without the value: `MTU of eth0`. Journals know a setting by it.
    - `values`: a regular expression of every value that it can have.
    - `reading`: a line for `sh` that prints the current value. `read` returns it, and raises ToolError if it
      is unknown, or could not be put back.
    - `commands`: called with a value and with the one from before the experiment, returns the commands that
      set the former. With the same value twice, they put it back, and can be repeated.
    - `has_parts`: whether it can be set in part while `read` returns the value from before.
    """

    name: str
    value: str
    values: str = field(compare=False)
    reading: str = field(compare=False)
    read: Callable[[CompletedCommand], str] = field(compare=False)
    commands: Callable[[str, str], Sequence[ShellCommand]] = field(compare=False)
    has_parts: bool = field(default=False, compare=False)

    def can_be(self, value: str) -> bool:
        """Whether this can be a value of the setting. Any other text must not run as root."""
        return re.fullmatch(self.values, value) is not None


@dataclass(frozen=True)
class SettingChange:
    """A setting of a host that is changed, and its value before."""

    host: Host
    setting: Setting
    before: str

    def __str__(self) -> str:
        return f"{self.host}: {self.setting.name}"

    @property
    def to_set(self) -> Sequence[ShellCommand]:
        """The commands that set the new value."""
        return self.setting.commands(self.setting.value, self.before)

    @property
    def to_put_back(self) -> Sequence[ShellCommand]:
        """The commands that set the former value. They can be repeated."""
        return self.setting.commands(self.before, self.before)


def script(commands: Sequence[ShellCommand]) -> str:
    """Return a script for `sh` that runs the commands until one fails.

    Its exit code tells which one: see `failed_command`.
    """
    lines = []
    for number, command in enumerate(commands):
        if command.may_fail:
            lines.append(f"{command.line} 2>/dev/null || :")
        else:
            lines.append(f"{command.line} || exit {_FIRST_CODE + number}")
    return "\n".join(lines)


def script_to_put_back(changes: Sequence[SettingChange]) -> str:
    """Return a script that puts a host's settings back, the last first. It tries each, whatever fails."""
    parts = [f"(\n{script(change.to_put_back)}\n) || failed=1" for change in reversed(changes)]
    return "\n".join(["failed=", *parts, '[ -z "$failed" ]'])


def failed_command(commands: Sequence[ShellCommand], code: int) -> ShellCommand | None:
    """Return the command that failed, by the exit code of its script; None if the code names none."""
    number = code - _FIRST_CODE
    if 0 <= number < len(commands):
        return commands[number]
    return None


def why_it_failed(command: ShellCommand, error: str) -> str:
    """Return what is wrong in one line, from the line that the command printed."""
    if command.modules and any(sign in error.lower() for sign in _UNSUPPORTED):
        return (
            f"this kernel cannot shape links without {command.modules}: load it there (modprobe), or use a "
            f"kernel that has it ({error})"
        )
    return f"{command.title or command.line}: {error}"


_UNSUPPORTED = ("unknown", "not supported", "no such file", "failed to load", "not found")
_FIRST_CODE = 10
"""`sh` itself uses lower ones."""
