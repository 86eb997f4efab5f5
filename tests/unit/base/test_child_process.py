"""A program that is interrupted when this process ends."""

import signal
import subprocess
from pathlib import Path

import pytest

from harness.base.child_process import END_WITH_INPUT, finished, run_to_its_end
from tests.waiting import PATIENCE_S, eventually


@pytest.mark.parametrize("environment", [None, {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"}])
def test_a_program_that_is_read_speaks_english(environment: dict[str, str] | None) -> None:
    shown = finished(["/bin/sh", "-c", "echo $LC_ALL $LANGUAGE $TZ"], environment)
    assert shown.stdout == "C C UTC\n"


def test_a_signal_does_not_fall_into_what_looks_after_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There, it would leave a lock of Popen taken, and the program's end would never be seen."""
    looks: list[str] = []
    poll = subprocess.Popen.poll

    def interrupted_poll(self: "subprocess.Popen[bytes]") -> int | None:
        looks.append("begun")
        signal.raise_signal(signal.SIGTERM)
        looks.append("ended")
        return poll(self)

    monkeypatch.setattr(subprocess.Popen, "poll", interrupted_poll)
    with pytest.raises(KeyboardInterrupt):
        run_to_its_end(["sleep", "60"], {"PATH": "/usr/bin:/bin"})
    assert looks == ["begun", "ended"]


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("one\\nusual\\ntwo\\n", "one\ntwo\n"),
        ("usual\\nno end of a line", "no end of a line"),
        ("usual\\nstage 1\\rstage 2\\r", "stage 1\rstage 2\r"),
        ("not usual\\nusually\\n", "not usual\nusually\n"),
        ("", ""),
    ],
)
def test_lines_of_its_errors_may_be_left_out(
    printed: str, shown: str, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["sh", "-c", f"printf '{printed}' >&2; echo output"]
    code = run_to_its_end(
        command, {"PATH": "/usr/bin:/bin"}, is_left_out=lambda line: line == b"usual\n"
    )
    assert (code, *capfd.readouterr()) == (0, "output\n", shown)


def test_what_a_command_leaves_behind_is_not_waited_for(capfd: pytest.CaptureFixture[str]) -> None:
    command = ["sh", "-c", "echo last >&2; sleep 30 & exit 0"]
    code = run_to_its_end(command, {"PATH": "/usr/bin:/bin"}, is_left_out=lambda _: False)
    assert code == 0
    assert capfd.readouterr().err == "last\n"


class TestEndWithInput:
    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command in a session of its own, as Docker does."""
        return subprocess.Popen(
            ["sh", "-c", END_WITH_INPUT, "submit", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def test_a_command_is_interrupted_when_its_input_is_closed(self) -> None:
        process = self.start("sleep", "1000")
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == -signal.SIGINT

    def test_so_are_the_processes_that_it_started(self) -> None:
        process = self.start("sh", "-c", "sleep 1000; true")
        # Between fork and exec, a child of dash may lose an interrupt, so let it run `sleep` first.
        eventually(lambda: "sleep" in children(process.pid))
        output, _ = process.communicate(timeout=PATIENCE_S)  # ends when no process has it open
        assert (output, process.returncode) == (b"", -signal.SIGINT)


def children(pid: int) -> list[str]:
    """Return the names of the programs that a process has started."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path(f"/proc/{child}/comm").read_text().strip() for child in started]
