"""Nodes have their own names in what is read, and the addresses that the cluster knows in the file."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import BadInput
from harness.model.interference import NodeInterference
from harness.model.run import Ending, Trial
from harness.node.machine import facts_by_node, machine_groups
from harness.node.node_links import links_by_host
from harness.records.node_names import with_names
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
ENVIRONMENT: dict[str, Any] = {
    "executors": [SECOND, FIRST],
    "nodes": {FIRST: {"eth0": {"mtu_bytes": 9000}}, SECOND: {}},
    "machines": {"driver": FIRST, "groups": machine_groups(NODES)},
}


def a_trial_on_two_nodes() -> Trial:
    """Return a trial that one of its nodes disturbed, and in which the other was lost."""
    return ok(
        "pi",
        2.0,
        interference=(replace(QUIET, stolen_s=1.0),),
        timeline=a_timeline(a_node(FIRST, [1, 2]), a_node(SECOND, [3, 4]), slices=2),
        note=f"executors lost: {FIRST}, {SECOND}",
    )


def named_when_read(names: Any, results: Path) -> Path:
    """Record a run with addresses throughout, as older versions did, and names in its first line alone."""
    path = named_when_written({}, results)
    return change_line(path, 1, {"environment.machines.names": names})


def named_when_written(names: dict[str, str], results: Path) -> Path:
    machines = {**ENVIRONMENT["machines"], "names": names}
    run = a_run(environment={**ENVIRONMENT, "machines": machines}, dataset=DATASET)
    with Recording(results, run) as recording:
        recording.trial(a_trial_on_two_nodes())
        recording.end(Ending.COMPLETED, link_errors={f"{SECOND} eth0": {"errors": 3}})
    return recording.path


def test_a_file_has_names_and_the_address_of_each_once(tmp_path: Path) -> None:
    path = named_when_written({FIRST: "n1", SECOND: 'n"2'}, tmp_path)
    text = path.read_text()
    assert text.count(SECOND) == 1
    assert text.count(FIRST) == 3  # with the URI of the dataset, and its prefix SECOND
    assert load(path).run.environment["machines"]["addresses"] == {"n1": FIRST, 'n"2': SECOND}


@pytest.mark.parametrize("record", [named_when_read, named_when_written])
def test_all_that_is_said_of_a_node_is_under_its_name(
    record: Callable[[dict[str, str], Path], Path], tmp_path: Path
) -> None:
    recorded = load(record({FIRST: "n1", SECOND: 'n"2'}, tmp_path))
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
    assert load(named_when_read(names, tmp_path)).run.environment["executors"] == executors


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
    for address, name in names.items():
        value = {"host": address, "uri": f"hdfs://{address}:9820", f"lost {address}.": [1, address]}
        named = {"host": name, "uri": f"hdfs://{name}:9820", f"lost {name}.": [1, name]}
        assert with_names(value, names) == named
    unknown = [*(f"1{address}" for address in names if not address.startswith("["))]
    unknown += [f"{address}0" for address in names if not address.startswith("[")]
    unknown += ["10.0.0.4", "10.10.0.2", "[fd00::22]", "[fd00::4]", "1.10.0.0"]
    line = " ".join(unknown)
    assert with_names(line, names) == line


@pytest.mark.parametrize("names", [["n1"], {FIRST: ""}, {FIRST: 5}])
def test_names_that_cannot_be_are_one_line_with_file_and_line(tmp_path: Path, names: Any) -> None:
    with pytest.raises(BadInput, match=r":1: malformed run line: "):
        load(named_when_read(names, tmp_path))
