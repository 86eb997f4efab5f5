"""What is wrong with nodes before the first trial."""

import ast
import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness.analysis.ready import health as module
from harness.analysis.ready.health import health
from harness.model import interference
from harness.model.finding import Finding, Gravity, about
from harness.model.interference import NodeInterference
from harness.node.state import NodeState

GB = 10**9
IDLE = NodeInterference(
    "n1",
    duration_s=0.5,
    processors=4,
    busy_s=0.01,
    stolen_s=0.0,
    others_s=0.01,
    quota_processors=4,
    memory_wait_s=0.0,
    io_wait_s=0.0,
    swapped_bytes=0,
    major_faults=0,
)
MAKERS = ("Finding", "note")
"""What makes a finding."""
QUIET = NodeState(
    "n1",
    {"governor": "performance", "turbo": "off", "huge_pages": "madvise", "vm.swappiness": "60"},
    IDLE,
    shares={"java": 0.002},
    load=0.1,
    memory_bytes=64 * GB,
    swap_bytes=0,
    swap_used_bytes=0,
    scratch="/data",
    scratch_free_bytes=100 * GB,
)


def node(**changes: Any) -> NodeState:
    """Return the quiet node with other fields, or other facts, or other counts."""
    counted = {name: value for name, value in changes.items() if hasattr(IDLE, name)}
    fields = {name: value for name, value in changes.items() if hasattr(QUIET, name)}
    facts = {key: value for key, value in changes.items() if key not in counted | fields}
    return replace(
        QUIET, **{"counted": replace(IDLE, **counted), "facts": {**QUIET.facts, **facts}, **fields}
    )


def test_a_quiet_node_has_neither_faults_nor_notes() -> None:
    assert health([QUIET]) == []


def test_facts_that_could_not_be_looked_at_are_a_note() -> None:
    [note] = health([node(unread="disks are unknown: python3 is not installed")])
    assert (note.subject, note.gravity) == (about("n1"), Gravity.NOTE)
    assert note.text.startswith("disks are unknown: python3 is not installed")


EXAMPLES = [
    (
        node(stolen_s=0.02, busy_s=0.18),
        "the hypervisor took processor time (10 %): it lengthens trials",
        True,
    ),
    (
        node(others_s=0.7, shares={"java": 0.3, "chrome": 0.04, "cron": 0.001}),
        "other processes took processor time (35 %; java 30 %, chrome 4 %): trials wait for them",
        True,
    ),
    (node(others_s=0.7, shares={}), "other processes took processor time (35 %): ", True),
    (node(memory_wait_s=0.1), "processes waited for memory (20 %): ", True),
    (node(swapped_bytes=5_000_000), "it swapped (10 MB/s): ", True),
    (node(major_faults=100), "page faults read the disk (200 a second): ", True),
    (node(io_wait_s=0.25), "processes waited for I/O (50 %): ", True),
    (node(governor="powersave"), "governor powersave: the clock follows the load", True),
    (node(scratch_free_bytes=GB), "/data has 1.0 GB left: shuffles that do not fit fail", True),
    (node(raid_state="degraded"), "a RAID array lacks a disk: trials wait", True),
    (
        node(local_dirs_used="90 % or more"),
        "the file system of Spark's local directories is",
        False,
    ),
    (node(turbo="on"), "turbo on: the clock depends on heat", False),
    (node(boost="on"), "turbo on: the clock depends on heat", False),
    (node(huge_pages="always"), "huge pages always: ", False),
    (node(clock_synchronised="no"), "its clock is not synchronised: ", False),
    (node(quota_processors=1.5), "CPU limit 1.5 of 4 processors: ", False),
    (node(swap_used_bytes=2 * GB), "2.0 GB of memory are swapped out: ", False),
    (node(swap_bytes=GB), "vm.swappiness 60: ", False),
    (node(load=1.5), "load 1.5 on 4 processors in the last minute: ", False),
]
"""A node for each finding, the line, and whether it is a fault."""


@pytest.mark.parametrize(("state", "line", "is_fault"), EXAMPLES)
def test_a_finding_is_one_line_with_what_it_is_and_what_mends_it(
    state: NodeState, line: str, *, is_fault: bool
) -> None:
    [found] = health([state])
    assert (found.subject, found.is_fault) == (about("n1"), is_fault)
    assert found.text.startswith(line)
    assert "; " in found.text
    assert "\n" not in found.text


def test_every_finding_about_a_node_has_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line of health.py that makes a finding about one node makes that of an example."""
    reached = set()

    def noting_the_line(make: Callable[..., Finding]) -> Callable[..., Finding]:
        def made(*arguments: Any, **named: Any) -> Finding:
            reached.add(sys._getframe(1).f_lineno)
            return make(*arguments, **named)

        return made

    for name in MAKERS:
        monkeypatch.setattr(module, name, noting_the_line(getattr(module, name)))
    for state, *_ in EXAMPLES:
        health([state])
    health([node(unread="disks are unknown")])
    assert lines_that_make_findings(module._faults) <= reached, "add an example to EXAMPLES"
    assert lines_that_make_findings(module._notes) <= reached, "add an example to EXAMPLES"


def lines_that_make_findings(function: Callable[..., object]) -> set[int]:
    """Return the lines of a function's module on which it calls one of MAKERS."""
    source, first = inspect.getsourcelines(function)
    found = set()
    for each in ast.walk(ast.parse("".join(source))):
        if (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Name)
            and each.func.id in MAKERS
        ):
            found.add(first + each.lineno - 1)
    assert found
    return found


def test_every_fact_that_is_worth_a_note_has_an_example() -> None:
    shown: set[tuple[str, str]] = set()
    for state, *_ in EXAMPLES:
        shown.update(state.facts.items())
    missing = module._FACTS.keys() - shown
    assert not missing, f"add {missing} to EXAMPLES"


def test_what_a_node_does_not_tell_is_unknown() -> None:
    unknown = NodeInterference("n1", 0.5, 4)
    silent = replace(QUIET, facts={}, counted=unknown, load=None, scratch_free_bytes=None)
    [found] = health([silent])
    assert found.gravity is Gravity.UNKNOWN
    assert found.seen == (
        "n1 did not show whether the hypervisor took processor time, "
        "whether other processes took processor time, whether processes waited for memory, "
        "whether it swapped, whether page faults read the disk, whether processes waited for I/O, "
        "how much space /data has"
    )


def test_a_node_without_pressure_information_is_named() -> None:
    without = node(memory_wait_s=None, io_wait_s=None)
    [found] = health([without, replace(without, host="n2"), replace(QUIET, host="n3")])
    assert found.seen == (
        "n1, n2 did not show whether processes waited for memory, whether processes waited for I/O"
    )


def test_nodes_that_differ_are_named_once() -> None:
    usual = node(mitigations="none")
    states = [node(mitigations="PTI"), replace(usual, host="n2"), replace(usual, host="n3")]
    assert [str(found) for found in health(states)] == [
        "n1: CPU mitigations PTI, its peers none: the slower ones hold up every stage; set them alike"
    ]


def test_every_disturbance_of_a_node_without_work_has_a_remedy() -> None:
    judged = {kind.name for kind in interference.DISTURBANCES if not kind.is_factor}
    assert judged == module._REMEDIES.keys()


def test_a_limit_is_that_of_trials() -> None:
    """Nothing is usual where nothing runs: 5 % of steal are allowed, and more are not."""
    at_limit = node(stolen_s=0.05, busy_s=0.95)
    assert health([at_limit]) == []
    assert [type(found) for found in health([node(stolen_s=0.06, busy_s=0.94)])] == [Finding]
