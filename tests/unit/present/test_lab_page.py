"""What `clusterlift lab status` prints."""

import pytest

from harness.present import text
from harness.present.lab_page import lab_page


@pytest.mark.parametrize(
    ("reason", "state"),
    [("", "ready"), ("worker-1 has ended", "not ready: worker-1 has ended")],
)
def test_a_lab_has_a_line_for_each_node(reason: str, state: str) -> None:
    nodes = [("master", "running", "unshaped, MTU 1500"), ("worker-1", "exited", "")]
    page = lab_page("1 worker of 0.5 processors, hdfs: hdfs://master:9820", reason, nodes)
    assert [line.rstrip() for line in text.render(page).splitlines()] == [
        "1 worker of 0.5 processors, hdfs: hdfs://master:9820",
        state,
        "",
        "node      state    link",
        "--------  -------  ------------------",
        "master    running  unshaped, MTU 1500",
        "worker-1  exited",
    ]
