"""How a host is reached: the words that go before a command to run it there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.errors import BadInput, ClusterliftError

SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-T", "--")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@:%-]*")


class HostTrouble(ClusterliftError):
    """A host is down, lacks a program, or a program failed there. The message names the host."""


@dataclass(frozen=True)
class Host:
    """A host by the name that people give it.

    `address` is where its peers find it on the network under test. `prefix` are the words before a
    command; with `through_shell` a shell of the other side takes the command apart once more.
    """

    name: str
    address: str
    prefix: tuple[str, ...] = ()
    through_shell: bool = False

    def spelled(self, *command: str) -> list[str]:
        """The argument vector that runs a command on the host."""
        if self.through_shell:
            return [*self.prefix, shlex.join(command)]
        return [*self.prefix, *command]

    def __str__(self) -> str:
        return self.name


Way = Callable[[str, str], Host]
"""Makes a host of its name and address."""


def by_ssh(name: str, address: str = "") -> Host:
    """A host that ssh reaches without a password; `user@host` and what ~/.ssh/config knows will do."""
    return Host(name, address, (*SSH, name), through_shell=True)


def by_docker(name: str, address: str = "", container: str = "") -> Host:
    """A container of this machine's engine."""
    return Host(
        name, address, ("docker", "exec", "--interactive", "--user", "root", container or name)
    )


def by_netns(name: str, address: str = "") -> Host:
    """A network namespace of this machine, as `ip netns` lists them; needs root."""
    return Host(name, address, ("ip", "netns", "exec", name))


def by_nothing(name: str, address: str = "") -> Host:
    """The machine that we run on."""
    return Host(name, address)


WAYS: Mapping[str, Way] = {
    "ssh": by_ssh,
    "docker": by_docker,
    "netns": by_netns,
    "local": by_nothing,
}


def check_name(option: str, name: str) -> str:
    """The name, or BadInput where a program could take it for something else than a host."""
    if _NAME.fullmatch(name):
        return name
    raise BadInput(
        f"{option}: {name!r} is not a host: letters, digits and . _ - @ : % are, and no '-' in front"
    )
