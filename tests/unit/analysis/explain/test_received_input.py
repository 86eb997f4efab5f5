"""Why nodes receive so much for each byte of input: the layout and the file system name the cause."""

import re
from typing import Any

import pytest

from harness.analysis.explain.attribution import attribute
from harness.analysis.explain.received_input import cause
from harness.analysis.observed.configuration import ConfigurationRuns
from tests.unit.builders import a_run, known, recorded
from tests.unit.metrics_builders import received, timed


def column(uri: str, *layouts: str) -> ConfigurationRuns:
    return ConfigurationRuns(
        "1g",
        tuple(
            recorded(
                a_run(dataset={"uri": uri, "layout": {"requested": layout, "observed": layout}}), []
            )
            for layout in layouts
        ),
    )


@pytest.mark.parametrize(
    ("uri", "layout", "per_byte", "expected"),
    [
        ("qfs://n1:20000/rows", "rs:6+3:64k", 1.9, "reads ahead 1 MiB of each of 6 stripes"),
        ("qfs://n1:20000/rows", "rs:6+3:64k", 0.9, "stripes of a block are on different nodes"),
        ("hdfs://n1:9820/rows", "rs:3+2:1m", 0.7, "the 3 stripes of a block"),
        (
            "s3a://bucket/rows",
            "rs:3+2:4k",
            0.9,
            "in an object store: a task receives its input from a s",
        ),
        ("s3a://bucket/rows", "replicated:2", 0.9, "from a server, wherever it runs"),
        (
            "s3a://bucket/rows",
            "replicated:2",
            2.1,
            "if a gateway of the store is on one of these nodes",
        ),
        ("hdfs://n1:9820/rows", "rs:3+2:1m", 1.5, r"layout \(rs:3\+2:1m\) does not explain"),
        ("hdfs://n1:9820/rows", "replicated:2", 0.5, "if its node has no copy"),
        ("hdfs://n1:9820/rows", "replicated:2", 1.5, r"layout \(replicated:2\) does not explain"),
    ],
)
def test_the_layout_and_the_file_system_name_the_cause(
    uri: str, layout: str, per_byte: float, expected: str
) -> None:
    assert re.search(expected, known(cause(column(uri, layout), per_byte)))


def test_little_has_no_cause_and_neither_have_several_layouts() -> None:
    assert cause(column("hdfs://n1:9820/rows", "replicated:2"), 0.05) is None
    assert cause(column("hdfs://n1:9820/rows", "replicated:2", "rs:3+2:1m"), 0.9) is None


@pytest.mark.parametrize("layout", ["unknown", "x", "replicated:0"])
def test_a_layout_that_is_not_known_explains_nothing(layout: str) -> None:
    assert cause(column("hdfs://n1:9820/rows", layout), 0.9) is None


def test_what_the_shuffle_received_is_no_input() -> None:
    read: dict[str, Any] = {"input_bytes_by_locality": {"NODE_LOCAL": 90, "ANY": 10}}
    trials = [
        timed("join", 3.0, wire=received(150, 100), shuffle_remote_bytes=60, **read),
        timed("pi", 3.0, wire=received(150)),
        timed("sha-512", 3.0, **read),
    ]
    run = recorded(a_run(), trials)
    assert known(attribute([run], "join")).received_per_input_byte == pytest.approx(1.9)
    assert known(attribute([run], "pi")).received_per_input_byte is None
    assert known(attribute([run], "sha-512")).received_per_input_byte is None


@pytest.mark.parametrize(
    "other",
    [
        {"uri": "hdfs://n1/u", "layout": "unknown"},
        {"uri": "hdfs://n1/u"},
        {"uri": "hdfs://n1/u", "layout": "rs:6+3:1m"},
        {"uri": "s3a://rows/u", "layout": "replicated:2"},
        {"uri": "s3a://rows/u", "layout": "unknown"},
    ],
)
def test_tables_that_are_not_all_stored_alike_have_no_cause(other: dict[str, str]) -> None:
    tables = {"t": {"uri": "hdfs://n1/t", "layout": "replicated:2"}, "u": other}
    run = recorded(a_run(dataset=None, parameters={"tables": tables}), [])
    assert cause(ConfigurationRuns("1g", (run,)), 0.9) is None


def test_data_of_tables_is_in_their_storage() -> None:
    tables = {"t": {"uri": "s3a://rows/t", "layout": "replicated:2"}}
    run = recorded(a_run(dataset=None, parameters={"tables": tables}), [])
    assert "in an object store" in known(cause(ConfigurationRuns("1g", (run,)), 0.9))
