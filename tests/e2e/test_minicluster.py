"""Real daemons of real file systems, started and stopped as a user does it."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from harness.minicluster.lifecycle import running
from harness.minicluster.qfs import QfsCluster
from harness.records.directories import cache_directory
from tests.daemons import find_all, kill, running_daemons
from tests.jvm import COLD_JVM
from tests.waiting import eventually

from .conftest import ROOT

CLUSTERLIFT = [sys.executable, "-m", "harness"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a cache that has none of the user's clusters, but shares the fetched jar."""
    jars = cache_directory() / "jars"
    jars.mkdir(parents=True, exist_ok=True)
    (tmp_path / "clusterlift").mkdir()
    (tmp_path / "clusterlift" / "jars").symlink_to(jars)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", COLD_JVM)


def is_removed(directory: Path) -> bool:
    return not running_daemons(directory) and not directory.exists()


@pytest.mark.qfs
@pytest.mark.skipif("QFS_HOME" not in os.environ, reason="QFS_HOME is not set")
def test_qfs_serves_its_own_tools_and_notices_a_lost_chunk_server(tmp_path: Path) -> None:
    with running(QfsCluster(), 2) as cluster:
        tool = Path(os.environ["QFS_HOME"]) / "bin/tools/qfs"
        (tmp_path / "file").write_text("kept")
        for command in (["-put", str(tmp_path / "file"), "/file"], ["-cat", "/file"]):
            done = subprocess.run(
                [tool, "-fs", cluster.uri, *command], capture_output=True, text=True, check=True
            )
        assert done.stdout == "kept"
        kill(cluster.directory, "chunkserver-1")
        eventually(lambda: QfsCluster().live_servers(cluster) == 1, "the loss was not noticed")
    assert is_removed(cluster.directory)


needs_ceph = pytest.mark.skipif(
    shutil.which("ceph-osd") is None, reason="no ceph-osd is on the PATH"
)


@pytest.mark.smoke
@needs_ceph
def test_a_run_that_is_killed_as_osds_make_their_files_leaves_nothing(tmp_path: Path) -> None:
    run = subprocess.Popen([*CLUSTERLIFT, "local", "s3", "run", "--", "true"], cwd=ROOT)
    directory = tmp_path / "clusterlift/minicluster"
    eventually(lambda: [*directory.glob("s3-*/osd-2/block")], "no OSD started", seconds=120)
    run.kill()
    run.wait()
    eventually(lambda: not [*directory.glob("s3-*")], "files are left", seconds=60)
    eventually(lambda: not daemons_in(tmp_path), "daemons still run")


def daemons_in(directory: Path) -> list[psutil.Process]:
    """Return the processes of a Ceph in this directory."""
    return [process for process in psutil.process_iter() if uses(process, directory)]


def uses(process: psutil.Process, directory: Path) -> bool:
    """Return whether a process is a daemon of a Ceph in this directory."""
    with suppress(psutil.Error):
        return process.environ().get("CEPH_CONF", "").startswith(str(directory))
    return False


@needs_ceph
def test_a_killed_run_leaves_nothing_of_ceph(tmp_path: Path) -> None:
    """Until then, each bucket is in a pool that has its layout, and its placement groups can be asked."""
    script = (
        '(ceph osd pool ls detail; ceph tell 2.0 query) > "$0.new" && mv "$0.new" "$0" && sleep 600'
    )
    layouts = ("--layout", "rs:2+1", "--layout", "replicated:2")
    pools = tmp_path / "pools"
    run = subprocess.Popen(
        [*CLUSTERLIFT, "local", "s3", "run", *layouts, "--", "sh", "-c", script, pools], cwd=ROOT
    )
    eventually(pools.exists, "the command of `run` did not start", seconds=180)
    [cluster] = find_all("s3")
    assert set(running_daemons(cluster)) == {"gateway", "monitor", "osd-0", "osd-1", "osd-2"}
    run.kill()
    run.wait()
    eventually(lambda: is_removed(cluster), "something is left", seconds=60)
    text = pools.read_text()
    assert '"state": "active+clean"' in text
    assert re.search("'rs-2-1' erasure profile rs-2-1 size 3 .* stripe_width 8192 ", text)
    assert "'replicated-2' replicated size 2 " in text
