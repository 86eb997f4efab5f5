"""A program that is interrupted when this process ends."""

import signal
import subprocess

import pytest

from harness.child_process import finished, run_to_its_end


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
