"""What a process in a pod of Kubernetes knows of it, by the environment variables of Spark and the template.

A template passes the name of the node, which Kubernetes tells a pod as `spec.nodeName`, and its type and zone
where they are known.
"""

from __future__ import annotations  # for Python 3.8

import re
from typing import Mapping

PODS = "pods"
HOSTS = "hosts"
"""Whose network a pod has: one of its own, or that of its host."""
VARIABLES = {
    "node": "CLUSTERLIFT_NODE_NAME",
    "type": "CLUSTERLIFT_NODE_TYPE",
    "zone": "CLUSTERLIFT_NODE_ZONE",
}
"""The variables that a template passes, by the names of facts."""
_EXECUTOR = "SPARK_EXECUTOR_POD_IP"
"""What Spark passes to each executor on Kubernetes, and to nothing else."""
_NODE_ADDRESS = "CLUSTERLIFT_NODE_ADDRESS"
_POD_ADDRESS = "CLUSTERLIFT_POD_ADDRESS"
"""What a template passes as `status.hostIP` and `status.podIP`: in a host's network they are the same."""
_EXECUTOR_POD = re.compile(r"exec-\d+")
"""The end of the name that Spark gives an executor's pod, which is its host name in a network of its own."""
_MAX_LENGTH = 253
"""Characters of a name in Kubernetes."""


def pod_facts(variables: Mapping[str, str], host_name: str) -> dict[str, str]:
    """Return node, type, zone and network of this process's pod, where they are known; else nothing."""
    found: dict[str, str] = {}
    for fact, variable in VARIABLES.items():
        value = variables.get(variable, "")
        if value.isprintable() and 0 < len(value) <= _MAX_LENGTH:
            found[fact] = value
    network = _network(variables, host_name, found.get("node"))
    if network:
        found["network"] = network
    return found


def _network(variables: Mapping[str, str], host_name: str, node: str | None) -> str | None:
    is_executor = _EXECUTOR in variables
    node_address = variables.get(_NODE_ADDRESS)
    pod_address = variables.get(_EXECUTOR) or variables.get(_POD_ADDRESS)
    if node_address and pod_address:
        has_own_network = node_address != pod_address
    elif is_executor:
        has_own_network = bool(_EXECUTOR_POD.search(host_name[-12:]))
    elif node:
        has_own_network = host_name.partition(".")[0] != node.partition(".")[0]
    else:
        return None
    return PODS if has_own_network else HOSTS
