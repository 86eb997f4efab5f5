"""Why executors do not come, by what Spark logs and by what the API server says of their pods."""

from typing import Any

from datagen.executor_pods import first_problem, refusal_in

QUOTA = 'pods "x-exec-3" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0'
LOGGED = (
    "Failed to create executor pod 3. Total failures: 3: Failure executing: POST at: "
    f"https://10.0.0.1/api/v1/namespaces/default/pods. Message: {QUOTA}. Received status: "
    "Status(apiVersion=v1, code=403, reason=Forbidden, status=Failure)."
)
OLDER = (
    "Exception when notifying snapshot subscriber.: Failure executing: POST at: "
    f"https://10.0.0.1/api/v1/namespaces/default/pods. Message: {QUOTA}. Received status: Status()."
)


def test_a_pod_that_may_not_be_made_has_the_reason_of_the_api_server() -> None:
    for log in (LOGGED, OLDER, f"Something else: null\n{LOGGED}\n"):
        problem = refusal_in(log)
        assert problem
        assert (problem.text, problem.may_pass) == (QUOTA, False)


def test_other_lines_of_the_log_are_no_refusal() -> None:
    assert refusal_in("") is None
    assert refusal_in("Kubernetes client has been closed.: null") is None


def waiting(reason: str) -> dict[str, Any]:
    return {"status": {"containerStatuses": [{"state": {"waiting": {"reason": reason}}}]}}


def test_what_does_not_pass_comes_first() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    pods = [{"status": {"conditions": [condition]}}, waiting("ErrImagePull"), {"status": {}}]
    problem = first_problem(iter(pods))
    assert problem
    assert problem.text == "ErrImagePull"
    assert first_problem(iter([{"status": {"phase": "Running"}}])) is None
