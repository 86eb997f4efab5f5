"""What a process knows of its pod: the node, and whether its network is that of the node."""

from collections.abc import Mapping

import pytest

from harness.node.pod import pod_facts

EXECUTOR = {"SPARK_EXECUTOR_POD_IP": "10.244.1.7", "KUBERNETES_SERVICE_HOST": "10.96.0.1"}
DRIVER = {"KUBERNETES_SERVICE_HOST": "10.96.0.1"}
NODE = {"CLUSTERLIFT_NODE_NAME": "worker-1"}
ADDRESSES = {"CLUSTERLIFT_NODE_ADDRESS": "10.0.0.7", "CLUSTERLIFT_POD_ADDRESS": "10.244.1.8"}
POD = "clusterlift-benchmark-7fba1d9a1b2c3d4e-exec-2"


@pytest.mark.parametrize(
    ("variables", "host_name", "facts"),
    [
        ({}, "worker-1", {}),
        (EXECUTOR, POD, {"network": "pods"}),
        (EXECUTOR | NODE, POD, {"node": "worker-1", "network": "pods"}),
        (EXECUTOR, "worker-1", {"network": "hosts"}),
        (EXECUTOR | NODE, "worker-1", {"node": "worker-1", "network": "hosts"}),
        (EXECUTOR | NODE, "worker-1.example.org", {"node": "worker-1", "network": "hosts"}),
        (DRIVER, "driver-0", {}),
        (DRIVER | NODE, "driver-0", {"node": "worker-1", "network": "pods"}),
        (DRIVER | NODE, "worker-1", {"node": "worker-1", "network": "hosts"}),
        # The host of a node may have another name than the node.
        (EXECUTOR | NODE, "host-7", {"node": "worker-1", "network": "hosts"}),
        (EXECUTOR | {"CLUSTERLIFT_NODE_ADDRESS": "10.244.1.7"}, "a", {"network": "hosts"}),
        (EXECUTOR | {"CLUSTERLIFT_NODE_ADDRESS": "10.0.0.7"}, "a", {"network": "pods"}),
        (DRIVER | NODE | ADDRESSES, "worker-1", {"node": "worker-1", "network": "pods"}),
        (
            EXECUTOR | {"CLUSTERLIFT_NODE_TYPE": "m7i.2xlarge", "CLUSTERLIFT_NODE_ZONE": "eu-1a"},
            POD,
            {"type": "m7i.2xlarge", "zone": "eu-1a", "network": "pods"},
        ),
        # What a template passes is not always filled in, and never trusted.
        (EXECUTOR | {"CLUSTERLIFT_NODE_ZONE": ""}, POD, {"network": "pods"}),
        (EXECUTOR | {"CLUSTERLIFT_NODE_NAME": "a\x1b[2J"}, POD, {"network": "pods"}),
        (EXECUTOR | {"CLUSTERLIFT_NODE_NAME": 300 * "a"}, POD, {"network": "pods"}),
    ],
)
def test_facts_of_a_pod(
    variables: Mapping[str, str], host_name: str, facts: Mapping[str, str]
) -> None:
    assert pod_facts(variables, host_name) == facts
