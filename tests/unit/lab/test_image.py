"""The lab's image is built with a part of the checkout's code, which must be complete."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.lab.cluster import LOCAL_DIRS
from harness.lab.compose import FILE
from tests.programs import shell_program
from tests.tracked import ROOT
from tests.unit.builders import known


@pytest.mark.parametrize("environment", [{}, {"NODES": "x"}, {"NODES": "-1"}])
def test_a_number_of_workers_that_is_none_is_named(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-ISs", ROOT / "docker/ready", "master"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    named = environment.get("NODES", "")
    assert (done.returncode, done.stderr) == (
        1,
        f"NODES is {named!r}: set it to the number of workers\n",
    )


@pytest.fixture
def dockerfile() -> str:
    """The Dockerfile, with one line for each instruction."""
    return (ROOT / "docker/Dockerfile").read_text().replace("\\\n", " ")


@pytest.mark.parametrize("call", [r"minicluster_jar\(", r"s3a_class_path\("])
def test_the_code_that_fetches_jars_imports_only_what_the_image_has(
    tmp_path: Path, dockerfile: str, call: str
) -> None:
    for files, room in re.findall(r"^COPY (harness/.*) (harness/\S*)$", dockerfile, re.MULTILINE):
        (tmp_path / room).mkdir(parents=True, exist_ok=True)
        for file in files.split():
            shutil.copy(ROOT / file, tmp_path / room)
    code = known(re.search(rf'python3 -c "([^"]*?){call}', dockerfile))
    # -S: no installed package can be imported.
    subprocess.run([sys.executable, "-S", "-c", code[1].strip()], cwd=tmp_path, env={}, check=True)


def test_the_master_prepares_ceph_with_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "ceph").mkdir()
    prepare = (
        "import pathlib, harness.lab.ceph as ceph; "
        f"ceph.DIRECTORY = pathlib.Path({str(tmp_path / 'ceph')!r}); ceph.prepare(4, '10.0.0.2')"
    )
    subprocess.run([sys.executable, "-S", "-c", prepare], cwd=ROOT, env={}, check=True)
    files = {file.name: file.read_text() for file in (tmp_path / "ceph").iterdir()}
    assert "mon_host = [v2:10.0.0.2:3300]\n" in files["ceph.conf"]
    assert [line.split()[-1] for line in files["osds"].splitlines()] == ["0", "1", "2", "3"]
    assert "osd pool create rs-2-1-4k 8 8 erasure rs-2-1-4k\n" in files["pools"]
    assert "rs-4-2" not in files["pools"]
    assert "spark.hadoop.fs.defaultFS s3a://replicated-2\n" in files["spark-ceph.conf"]
    assert (
        f"spark.hadoop.clusterlift.s3a.ceph.conf {tmp_path}/ceph/ceph.conf\n"
        in files["spark-ceph.conf"]
    )


def test_a_node_that_ended_while_its_server_was_stopped_starts_with_it(tmp_path: Path) -> None:
    """Its volume outlives it: `storage-server is-stopped` would say yes while the server runs."""
    script = (ROOT / "docker/node").read_text().replace("/opt/lab/conf", f"{ROOT}/docker/conf")
    for directory in ("data", "secret"):
        script = script.replace(f"/{directory}", f"{tmp_path}/{directory}")
        (tmp_path / directory).mkdir()
    (tmp_path / "data/stopped").touch()
    (tmp_path / "secret/spark").write_text("secret")
    programs = {
        "getent": "echo 127.0.0.1",
        "java": f"ls {tmp_path}/data >{tmp_path}/seen; exec sleep 60",
        "spark-class": f"until [ -s {tmp_path}/seen ]; do sleep 0.01; done",
    }
    for name, line in programs.items():
        shell_program(tmp_path / name, line)
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "STORAGE": "hdfs",
        "NODES": "1",
        "SPARK_HOME": "/none",
        "SPARK_CONF_DIR": f"{tmp_path}/data/conf",
    }
    with subprocess.Popen(
        ["bash", "-c", script, "node", "worker"], env=environment, start_new_session=True
    ) as node:
        assert node.wait(20) == 0
        os.killpg(node.pid, signal.SIGKILL)  # the server, as the end of a container does
    assert (tmp_path / "seen").read_text().split() == ["conf"]


def test_spark_writes_where_the_disks_of_nodes_are_measured() -> None:
    assert f"\n    SPARK_LOCAL_DIRS: {LOCAL_DIRS}\n" in FILE.read_text()
