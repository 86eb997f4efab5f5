"""Executors of Kubernetes that cannot run are explained. The API server is a stand-in, Spark is not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fake_kubernetes import fake_kubernetes

from .conftest import Spark, completed, own_lines

IMPATIENT = """
from datagen import executor_pods
executor_pods.SAID_AFTER_S = 0
executor_pods.GIVEN_UP_AFTER_S = 2
from datagen import generating
from harness.base.command_line import run_main
run_main(generating.PROG, generating.main)
"""
QUOTA = 'pods "x-exec-1" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0'
RIGHT = (
    'pods is forbidden: User "system:serviceaccount:default:me" cannot create resource "pods" '
    'in API group "" in the namespace "default"'
)


def waiting(reason: str, message: str) -> dict[str, Any]:
    container = {"name": "c", "state": {"waiting": {"reason": reason, "message": message}}}
    return {"phase": "Pending", "containerStatuses": [container]}


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("status", "refusal", "reason"),
    [
        (
            waiting("ErrImagePull", "example.test/x: not found"),
            "",
            "ErrImagePull: example.test/x: not found",
        ),
        ({"phase": "Pending"}, QUOTA, QUOTA),
        ({"phase": "Pending"}, RIGHT, RIGHT),
    ],
    ids=["image", "quota", "right"],
)
def test_executors_that_cannot_run_are_explained(
    spark: Spark,
    checkout: Path,
    tmp_path: Path,
    status: Mapping[str, Any],
    refusal: str,
    reason: str,
) -> None:
    script = checkout / "impatient.py"
    script.write_text(f"import sys\nsys.path[0] = {str(checkout)!r}\n{IMPATIENT}")
    with fake_kubernetes(status, refusal) as server:
        command = spark.command(script, tmp_path / "rows", "--rows", 10, master=f"k8s://{server}")
        command[3:3] = [
            "--conf=spark.kubernetes.container.image=x",
            "--conf=spark.executor.instances=1",
            "--conf=spark.scheduler.maxRegisteredResourcesWaitingTime=1s",
            "--conf=spark.driver.host=127.0.0.1",
        ]
        done = completed(command, tmp_path, spark.environment(), 1)
    lines = own_lines(done)
    assert f"an executor does not start: {reason}" in lines
    assert lines[-1] == f"generate.py: error: no executor can run: {reason}"
    assert not (tmp_path / "rows").exists()
