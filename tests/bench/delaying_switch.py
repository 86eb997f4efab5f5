"""A switch in user space that keeps every frame for a while: for kernels without netem.

The hosts are network namespaces, and their interfaces are TAP devices whose other end is this process. A
frame that a host sends leaves the switch after the host's delay, so a round trip takes twice that, and about
0.3 ms for the way through this process. Compare what was measured over it with nothing else.
"""

import fcntl
import os
import select
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.probes.networks import DEVICE, Network, network, run

# From linux/if_tun.h.
TUNSETIFF = 0x400454CA
IFF_TAP = 0x0002
IFF_NO_PI = 0x1000

MAX_FRAME_BYTES = 10_000
IDLE_S = 0.2
"""How often the switch looks for other delays, and whether it is to end."""
Frame = tuple[float, bytes]
"""When it is due, on the monotonic clock, and its bytes."""


@dataclass
class DelayingSwitch:
    """`delays` is a directory with a file for each host, named like its address: the delay in seconds.

    `ports` has the file descriptor of each host's device by the host's hardware address, and `addresses`
    the host's address by that descriptor.
    """

    delays: Path
    ports: dict[bytes, int] = field(default_factory=dict)
    addresses: dict[int, str] = field(default_factory=dict)

    def add(self, made: Network, name: str) -> str:
        """Add a host to a network, with a device that leads here, and return its full name."""
        number = len(self.addresses) + 1
        host, address, tap = (
            made._namespace(name),
            f"10.99.0.{number}",
            f"tap{os.getpid()}n{number}",
        )
        port = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(port, TUNSETIFF, struct.pack("16sH22x", tap.encode(), IFF_TAP | IFF_NO_PI))
        # The file stays connected to the device when that moves.
        run("ip", "link", "set", tap, "netns", host, "name", DEVICE)
        run("ip", "-n", host, "address", "add", f"{address}/24", "dev", DEVICE)
        run("ip", "-n", host, "link", "set", DEVICE, "up")
        shown = run("ip", "netns", "exec", host, "cat", f"/sys/class/net/{DEVICE}/address")
        self.ports[bytes.fromhex(shown.strip().replace(":", ""))] = port
        self.addresses[port], made.addresses[host] = address, address
        return host

    def serve(self, ended: threading.Event) -> None:
        """Forward frames until `ended` is set."""
        waiting: dict[int, deque[Frame]] = {port: deque() for port in self.ports.values()}
        delays, read_s = self._delays(), time.monotonic()
        while not ended.is_set():
            due_s = min(
                (queue[0][0] for queue in waiting.values() if queue), default=read_s + IDLE_S
            )
            readable, _, _ = select.select(waiting, [], [], max(0.0, due_s - time.monotonic()))
            now_s = time.monotonic()
            for port in readable:
                with suppress(BlockingIOError):
                    while True:
                        waiting[port].append((now_s + delays[port], os.read(port, MAX_FRAME_BYTES)))
            for port, queue in waiting.items():
                while queue and queue[0][0] <= now_s:
                    self._forward(port, queue.popleft()[1])
            if now_s > read_s + IDLE_S:
                delays, read_s = self._delays(), now_s

    def _forward(self, sender: int, frame: bytes) -> None:
        """Send a frame to the port of its address, or to all others if it has none, as a broadcast."""
        known = self.ports.get(frame[:6])
        for port in self.ports.values() if known is None else (known,):
            if port != sender:
                with suppress(OSError):  # a full queue drops frames, as every switch does
                    os.write(port, frame)

    def _delays(self) -> dict[int, float]:
        """Return the delay of what each port sends; 0 if there is no file."""
        files = {port: self.delays / address for port, address in self.addresses.items()}
        return {p: float(f.read_text() or 0) if f.exists() else 0.0 for p, f in files.items()}


@contextmanager
def delayed_star(names: Sequence[str], delays: Path) -> Iterator[tuple[Network, list[str]]]:
    """Yield a network of hosts around such a switch."""
    delays.mkdir(parents=True)
    switch, ended = DelayingSwitch(delays), threading.Event()
    with network() as made:
        hosts = [switch.add(made, name) for name in names]
        serving = threading.Thread(target=switch.serve, args=(ended,))
        serving.start()
        try:
            yield made, hosts
        finally:
            ended.set()
            serving.join()
            for port in switch.addresses:
                os.close(port)
