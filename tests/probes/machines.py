"""Hosts that are machines of their own, which ssh reaches over their cables.

A machine is a host of a network, with processes and with /run, /etc, /tmp and /dev/shm of its own: all of it
ends with the machine, and nothing outside is changed. Its sshd knows one key, for root and for a user who may
become root by sudo. Commands find an ssh first in their PATH that runs on another host of the network. Root
has no profile there: what it starts might wait for a lock that a killed session has left.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.model.link import Link
from tests.probes.networks import Network, network, run
from tests.waiting import eventually

SSHD = Path("/usr/sbin/sshd")
USER = "sudoer"
FIRST_PORT = 2201
_NEEDED = {str(SSHD): "openssh-server", "ssh": "openssh-client", "sudo": "sudo"}
_BOOT = f"""
mount -t tmpfs -o mode=755 run /run && mkdir /run/sshd || exit
cp -a /etc /run/etc && mount --bind /run/etc /etc || exit
cd "$1" && cp key.pub sshd_config "$2.key" /run && chmod 644 /run/key.pub && cd /run || exit
mount -t tmpfs shm /dev/shm && mount -t tmpfs tmp /tmp || exit
sed -i '/^root:/d' /etc/passwd && echo 'root:x:0:0::/run:/bin/sh' >>/etc/passwd
echo '{USER}:x:4242:4242::/run:/bin/sh' >>/etc/passwd
echo '{USER}:*:20000::::::' >>/etc/shadow
echo '{USER} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers
exec {SSHD} -D -f /run/sshd_config -h "/run/$2.key" -p "$3"
"""
_SSHD_CONFIG = """
AuthorizedKeysFile /run/key.pub
PidFile none
UsePAM no
"""
_SSH_CONFIG = """
Host *
  User root
  IdentityFile DIRECTORY/key
  UserKnownHostsFile DIRECTORY/known_hosts
"""
# Tests wait less long than users do, for what our own options make ssh notice.
_SSH = """#!/bin/sh
for word; do
  case $word in ConnectTimeout=*|ServerAliveInterval=*) word=${word%=*}=5;; esac
  set -- "$@" "$word"
  shift
done
exec ip netns exec CLIENT SSH -F DIRECTORY/ssh_config "$@"
"""
_SSH_CONFIG_OF_HOST = """
Host NAME
  HostName ADDRESS
  Port PORT
  HostKeyAlias NAME
"""


def missing() -> str:
    """Return why there can be no machines here; empty if there can."""
    for program, package in _NEEDED.items():
        if shutil.which(program) is None:
            return f"there is no {program} (Debian: apt-get install {package})"
    return ""


@dataclass
class Machines:
    """Machines by their names. `network` has their cables."""

    network: Network
    directory: Path
    switch: str
    client: str
    names: list[str] = field(default_factory=list)
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which a command finds the ssh that reaches the machines."""
        return {**os.environ, "PATH": f"{self.directory}/bin:{os.environ['PATH']}"}

    def hosts_option(self, user: str = "root") -> str:
        """Return the machines in the form of the option --hosts."""
        addresses = self.network.addresses
        return ",".join(f"{user}@{name}={addresses[name]}" for name in self.names)

    def boot(self, name: str) -> None:
        """Start a machine, and wait until its sshd listens."""
        arguments = (str(self.directory), name, str(FIRST_PORT + self.names.index(name)))
        self._running[name] = subprocess.Popen(
            (
                *("ip", "netns", "exec", name, "unshare", "--mount", "--pid", "--fork"),
                *("--kill-child", "--mount-proc", "sh", "-c", _BOOT, "boot", *arguments),
            ),
            stdin=subprocess.DEVNULL,
        )
        eventually(lambda: self._listens(name), f"{name} does not boot")

    def power_off(self, name: str) -> None:
        """End all of a machine at once."""
        process = self._running.pop(name)
        process.kill()
        process.wait()
        eventually(lambda: not run("ip", "netns", "pids", name), f"something is left in {name}")

    def connect(self, name: str, *, connected: bool) -> None:
        """Plug a machine's cable in, or pull it out."""
        self.network.connect(name, self.switch, connected=connected)

    def processes(self, name: str) -> dict[int, list[str]]:
        """Return the words of what runs on a machine beside its sshd, by process id."""
        found = {}
        for process in map(int, run("ip", "netns", "pids", name).split()):
            with suppress(OSError):  # it may have ended
                words = Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
                if words[0] and not words[0].startswith(("sshd:", "unshare", str(SSHD))):
                    found[process] = words
        return found

    def argv(self, name: str, *command: str) -> list[str]:
        """Return the argument vector that runs a command on a machine without its network."""
        return ["nsenter", "--target", str(self._init(name)), "--net", "--mount", "--pid", *command]

    def _listens(self, name: str) -> bool:
        assert self._running[name].poll() is None, f"{name} cannot be started"
        return "sshd" in run("ip", "netns", "exec", name, "ss", "-Hltnp")

    def _init(self, name: str) -> int:
        parent = self._running[name].pid
        [child] = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return int(child)


@contextmanager
def machines(directory: Path, links: Sequence[Link]) -> Iterator[Machines]:
    """Yield machines a, b, ... with these links; the directory has keys, and the ssh that reaches them."""
    with network() as made:
        switch = made.switch()
        started = Machines(made, directory, switch, made.host("client", switch, Link(None, 1500)))
        for letter, link in zip("abcdefgh", links, strict=False):
            started.names.append(made.host(letter, switch, link))
        _write_keys(started)
        try:
            for name in started.names:
                started.boot(name)
            yield started
        finally:
            for name in started.names:
                with suppress(KeyError):
                    started.power_off(name)


def _write_keys(made: Machines) -> None:
    directory, addresses = made.directory, made.network.addresses
    for name in ("key", *(f"{name}.key" for name in made.names)):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name))
    own = [
        replaced(_SSH_CONFIG_OF_HOST, NAME=name, ADDRESS=addresses[name], PORT=str(port))
        for port, name in enumerate(made.names, FIRST_PORT)
    ]
    known = [f"{name} {(directory / f'{name}.key.pub').read_text()}" for name in made.names]
    common = replaced(_SSH_CONFIG, DIRECTORY=str(directory))
    (directory / "sshd_config").write_text(_SSHD_CONFIG)
    (directory / "ssh_config").write_text("".join([*own, common]))
    (directory / "known_hosts").write_text("".join(known))
    program = directory / "bin/ssh"
    program.parent.mkdir()
    ssh = shutil.which("ssh") or ""
    program.write_text(replaced(_SSH, CLIENT=made.client, SSH=ssh, DIRECTORY=str(directory)))
    program.chmod(0o755)


def replaced(text: str, **values: str) -> str:
    """Return a text with a value in place of each of some words."""
    for word, value in values.items():
        text = text.replace(word, value)
    return text
