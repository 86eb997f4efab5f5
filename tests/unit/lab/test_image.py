"""The lab's image is built with a part of the checkout's code, which must be complete."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


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


def test_the_code_that_fetches_hdfs_imports_only_what_the_image_has(tmp_path: Path) -> None:
    lines = (ROOT / "docker/Dockerfile").read_text().replace("\\\n", " ")
    for copied in re.findall(r"^COPY (harness/.*)$", lines, re.MULTILINE):
        *files, directory = copied.split()
        (tmp_path / directory).mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(ROOT / file, tmp_path / directory)
    code = re.search(r'python3 -c "(.*?)minicluster_jar\(', lines)
    assert code is not None
    # -S: no installed package can be imported.
    subprocess.run([sys.executable, "-S", "-c", code[1].strip()], cwd=tmp_path, env={}, check=True)
