"""Small networks of real interfaces: hosts and switches are network namespaces.

A switch is a bridge in a namespace of its own, so that no firewall of the machine (such as Docker's) applies.
Each cable has a token bucket at both ends, so that a host sends and receives at the same rate.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from harness.model.link import Link
from harness.settings.rate import LATENCY, MIN_BURST_BYTES
from tests.waiting import eventually

NEEDED = ("ip", "tc", "ping", "iperf3", "sockperf")
DEVICE = "eth0"
_numbers = count(1)


def missing() -> str:
    """Return why networks cannot be made here; empty if they can."""
    if os.geteuid():
        return "making network namespaces needs root"
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    try:
        with network() as made:
            made.switch()
            made.host("n", made.switches[0], Link(10**7, 1500))
    except subprocess.CalledProcessError as error:
        return f"this kernel makes no such networks: {error.stderr.strip()}"
    return ""


@dataclass
class Network:
    """The namespaces of a network. `addresses` has the hosts' addresses by name."""

    mark: str
    namespaces: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)

    def switch(self) -> str:
        """Add a switch that carries frames of any size, and return its name."""
        name = self._namespace(f"switch{len(self.switches) + 1}")
        run("ip", "-n", name, "link", "add", "br0", "mtu", "9000", "type", "bridge")
        run("ip", "-n", name, "link", "set", "br0", "up")
        self.switches.append(name)
        return name

    def host(self, name: str, switch: str, link: Link) -> str:
        """Add a host with a cable to a switch, and return its full name."""
        host = self._namespace(name)
        self.addresses[host] = f"10.99.0.{len(self.addresses) + 1}"
        self._cable(host, switch, link)
        return host

    def connect(self, host: str, switch: str, *, connected: bool) -> None:
        """Plug the cable of a host into its switch, or pull it out."""
        run("ip", "-n", switch, "link", "set", self._port(host), "up" if connected else "down")

    def _port(self, host: str) -> str:
        return f"port{list(self.addresses).index(host) + 1}"

    def _cable(self, host: str, switch: str, link: Link) -> None:
        port = self._port(host)
        ends = ("peer", "name", port, "netns", switch)
        # The former one of a host that was replaced goes with its namespace, a moment later.
        eventually(lambda: port not in run("ip", "-n", switch, "-o", "link"), f"there is a {port}")
        # Its own at each start, as of a network card, so that others need not find out a new one.
        own = f"02:00:00:00:00:{list(self.addresses).index(host) + 1:02x}"
        run("ip", "link", "add", DEVICE, "address", own, "netns", host, "type", "veth", *ends)
        run("ip", "-n", host, "address", "add", f"{self.addresses[host]}/24", "dev", DEVICE)
        run("ip", "-n", switch, "link", "set", port, "mtu", "9000", "master", "br0", "up")
        run("ip", "-n", host, "link", "set", DEVICE, "mtu", str(link.mtu), "up")
        _shape(host, DEVICE, link)
        _shape(switch, port, link)

    def uplink(self, first: str, second: str, link: Link) -> None:
        """Add a cable between two switches."""
        ends = ("peer", "name", "uplink", "netns", second)
        run("ip", "link", "add", "uplink", "netns", first, "type", "veth", *ends)
        for switch in (first, second):
            run("ip", "-n", switch, "link", "set", "uplink", "mtu", "9000", "master", "br0", "up")
            _shape(switch, "uplink", link)

    def hosts_option(self, hosts: Sequence[str]) -> str:
        """Return the hosts and their addresses in the form of the option --hosts."""
        return ",".join(f"{host}={self.addresses[host]}" for host in hosts)

    def _namespace(self, name: str) -> str:
        # The mark comes last, so that names start with a letter and sort by their own part.
        full = f"{name}-{self.mark}"
        self.namespaces.append(full)
        self._add(full)
        return full

    def _add(self, namespace: str) -> None:
        run("ip", "netns", "add", namespace)
        run("ip", "-n", namespace, "link", "set", "lo", "up")


@contextmanager
def network() -> Iterator[Network]:
    """Yield an empty network, and delete what was added to it."""
    made = Network(f"{os.getpid()}-{next(_numbers)}")
    try:
        yield made
    finally:
        for namespace in made.namespaces:
            with suppress(subprocess.CalledProcessError):
                run("ip", "netns", "delete", namespace)


@contextmanager
def star(links: Sequence[Link]) -> Iterator[tuple[Network, list[str]]]:
    """Yield a network of one switch, and its hosts a, b, ... with these links."""
    with network() as made:
        switch = made.switch()
        names = [chr(ord("a") + number) for number in range(len(links))]
        yield (
            made,
            [made.host(name, switch, link) for name, link in zip(names, links, strict=True)],
        )


@contextmanager
def many(links: Sequence[Link]) -> Iterator[tuple[Network, list[str]]]:
    """Yield a network of one switch, and its hosts n00, n01, ... with these links."""
    with network() as made:
        switch = made.switch()
        yield made, [made.host(f"n{number:02}", switch, link) for number, link in enumerate(links)]


def run(*command: str) -> str:
    """Return what a command prints. Raise CalledProcessError if it fails."""
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout


def programs(namespace: str) -> dict[int, str]:
    """Return the iperf3 and sockperf processes of a namespace: their names by process id."""
    ids = map(int, run("ip", "netns", "pids", namespace).split())
    names = {process: _program(process) for process in ids}
    return {process: name for process, name in names.items() if name in {"iperf3", "sockperf"}}


def _program(process: int) -> str:
    with suppress(OSError):  # it may have ended
        return Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()
    return ""


def _shape(namespace: str, device: str, link: Link) -> None:
    rate = link.counted_bit_s
    if rate is None:
        return
    burst = max(MIN_BURST_BYTES, rate // 8000)
    limit = ("rate", f"{rate}bit", "burst", f"{burst}b", "latency", LATENCY)
    run("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "tbf", *limit)
