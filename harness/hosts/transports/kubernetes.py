"""Nodes of Kubernetes as hosts: commands run by `kubectl exec` in the pod of docker/kubernetes/ on each node.

kubectl finds the cluster, the user and the namespace as always: by $KUBECONFIG and its current context.
"""

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.base.checked import mapping, objects
from harness.base.child_process import finished
from harness.base.errors import BadInput
from harness.base.failure_reason import OWN, failure_reason
from harness.base.pod_problem import is_ready, pod_problem
from harness.base.words import join_names
from harness.hosts.transports.host import Host, HostError

LABEL = "app=clusterlift-node"
"""The label of our pods on nodes (docker/kubernetes/nodes.yaml)."""
_LIST = ("kubectl", "get", "pods", f"--selector={LABEL}", "--output=json", "--request-timeout=5s")
_EXEC = ("kubectl", "exec", "--stdin", "--quiet")
_LIST_TIMEOUT_S = 30.0
_FRESH_S = 5.0
"""A pod that is evicted has another name when it comes back, so pods are listed again after this long."""
_SAY = 'printf "%s\\n" "$0" >&2; exit 1'


@dataclass(frozen=True)
class NodePod:
    """Our pod on a node. `address` is the node's own. `problem` says why no command can run there, if so."""

    name: str
    address: str = ""
    problem: str = ""


class NodePods:
    """Our pods on the nodes, as the API server lists them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pods: Mapping[str, NodePod] | None = None
        self._failure: HostError | None = None
        self._listed_s = -_FRESH_S

    def reach(self, name: str, address: str = "") -> Host:
        """Return a node as a host, at the address that Kubernetes knows if none is given.

        Raise BadInput without kubectl, and HostError if the API server has never listed pods.
        """
        if not shutil.which("kubectl"):
            raise BadInput("--via kubernetes: no 'kubectl' is on the PATH; install it")
        pods = self._pods
        if pods is None:
            pods = self._listed()
        known = pods.get(name)
        if known and not address:
            address = known.address
        return KubernetesNode(name, address, pods=self)

    def on(self, node: str) -> NodePod:
        """Return our pod on a node. Raise HostError, in a line, if no command can run there."""
        pods = self._listed()
        pod = pods.get(node)
        if pod is None:
            raise HostError(_why_none(node, pods))
        if pod.problem:
            raise HostError(pod.problem)
        return pod

    def _listed(self) -> Mapping[str, NodePod]:
        """Return a list that is some seconds old at most. Raise HostError if there is none.

        A failure is remembered as long, so that not every host waits for an API server that is away.
        """
        with self._lock:
            if time.monotonic() >= self._listed_s + _FRESH_S:
                self._list()
            if self._failure:
                raise self._failure
            return self._pods or {}

    def _list(self) -> None:
        try:
            self._pods = pods_on_nodes(_listed_by_kubectl())
            self._failure = None
        except HostError as error:
            self._failure = error
        self._listed_s = time.monotonic()


def _listed_by_kubectl() -> str:
    try:
        listed = finished(_LIST, timeout_s=_LIST_TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise HostError("kubectl: the API server does not answer") from error
    if listed.returncode:
        reason = failure_reason(listed.stderr, listed.stdout)
        raise HostError(f"kubectl: {reason or 'it lists no pods, and does not say why'}")
    return listed.stdout


def _why_none(node: str, pods: Mapping[str, NodePod]) -> str:
    if not pods:
        return (
            f"there is no pod with the label {LABEL} in this namespace: "
            "apply docker/kubernetes/nodes.yaml"
        )
    asked = finished(("kubectl", "get", "node", node, "--request-timeout=5s"))
    others = join_names(sorted(pods))
    if "(NotFound)" in asked.stderr:
        return f"the cluster has no node of this name; our pods are on {others}"
    return f"no pod with the label {LABEL} is on this node, but on {others}"


@dataclass(frozen=True)
class KubernetesNode(Host):
    """A node of Kubernetes, reached through our pod there, which is looked up for each command."""

    pods: NodePods = field(default_factory=NodePods, compare=False, repr=False)

    def argv(self, *command: str) -> list[str]:
        """Return the argument vector that runs a command there, or that says why none can run."""
        try:
            pod = self.pods.on(self.name)
        except HostError as error:
            return ["sh", "-c", _SAY, f"{OWN}{error}"]
        return [*_EXEC, pod.name, "--", *command]


def pods_on_nodes(text: str) -> dict[str, NodePod]:
    """Return our pods by their nodes, from the JSON that kubectl prints. Raise HostError if it is none."""
    try:
        items = json.loads(text)["items"]
        listed = [each for each in items if _node_of(each)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise HostError("kubectl: its list of pods cannot be read") from error
    # While a pod ends, the one that takes its place may be there already.
    listed.sort(key=is_ready)
    return {_node_of(pod): _node_pod(pod) for pod in listed}


def _node_of(pod: Mapping[str, Any]) -> str:
    """Return the node of a pod, also of one that waits for room there; empty if it is for any node.

    The pods of a DaemonSet name their nodes before Kubernetes places them.
    """
    spec = mapping(pod, "spec")
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    affinity = mapping(mapping(spec, "affinity"), "nodeAffinity")
    required = mapping(affinity, "requiredDuringSchedulingIgnoredDuringExecution")
    for term in objects(required, "nodeSelectorTerms"):
        for field_ in objects(term, "matchFields"):
            if field_.get("key") == "metadata.name" and field_.get("values"):
                return str(field_["values"][0])
    return ""


def _node_pod(pod: Mapping[str, Any]) -> NodePod:
    name = str(mapping(pod, "metadata").get("name"))
    address = str(mapping(pod, "status").get("hostIP") or "")
    return NodePod(name, address, _problem(name, pod))


def _problem(name: str, pod: Mapping[str, Any]) -> str:
    """Return why no command can run in a pod; empty if one can."""
    if is_ready(pod):
        return ""
    if mapping(pod, "metadata").get("deletionTimestamp"):
        return f"the pod {name} is about to go"
    problem = pod_problem(pod)
    if problem is None:
        return f"the pod {name} is not ready yet"
    return f"the pod {name} is not ready: {problem.text}"


by_kubernetes = NodePods().reach
"""Reach a node of Kubernetes by its name."""
