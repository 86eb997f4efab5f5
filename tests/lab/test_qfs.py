"""The lab on QFS, whose tarball comes from a web server."""

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.cli import main
from harness.lab.cluster import Lab
from harness.lab.qfs_tarball import qfs_variables
from harness.local_spark import ROOT

from .conftest import new_lab, runs
from .localities import event_log_options, localities

pytestmark = pytest.mark.qfs
LAYOUTS = {"coded": "rs:6+3:64k", "2x": "replicated:2"}


@pytest.fixture(scope="module")
def tarball() -> Iterator[str]:
    """The URL of a tarball of QFS."""
    if not (os.environ.get("QFS_TARBALL") or os.environ.get("QFS_HOME")):
        pytest.skip("neither QFS_HOME nor QFS_TARBALL is set: there is no QFS")
    location = qfs_variables("qfs")["QFS_TARBALL"]
    if "://" in location:
        yield location
        return
    directory, name = (ROOT / location).parent, (ROOT / location).name
    handler = partial(SimpleHTTPRequestHandler, directory=directory)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{name}"
        server.shutdown()


@pytest.fixture(scope="module")
def lab(request: pytest.FixtureRequest, tarball: str) -> Iterator[Lab]:
    """A lab of four workers with QFS."""
    for fixture in ("engine", "results"):
        request.getfixturevalue(fixture)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QFS_TARBALL", tarball)
        with new_lab("--storage", "qfs") as lab:
            yield lab


@pytest.mark.parametrize("name", LAYOUTS)
def test_data_has_the_requested_layout(lab: Lab, results: Path, name: str) -> None:
    rows = ["--rows", "50000", "--layout", LAYOUTS[name], "--reuse"]
    assert main(["lab", "generate", f"/{name}", *rows]) == 0
    assert main(["lab", "link", "--rate", "100mbit"]) == 0
    options = ["--dataset", f"/{name}", "--configuration", name, "--workloads", "sha-512"]
    once = ["--trials", "1", "--warmup", "0"]
    assert main(["lab", "benchmark", *options, *once, *event_log_options(lab)]) == 0

    [recorded] = runs(results / name)
    assert recorded.run.dataset is not None
    assert recorded.run.dataset["layout"]["observed"] == LAYOUTS[name]
    assert recorded.run.facts["link"] == "100mbit"
    assert localities(lab)["NODE_LOCAL"] > 0
