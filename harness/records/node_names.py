"""Nodes under their own names, where the cluster knows them by addresses: `worker-1`, not `172.18.0.3`.

A results file has the addresses throughout, and the names once, in its first line.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from os.path import commonprefix
from typing import Any

import msgspec

from harness.model.run import Facts, Run
from harness.node.machine import facts_by_node

_REST_OF_IPV6 = r"[\da-f:.]*\]"


def naming(environment: Facts) -> Callable[[bytes], bytes]:
    """Return what puts names in the place of addresses in a line of JSON.

    A node keeps its address if another one of the run has the same name.
    """
    known = (environment.get("machines") or {}).get("names") or {}
    nodes = Counter([*known.values(), *facts_by_node(environment)])
    names = {
        address.encode(): json.dumps(name)[1:-1].encode()
        for address, name in known.items()
        if nodes[name] == 1
    }
    if not names:
        return bytes
    pattern = _addresses_like(known)

    def name_of(found: re.Match[bytes]) -> bytes:
        before = found.string[max(0, found.start() - 1) : found.start()]
        is_part_of_another = before.isalnum() or before in {b".", b"_"}
        if is_part_of_another and not found[0].startswith(b"["):
            return found[0]
        return names.get(found[0], found[0])

    return lambda line: pattern.sub(name_of, line)


def _addresses_like(addresses: Iterable[str]) -> re.Pattern[bytes]:
    """Return a pattern of all addresses that begin as all of these do.

    A pattern that begins with fixed characters is found many times faster in a long line.
    """
    begin = commonprefix(list(addresses))  # noqa: RUF071  character by character
    if begin.startswith("["):
        return re.compile(f"{re.escape(begin.removesuffix(']'))}{_REST_OF_IPV6}".encode())
    octets = begin.split(".")[:-1]
    fixed = "".join(f"{octet}." for octet in octets)
    ipv4 = rf"{re.escape(fixed)}\d{{1,3}}(?:\.\d{{1,3}}){{{3 - len(octets)}}}\b"
    return re.compile((ipv4 if fixed else rf"{ipv4}|\[{_REST_OF_IPV6}").encode())


def with_names(run: Run) -> Run:
    """Return a run with the names of its nodes. The URI of its dataset stays as the user gave it."""
    in_line = naming(run.environment)
    if in_line is bytes:
        return run

    def named(facts: Any) -> Any:
        return msgspec.json.decode(in_line(msgspec.json.encode(facts)))

    dataset = run.dataset and {
        key: named(value) if key == "placement" else value for key, value in run.dataset.items()
    }
    return replace(run, environment=named(run.environment), dataset=dataset)
