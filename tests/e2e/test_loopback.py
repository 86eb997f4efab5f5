"""Real daemons of real file systems, started and stopped as a user does it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.minicluster import qfs
from harness.minicluster.cluster import Cluster
from harness.minicluster.lifecycle import down
from harness.minicluster.state import find_all
from harness.runtime.cache import cache_directory

from .conftest import ROOT, eventually

CLUSTERLIFT = [sys.executable, "-m", "harness"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The user's own clusters are none of ours; the jar is."""
    jars = cache_directory() / "jars"
    jars.mkdir(parents=True, exist_ok=True)
    (tmp_path / "clusterlift").mkdir()
    (tmp_path / "clusterlift" / "jars").symlink_to(jars)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield
    for cluster in (*find_all("hdfs"), *find_all("qfs")):
        down(cluster)


def clusterlift(*arguments: str) -> str:
    done = subprocess.run(
        [*CLUSTERLIFT, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def gone(cluster: Cluster) -> bool:
    return len(cluster.dead()) == len(cluster.daemons) and not cluster.directory.exists()


def test_an_hdfs_that_is_up_beside_one_that_is_interrupted(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    run = subprocess.Popen(
        [*CLUSTERLIFT, "hdfs", "run", "--datanodes", "1", "sh", "-c", "touch $0; sleep 600", ready],
        cwd=ROOT,
        process_group=0,
    )
    said = clusterlift("hdfs", "up", "--datanodes", "1")
    eventually(ready.exists, "the command of run started")
    default, other = find_all("hdfs")
    os.killpg(run.pid, signal.SIGINT)  # what a terminal does
    assert run.wait(timeout=60) == 128 + signal.SIGINT
    assert gone(other)
    assert said.startswith(f"export CLUSTERLIFT_FS={default.uri}\n")
    assert f"default  {default.uri}  1 of 1 DataNode live\n" in clusterlift("hdfs", "status")
    clusterlift("hdfs", "down")
    assert gone(default)


@pytest.mark.qfs
@pytest.mark.skipif("QFS_HOME" not in os.environ, reason="QFS_HOME is not set")
def test_a_qfs(tmp_path: Path) -> None:
    with qfs.running(chunk_servers=2) as cluster:
        tool = Path(os.environ["QFS_HOME"]) / "bin/tools/qfs"
        (tmp_path / "file").write_text("kept")
        for command in (["-put", str(tmp_path / "file"), "/file"], ["-cat", "/file"]):
            done = subprocess.run(
                [tool, "-fs", cluster.uri, *command], capture_output=True, text=True, check=True
            )
        assert done.stdout == "kept"
        cluster.kill("chunkserver-1")
        eventually(lambda: qfs.QfsCluster().live_servers(cluster) == 1, "one was left", seconds=60)
    assert gone(cluster)
