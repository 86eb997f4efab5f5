"""How many executors ran the trials, on how many nodes, and what is known of their pods."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.base.items import unique
from harness.base.words import count_of, join_names
from harness.model.run import Facts, RecordedRun, Trial
from harness.node.pod import HOSTS, PODS

_NETWORKS = {
    PODS: "pods, each with a network of its own",
    HOSTS: "pods, with the network of their hosts",
}
_FACTS_OF_PODS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "network": ("executors run in", _NETWORKS),
    "type": ("types of nodes", {}),
    "zone": ("zones", {}),
}
"""What is known of pods: its name for people, and the words for its values where they differ."""


def pods_of(environment: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
    """Return what is known of the pods of a run, by the host that Spark knows."""
    return environment.get("pods") or {}


def has_own_network(environment: Mapping[str, Any], host: str) -> bool:
    """Whether a host is a pod that has other links and another address than its node."""
    return pods_of(environment).get(host, {}).get("network") == PODS


def executors_in_pods(environment: Mapping[str, Any]) -> bool:
    """Whether an executor is in a pod that has other links and another address than its node."""
    hosts = environment.get("executors") or ()
    return any(has_own_network(environment, host) for host in hosts)


def pod_facts(environment: Mapping[str, Any]) -> Facts:
    """Return the network of the executors' pods, and the types and zones of their nodes, where known."""
    pods = pods_of(environment)
    own = [pods[host] for host in environment.get("executors") or () if host in pods]
    found: dict[str, str] = {}
    for key, (name, words) in _FACTS_OF_PODS.items():
        values = {words.get(pod[key], pod[key]) for pod in own if key in pod}
        if values:
            found[name] = " and ".join(sorted(values))
    return found


def executors_text(hosts: Sequence[str] | None, environment: Mapping[str, Any]) -> str | None:
    """Return how many executors are on how many nodes: `4 on 2 nodes`; None if that is not recorded.

    `hosts` has the host of each executor. It counts nodes and does not name them, because a change of network
    changes the names of hosts. A pod's address does not tell its node, and of a pod that came after the
    beginning nothing is known.
    """
    if hosts is None:
        return None
    pods = pods_of(environment)
    are_in_pods = executors_in_pods(environment)
    nodes: list[str] = []
    for host in hosts:
        node = pods.get(host, {}).get("node")
        is_pod = has_own_network(environment, host) or (are_in_pods and host not in pods)
        if node is None and is_pod:
            return f"{len(hosts)} in pods, on unknown nodes"
        nodes.append(node or host)
    of_each = Counter(nodes).values()
    text = f"{len(nodes)} on {count_of(len(of_each), 'node')}"
    if len(set(of_each)) <= 1:
        return text
    return f"{text}, {min(of_each)} to {max(of_each)} on each"


def executors_of_trials(recorded: RecordedRun) -> Counter[str]:
    """Return how many trials of a run that count had which executors: `{"2 on 2 nodes": 5}`.

    Older results do not tell.
    """
    found: Counter[str] = Counter()
    for trial in recorded.counted:
        text = _of_trial(trial, recorded.run.environment)
        if text:
            found[text] += 1
    return found


def _of_trial(trial: Trial, environment: Mapping[str, Any]) -> str | None:
    if trial.executors is None:
        return None
    hosts: list[str] = []
    for host, number in trial.executors.hosts.items():
        hosts += [host] * number
    return executors_text(hosts, environment)


def executor_lines(runs: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield what is odd about the executors of runs: fewer than were asked for, or a number that changed."""
    fewer: list[str] = []
    changed: list[str] = []
    for recorded in runs:
        environment = recorded.run.environment
        asked = environment.get("executors_asked")
        came = len(environment.get("executors") or ())
        if asked and came < asked:
            fewer.append(
                f"{came} of the {asked} executors that were asked for had come when it began"
            )
        found = executors_of_trials(recorded)
        if len(found) > 1:
            texts = [f"{text} in {count_of(number, 'trial')}" for text, number in found.items()]
            changed.append(", ".join(texts))
    if fewer:
        yield f"a run began with fewer executors: {join_names(unique(fewer))}"
    if changed:
        yield f"executors changed between the trials that count: {'; '.join(unique(changed))}"
