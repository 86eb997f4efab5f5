"""Nodes under their own names, where the cluster knows them by addresses: `worker-1`, not `172.18.0.3`.

A results file has the addresses throughout, and the names once, in its first line.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.model.run import Facts, Run
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


def with_names(run: Run) -> Run:
    """Return a run with the names of its nodes. The URI of its dataset stays as the user gave it."""
    in_line = naming(run.environment)

    def named(facts: Any) -> Any:
        return json.loads(in_line(json.dumps(facts).encode()))

    dataset = run.dataset and {
        key: named(value) if key == "placement" else value for key, value in run.dataset.items()
    }
    return replace(run, environment=named(run.environment), dataset=dataset)
