"""Remote processes start at a signal, end with us, and report what went wrong."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from harness.base.errors import BadInput, ToolError
from harness.base.terminal import MAX_ERROR
from harness.hosts import host_process, lease
from harness.hosts.host_process import HostProcess
from harness.hosts.remote_process import (
    END_S,
    ClientServerRun,
    CompletedCommand,
    RemoteProcess,
    RemoteProcesses,
    Script,
    parse_completed,
    run_all,
)
from harness.hosts.transports import TRANSPORTS
from harness.hosts.transports.host import Host, HostError, by_docker, by_local, by_ssh
from tests.unit.builders import known
from tests.waiting import eventually

from .conftest import Programs

HERE = by_local("here", "127.0.0.1")

POD = """{"items": [{
  "metadata": {"name": "pod1"}, "spec": {"nodeName": "node1"},
  "status": {"conditions": [{"type": "Ready", "status": "True"}]}}]}"""

# Like sshd, it joins the words of a command with blanks and passes them to a shell.
SSH = """
while [ "$1" != -- ]; do shift; done
shift 2
exec /bin/sh -c "$*"
"""

SLEEPING = """
import sys
import time
from harness.hosts import remote_process
from harness.hosts.remote_process import RemoteProcess
from harness.hosts.transports.host import by_local
remote_process.TENTHS_TO_END = 10
remote = RemoteProcess(by_local("here"), ("sh", "-c", sys.argv[1]))
remote.start()
remote.await_line("")
print(remote._lines[-1], flush=True)
time.sleep(600)
"""


def is_alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def completed_on(host: Host, *command: str) -> CompletedCommand:
    [completed] = run_all([(host, command)])
    assert isinstance(completed, CompletedCommand)
    return completed


class TestRemoteProcess:
    def test_has_its_code_its_lines_and_its_errors(self) -> None:
        completed = completed_on(HERE, "sh", "-c", "echo out; echo err >&2; exit 3")
        assert (completed.code, completed.output, completed.errors) == (3, "out", "err\n")

    def test_runs_only_after_its_start(self, tmp_path: Path) -> None:
        with RemoteProcesses() as remotes:
            started, other = (remotes.add(HERE, ("touch", str(tmp_path / name))) for name in "ab")
            started.await_ready()
            other.await_ready()
            time.sleep(0.1)
            assert not list(tmp_path.iterdir())
            started.start()
            started.finish()
        assert list(tmp_path.iterdir()) == [tmp_path / "a"]

    def test_ends_with_its_context(self) -> None:
        with RemoteProcesses() as remotes:
            server = remotes.add(HERE, ("sh", "-c", "echo $$; exec sleep 600"))
            server.start()
            server.await_line("")
            [process] = map(int, server._lines)
            assert is_alive(process)
        eventually(lambda: not is_alive(process))

    @pytest.mark.parametrize(
        "command",
        [
            "echo $$; exec sleep 600",
            "sleep 600 & echo $!; wait",
            "nohup sleep 600 >/dev/null 2>&1 & echo $!; sleep 600",
            "trap '' TERM; sleep 600 & echo $!; wait",
        ],
    )
    def test_ends_with_its_children_if_we_are_killed(self, command: str) -> None:
        """No code of ours runs then: the kernel closes the pipe."""
        with subprocess.Popen(
            [sys.executable, "-c", SLEEPING, command],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path.cwd(),
        ) as ours:
            process = int(known(ours.stdout).readline())
            assert is_alive(process)
            ours.kill()
        eventually(lambda: not is_alive(process))

    @pytest.mark.parametrize("is_started", [False, True])
    def test_ends_when_it_hears_nothing(
        self, monkeypatch: pytest.MonkeyPatch, *, is_started: bool
    ) -> None:
        """As on a host whose link is down: its input is never closed."""
        monkeypatch.setattr(lease, "LEASE_S", 0.5)
        silent = RemoteProcess(HERE, ("sleep", "600"))
        silent.await_ready()
        if is_started:
            silent.start()
        eventually(lambda: silent.has_ended, "it waits for ever")
        silent.close(0)

    def test_goes_on_as_long_as_it_hears_of_us(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lease, "LEASE_S", 2)
        renewals = 0
        renew = RemoteProcess.renew

        def counted(self: RemoteProcess) -> None:
            nonlocal renewals
            renewals += 1
            renew(self)

        monkeypatch.setattr(RemoteProcess, "renew", counted)
        with RemoteProcesses() as remotes:
            waits, runs = (remotes.add(HERE, ("sleep", "600")) for _ in range(2))
            runs.start()
            eventually(lambda: renewals > 2 * 2 * lease.RENEWALS)
            assert not waits.has_ended
            assert not runs.has_ended

    def test_that_reads_nothing_keeps_no_other_waiting(self) -> None:
        deaf = RemoteProcess(Host("deaf", "", ("sleep", "600", "#")), ("true",))
        for _ in range(20_000):  # more than a pipe takes
            deaf.renew()
        deaf.close(0)

    def test_ends_with_its_program_although_something_keeps_its_errors(self) -> None:
        """As a connection of ssh does that others share (ControlPersist)."""
        completed = completed_on(HERE, "sh", "-c", "sleep 60 >&- & echo $!; echo err >&2")
        assert completed.errors == "err\n"
        os.kill(int(completed.output), signal.SIGKILL)

    def test_that_takes_too_long_is_an_error(self) -> None:
        [error] = run_all([(HERE, ("sleep", "60"))], timeout_s=0.2)
        assert "here: sleep took longer than" in str(error)

    @pytest.mark.parametrize(("at_once", "waits"), [(5, 1), (2, 3)])
    def test_several_take_no_longer_than_one_to_be_given_up_and_ended(
        self, monkeypatch: pytest.MonkeyPatch, at_once: int, waits: int
    ) -> None:
        """The clock goes on only while something is waited for."""
        clock = [0.0]

        def wait_in_vain(remote: RemoteProcess, timeout_s: float) -> NoReturn:
            clock[0] += timeout_s
            raise HostError(f"{remote.host}: no end")

        def close_late(remote: RemoteProcess, timeout_s: float) -> None:
            clock[0] += timeout_s
            HostProcess.close(remote, 1)

        monkeypatch.setattr(
            "harness.hosts.remote_process.time", SimpleNamespace(monotonic=lambda: clock[0])
        )
        monkeypatch.setattr(RemoteProcess, "finish", wait_in_vain)
        monkeypatch.setattr(RemoteProcess, "close", close_late)
        errors = run_all([(HERE, ("true",))] * 5, timeout_s=30, at_once=at_once)
        assert [str(error) for error in errors] == ["here: no end"] * 5
        assert clock == [30 * waits + END_S]

    @pytest.mark.parametrize(
        "command",
        [("frobnicate",), ("sh", "-c", "exec frobnicate"), ("timeout", "9", "frobnicate")],
    )
    def test_whose_program_is_missing_is_an_error(self, command: Sequence[str]) -> None:
        [error] = run_all([(HERE, command)])
        assert str(error) == "here: frobnicate is not installed"

    @pytest.mark.parametrize("command", [("fio",), ("sh", "-c", "exec fio"), Script("fio")])
    def test_whose_program_lacks_a_library_is_an_error_with_the_reason(
        self, programs: Programs, command: Sequence[str] | Script
    ) -> None:
        reason = (
            "fio: error while loading shared libraries: libaio.so.1: cannot open shared object file"
        )
        programs(fio=f"echo '{reason}' >&2; exit 127")
        [error] = run_all([(HERE, command)])
        assert str(error) == f"here: {reason}"

    def test_that_ends_with_the_code_of_a_missing_program_and_says_nothing_shows_the_code(
        self,
    ) -> None:
        [error] = run_all([(HERE, ("sh", "-c", "exit 127"))])
        assert str(error) == "here: it ended with code 127"

    @pytest.mark.parametrize(("name", "word"), [("node1", "a\0b"), ("node1\0", "a")])
    def test_with_a_nul_in_it_is_refused(self, name: str, word: str) -> None:
        with pytest.raises(BadInput, match="its name or command has a NUL character"):
            run_all([(by_docker(name), ("echo", word))])

    def test_that_ends_before_the_awaited_line_is_an_error_with_the_reason(self) -> None:
        with RemoteProcesses() as remotes:
            server = remotes.add(HERE, ("sh", "-c", "echo 'error: port taken' >&2; exit 1"))
            server.start()
            with pytest.raises(HostError, match="here: error: port taken"):
                server.await_line("listening")

    def test_runs_beside_others(self, tmp_path: Path) -> None:
        """One writes to a pipe that the other reads: one after the other, they would never end."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        commands = ("sh", "-c", f"echo hello >{pipe}"), ("cat", str(pipe))
        completed = run_all(zip([HERE, HERE], commands, strict=True), timeout_s=20)
        outputs = [done.output for done in completed if isinstance(done, CompletedCommand)]
        assert outputs == ["", "hello"]

    def test_runs_beside_no_more_than_are_allowed_and_its_answer_has_its_place(
        self, tmp_path: Path
    ) -> None:
        """Each counts those that run beside it, by their files."""
        count = (
            f"touch {tmp_path}/$$; echo $0 $(ls {tmp_path} | wc -l); sleep .05; rm {tmp_path}/$$"
        )
        completed = run_all([(HERE, ("sh", "-c", count, str(n))) for n in range(9)], at_once=3)
        found = [done.output.split() for done in completed if isinstance(done, CompletedCommand)]
        assert [number for number, _ in found] == [*"012345678"]
        assert max(int(beside) for _, beside in found) <= 3

    def test_may_be_more_than_files_are_usually_open(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        opened = len(list(Path("/proc/self/fd").iterdir()))
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 80, hard))
            with RemoteProcesses() as remotes:
                for _ in range(40):
                    remotes.add(HERE, ("true",))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_cannot_be_opened_without_the_program_that_reaches_its_host(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(BadInput, match="n1: cannot be reached: no 'docker' is on the PATH"):
            run_all([(by_docker("n1"), ("true",))])


class TestFlood:
    """A host that prints without end is given up, and takes little memory here."""

    @pytest.mark.parametrize(
        "command", ["yes | tr -d '\\n'", "yes", "yes ''", "yes >&2", "yes & exec yes >&2"]
    )
    def test_is_an_error_of_its_host_alone(self, command: str) -> None:
        tracemalloc.start()
        answers = run_all([(HERE, ("sh", "-c", command)), (by_local("other"), ("echo", "hello"))])
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert str(answers[0]) == "here: it printed more than 1 MiB, and was given up"
        assert isinstance(answers[1], CompletedCommand)
        assert peak_bytes < 16 * 2**20

    def test_ends_what_waits_for_a_line(self) -> None:
        with RemoteProcesses() as remotes:
            server = remotes.add(HERE, ("yes",), max_bytes=2**17)
            server.start()
            with pytest.raises(HostError, match=r"here: it printed more than 0\.125 MiB"):
                server.await_line("listening")

    def test_is_what_a_command_may_not_print_and_not_its_greeting_alone(
        self, programs: Programs
    ) -> None:
        programs(ssh=SSH.replace("exec", "yes; exec"))
        [error] = run_all([(by_ssh("node1"), ("echo", "hello"))])
        assert "it printed more than 1 MiB" in str(error)

    def test_of_more_bytes_is_no_flood_where_they_are_expected(self) -> None:
        with RemoteProcesses() as remotes:
            remote = remotes.add(HERE, ("head", "-c", "3000000", "/dev/zero"), max_bytes=2**22)
            remote.start()
            assert len(remote.finish().output) == 3_000_000


class TestOverSsh:
    @pytest.mark.parametrize("word", ["a b", "$(touch evil)", "'; exit 9; '", '"', "*", "a\nb", ""])
    def test_a_word_arrives_unchanged(self, programs: Programs, word: str) -> None:
        programs(ssh=SSH)
        assert completed_on(by_ssh("node1"), "printf", "<%s>", word).output == f"<{word}>"

    def test_the_greeting_of_a_login_shell_is_not_lines(self, programs: Programs) -> None:
        programs(ssh=SSH.replace("exec", "echo Welcome to this machine!; exec"))
        assert completed_on(by_ssh("node1"), "echo", "hello").output == "hello"

    @pytest.mark.parametrize("shell", ["sh", "bash", "csh", "tcsh", "fish", "busybox sh"])
    @pytest.mark.parametrize("word", ["a b", "it's", "a\nb", "wait!", "\\n", "$HOME", '"', "~"])
    def test_a_word_arrives_unchanged_through_any_login_shell(
        self, programs: Programs, shell: str, word: str
    ) -> None:
        if shutil.which(shell.removesuffix(" sh")) is None:
            pytest.skip(f"{shell} is not installed")
        programs(ssh=SSH.replace("/bin/sh", shell))
        assert completed_on(by_ssh("node1"), "printf", "<%s>", word).output == f"<{word}>"
        assert completed_on(by_ssh("node1"), "sh", "-c", 'printf %s "$0"', word).output == word

    @pytest.mark.parametrize("stream", [1, 2])
    def test_what_a_login_shell_prints_without_a_line_feed_is_no_part_of_the_answer(
        self, programs: Programs, stream: int
    ) -> None:
        programs(ssh=SSH.replace("exec", rf"printf '\033]0;me@a\007' >&{stream}; exec"))
        done = completed_on(by_ssh("node1"), "sh", "-c", "echo out; echo err >&2; exit 3")
        assert done == CompletedCommand(3, "out", "err\n")

    def test_a_login_shell_that_reads_its_input_takes_nothing_of_ours(
        self, programs: Programs
    ) -> None:
        programs(ssh=SSH.replace("exec", "timeout 0.2 cat >/dev/null; exec"))
        assert completed_on(by_ssh("node1"), "echo", "hello").output == "hello"

    @pytest.mark.parametrize(
        ("login", "reason"),
        [
            (
                "echo 'Please login as the user \"admin\" rather than \"root\".'; exit 142",
                'Please login as the user "admin" rather than "root".',
            ),
            ("echo This account is not available.; exit 1", "This account is not available."),
            ("echo Denied to none >&2; echo 'SFTP only.'; exit 1", "SFTP only."),
            ("echo 'bash: line 1: sh: command not found' >&2; exit 127", "sh is not installed"),
            ("exit 9", "ssh ended with code 9 before any command began"),
        ],
    )  # fmt: skip
    def test_a_host_that_lets_no_command_run_is_an_error_in_its_own_words(
        self, programs: Programs, login: str, reason: str
    ) -> None:
        programs(ssh=login)
        [error] = run_all([(by_ssh("node9"), ("true",))])
        assert str(error) == f"node9: {reason}"

    def test_a_host_that_is_down_is_an_error_with_the_reason(self, programs: Programs) -> None:
        reason = "ssh: connect to host node9 port 22: No route to host"
        warning = "Warning: Permanently added node9"
        programs(ssh=f"echo '{warning}' >&2; echo '{reason}' >&2; exit 255")
        [error] = run_all([(by_ssh("node9"), ("true",))])
        assert str(error) == f"node9: {reason}"


class TestTurnedAway:
    """A server that has too much to do closes connections, or refuses them. It is tried again."""

    CLOSED = "kex_exchange_identification: Connection closed by remote host"
    REFUSED = "ssh: connect to host node9 port 22: Connection refused"
    THROUGH_ANOTHER = "Connection closed by UNKNOWN port 65535"

    @pytest.fixture(autouse=True)
    def pauses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(host_process, "PAUSES_S", (0.01, 0.02, 0.03))
        monkeypatch.setattr(host_process, "_REFUSED_PAUSES_S", (0.01,))
        monkeypatch.setattr(host_process, "_reached", set())

    @pytest.fixture
    def attempts(self, tmp_path: Path, programs: Programs) -> Callable[..., str]:
        def after(refusals: int, *reasons: str) -> str:
            """Return what a command prints, or the error, where the first attempts end for these reasons."""
            said = " ".join(f"echo '{reason}' >&2;" for reason in reasons)
            refuse = f"[ $(wc -l <{tmp_path}/tried) -gt {refusals} ] || {{ {said} exit 255; }}"
            programs(ssh=SSH.replace("exec", f"echo >>{tmp_path}/tried; {refuse}; exec"))
            [answer] = run_all([(by_ssh("node9"), ("echo", "hello"))])
            return answer.output if isinstance(answer, CompletedCommand) else str(answer)

        return after

    @pytest.mark.parametrize(
        ("refusals", "reasons"),
        [(1, (CLOSED,)), (3, (CLOSED,)), (1, (REFUSED,)), (3, (REFUSED, THROUGH_ANOTHER))],
    )
    def test_it_is_reached_in_the_end(
        self, attempts: Callable[..., str], refusals: int, reasons: tuple[str, ...]
    ) -> None:
        assert attempts(refusals, *reasons) == "hello"

    def test_it_is_tried_longer_if_it_was_reached_before(
        self, attempts: Callable[..., str]
    ) -> None:
        assert attempts(0) == "hello"
        assert attempts(4, self.REFUSED) == "hello"

    @pytest.mark.parametrize(
        ("refusals", "reason"),
        [(4, CLOSED), (2, REFUSED), (1, "me@node9: Permission denied (publickey).")],
    )
    def test_it_is_given_up_in_the_end(
        self, attempts: Callable[..., str], refusals: int, reason: str
    ) -> None:
        assert attempts(refusals, reason) == f"node9: {reason}"

    def test_nothing_is_tried_again_after_the_end(
        self, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(host_process, "PAUSES_S", (600,))
        programs(ssh=f"echo >>{tmp_path}/tried; echo '{self.CLOSED}' >&2; exit 255")
        remote = RemoteProcess(by_ssh("node9"), ("true",))
        eventually(lambda: remote._paused_s > 0)
        remote.close(5)
        assert not remote._reader.is_alive()
        assert (tmp_path / "tried").read_text() == "\n"

    def test_those_behind_a_jump_host_that_takes_few_at_once_are_all_reached(
        self, programs: Programs, tmp_path: Path
    ) -> None:
        """As MaxStartups of its sshd is: here five."""
        (tmp_path / "opening").mkdir()
        programs(
            ssh=f"""
            [ $(ls {tmp_path}/opening | wc -l) -lt 5 ] || {{ echo '{self.CLOSED}' >&2; exit 255; }}
            touch {tmp_path}/opening/$$; sleep 0.05; rm {tmp_path}/opening/$$
            {SSH}"""
        )
        answers = run_all([(by_ssh(f"n{n}"), ("echo", str(n))) for n in range(8)])
        assert [getattr(answer, "output", answer) for answer in answers] == [
            str(n) for n in range(8)
        ]


class TestLanguage:
    @pytest.mark.parametrize("way", TRANSPORTS)
    def test_is_english_on_hosts_that_speak_another(
        self, programs: Programs, monkeypatch: pytest.MonkeyPatch, way: str
    ) -> None:
        german = "LANGUAGE=de LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 TZ=Europe/Berlin"
        for variable, value in (each.split("=") for each in german.split()):
            monkeypatch.setenv(variable, value)
        there = f'{german} exec "$@"'
        ssh = SSH.replace("exec", f"{german} exec")
        pods = f"[ $1 = exec ] || {{ echo '{POD}'; exit; }}"
        kubectl = f"{pods}; shift 5; {there}"
        programs(ssh=ssh, docker=f"shift 5; {there}", ip=f"shift 3; {there}", kubectl=kubectl)
        host = TRANSPORTS[way]("node1", "")
        done = completed_on(host, "sh", "-c", "echo $LANGUAGE $LC_ALL; date -d @0 +%H%Z")
        assert done.output == "C C\n00UTC"

    def test_is_not_one_that_a_login_shell_lacks(
        self, programs: Programs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What it says of that would come before the reason of what fails. ssh forwards LC_ALL."""
        monkeypatch.setenv("LC_ALL", "xx_XX.UTF-8")
        programs(ssh=SSH.replace("/bin/sh", "/bin/bash"))
        done = completed_on(by_ssh("node1"), "sh", "-c", "echo no room >&2; exit 1")
        assert done.errors == "no room\n"


class TestClientServerRun:
    @staticmethod
    def outcome(server: str, client: str) -> str | HostError:
        with RemoteProcesses() as remotes:
            run = ClientServerRun(
                remotes,
                server=(HERE, ("sh", "-c", server)),
                client=(by_local("there"), ("sh", "-c", client)),
                listening="listening",
                parse=lambda completed: completed.output,
                timeout_s=20,
            )
            ClientServerRun.open([run])
            run.start()
            return run.finish()

    def test_starts_the_client_when_the_server_listens(self, tmp_path: Path) -> None:
        server = f"sleep 0.1; touch {tmp_path}/ready; echo listening; exec sleep 600"
        assert self.outcome(server, f"ls {tmp_path}") == "ready"

    def test_does_not_start_the_client_of_a_server_that_fails(self, tmp_path: Path) -> None:
        error = self.outcome("echo 'error: port taken' >&2; exit 1", f"touch {tmp_path}/started")
        assert str(error) == "here: error: port taken"
        assert not (tmp_path / "started").exists()


class TestErrors:
    def test_an_error_that_the_program_printed_comes_before_the_parsers_own(self) -> None:
        def parse(_: CompletedCommand) -> str:
            raise ToolError("printed no report")

        failed = CompletedCommand(1, "", "note\niperf3: error - no route\niperf3: exiting\n")
        silent = CompletedCommand(0, "", "")
        assert str(parse_completed("n1", failed, parse)) == "n1: iperf3: error - no route"
        assert str(parse_completed("n1", silent, parse)) == "n1: printed no report"

    @pytest.mark.parametrize(
        "parse",
        [
            lambda _: int("9" * 5000),
            lambda _: float("1.2.3"),
            lambda _: int(float("inf")),
            lambda _: 1 // 0,
            lambda _: json.loads("[" * 100_000),
            lambda _: {"rate": 1}["missing"],
            lambda _: list(range(0))[1],
            lambda _: json.loads("5").get("rate"),
            lambda _: sum(json.loads('["text"]')),
        ],
    )
    def test_an_answer_that_no_parser_expects_is_an_error_of_its_host(
        self, parse: Callable[[CompletedCommand], object]
    ) -> None:
        error = parse_completed("n1", CompletedCommand(0, "", ""), parse)
        assert isinstance(error, HostError)
        assert str(error) == "n1: its answer cannot be read"

    def test_a_long_text_of_a_host_is_shortened(self) -> None:
        failed = CompletedCommand(1, "", f"error: {'x' * 10**6} the end")
        error = str(parse_completed("n1", failed, lambda _: int("x")))
        assert error.startswith("n1: error: xxx")
        assert error.endswith("the end")
        assert len(error) <= MAX_ERROR
