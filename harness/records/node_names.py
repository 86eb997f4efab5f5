"""Nodes under their own names, where the cluster knows them by addresses: `worker-1`, not `172.18.0.3`.

The record of a run has names throughout, and the address of each name once, in its first line. Older files
have addresses throughout, and get the names when they are read.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING, Any, Mapping, TypeVar

from harness.node.machine import facts_by_node

if TYPE_CHECKING:
    from harness.model.run import Facts, Run

T = TypeVar("T")
Names = Mapping[str, str]
"""The names of nodes, by their addresses."""

_ADDRESS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}\b|\[[\da-f:.]+\]")
_PLAIN = (int, float, bool, type(None))


def node_names(environment: Facts) -> Names:
    """Return the names that take the place of addresses in all that a run says.

    A node keeps its address if another one of the run has the same name.
    """
    names: Names = (environment.get("machines") or {}).get("names") or {}
    nodes = Counter([*names.values(), *facts_by_node(environment)])
    return {address: name for address, name in names.items() if nodes[name] == 1}


def with_names(value: T, names: Names) -> T:
    """Return a value, such as a trial, with names in the place of addresses in all of its texts."""
    return _named(value, names) if names else value


def _named(value: Any, names: Names) -> Any:
    if type(value) is str:  # and not an enumeration
        return _ADDRESS.sub(lambda found: names.get(found[0], found[0]), value)
    if isinstance(value, dict):
        return {_named(key, names): _named(below, names) for key, below in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_named(below, names) for below in value])
    if is_dataclass(value) and not isinstance(value, type):
        texts = {
            key: _named(below, names)
            for key, below in vars(value).items()
            if not isinstance(below, _PLAIN)
        }
        return replace(value, **texts)
    return value


def run_with_names(run: Run) -> Run:
    """Return a run with the names of its nodes, and the address of each name.

    The URI of the dataset stays as the user gave it.
    """
    names = node_names(run.environment)
    if not names:
        return run
    machines = dict(run.environment["machines"])
    rest = {**run.environment, "machines": {**machines, "names": {}}}
    environment = with_names(rest, names)
    environment["machines"]["addresses"] = {name: address for address, name in names.items()}
    dataset = run.dataset
    if dataset and dataset.get("placement"):
        dataset = {**dataset, "placement": with_names(dataset["placement"], names)}
    return replace(run, environment=environment, dataset=dataset)
