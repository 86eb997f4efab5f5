"""The lab on QFS, whose tarball comes from a web server as it does for users."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.cli import main
from harness.lab.cluster import Lab, find_lab, running_lab
from harness.lab.compose import qfs_variables
from harness.local_spark import ROOT

from .conftest import runs
from .localities import localities, logged

pytestmark = pytest.mark.qfs
LAYOUTS = {"coded": "rs:6+3:64k", "2x": "replicated:2"}


@pytest.fixture(scope="module")
def tarball() -> Iterator[str]:
    """The URL of a tarball of QFS."""
    if not (os.environ.get("QFS_TARBALL") or os.environ.get("QFS_HOME")):
        pytest.skip("neither QFS_HOME nor QFS_TARBALL is set: there is no QFS")
    place = qfs_variables()["QFS_TARBALL"]
    if "://" in place:
        yield place
        return
    directory, name = (ROOT / place).parent, (ROOT / place).name
    handler = partial(SimpleHTTPRequestHandler, directory=directory)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{name}"
        server.shutdown()


@pytest.fixture(scope="module")
def lab(request: pytest.FixtureRequest, tarball: str) -> Iterator[Lab]:
    """Four workers and QFS."""
    for before in ("engine", "results"):
        request.getfixturevalue(before)
    if find_lab() is not None:
        main(["lab", "down"])
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("QFS_TARBALL", tarball)
            assert main(["lab", "up", "--storage", "qfs"]) == 0
        yield running_lab()
    finally:
        if find_lab() is not None:
            main(["lab", "down"])


@pytest.mark.parametrize("name", LAYOUTS)
def test_data_lies_as_it_was_asked_to(lab: Lab, results: Path, name: str) -> None:
    rows = ["--rows", "50000", "--layout", LAYOUTS[name], "--reuse"]
    assert main(["lab", "generate", f"/{name}", *rows]) == 0
    assert main(["lab", "link", "--rate", "100mbit"]) == 0
    what = ["--dataset", f"/{name}", "--configuration", name, "--workloads", "sha-512"]
    once = ["--trials", "1", "--warmup", "0"]
    assert main(["lab", "benchmark", *what, *once, *logged(lab)]) == 0

    [one] = runs(results / name)
    assert one.run.dataset is not None
    assert one.run.dataset["layout"]["observed"] == LAYOUTS[name]
    assert one.run.facts["link"] == "100mbit"
    assert localities(lab)["NODE_LOCAL"] > 0
