"""The lab with HDFS, QFS and Ceph at the same time."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.lab.cluster import Lab
from harness.model.run import Status
from tests.unit.builders import known

from .conftest import new_lab, runs
from .localities import event_log_options, localities

pytestmark = pytest.mark.qfs
STORAGES = "hdfs,qfs,ceph"
EXPERIMENT = """
name = "storages"
storage = ["hdfs", "qfs", "ceph"]
runs = 1
turns = "rounds"
warmup = 0
trials = 1
workloads = ["sha-512"]

[datasets.hdfs]
rows = 50_000
layout = "xor:2+1:1m"

[datasets.qfs]
rows = 50_000
storage = "qfs"
layout = "rs:6+3:64k"

[datasets.ceph]
rows = 50_000
storage = "ceph"
layout = "rs:2+1:4k"
"""
STOPPED = """
apply = "storage-server stop worker-4"
revert = "storage-server start worker-4"
check = "storage-server is-stopped worker-4"
applied = "worker-4-stores-nothing"
"""


@pytest.fixture(scope="module")
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A lab of four workers with three file systems."""
    if not os.environ.get("QFS_HOME"):
        pytest.skip("QFS_HOME is not set: there is no QFS")
    for fixture in ("engine", "results"):
        request.getfixturevalue(fixture)
    with new_lab("--storage", STORAGES) as lab:
        yield lab


@pytest.mark.parametrize(
    ("storage", "layout", "reads_locally"),
    [
        ("hdfs", "replicated:2", True),
        ("qfs", "rs:6+3:64k", True),
        ("qfs", "replicated:2", True),
        ("ceph", "replicated:2", False),  # S3A knows no node that has the data
    ],
)
def test_data_has_the_requested_layout(
    lab: Lab, results: Path, storage: str, layout: str, *, reads_locally: bool
) -> None:
    uri = f"{lab.uri(storage, layout)}/{layout[:2]}"
    assert main(["lab", "generate", uri, "--rows", "50000", "--layout", layout, "--reuse"]) == 0
    assert main(["lab", "link", "--rate", "100mbit"]) == 0
    name = f"{storage}-{layout[:2]}"
    options = ["--dataset", uri, "--configuration", name, "--workloads", "sha-512"]
    once = ["--trials", "1", "--warmup", "0", "--proof", "trials"]
    assert main(["lab", "benchmark", *options, *once, *event_log_options(lab)]) == 0

    [recorded] = runs(results / name)
    assert known(recorded.run.dataset)["layout"]["observed"] == layout
    assert recorded.run.facts["link"] == "100mbit"
    assert bool(localities(lab)["NODE_LOCAL"]) is reads_locally


def test_one_application_reads_from_all_file_systems_in_turns_also_while_a_node_stores_nothing(
    lab: Lab, results: Path, tmp_path: Path
) -> None:
    observed = {"hdfs": "xor:2+1:1m", "qfs": "rs:6+3:64k", "ceph": "rs:2+1:4k"}
    assert main(["lab", "link", "--unshaped"]) == 0
    tables = "".join(
        f'[configurations.{name}]\ndataset = "{name}"\n[configurations.{name}-degraded]\n'
        f'dataset = "{name}"\n{STOPPED}'
        for name in observed
    )
    file = tmp_path / "storages.toml"
    file.write_text(EXPERIMENT + tables)

    assert main(["experiment", str(file)]) == 0
    found = {recorded.run.configuration: recorded for recorded in runs(results / "storages")}
    assert set(found) == {*observed, *(f"{name}-degraded" for name in observed)}
    for name, recorded in found.items():
        assert (recorded.run.dataset or {})["layout"]["observed"] == observed[name.split("-")[0]]
        assert {trial.status for trial in recorded.trials} == {Status.OK}
        assert ("applied" in recorded.run.facts) is name.endswith("-degraded")

    user = json.loads(lab.master.execute("cat", "/secret/ceph/user.json"))
    texts = [Path(recorded.source).read_text() for recorded in found.values()]
    texts += [node.execute("ps", "-eww", "-o", "args") for node in lab.running]
    for key in ("access_key", "secret_key"):
        assert not [text for text in texts if user["data"]["keys"][0][key] in text]
