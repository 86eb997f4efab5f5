"""What a process in a pod of Kubernetes knows of it, by the environment variables of Spark and the template.

A template passes the name of the node, which Kubernetes tells a pod as `spec.nodeName`, and its type and zone
where they are known.
"""

from __future__ import annotations  # for Python 3.8

import re
from typing import Mapping

PODS, HOSTS = "pods", "hosts"
"""Whose network a pod has: one of its own, or that of its host."""
VARIABLES = {
    "node": "CLUSTERLIFT_NODE_NAME",
    "type": "CLUSTERLIFT_NODE_TYPE",
    "zone": "CLUSTERLIFT_NODE_ZONE",
}
"""The variables that a template passes, by the names of facts."""
_EXECUTOR = "SPARK_EXECUTOR_POD_IP"
"""What Spark passes to each executor on Kubernetes, and to nothing else."""
_IN_ANY_POD = "KUBERNETES_SERVICE_HOST"
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
    if not is_executor and not node and _IN_ANY_POD not in variables:
        return None
    if is_executor and _EXECUTOR_POD.search(host_name[-12:]):
        return PODS
    if node:
        is_host = host_name.partition(".")[0] == node.partition(".")[0]
        return HOSTS if is_host else PODS
    return HOSTS if is_executor else None
