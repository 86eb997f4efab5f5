"""How hosts are named and reached, and that commands on them cannot outlive us."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.errors import BadInput, ToolError
from harness.probes.preflight import preflight
from harness.probes.remote_process import (
    CompletedCommand,
    RemoteProcess,
    RemoteProcesses,
    parse_answer,
    run_all,
    telling_line,
)
from harness.probes.transports.host import (
    HostError,
    by_docker,
    by_local,
    by_netns,
    by_ssh,
    expand_names,
    parse_hosts,
)

HERE = by_local("here", "127.0.0.1")

# What sshd does: it joins the words of a command by blanks, and gives them to the user's shell.
SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift 2
exec /bin/sh -c "$*"
"""


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ssh that reaches this machine whatever the host; a test may write another."""
    program = tmp_path / "ssh"
    program.write_text(SSH)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return program


class TestNames:
    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("master", ["master"]),
            ("node[1-3]", ["node1", "node2", "node3"]),
            ("node[08-10]", ["node08", "node09", "node10"]),
            ("node[9-10,4], master", ["master", "node4", "node9", "node10"]),
            ("node[1-2],node[2-3]", ["node1", "node2", "node3"]),
            ("root@a.example.com,b", ["b", "root@a.example.com"]),
        ],
    )
    def test_are_expanded_each_once(self, text: str, names: list[str]) -> None:
        assert sorted(expand_names("--hosts", text), key=names.index) == names

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "node[",
            "node[]",
            "node[3-1]",
            "a b",
            "$(id)",
            "n[1-99999999999]",
            "n[1-5/0]",
            "a;b",
            "-o1",
        ],
    )
    def test_that_cannot_be_read_are_refused_with_the_option_s_name(self, text: str) -> None:
        with pytest.raises(BadInput, match="--nodes"):
            expand_names("--nodes", text)

    def test_may_have_another_address(self) -> None:
        hosts = parse_hosts("--hosts", "node[1-2]=10.0.0.[1-2],b,c=data.c", by_netns)
        assert [(host.name, host.address) for host in hosts] == [
            ("node1", "10.0.0.1"),
            ("node2", "10.0.0.2"),
            ("b", ""),
            ("c", "data.c"),
        ]

    def test_as_many_addresses_as_names(self) -> None:
        with pytest.raises(BadInput, match="3 names and 2 addresses"):
            parse_hosts("--hosts", "node[1-3]=10.0.0.[1-2]", by_ssh)

    @given(st.text(min_size=1))
    def test_no_host_can_be_taken_for_an_option_or_more_than_one_word(self, text: str) -> None:
        try:
            hosts = parse_hosts("--hosts", text, by_ssh)
        except BadInput:
            return
        for host in hosts:
            assert not host.name.startswith("-")
            assert host.name.split() == [host.name]
            assert host.prefix[-2:] == ("--", host.name)


class TestReach:
    def test_a_container_and_a_namespace_get_the_words_as_they_are(self) -> None:
        words = ("echo", "a b", "$(id)")
        assert by_docker("n1", container="abc").argv(*words)[-4:] == ["abc", *words]
        assert by_netns("n1").argv(*words) == ["ip", "netns", "exec", "n1", *words]

    @pytest.mark.parametrize("word", ["a b", "$(touch evil)", "'; exit 9; '", '"', "*", "a\nb", ""])
    def test_a_word_arrives_through_ssh_as_it_is(self, ssh: Path, word: str) -> None:
        [ended] = run_all([(by_ssh("node1"), ("printf", "<%s>", word))])
        assert isinstance(ended, CompletedCommand)
        assert ended.output == f"<{word}>"

    def test_what_a_login_shell_prints_is_no_output(self, ssh: Path) -> None:
        ssh.write_text(SSH.replace("exec", "echo Welcome to this machine!; exec"))
        [ended] = run_all([(by_ssh("node1"), ("echo", "hello"))])
        assert isinstance(ended, CompletedCommand)
        assert ended.output == "hello"

    def test_a_host_that_is_down_is_named_with_ssh_s_complaint(self, ssh: Path) -> None:
        ssh.write_text(
            "#!/bin/sh\n"
            "echo 'Warning: Permanently added node9' >&2\n"
            "echo 'ssh: connect to host node9 port 22: No route to host' >&2\n"
            "exit 255\n"
        )
        [trouble] = run_all([(by_ssh("node9"), ("true",))])
        assert str(trouble) == "node9: ssh: connect to host node9 port 22: No route to host"

    def test_without_the_program_to_reach_hosts_with_nothing_is_tried(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(BadInput, match="no 'docker' is on the PATH"):
            run_all([(by_docker("n1"), ("true",))])


class TestCommands:
    def test_end_with_their_code_and_output(self) -> None:
        command = ("sh", "-c", "echo said; echo complained >&2; exit 3")
        [ended] = run_all([(HERE, command)])
        assert isinstance(ended, CompletedCommand)
        assert (ended.code, ended.output, ended.errors) == (3, "said", "complained\n")

    def test_wait_until_they_are_told_to_start(self, tmp_path: Path) -> None:
        with RemoteProcesses() as remotes:
            remote = remotes.put(HERE, "touch", str(tmp_path / "started"))
            remote.await_ready()
            time.sleep(0.1)
            assert not (tmp_path / "started").exists()
            remote.start()
            remote.finish()
            assert (tmp_path / "started").exists()

    def test_that_were_never_started_never_run(self, tmp_path: Path) -> None:
        with RemoteProcesses() as remotes:
            remotes.put(HERE, "touch", str(tmp_path / "started")).await_ready()
        assert not (tmp_path / "started").exists()

    def test_are_over_when_they_are_left(self) -> None:
        with RemoteProcesses() as remotes:
            server = remotes.put(HERE, "sh", "-c", "echo $$; exec sleep 600")
            server.start()
            server.await_line("")
            [process] = pids(server)
            assert alive(process)
        assert eventually_gone(process)

    def test_are_over_when_we_are_killed(self) -> None:
        """Nothing of ours gets to run: it is the kernel that closes the pipe."""
        ours = subprocess.Popen(
            [sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
        )
        assert ours.stdout is not None
        process = int(ours.stdout.readline())
        assert alive(process)
        ours.kill()
        ours.wait()
        assert eventually_gone(process)

    def test_that_take_too_long_are_told_of(self) -> None:
        [trouble] = run_all([(HERE, ("sleep", "60"))], timeout_s=0.2)
        assert "here: sleep took longer than" in str(trouble)

    def test_that_are_not_there_say_what_to_install(self) -> None:
        [trouble] = run_all([(HERE, ("frobnicate",))])
        assert str(trouble) == "here: frobnicate is not there; install it"

    def test_that_end_before_the_awaited_line_say_why(self) -> None:
        with RemoteProcesses() as remotes:
            server = remotes.put(HERE, "sh", "-c", "echo 'error: port taken' >&2; exit 1")
            server.start()
            with pytest.raises(HostError, match="here: error: port taken"):
                server.await_line("listening")

    def test_all_run_at_once(self, tmp_path: Path) -> None:
        """One waits to be read and the other reads: one after the other they would never end."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        answers = run_all(
            [(HERE, ("sh", "-c", f"echo hello >{pipe}")), (HERE, ("cat", str(pipe)))], timeout_s=20
        )
        assert [answer.output for answer in answers if isinstance(answer, CompletedCommand)] == [
            "",
            "hello",
        ]

    def test_a_complaint_is_more_telling_than_what_a_parser_says(self) -> None:
        def read(_: CompletedCommand) -> str:
            raise ToolError("printed no report")

        failed = CompletedCommand(1, "", "note\niperf3: error - no route\niperf3: exiting\n", 0)
        silent = CompletedCommand(0, "", "", 0)
        assert str(parse_answer("n1", failed, read)) == "n1: iperf3: error - no route"
        assert str(parse_answer("n1", silent, read)) == "n1: printed no report"

    def test_the_line_that_tells_is_the_one_with_the_error(self) -> None:
        assert telling_line("error: cause\nexiting\n") == "error: cause"
        assert telling_line("banner\n\ncause\n \n") == "cause"
        assert telling_line("\n") == ""


