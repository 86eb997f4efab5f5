"""Scripts in the lab: their exit code, how they are interrupted, and what they record about the lab."""

import os
import signal

import pytest

from harness.lab.cluster import Lab, Node
from harness.lab.submit import spark_submit
from harness.submit.script import BENCHMARK

from .conftest import Install

LAB = Lab(tuple(Node(n, n, "running") for n in ("master", "worker-1", "worker-2")), ("hdfs",), 0.5)
HELD = {"CLUSTERLIFT_HOLD_FILE": "/opt/clusterlift/results/turn"}
WAIT = """
import sys, time
from harness.base.interrupt import interruptible
from harness.trials.hold import wait_for_release
with interruptible():
    try: wait_for_release("slow"); print("released", flush=True)
    except KeyboardInterrupt: print("ended by itself", flush=True); sys.exit(130)
"""


def test_the_exit_code_is_that_of_the_script(
    fake_docker: Install, capfd: pytest.CaptureFixture[str]
) -> None:
    fake_docker("import sys; print(sys.argv[1:]); sys.exit(3)")
    assert spark_submit(LAB, BENCHMARK, ["--trials", "1"], ["a=b"]) == 3
    printed = capfd.readouterr().out
    assert "'--conf=a=b', '/opt/clusterlift/jobs/benchmark.py', '--trials', '1'" in printed


@pytest.mark.parametrize("shows", [False, True])
def test_the_lines_of_spark_s_start_are_shown_if_they_are_asked_for(
    fake_docker: Install, capfd: pytest.CaptureFixture[str], *, shows: bool
) -> None:
    lines = [
        "Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties",
        "no",
    ]
    fake_docker(f"import sys; sys.stderr.write({chr(10).join(lines)!r})")
    assert spark_submit(LAB, BENCHMARK, [], shows_usual_lines=shows) == 0
    assert capfd.readouterr().err.splitlines() == (lines if shows else ["no"])


def test_a_script_waits_while_its_file_is_there(
    fake_docker: Install, capfd: pytest.CaptureFixture[str]
) -> None:
    held = fake_docker(WAIT) / "turn"
    seen = []

    def release() -> None:
        if held.exists():
            seen.append(held.read_text())
            held.unlink()

    assert spark_submit(LAB, BENCHMARK, [], (), HELD, release) == 0
    assert seen == ["slow"]
    assert capfd.readouterr().out.splitlines()[-1] == "released"


def test_an_interrupted_script_ends_by_itself(
    fake_docker: Install, capfd: pytest.CaptureFixture[str]
) -> None:
    held = fake_docker(WAIT) / "turn"

    def interrupt() -> None:
        if held.exists():
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        spark_submit(LAB, BENCHMARK, [], (), HELD, interrupt)
    assert capfd.readouterr().out.splitlines()[-1] == "ended by itself"
    assert not held.exists()
