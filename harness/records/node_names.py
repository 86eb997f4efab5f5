"""Nodes under their own names, where the cluster knows them by addresses: `worker-1`, not `172.18.0.3`.

A results file has the addresses throughout, and the names once, in its first line.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from harness.model.run import Facts
from harness.node.machine import facts_by_node

_ADDRESS = re.compile(rb"\b\d{1,3}(?:\.\d{1,3}){3}\b|\[[\da-f:.]+\]")


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
    return lambda line: _ADDRESS.sub(lambda found: names.get(found[0], found[0]), line)


def with_names(environment: Facts) -> Any:
    """Return the environment of a run with the names of its nodes."""
    return json.loads(naming(environment)(json.dumps(environment).encode()))
