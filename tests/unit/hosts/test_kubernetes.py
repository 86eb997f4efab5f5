"""Nodes of Kubernetes are reached by `kubectl exec` in our pods; a fake kubectl is on the PATH."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import BadInput
from harness.experiments.hosts_spec import HostsSpec
from harness.hosts.preflight import preflight
from harness.hosts.remote_process import CompletedCommand, run_all
from harness.hosts.transports import kubernetes
from harness.hosts.transports.host import HostError, parse_hosts
from harness.hosts.transports.kubernetes import LABEL, NodePods
from tests.programs import shell_program

FAKE = """\
echo "$@" >> {directory}/calls
case "$1 $2" in
"get pods") [ ! -e {directory}/failure ] || {{ cat {directory}/failure >&2; exit 1; }}
  cat {directory}/pods ;;
"get node") cat {directory}/node >&2; exit 1 ;;
"exec --stdin") POD=$4; export POD; shift 5; exec "$@" ;;
esac
"""
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
FORBIDDEN = (
    'Error from server (Forbidden): pods is forbidden: User "me" cannot list resource "pods" '
    'in API group "" in the namespace "bench"'
)
REFUSED = "The connection to the server 10.0.0.9:6443 was refused - did you specify the right host or port?"
LOGGED = 'E1128 21:00:00.000001 77 memcache.go:265] "Unhandled Error" err="couldn\'t get current API group"'
NO_NODE = 'Error from server (NotFound): nodes "n9" not found'
NO_RIGHT = (
    'Error from server (Forbidden): nodes "n9" is forbidden: User "me" cannot get resource "nodes"'
)


def pod(name: str, node: str, status: Mapping[str, Any], **metadata: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, **metadata},
        "spec": {"nodeName": node},
        "status": {"hostIP": "127.0.0.1", **status},
    }


def waiting_pod(name: str, node: str) -> dict[str, Any]:
    """A pod of a DaemonSet that Kubernetes has not placed yet."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/2 nodes are available: 1 Insufficient memory.",
    }
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return {
        "metadata": {"name": name},
        "spec": {"affinity": affinity},
        "status": {"phase": "Pending", "conditions": [condition]},
    }


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., NodePods]:
    """Return a function that makes a cluster with these pods of ours, and with these faults."""

    def make(*pods: Mapping[str, Any], failure: str = "", node: str = NO_NODE) -> NodePods:
        (tmp_path / "pods").write_text(json.dumps({"items": pods}))
        (tmp_path / "node").write_text(node)
        (tmp_path / "failure").unlink(missing_ok=True)
        if failure:
            (tmp_path / "failure").write_text(failure)
        shell_program(tmp_path / "bin/kubectl", FAKE.format(directory=tmp_path))
        monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        return NodePods()

    return make


def answer(pods: NodePods, name: str, *command: str) -> CompletedCommand | HostError:
    [host] = parse_hosts("--hosts", name, pods.reach)
    [completed] = run_all([(host, command)])
    return completed


def test_a_command_runs_in_our_pod_of_the_node(cluster: Callable[..., NodePods]) -> None:
    pods = cluster(pod("p1", "n1", READY), pod("p2", "n2", READY))
    for node, name in {"n1": "p1", "n2": "p2"}.items():
        assert answer(pods, node, "sh", "-c", 'echo "$POD"') == CompletedCommand(0, name, "")


def test_the_address_is_that_which_kubernetes_knows(cluster: Callable[..., NodePods]) -> None:
    pods = cluster(pod("p1", "n1", READY))
    checked = preflight(parse_hosts("--hosts", "n1,n9", pods.reach), ["sh"])
    assert [host.address for host in checked.hosts] == ["127.0.0.1"]
    assert list(checked.excluded_hosts) == ["n9"]
    assert parse_hosts("--hosts", "n1=10.1.1.1", pods.reach)[0].address == "10.1.1.1"


def test_pods_are_listed_once_for_many_commands(
    cluster: Callable[..., NodePods], tmp_path: Path
) -> None:
    pods = cluster(pod("p1", "n1", READY))
    for _ in range(3):
        answer(pods, "n1", "true")
    calls = (tmp_path / "calls").read_text().splitlines()
    assert sum(call.startswith("get pods") for call in calls) == 1


