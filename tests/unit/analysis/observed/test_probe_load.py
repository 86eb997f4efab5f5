"""Probes are pooled only if they measured with the same load."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from harness.analysis.observed.configuration import find_configuration, probe_measurements
from harness.model.network_metrics import BOTH_WAYS, DISK_WRITE, MESH_GOODPUT
from harness.model.probe import Measurement, ProbeRun
from harness.records.writer import record_all
from tests.unit.builders import a_run

ONE = MESH_GOODPUT.of(("n1", "n2"), 0.94e9)
FOUR = MESH_GOODPUT.of(("n1", "n2"), 1.88e9)
FAILED = MESH_GOODPUT.failed(("n1", "n2"), "no route")
ONE_BOTH_WAYS = MESH_GOODPUT.of(("n1", "n2"), 0.9e9, BOTH_WAYS)
SMALL = DISK_WRITE.of("n1", 9e9, "/data")
LARGE = DISK_WRITE.of("n1", 1e8, "/data")
Probe = tuple[Mapping[str, str], Sequence[Measurement]]


@pytest.mark.parametrize(
    ("probes", "pooled"),
    [
        ([({"streams": "1"}, [ONE]), ({"streams": "4"}, [FOUR])], [FOUR]),
        ([({"streams": "4"}, [FOUR]), ({"streams": "1"}, [ONE])], [ONE]),
        ([({}, [ONE]), ({"streams": "4"}, [FOUR])], [FOUR]),
        ([({}, [ONE]), ({"streams": "1"}, [ONE])], [ONE, ONE]),
        ([({}, [ONE]), ({}, [ONE]), ({}, [FAILED])], [ONE, ONE, FAILED]),
        ([({"streams": "1"}, [ONE]), ({"streams": "4"}, [FAILED])], [ONE]),
        ([({}, [ONE, ONE_BOTH_WAYS]), ({"streams": "4"}, [FOUR])], [ONE_BOTH_WAYS, FOUR]),
        ([({"pairs_at_once": "1"}, [ONE]), ({"pairs_at_once": "100"}, [FOUR])], [FOUR]),
        ([({"file_mb": "64"}, [SMALL]), ({"file_mb": "9000"}, [LARGE])], [LARGE]),
        ([({"file_mb": "64"}, [SMALL]), ({"streams": "4"}, [FOUR])], [SMALL, FOUR]),
        ([({"seconds": "1"}, [ONE]), ({"seconds": "9"}, [ONE])], [ONE, ONE]),
    ],
)
def test_what_the_newest_load_measured(
    probes: Sequence[Probe], pooled: Sequence[Measurement], tmp_path: Path
) -> None:
    record_all(tmp_path, a_run("bond"), [])
    for number, (parameters, measured) in enumerate(probes):
        at = f"2026-11-23T10:0{number}:00.000Z"
        run = ProbeRun("bond", ("n1", "n2"), parameters, started_at=at)
        record_all(tmp_path, run, measured)
    assert list(probe_measurements(find_configuration("bond", tmp_path))) == list(pooled)
