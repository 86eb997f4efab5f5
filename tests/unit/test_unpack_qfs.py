"""The image of the lab has a tarball of QFS from a URL only if its digest is the one given, if one was."""

import hashlib
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docker/unpack-qfs"
FILES = (
    *("bin/metaserver", "bin/chunkserver", "bin/tools/qfsping", "bin/tools/qfs"),
    *("bin/tools/qfsfileenum", "lib/hadoop-3.4.1-qfs-2.2.8.jar", "lib/qfs-access-2.2.8.jar"),
)


def unpacked(directory: Path, digest: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "QFS_SHA256": digest}
    command = ("sh", str(SCRIPT), str(directory / "build"), str(directory / "qfs"))
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def tarball(tmp_path: Path) -> Path:
    for name in FILES:
        file = tmp_path / "made/qfs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    packed = tmp_path / "build/qfs.tgz"
    packed.parent.mkdir()
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(tmp_path / "made/qfs", "qfs")
    return packed


@pytest.mark.parametrize("is_given", [True, False])
def test_the_right_digest_and_none_are_accepted(tarball: Path, *, is_given: bool) -> None:
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest() if is_given else ""
    assert unpacked(tarball.parents[1], digest).returncode == 0
    assert (tarball.parents[1] / "qfs/bin/metaserver").exists()


def test_another_digest_is_refused_and_nothing_is_installed(tarball: Path) -> None:
    done = unpacked(tarball.parents[1], "0" * 64)
    assert done.returncode == 1
    assert "QFS_SHA256 is 000" in done.stderr
    assert not (tarball.parents[1] / "qfs/bin").exists()


def test_a_digest_without_a_packed_tarball_is_refused(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    done = unpacked(tmp_path, "0" * 64)
    assert done.returncode == 1
    assert "QFS_SHA256 is for a tarball from a URL" in done.stderr
