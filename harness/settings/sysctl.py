"""A setting of the kernel."""

import shlex
from collections.abc import Sequence

from harness.hosts.remote_process import CompletedCommand, error_line
from harness.model.errors import ToolError
from harness.settings.setting import Setting, ShellCommand


class Sysctl(Setting, frozen=True, tag="sysctl"):
    """A kernel setting, such as `net.ipv4.tcp_congestion_control`, and its new text."""

    key: str
    text: str

    @property
    def name(self) -> str:
        """The key."""
        return self.key

    @property
    def value(self) -> str:
        """The text with single spaces, as `read` returns it."""
        return _with_single_spaces(self.text)

    def reading(self) -> ShellCommand:
        """Return the command that prints the value."""
        return ShellCommand(f"sysctl -n {shlex.quote(self.key)}")

    def read(self, completed: CompletedCommand) -> str:
        """Return the value with single spaces. Raise ToolError if the kernel has no such setting."""
        if completed.code:
            raise ToolError(error_line(completed.errors) or f"the kernel has no setting {self.key}")
        return _with_single_spaces(completed.output)

    def commands_to_set(self, before: str) -> Sequence[ShellCommand]:
        """Return the command that sets the value."""
        del before
        return (_set(self.key, self.value),)

    def commands_to_put_back(self, before: str) -> Sequence[ShellCommand]:
        """Return the command that sets the former value."""
        return (_set(self.key, before),)


def _set(key: str, value: str) -> ShellCommand:
    return ShellCommand(f"sysctl -q -w {shlex.quote(f'{key}={value}')}")


def _with_single_spaces(text: str) -> str:
    """Return the words of a text; the kernel separates the numbers of a setting by tabs."""
    return " ".join(text.split())
