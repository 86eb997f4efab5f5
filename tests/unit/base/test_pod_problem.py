"""Why a pod does not run, by its status, as Kubernetes 1.34 with containerd states it."""

from typing import Any

import pytest

from harness.base.pod_problem import MAX_PROBLEM, is_ready, pod_problem

PULL = (
    'failed to pull and unpack image "example.test/spark:1": failed to resolve reference '
    '"example.test/spark:1": not found'
)
NO_ROOM = (
    "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: "
    "2 No preemption victims found for incoming pod."
)
NO_ENTRYPOINT = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
    'exec: "/opt/entrypoint.sh": stat /opt/entrypoint.sh: no such file or directory: unknown'
)
LAST_LINES = (
    "26/01/02 03:04:05 INFO CoarseGrainedExecutorBackend: Started daemon\n"
    'Exception in thread "main" java.lang.reflect.UndeclaredThrowableException\n\tat a.B.c(B.java:1)\n'
    "Caused by: java.net.UnknownHostException: driver-svc\n\tat a.B.c(B.java:1)\n\t... 7 more\n"
)


def waiting(reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    return {
        "containerStatuses": [
            {"state": {"waiting": {"reason": reason, "message": message}}, **more}
        ]
    }


def ended(**state: Any) -> dict[str, Any]:
    return {"terminated": state}


def unscheduled(reason: str, message: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return {"phase": "Pending", "conditions": [condition]}


LASTING = {
    f"ErrImagePull: {PULL}": waiting("ErrImagePull", PULL),
    "ImagePullBackOff: Back-off pulling image": waiting(
        "ImagePullBackOff", "Back-off pulling image"
    ),
    "ErrImageNeverPull: image is not present": waiting("ErrImageNeverPull", "image is not present"),
    "InvalidImageName": waiting("InvalidImageName"),
    'CreateContainerConfigError: secret "s3" not found': waiting(
        "CreateContainerConfigError", 'secret "s3" not found'
    ),
    f"its container ended with code 128 (StartError: {NO_ENTRYPOINT})": {
        "containerStatuses": [
            {"state": ended(exitCode=128, reason="StartError", message=NO_ENTRYPOINT)}
        ]
    },
    "its container ended with code 137 (OOMKilled)": waiting(
        "CrashLoopBackOff",
        "back-off 10s restarting failed container",
        lastState=ended(exitCode=137, reason="OOMKilled"),
    ),
    "its container ended with code 0 (Completed)": waiting(
        "CrashLoopBackOff",
        "back-off 10s restarting failed container",
        lastState=ended(exitCode=0, reason="Completed"),
    ),
    "CrashLoopBackOff: back-off 10s restarting failed container": waiting(
        "CrashLoopBackOff", "back-off 10s restarting failed container"
    ),
    "its container ended with code 1 (Error: java.net.UnknownHostException: driver-svc)": {
        "containerStatuses": [
            {"state": ended(exitCode=0, reason="Completed")},
            {"state": {"running": {}}},
            {"state": ended(exitCode=1, reason="Error", message=LAST_LINES)},
        ]
    },
    "UnexpectedAdmissionError: Allocate failed due to no healthy devices present": {
        "phase": "Failed",
        "reason": "UnexpectedAdmissionError",
        "message": "Allocate failed due to no healthy devices present",
    },
    "its container ended with code 1 (Error: no room)": {
        "initContainerStatuses": [
            {"state": ended(exitCode=1, reason="Error", message="no room\nat all")}
        ]
    },
    "Evicted: The node was low on resource: memory.": {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "The node was low on resource: memory.",
    },
}
PASSING = {
    f"Unschedulable: {NO_ROOM}": unscheduled("Unschedulable", NO_ROOM),
    "SchedulingGated: Scheduling is blocked": unscheduled(
        "SchedulingGated", "Scheduling is blocked"
    ),
}
SOUND = {
    "new": {},
    "pending": {"phase": "Pending"},
    "starting": waiting("ContainerCreating"),
    "after an init container": {
        "initContainerStatuses": [{"state": ended(exitCode=0, reason="Completed")}],
        **waiting("PodInitializing"),
    },
    "running": {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]},
    "garbled": {"conditions": 7, "containerStatuses": [3, {"state": "x"}]},
}


@pytest.mark.parametrize("text", LASTING)
def test_what_does_not_pass_is_named(text: str) -> None:
    problem = pod_problem({"status": LASTING[text]})
    assert problem
    assert (problem.text, problem.may_pass) == (text, False)


@pytest.mark.parametrize("text", PASSING)
def test_what_the_cluster_may_mend_is_named(text: str) -> None:
    problem = pod_problem({"status": PASSING[text]})
    assert problem
    assert (problem.text, problem.may_pass) == (text, True)


@pytest.mark.parametrize("case", SOUND)
def test_a_pod_that_runs_or_is_starting_has_no_problem(case: str) -> None:
    assert pod_problem({"status": SOUND[case]}) is None


def test_a_message_is_one_line_of_bounded_length_without_control_characters() -> None:
    problem = pod_problem({"status": waiting("ErrImagePull", "\x1b[31m" + "x" * 5000 + "\ny")})
    assert problem
    assert len(problem.text) <= MAX_PROBLEM
    assert problem.text.isprintable()


def test_a_pod_that_is_about_to_go_is_not_ready() -> None:
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    assert is_ready({"status": status})
    assert not is_ready({"metadata": {"deletionTimestamp": "2026-01-01"}, "status": status})
    assert not is_ready({"status": {}})
