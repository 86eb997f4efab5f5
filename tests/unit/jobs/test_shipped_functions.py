"""Functions that run on executors are sent by value: there is no checkout on the nodes."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from pyspark import cloudpickle

import harness
import jobs
from harness.node.counters import read_node
from harness.node.packed_files import have_packed, in_memory, may_compress
from harness.node.page_cache import drop_everything, drop_files
from harness.node.processes import RunningApplication
from jobs import executors

SENT: list[Callable[..., Any]] = [
    drop_everything,
    partial(drop_files, ["/a"]),
    partial(executors._describe_node, {}),
    partial(executors._identified, partial(have_packed, ("/a",))),
    partial(executors._identified, partial(in_memory, ("/a",))),
    partial(executors._identified, may_compress),
    partial(executors._identified, partial(read_node, RunningApplication("a", 1, "n"), "program")),
]


@pytest.fixture(autouse=True)
def _by_value() -> Iterator[None]:
    for package in (harness, jobs):
        cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]
    yield
    for package in (harness, jobs):
        cloudpickle.unregister_pickle_by_value(package)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("function", SENT)
def test_a_function_can_be_sent_to_a_node_with_all_that_it_needs(
    function: Callable[..., Any],
) -> None:
    sent = cloudpickle.dumps(function)  # type: ignore[no-untyped-call]
    assert callable(cloudpickle.loads(sent))
