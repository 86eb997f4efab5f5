"""iperf3 between nodes, all flows of a pattern in the same seconds."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.errors import ClusterliftError
from harness.lab.cluster import Node
from harness.lab.engine import docker, docker_program, run

FIRST_PORT = 5201
HEAD_START_S = 1.0
"""Between telling the clients when to start, and that moment."""
OMITTED_S = 1
"""TCP's start, and what the token buckets had saved."""
LISTEN_S = 20.0
POLL_S = 0.1

# Containers share the host's clock. A flow that starts late leaves room for the others.
START_AT = "import os, sys, time; time.sleep(max(0, float(sys.argv[1]) - time.time())); \
os.execvp(sys.argv[2], sys.argv[2:])"


@dataclass(frozen=True)
class Flow:
    """One TCP connection's worth of traffic, or two if it is both ways."""

    client: Node
    server: Node


def goodputs(flows: Sequence[Flow], seconds: int, *, both_ways: bool = False) -> list[float]:
    """Bit/s of payload that arrived, for each flow; both ways, for each flow there, then back.

    Raises ClusterliftError with what iperf3 said if one fails.
    """
    ports = range(FIRST_PORT, FIRST_PORT + len(flows))
    try:
        for flow, port in zip(flows, ports, strict=True):
            _listen(flow.server, port)
        start = time.time() + HEAD_START_S
        with ThreadPoolExecutor(len(flows)) as threads:
            transfer = partial(_transfer, start=start, seconds=seconds, both_ways=both_ways)
            ends = list(threads.map(transfer, flows, ports))
    finally:
        for server in {flow.server.container: flow.server for flow in flows}.values():
            _end_servers(server)
    keys = ["sum_received", "sum_received_bidir_reverse"] if both_ways else ["sum_received"]
    return [float(end[key]["bits_per_second"]) for key in keys for end in ends]


def _listen(server: Node, port: int) -> None:
    docker("exec", "--detach", server.container, "iperf3", "-s", "-1", "-p", str(port))
    deadline = time.monotonic() + LISTEN_S
    while not server.execute("ss", "-Hltn", f"sport = :{port}").strip():
        if time.monotonic() > deadline:
            raise ClusterliftError(f"{server.name}: iperf3 does not listen at port {port}")
        time.sleep(POLL_S)


def _end_servers(server: Node) -> None:
    run([docker_program(), "exec", "--user", "root", server.container, "pkill", "iperf3"])


def _transfer(
    flow: Flow, port: int, *, start: float, seconds: int, both_ways: bool
) -> dict[str, Any]:
    client = ["iperf3", "-c", flow.server.name, "-p", str(port), "-J", "-t", str(seconds)]
    client += ["-O", str(OMITTED_S), *(["--bidir"] if both_ways else [])]
    command = ["exec", flow.client.container, "python3", "-c", START_AT, str(start), *client]
    done = run([docker_program(), *command])
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = {"error": done.stderr.strip() or f"no report, exit code {done.returncode}"}
    # iperf3 exits with 0 on some errors.
    if "error" in report:
        raise ClusterliftError(
            f"{flow.client.name} to {flow.server.name}: iperf3: {report['error']}"
        )
    end: dict[str, Any] = report["end"]
    return end
