"""How many executors a run has, by what spark-submit and the cluster's spark-defaults.conf say."""

from collections.abc import Mapping

import pytest

from harness.base.errors import BadInput
from jobs.allocation import Asked, asked_executors, fix_executors

SUBMIT = "org.apache.spark.deploy.SparkSubmit"
EMR = {"master": "yarn", "dynamicAllocation.enabled": "true", "executor.cores": "4"}
DATAPROC = {
    "master": "yarn",
    "dynamicAllocation.enabled": "true",
    "dynamicAllocation.minExecutors": "1",
    "dynamicAllocation.maxExecutors": "10000",
    "executor.instances": "2",
}
SERVERLESS = {**DATAPROC, "dynamicAllocation.maxExecutors": "1000"}
KUBERNETES = {"master": "k8s://https://api:6443", "dynamicAllocation.enabled": "TRUE"}
STANDALONE = {"master": "spark://m:7077", "dynamicAllocation.enabled": "true"}


def properties(short: Mapping[str, str]) -> dict[str, str]:
    return {f"spark.{name}": value for name, value in short.items()}


def after(short: Mapping[str, str], command: str = "") -> dict[str, str]:
    """Return all properties once the executors are fixed."""
    given = properties(short)
    return {**given, **fix_executors(given, f"{SUBMIT} {command} jobs/benchmark.py")}


@pytest.mark.parametrize(
    ("short", "command", "asked"),
    [
        (EMR, "--num-executors 12", Asked(12)),
        (EMR | {"executor.instances": "12"}, "--conf spark.executor.instances=12", Asked(12)),
        (EMR | {"executor.instances": "12"}, "", Asked(12)),
        (DATAPROC, "--num-executors 12", Asked(12)),
        # The last one counts, and what somebody names may be two.
        (DATAPROC, "--num-executors 12 --conf spark.executor.instances=2", Asked(2)),
        (EMR | {"dynamicAllocation.maxExecutors": "20"}, "", Asked(20, is_limit=True)),
        (DATAPROC | {"dynamicAllocation.maxExecutors": "20"}, "", Asked(20, is_limit=True)),
        (KUBERNETES | {"dynamicAllocation.maxExecutors": "3"}, "", Asked(3, is_limit=True)),
        (KUBERNETES | {"executor.instances": "3"}, "", Asked(3)),
        # spark-submit itself ignores this option there.
        (STANDALONE, "--num-executors 3", Asked(3)),
        (STANDALONE | {"master": "local-cluster[2,1,1024]"}, "--num-executors 3", Asked(3)),
    ],
)
def test_a_known_number_is_that_of_the_whole_run(
    short: Mapping[str, str], command: str, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    fixed = after(short, command)
    assert asked_executors(fixed) == asked
    number = str(asked.number)
    for name in ("initialExecutors", "minExecutors", "maxExecutors"):
        assert fixed[f"spark.dynamicAllocation.{name}"] == number
    assert int(fixed.get("spark.executor.instances", "1")) <= asked.number
    [line] = capsys.readouterr().err.splitlines()
    assert f"{number} executors from the start to the end of the run" in line


@pytest.mark.parametrize(
    "short",
    [
        EMR,
        DATAPROC,
        SERVERLESS,
        KUBERNETES,
        STANDALONE,
        EMR | {"dynamicAllocation.maxExecutors": "2147483647"},
        EMR | {"dynamicAllocation.maxExecutors": "infinity"},
        EMR | {"executor.instances": "0"},
    ],
)
def test_without_a_number_the_run_is_refused_and_never_shrinks_to_two(
    short: Mapping[str, str],
) -> None:
    with pytest.raises(BadInput) as refused:
        after(short)
    line = str(refused.value)
    for option in ("maxExecutors=N", "--executors-may-change", "spark.dynamicAllocation.enabled"):
        assert option in line
    has_option = short["master"] == "yarn" or short["master"].startswith("k8s")
    assert ("--num-executors N" if has_option else "spark.executor.instances=N") in line


@pytest.mark.parametrize(
    ("short", "asked"),
    [
        # Nothing changes by itself: Spark's own numbers.
        ({"master": "yarn"}, Asked(2)),
        ({"master": "yarn", "executor.instances": "7"}, Asked(7)),
        ({"master": "k8s://h", "dynamicAllocation.enabled": "false"}, Asked(2)),
        ({"master": "spark://m:7077"}, None),
        ({"master": "spark://m:7077", "cores.max": "9", "executor.cores": "4"}, Asked(2)),
        ({"master": "spark://m:7077", "cores.max": "3", "executor.cores": "4"}, None),
        ({"master": "local[2]"}, None),
        # There, Spark itself ignores it.
        ({"master": "local[*]", "dynamicAllocation.enabled": "true"}, None),
        ({"master": "local", "dynamicAllocation.enabled": "true"}, None),
    ],
)
def test_without_dynamic_allocation_nothing_is_fixed(
    short: Mapping[str, str], asked: Asked | None
) -> None:
    assert after(short) == properties(short)
    assert asked_executors(after(short)) == asked


def test_executors_that_may_change_have_no_number() -> None:
    assert asked_executors(properties(DATAPROC)) is None
