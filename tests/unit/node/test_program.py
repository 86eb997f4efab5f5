"""The program that answers for a node: in every shell of a host, and the form of its answers."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.node.counters import counters_command, parse_counters
from harness.node.interface import describing_command, parse_link
from harness.node.link_reading import read_link, reading_command
from harness.node.machine import machine_command, read_machine, unread_facts
from harness.node.program import read_link_answer
from harness.node.state import read_state, state_command

APPLETS = (
    *("sh", "cat", "command", "df", "dmesg", "grep", "head", "ls", "nproc", "printf", "readlink"),
    *("sed", "sleep", "sort", "tail", "tr", "uname"),
)


@pytest.fixture(params=["dash", "bash", "busybox"])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A PATH where `sh` is this shell; that of busybox has nothing else, as a storage node may have."""
    program = shutil.which(request.param)
    if program is None:
        pytest.skip(f"{request.param} is not installed")
    names = APPLETS if request.param == "busybox" else ("sh",)
    for name in names:
        (tmp_path / name).symlink_to(program)
    return str(tmp_path) if request.param == "busybox" else f"{tmp_path}:{os.environ['PATH']}"


def answer(command: list[str], path: str) -> str:
    sh = f"{path.split(':', maxsplit=1)[0]}/sh"
    done = subprocess.run(
        [sh, *command[1:]],
        env={"PATH": path, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


class TestEveryShell:
    def test_prints_facts(self, shell: str) -> None:
        printed = answer(machine_command(), shell)
        facts = read_machine(printed)
        assert {"kernel", "architecture", "cpus", "memory", "cpu_model"} <= facts.keys()
        assert ("disks" in facts) == (unread_facts(printed) is None)

    def test_prints_a_state(self, shell: str) -> None:
        state = read_state("n1", answer(state_command(), shell))
        assert state.shares
        assert state.scratch_free_bytes
        assert bool(state.python) == (state.unread is None)

    def test_prints_counters(self, shell: str) -> None:
        reading = parse_counters("n1", answer(counters_command(), shell))
        assert reading.counters["clock_s"] > 0
        assert "lo" in reading.traffic

    def test_prints_a_link(self, shell: str) -> None:
        link = parse_link("n1", "lo", answer(describing_command("lo"), shell))
        assert link.mtu_bytes
        assert link.sysctls

    def test_prints_a_reading(self, shell: str) -> None:
        reading = read_link("lo", answer(reading_command("lo"), shell))
        assert reading is not None
        assert reading.boot
        assert reading.errors == 0


class TestLinkAnswer:
    def test_has_the_parts_of_each_device_and_those_of_the_host(self) -> None:
        printed = "== bond\na\n\n== below top eth1\n== bond\nb\nc\n== newest\nx\n"
        found = read_link_answer("top", printed)
        assert found.devices == {"top": {"": "", "bond": "a"}, "eth1": {"bond": "b\nc"}}
        assert (found.host, found.below) == ({"newest": "x"}, {"top": ["eth1"]})

    @pytest.mark.parametrize("names", ["top", "top a/b", "top \x1b[31m", f"top {'x' * 99}"])
    def test_has_no_device_without_a_name_that_a_kernel_allows(self, names: str) -> None:
        found = read_link_answer("top", f"== below {names}\n== bond\na\n")
        assert [*found.devices] == ["top"]

    def test_of_devices_that_are_below_each_other_has_an_end(self) -> None:
        printed = "== files\n/sys/class/net/a/mtu:1500\n== below a b\n== below b a\n"
        assert parse_link("n1", "a", printed).rate_bit_s is None