@pytest.mark.parametrize("is_first", [True, False])
def test_a_pod_that_took_the_place_of_another_is_found(
    cluster: Callable[..., NodePods], monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    monkeypatch.setattr(kubernetes, "_FRESH_S", 0.0)
    pods = cluster(pod("old", "n1", READY))
    [host] = parse_hosts("--hosts", "n1", pods.reach)
    both = [pod("old", "n1", READY, deletionTimestamp="2026-01-01"), pod("new", "n1", READY)]
    cluster(*(both if is_first else reversed(both)))
    [completed] = run_all([(host, ("sh", "-c", 'echo "$POD"'))])
    assert completed == CompletedCommand(0, "new", "")


REASONS = {
    "the node is unknown": (
        [pod("p1", "n1", READY)],
        NO_NODE,
        "n9: the cluster has no node of this name; our pods are on n1",
    ),
    "the node has no pod, or is unknown": (
        [pod("p1", "n1", READY)],
        NO_RIGHT,
        f"n9: no pod with the label {LABEL} is on this node, but on n1",
    ),
    "there are no pods": (
        [],
        NO_RIGHT,
        f"n9: there is no pod with the label {LABEL} in this namespace: apply docker/kubernetes/nodes.yaml",
    ),
    "the pod is starting": (
        [pod("p9", "n9", {})],
        "",
        "n9: the pod p9 is not ready yet",
    ),
    "its image is not there": (
        [
            pod(
                "p9",
                "n9",
                {"containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]},
            )
        ],
        "",
        "n9: the pod p9 is not ready: ErrImagePull",
    ),
    "it waits for room on its node": (
        [waiting_pod("p9", "n9"), pod("p1", "n1", READY)],
        "",
        "n9: the pod p9 is not ready: Unschedulable: 0/2 nodes are available: 1 Insufficient memory.",
    ),
    "it is evicted": (
        [pod("p9", "n9", READY, deletionTimestamp="2026-01-01")],
        "",
        "n9: the pod p9 is about to go",
    ),
}


@pytest.mark.parametrize("case", REASONS)
def test_a_node_that_cannot_be_reached_is_named_with_the_reason(
    cluster: Callable[..., NodePods], case: str
) -> None:
    listed, node, reason = REASONS[case]
    assert str(answer(cluster(*listed, node=node), "n9", "true")) == reason


@pytest.mark.parametrize("failure", [FORBIDDEN, REFUSED, f"{LOGGED}\n{LOGGED}\n{REFUSED}"])
def test_an_api_server_that_lists_nothing_is_one_error(
    cluster: Callable[..., NodePods], failure: str
) -> None:
    pods = cluster(failure=failure)
    with pytest.raises(HostError) as error:
        parse_hosts("--hosts", "n[1-3]", pods.reach)
    assert str(error.value) == f"kubectl: {failure.splitlines()[-1]}"


def test_an_api_server_that_is_lost_later_is_the_reason_of_each_host(
    cluster: Callable[..., NodePods], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes, "_FRESH_S", 0.0)
    pods = cluster(pod("p1", "n1", READY))
    [host] = parse_hosts("--hosts", "n1", pods.reach)
    cluster(failure=REFUSED)
    [completed] = run_all([(host, ("true",))])
    assert str(completed) == f"n1: kubectl: {REFUSED}"


@pytest.mark.parametrize("text", ["", "no resources", "[]", '{"items": [3]}', '{"items": 4}'])
def test_a_list_that_cannot_be_read_is_an_error(
    cluster: Callable[..., NodePods], tmp_path: Path, text: str
) -> None:
    pods = cluster()
    (tmp_path / "pods").write_text(text)
    with pytest.raises(HostError, match="kubectl: its list of pods cannot be read"):
        pods.reach("n1")


def test_without_kubectl_nothing_is_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="--via kubernetes: no 'kubectl' is on the PATH"):
        NodePods().reach("n1")


def test_an_experiment_may_reach_its_hosts_so() -> None:
    assert str(HostsSpec(hosts="n[1-2]", via="kubernetes")) == "n[1-2] by kubernetes"
    with pytest.raises(ValueError, match="by kubernetes, commands run as root"):
        HostsSpec(hosts="n1", via="kubernetes", sudo=True)
