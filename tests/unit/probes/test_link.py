"""What the link probe remarks of a host's link."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.model.finding import Finding, Gravity, about
from harness.node.interface import describing_command, parse_link
from harness.probes.link import link_findings
from tests.programs import shell_program
from tests.unit.probe_builders import a_link, probed

USED = ("sh", "sed", "grep", "head", "cat", "readlink", "ip")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory with the programs of this machine that describe a link, without tc."""
    for name in USED:
        if found := shutil.which(name):
            (tmp_path / name).symlink_to(found)
    return tmp_path


def limit_unread(programs: Path) -> str | None:
    done = subprocess.run(
        describing_command("lo"),
        env=os.environ | {"PATH": str(programs)},
        capture_output=True,
        text=True,
        check=True,
    )
    link = parse_link("n1", "lo", done.stdout)
    assert link.mtu_bytes
    return link.limit_unread


@pytest.mark.parametrize(
    ("tc", "reason"),
    [
        (None, "tc is not installed"),
        ("echo no permission >&2; exit 2", "no permission"),
        ('[ "$1" != filter ] || { echo no filters >&2; exit 1; }', "no filters"),
        ("echo '[]'", None),
    ],
)
def test_a_limit_that_tc_cannot_tell_is_unknown(
    programs: Path, tc: str | None, reason: str | None
) -> None:
    if tc is not None:
        shell_program(programs / "tc", tc)
    assert limit_unread(programs) == reason


def test_an_unknown_limit_is_a_remark_and_the_rate_of_the_card_stays_known() -> None:
    link = a_link("n1", limit_unread="tc is not installed")
    assert link.rate_bit_s == 10**9
    text = "whether tc limits it is unknown: tc is not installed"
    found = list(link_findings(probed([link])))
    assert found == [Finding(about("n1", part="eth0"), text, Gravity.NOTE)]
