"""Scripts in the lab: only trials run under the workers' CPU limit."""

import os
import subprocess
import sys
from unittest.mock import Mock

import pytest

from harness.lab import lifecycle
from harness.lab.cluster import Lab, Node
from harness.lab.compose import LabSpec
from harness.lab.submit import cpu_limit_lifted, set_cpu_limit, spark_submit, with_facts
from harness.local_spark import BENCHMARK, GENERATE
from harness.model.errors import ClusterliftError
from tests.waiting import eventually

from .conftest import Install, limit_of

LAB = Lab(tuple(Node(n, n, "running") for n in ("master", "worker-1", "worker-2")), ("hdfs",), 0.5)


class TestSubmit:
    def test_a_benchmark_starts_without_the_limit_and_runs_trials_with_it(
        self, fake_docker: Install, capfd: pytest.CaptureFixture[str]
    ) -> None:
        state = fake_docker()
        assert spark_submit(LAB, BENCHMARK, []) == 0
        first, waiting, last = capfd.readouterr().out.splitlines()
        assert first == "starts with 160000"
        assert waiting.startswith("ready for trials of slow; waiting until /tmp/clusterlift-hold-")
        assert last == "runs trials with 10000"
        assert limit_of(state) == 0.5

    def test_a_generator_runs_without_the_limit(
        self, fake_docker: Install, capfd: pytest.CaptureFixture[str]
    ) -> None:
        state = fake_docker(hold="")
        assert spark_submit(LAB, GENERATE, []) == 0
        assert "runs trials with 160000" in capfd.readouterr().out
        assert limit_of(state) == 0.5

    def test_the_limit_is_set_again_after_a_script_that_fails_early(
        self, fake_docker: Install
    ) -> None:
        state = fake_docker(hold="", code=2)
        assert spark_submit(LAB, BENCHMARK, []) == 2
        assert limit_of(state) == 0.5

    def test_a_benchmark_that_did_not_wait_is_an_error(self, fake_docker: Install) -> None:
        fake_docker(hold="")
        with pytest.raises(ClusterliftError, match=r"^jobs/benchmark.py did not wait for the CPU"):
            spark_submit(LAB, BENCHMARK, [])

    def test_the_exit_code_of_a_script_that_ends_while_its_turn_is_prepared_is_its_own(
        self, fake_docker: Install
    ) -> None:
        hold = "import os; file = pathlib.Path(os.environ['CLUSTERLIFT_HOLD_FILE'])\n"
        hold += "from harness.runtime.trials import hold_message; print(hold_message(file, 'slow'))"
        fake_docker(hold=hold, code=3)
        assert spark_submit(LAB, BENCHMARK, []) == 3

    def test_without_its_limit_no_trial_starts(
        self, fake_docker: Install, capfd: pytest.CaptureFixture[str]
    ) -> None:
        fake_docker(update="limit.write_text('160000')")
        with pytest.raises(ClusterliftError, match=r"limited to 0.5 processors, .* but Docker rep"):
            spark_submit(LAB, BENCHMARK, [])
        assert "runs trials" not in capfd.readouterr().out

    def test_after_an_error_a_signal_does_not_end_the_wait_for_the_script(
        self, fake_docker: Install, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Or the error would never be said, and the script would go on alone."""
        hold = f"os.kill({os.getpid()}, signal.SIGTERM); time.sleep(0.2)"
        hold = f"try: wait_for_release('slow')\nexcept KeyboardInterrupt: {hold}"
        fake_docker(update="limit.write_text('160000')", hold=f"import os, signal, time\n{hold}")
        with pytest.raises(ClusterliftError, match=r"should be limited to 0\.5 processors"):
            spark_submit(LAB, BENCHMARK, [])
        assert "runs trials with 160000" in capfd.readouterr().out

    def test_a_line_that_an_interrupt_cuts_in_two_is_shown_whole_and_without_its_secret(
        self, fake_docker: Install, capfd: pytest.CaptureFixture[str]
    ) -> None:
        hold = "import os, time; from harness.runtime.trials import hold_message\n"
        hold += "message = hold_message(os.environ['CLUSTERLIFT_HOLD_FILE'], 'slow')\n"
        hold += "text = f'{message}\\nread with password='\n"
        hold += "try: print(text, end='', flush=True); time.sleep(600)\n"
        hold += "except KeyboardInterrupt: print('hunter2', flush=True)"
        fake_docker(hold=hold)
        spark_submit(LAB, BENCHMARK, [], on_turn=Mock(side_effect=KeyboardInterrupt))
        assert "\nread with password=***\n" in capfd.readouterr().out


LIFTS_THE_LIMIT = """
import sys
from harness.lab.cluster import Lab, Node
from harness.lab.submit import cpu_limit_lifted
with cpu_limit_lifted(Lab((Node("worker-1", "worker-1", "running"),), ("hdfs",), 0.5)):
    print("lifted", flush=True)
    sys.stdin.read()
"""


def test_the_limit_is_set_again_after_kill_9(fake_docker: Install) -> None:
    state = fake_docker()
    with subprocess.Popen(
        [sys.executable, "-c", LIFTS_THE_LIMIT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"lifted\n"
        assert limit_of(state) == 8
        process.kill()
    limit = state / "limit"  # empty for a moment, while the guard writes it
    eventually(lambda: limit.read_text() == "10000", "the limit is still lifted")


class TestWithFacts:
    def test_facts_follow_the_user_s_arguments(self) -> None:
        facts = {"emulated": "4 nodes", "link": "100mbit"}
        assert with_facts(["--trials", "1"], facts) == [
            *("--trials", "1", "--fact=emulated=4 nodes", "--fact=link=100mbit")
        ]

    @pytest.mark.parametrize("arguments", [["--fact", "link=x"], ["--fact= link =x"]])
    def test_a_fact_that_the_user_states_is_not_added(self, arguments: list[str]) -> None:
        assert with_facts(arguments, {"link": "100mbit"}) == arguments

    def test_a_configuration_with_the_name_of_a_fact_does_not_state_it(self) -> None:
        arguments = ["--configuration", "emulated"]
        assert with_facts(arguments, {"emulated": "yes"}) == [*arguments, "--fact=emulated=yes"]


class TestCpuLimit:
    def test_is_lifted_to_all_processors_and_set_again(self, fake_docker: Install) -> None:
        state = fake_docker()
        with cpu_limit_lifted(LAB):
            assert limit_of(state) == 8
        assert limit_of(state) == 0.5
        updates = [line for line in (state / "log").read_text().splitlines() if "update" in line]
        assert updates == [
            "update --cpu-period 20000 --cpu-quota 160000 worker-1 worker-2",
            "update --cpu-period 20000 --cpu-quota 10000 worker-1 worker-2",
        ]

    def test_is_set_again_after_an_error(self, fake_docker: Install) -> None:
        state = fake_docker()
        with pytest.raises(ZeroDivisionError), cpu_limit_lifted(LAB):
            raise ZeroDivisionError
        assert limit_of(state) == 0.5

    def test_that_is_right_already_is_not_set(self, fake_docker: Install) -> None:
        state = fake_docker()
        set_cpu_limit(LAB, 0.5)
        assert "update" not in (state / "log").read_text()

    def test_that_docker_does_not_apply_is_an_error(self, fake_docker: Install) -> None:
        fake_docker(update="limit.write_text('0')")
        with pytest.raises(ClusterliftError) as error:
            set_cpu_limit(LAB, 2)
        assert str(error.value) == (
            "the workers should be limited to 2 processors, 40000 of 20000 us, but Docker reports: "
            "worker-1 0 of 20000 us, worker-2 0 of 20000 us (0 is no limit)"
        )

    def test_that_cannot_be_set_is_an_error(self, fake_docker: Install) -> None:
        fake_docker(update="sys.exit('no such controller: cpu')")
        with pytest.raises(
            ClusterliftError,
            match=r"^cannot limit the workers to 2 processors: docker update failed: no such cont",
        ):
            set_cpu_limit(LAB, 2)


class TestUp:
    def test_a_lab_starts_without_the_limit_and_is_ready_with_it(
        self, fake_docker: Install, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        state = fake_docker()
        limits = []

        for name, fake in {
            "compose_program": lambda: ["docker-compose"],
            "find_lab": lambda: None,
            "check_variables": lambda: None,
            "free_bytes": lambda: None,
            "Compose": Mock(),
            "_started_lab": lambda: LAB,
            "set_links": lambda *_: None,
            "_wait_until_ready": lambda: limits.append(limit_of(state)),
        }.items():
            monkeypatch.setattr(lifecycle, name, fake)
        assert lifecycle.up(LabSpec(2, 0.5, ("hdfs",)))
        assert limits == [8]
        assert limit_of(state) == 0.5

    def test_a_limit_that_a_killed_command_left_lifted_is_set_again(
        self, fake_docker: Install, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        state = fake_docker()
        set_cpu_limit(LAB, 8)
        monkeypatch.setattr(lifecycle, "compose_program", lambda: ["docker-compose"])
        monkeypatch.setattr(lifecycle, "find_lab", lambda: LAB)
        assert not lifecycle.up(LabSpec(2, 0.5, ("hdfs",)))
        assert limit_of(state) == 0.5
