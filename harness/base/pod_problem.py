"""Why a pod of Kubernetes does not run, in one line, from what the API server says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from harness.base.checked import mapping, objects
from harness.base.failure_reason import Rank, failure_reason
from harness.base.words import first_line, shorten, visible

MAX_PROBLEM = 300
"""Characters of a reason. The messages of container runtimes quote themselves several times."""
_STARTING = frozenset({"", "ContainerCreating", "PodInitializing"})
_BACKING_OFF = "CrashLoopBackOff"
_COMPLETED = "Completed"
_REFUSED = re.compile(
    r"Failure executing: [A-Z]+ at: \S+ Message: (.+?)\.?(?: Received status: |$)", re.MULTILINE
)
"""What Spark's client of Kubernetes quotes. The status that follows says the same again, at length."""


class PodProblem(NamedTuple):
    """Why a pod does not run.

    `may_pass` says whether the cluster may mend it by itself, as when a node is added.
    """

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
    for condition in objects(status, "conditions"):
        if (condition.get("type"), condition.get("status")) == ("PodScheduled", "False"):
            return PodProblem(_one_line(condition), may_pass=True)
    return None


def refusals(text: str) -> Iterator[str]:
    """Yield what the API server answered, from the errors of Spark's client of Kubernetes in a text."""
    for found in _REFUSED.finditer(text):
        yield shorten(visible(found[1]), MAX_PROBLEM)


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Whether a pod is ready, and is not about to go."""
    if mapping(pod, "metadata").get("deletionTimestamp"):
        return False
    conditions = objects(mapping(pod, "status"), "conditions")
    return any((each.get("type"), each.get("status")) == ("Ready", "True") for each in conditions)


def _containers(status: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from objects(status, "initContainerStatuses")
    yield from objects(status, "containerStatuses")


def _container_problem(container: Mapping[str, Any]) -> str:
    """Return why a container does not run; empty if it runs, is starting, or has ended well."""
    state = mapping(container, "state")
    waiting = mapping(state, "waiting")
    ended = mapping(state, "terminated")
    reason = str(waiting.get("reason", ""))
    if reason == _BACKING_OFF:  # also if it has ended well, again and again
        ended = mapping(mapping(container, "lastState"), "terminated")
        if not ended:
            return _one_line(waiting)
    elif reason not in _STARTING:
        return _one_line(waiting)
    elif not ended or ended.get("reason") == _COMPLETED:
        return ""
    code = f"its container ended with code {ended.get('exitCode')}"
    return shorten(f"{code} ({_one_line(ended)})", MAX_PROBLEM)


def _one_line(told: Mapping[str, Any]) -> str:
    """Return `reason: message` of a state or a condition, as far as there are any.

    The message of a container that ended may be all that it printed last.
    """
    reason = str(told.get("reason") or "")
    whole = str(told.get("message") or "")
    message = first_line(whole)
    if "\n" in whole.strip():
        message = failure_reason(whole, least=Rank.ERROR) or message
    words = ": ".join(word for word in (reason, message) if word)
    return shorten(visible(words), MAX_PROBLEM)
