"""Nodes have their own names in what is read, and the addresses that the cluster knows in the file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import BadInput
from harness.model.interference import NodeInterference
from harness.model.run import Ending
from harness.node.machine import facts_by_node, machine_groups
from harness.node.node_links import links_by_host
from harness.records.node_names import naming
from harness.records.reader import load
from harness.records.writer import Recording
from tests.unit.builders import a_run, change_line, known, ok
from tests.unit.timeline_builders import a_node, a_timeline

FIRST, SECOND = "172.18.0.3", "172.18.0.30"
NODES = {FIRST: {"kernel": "Linux 6.1"}, SECOND: {"kernel": "Linux 6.2"}}
QUIET = NodeInterference(SECOND, duration_s=10, processors=2, busy_s=9, stolen_s=0)
DATASET = {
    "uri": f"hdfs://{FIRST}:9820/rows",
    "layout": {},
    "placement": {f"{FIRST}:9866": 7, f"{SECOND}:9866": 5},
}
ENVIRONMENT = {
    "executors": [SECOND, FIRST],
    "nodes": {FIRST: {"eth0": {"mtu_bytes": 9000}}, SECOND: {}},
    "machines": {"driver": FIRST, "groups": machine_groups(NODES)},
}


def recorded_with(names: Any, results: Path) -> Path:
    """Record a run on two nodes, one of which was disturbed."""
    trial = ok(
        "pi",
        2.0,
        interference=(replace(QUIET, stolen_s=1.0),),
        timeline=a_timeline(a_node(FIRST, [1, 2]), a_node(SECOND, [3, 4]), slices=2),
        note=f"executors lost: {FIRST}, {SECOND}",
    )
    with Recording(results, a_run(environment=ENVIRONMENT, dataset=DATASET)) as recording:
        recording.trial(trial)
        recording.end(Ending.COMPLETED, link_errors={f"{SECOND} eth0": {"errors": 3}})
    return change_line(recording.path, 1, {"environment.machines.names": names})


def test_all_that_is_said_of_a_node_is_under_its_name(tmp_path: Path) -> None:
    recorded = load(recorded_with({FIRST: "n1", SECOND: 'n"2'}, tmp_path))
    environment, [trial] = recorded.run.environment, recorded.trials
    assert environment["executors"] == ['n"2', "n1"]
    assert environment["machines"]["driver"] == "n1"
    assert links_by_host(environment)["n1"]["eth0"].mtu_bytes == 9000
    assert facts_by_node(environment) == {"n1": NODES[FIRST], 'n"2': NODES[SECOND]}
    assert recorded.run.dataset == {**DATASET, "placement": {"n1:9866": 7, 'n"2:9866': 5}}
    assert [node.host for node in known(trial.interference)] == ['n"2']
    assert known(trial.timeline).hosts == ("n1", 'n"2')
    assert trial.note == 'executors lost: n1, n"2'
    assert recorded.link_errors == {'n"2 eth0': {"errors": 3}}
    assert recorded.disturbed_throughout == {
        "pi": 'n"2: the hypervisor took processor time (10 %, limit 5 %)'
    }


@pytest.mark.parametrize(
    ("names", "executors"),
    [
        ({}, [SECOND, FIRST]),
        ({FIRST: "n1"}, [SECOND, "n1"]),
        ({FIRST: "node", SECOND: "node"}, [SECOND, FIRST]),
        ({FIRST: SECOND}, [SECOND, FIRST]),
    ],
    ids=["none", "of one node", "one for two", "the address of another"],
)
def test_a_name_that_does_not_tell_nodes_apart_is_not_used(
    tmp_path: Path, names: dict[str, str], executors: list[str]
) -> None:
    assert load(recorded_with(names, tmp_path)).run.environment["executors"] == executors


@pytest.mark.parametrize(
    "names",
    [
        {"10.0.0.2": "n2", "10.0.0.3": "n3"},
        {"10.0.0.2": "n2", "10.20.0.3": "n3"},
        {"10.0.0.2": "n2"},
        {"10.0.0.2": "n2", "192.168.0.3": "n3"},
        {"[fd00::2]": "n2", "[fd00::3]": "n3"},
        {"[fd00::2]": "n2"},
        {"10.0.0.2": "n2", "[fd00::3]": "n3"},
    ],
)
def test_whole_addresses_alone_are_replaced(names: dict[str, str]) -> None:
    """Whatever the addresses begin with together."""
    named = naming({"machines": {"names": names, "groups": []}})
    for address, name in names.items():
        line = f'{{"host": "{address}", "uri": "hdfs://{address}:9820", "lost {address}.": 1}}'
        assert named(line.encode()).decode() == line.replace(address, name)
    unknown = [*(f"1{address}" for address in names if not address.startswith("["))]
    unknown += [f"{address}0" for address in names if not address.startswith("[")]
    unknown += ["10.0.0.4", "10.10.0.2", "[fd00::22]", "[fd00::4]", "1.10.0.0"]
    line = " ".join(unknown).encode()
    assert named(line) == line


@pytest.mark.parametrize("names", [["n1"], {FIRST: ""}, {FIRST: 5}])
def test_names_that_cannot_be_are_one_line_with_file_and_line(tmp_path: Path, names: Any) -> None:
    with pytest.raises(BadInput, match=r":1: malformed run line: "):
        load(recorded_with(names, tmp_path))
