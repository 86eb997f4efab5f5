"""Nodes that did not answer are named, with what is unknown of them."""

from dataclasses import replace
from typing import Any

import pytest

from harness.analysis.observed.caveats import caveats
from harness.analysis.observed.silence import silent_lines
from harness.model.interference import NodeInterference
from harness.model.run import RecordedRun
from harness.model.task_metrics import NodeBytes, WireBytes
from harness.model.timeline import NodeTimeline, Timeline, packed
from tests.unit.builders import a_run, ok, recorded

N1 = NodeBytes("n1", 1, 1)
NO_PYTHON = 'IOException: Cannot run program "python3"'


def of_samples(**series: str | None) -> Timeline:
    nodes = [NodeTimeline(host, 0.0, received_bytes=each) for host, each in series.items()]
    return Timeline.of(1.0, 2, (), nodes)


def run_with(*trials: dict[str, Any], **fields: Any) -> RecordedRun:
    return recorded(a_run(**fields), [ok("a", 1.0, n, **each) for n, each in enumerate(trials, 1)])


ALL_KNOWN = {"wire": WireBytes((N1,)), "timeline": of_samples(n1=packed([1, 2]))}
LOOPS = {
    "interference": (
        NodeInterference("n1", duration_s=1.5, processors=2, loops=30, loop_s=0.001),
        NodeInterference("n2", duration_s=1.5, processors=2),
    )
}
SILENT = {"wire": WireBytes((N1,), ("n2",)), "silent": {"n2": NO_PYTHON}}


@pytest.mark.parametrize(
    ("run", "lines"),
    [
        (run_with(ALL_KNOWN, {}), []),
        (
            run_with(SILENT, ALL_KNOWN, ALL_KNOWN),
            [
                (
                    "what n2 sent and received, and what else it did, is unknown in 1 of 3 measured trials "
                    f"({NO_PYTHON})"
                )
            ],
        ),
        (
            run_with(SILENT, SILENT | {"silent": {"n2": "x", "n3": "x"}}),
            [
                (
                    "what n2 sent and received, and what else it did, is unknown in 2 of 2 measured trials "
                    f"({NO_PYTHON}; x)"
                ),
                "what n3 sent and received, and what else it did, is unknown in 1 of 2 measured trials (x)",
            ],
        ),
        (
            run_with({"wire": WireBytes((), ("n1", "n2"))}),
            [
                (
                    "what n1, n2 sent and received, and what else they did, is unknown in 1 of 1 measured "
                    "trial (it did not answer)"
                )
            ],
        ),
        (
            run_with(environment={"silent": {"n1": "x", "n2": "x", "n3": "y"}}),
            [
                "machine and links of n1, n2 are unknown, or not all known: x",
                "machine and links of n3 are unknown, or not all known: y",
            ],
        ),
        (
            run_with({"timeline": of_samples(n1=packed([0, 0]), n2=None)}, ALL_KNOWN),
            [
                (
                    "the sampler of n2 gave no samples: how fast its processors were, and how busy its links "
                    "and disks were over time, is unknown"
                )
            ],
        ),
        (
            replace(
                run_with(
                    environment={"nodes": {"n1": {"eth0": {}}, "n2": {"eth0": {}, "eth1": {}}}}
                ),
                link_errors={"n1 eth0": {"drops": 0}, "n2 eth1": {"errors": 0}},
            ),
            [
                (
                    "unknown whether these links counted errors, because their counters were not read at the "
                    "end, or were reset: n1 eth0, n2 eth0"
                )
            ],
        ),
        (run_with(environment={"nodes": {"n1": {"eth0": {}}}}), []),
        (
            run_with(LOOPS, LOOPS | ALL_KNOWN),
            [
                (
                    "the sampler of n2 gave no samples: how fast its processors were, and how busy its links "
                    "and disks were over time, is unknown"
                )
            ],
        ),
        (run_with(LOOPS, parameters={"program": "hpcc"}), []),
    ],
    ids=[
        *("all-known", "one-trial", "two-nodes-two-reasons", "older-results", "undescribed"),
        *("no-samples", "links-not-read-at-the-end-or-reset", "end-not-recorded"),
        *("no-samples-in-a-table", "a-program-has-no-sampler"),
    ],
)
def test_what_is_unknown_of_a_node_is_a_line_and_a_caveat(
    run: RecordedRun, lines: list[str]
) -> None:
    assert list(silent_lines([run])) == lines
    assert set(lines) <= set(caveats([run]))
