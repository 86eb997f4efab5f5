"""An agent and its relay end by themselves when the network between them vanishes without a word."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.model.link import Link
from tests.probes.networks import DEVICE, run, star

LOSS_S = 6
TIMEOUT_S = 120

RELAY = f"""
import sys, time
from pathlib import Path
from harness.hosts.transports.spark import agent
from harness.hosts.transports.spark.relay import Relay
agent.LOSS_S = {LOSS_S}
relay = Relay(Path(sys.argv[1]), (sys.argv[2], 0))
print(relay.port, relay.key.hex(), flush=True)
assert relay.await_agents(1, {TIMEOUT_S})
print("connected", flush=True)
while relay.await_agents(0, 0):
    time.sleep(0.1)
"""
AGENT = f"""
import sys
from harness.hosts.transports.spark import agent
agent.LOSS_S = {LOSS_S}
agent.run_agent((sys.argv[1], int(sys.argv[2])), bytes.fromhex(sys.argv[3]), "b")
"""


@contextmanager
def in_namespace(name: str, script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    python = [sys.executable, "-c", script, *map(str, arguments)]
    with subprocess.Popen(
        ["ip", "netns", "exec", name, *python], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_both_end_when_the_network_vanishes(tmp_path: Path) -> None:
    with star([Link(10**8, 1500), Link(10**8, 1500)]) as (made, [a, b]):
        address = made.addresses[a]
        with in_namespace(a, RELAY, tmp_path / "relay", address) as relay:
            assert relay.stdout is not None
            port, key = relay.stdout.readline().split()
            with in_namespace(b, AGENT, address, port, key) as agent:
                assert relay.stdout.readline() == "connected\n"
                run("ip", "-n", b, "link", "set", DEVICE, "down")
                assert agent.wait(TIMEOUT_S) == 0
                assert relay.wait(TIMEOUT_S) == 0
