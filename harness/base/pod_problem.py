"""Why a pod of Kubernetes does not run, in one line, from what the API server says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from harness.base.checked import mapping
from harness.base.words import first_line, shorten, visible

MAX_PROBLEM = 300
"""Characters of a reason. The messages of container runtimes quote themselves several times."""
_STARTING = frozenset({"", "ContainerCreating", "PodInitializing"})
_BACKING_OFF = "CrashLoopBackOff"
_COMPLETED = "Completed"


class PodProblem(NamedTuple):
    """Why a pod does not run. `may_pass` if the cluster may mend it by itself, as when a node is added."""

    text: str
    may_pass: bool


def pod_problem(pod: Mapping[str, Any]) -> PodProblem | None:
    """Return why a pod does not run; None if it runs, has ended well, or is only starting."""
    status = mapping(pod, "status")
    if status.get("reason"):  # such as Evicted, of the whole pod
        return PodProblem(_one_line(status), may_pass=False)
    for container in _containers(status):
        text = _container_problem(container)
        if text:
            return PodProblem(text, may_pass=False)
    for condition in _objects(status, "conditions"):
        if (condition.get("type"), condition.get("status")) == ("PodScheduled", "False"):
            return PodProblem(_one_line(condition), may_pass=True)
    return None


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Whether a pod is ready, and is not about to go."""
    if mapping(pod, "metadata").get("deletionTimestamp"):
        return False
    conditions = _objects(mapping(pod, "status"), "conditions")
    return any((each.get("type"), each.get("status")) == ("Ready", "True") for each in conditions)


def _containers(status: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from _objects(status, "initContainerStatuses")
    yield from _objects(status, "containerStatuses")


def _container_problem(container: Mapping[str, Any]) -> str:
    """Return why a container does not run; empty if it runs, is starting, or has ended well."""
    state = mapping(container, "state")
    waiting = mapping(state, "waiting")
    ended = mapping(state, "terminated")
    reason = str(waiting.get("reason", ""))
    if reason == _BACKING_OFF:
        ended = mapping(mapping(container, "lastState"), "terminated")
    elif reason not in _STARTING:
        return _one_line(waiting)
    if not ended or ended.get("reason") == _COMPLETED:
        return ""
    code = f"its container ended with code {ended.get('exitCode')}"
    return shorten(f"{code} ({_one_line(ended)})", MAX_PROBLEM)


def _one_line(told: Mapping[str, Any]) -> str:
    """Return `reason: message` of a state or a condition, as far as there are any."""
    reason = str(told.get("reason") or "")
    message = first_line(str(told.get("message") or ""))
    words = ": ".join(word for word in (reason, message) if word)
    return shorten(visible(words), MAX_PROBLEM)


def _objects(within: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """Return the objects in the list at a key; none if there is no list."""
    value = within.get(key)
    if isinstance(value, list):
        return [each for each in value if isinstance(each, dict)]
    return []