class TestSurvey:
    def test_a_host_that_lacks_a_program_is_left_out_with_what_to_do(self) -> None:
        found = preflight([HERE], ["sh", "frobnicate", "ping6-no"])
        assert found.hosts == ()
        assert str(found.excluded_hosts["here"]) == (
            "here: no frobnicate, ping6-no there; install it "
            "(Debian: apt-get install frobnicate ping6-no)"
        )

    def test_one_that_has_all_and_an_address_is_as_it_was(self) -> None:
        assert preflight([HERE], ["sh"]).hosts == (HERE,)

    TWO = '[{"addr_info":[{"local":"10.0.0.1"}]},{"addr_info":[{"local":"10.1.0.1"}]}]'

    @pytest.fixture
    def fake(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
        """Programs that print something, in front of the others."""
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

        def install(**programs: str) -> None:
            for name, printed in programs.items():
                (tmp_path / name).write_text(f"#!/bin/sh\necho '{printed}'\n")
                (tmp_path / name).chmod(0o755)

        return install

    def test_an_address_is_what_a_name_means_to_the_others(self, fake: Callable[..., None]) -> None:
        fake(getent="10.0.0.7       STREAM node1", ip=self.TWO)
        found = preflight([by_local("node1"), by_local("root@node2")], ["sh"])
        assert [host.address for host in found.hosts] == ["10.0.0.7", "10.0.0.7"]

    def test_a_name_that_means_the_others_themselves_is_none(
        self, fake: Callable[..., None]
    ) -> None:
        fake(getent="127.0.1.1       STREAM node1", ip=self.TWO)
        assert "node1=ADDRESS" in str(
            preflight([by_local("node1"), HERE], ["sh"]).excluded_hosts["node1"]
        )

    def test_a_name_that_means_nothing_wants_an_address(self, fake: Callable[..., None]) -> None:
        fake(ip=self.TWO)
        found = preflight([by_local("nosuch.invalid"), HERE], ["sh"])
        assert found.hosts == (HERE,)
        assert "It has 10.0.0.1, 10.1.0.1: write nosuch.invalid=ADDRESS" in str(
            found.excluded_hosts["nosuch.invalid"]
        )


KILLED = """
import time
from harness.probes.remote_process import RemoteProcess
from harness.probes.transports.host import by_local
remote = RemoteProcess(by_local("here"), ("sh", "-c", "echo $$; exec sleep 600"))
remote.start()
remote.await_line("")
print(remote._lines[-1], flush=True)
time.sleep(600)
"""


def pids(remote: RemoteProcess) -> Iterator[int]:
    return (int(line) for line in remote._output)


def alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def eventually_gone(process: int) -> bool:
    for _ in range(200):
        if not alive(process):
            return True
        time.sleep(0.05)
    return False
