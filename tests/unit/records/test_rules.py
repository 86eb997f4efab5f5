"""Whatever hosts and programs answer: what the writer writes, the reader reads."""

import json
import math
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.errors import ClusterliftError
from harness.model.interface import HostLink
from harness.model.network_metrics import METRICS
from harness.model.probe import (
    AFTER,
    BEFORE,
    LinkSnapshot,
    Measurement,
    Metric,
    ProbeEvent,
    ProbeRun,
)
from harness.model.run import Ending
from harness.model.soak import LinkEvent, LinkEventKind, SoakFlow
from harness.records.reader import _parsed, load, load_probes
from harness.records.rules import (
    MAX_INTEGER,
    MAX_KEY,
    MAX_NESTING,
    MAX_TEXT,
    Mistake,
    checked,
    is_small,
    limited,
    refuse,
)
from harness.records.writer import ProbeRecording, Recording
from tests.unit.builders import a_run, failed, ok


def recorded(results: Path, *events: ProbeEvent) -> tuple[ProbeEvent, ...]:
    """Return the events that are read after these were written."""
    with ProbeRecording(ProbeRun("1g", ("n1", "n2")), results) as recording:
        for event in events:
            recording.event(event)
        recording.end(Ending.COMPLETED)
    assert recording.path is not None
    return load_probes(recording.path).events


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mtu_bytes", 10**7),
        ("mtu_bytes", 10**24),
        ("mtu_bytes", -1),
        ("speed_mbit_s", 2**32 - 1),
        ("speed_mbit_s", 999_999_999_999),
        ("shaped_bit_s", 10**23),
        ("counters", {"rx_errors": -5}),
    ],
)
def test_a_value_that_no_link_has_is_unknown_and_the_rest_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], field: str, value: object
) -> None:
    facts: dict[str, Any] = {"driver": "igb", field: value}
    [snapshot] = recorded(tmp_path, LinkSnapshot(BEFORE, HostLink("n1", "eth0", **facts)))
    assert snapshot == LinkSnapshot(BEFORE, HostLink("n1", "eth0", driver="igb"))
    [note] = capsys.readouterr().err.splitlines()
    assert ": a value was left out: " in note


@pytest.mark.parametrize("value", [1e16, -1.0])
def test_a_measurement_that_cannot_be_is_an_error(tmp_path: Path, value: float) -> None:
    [event] = recorded(tmp_path, Measurement("mesh", "a -> b", "", "m", "bit/s", "higher", value))
    assert isinstance(event, Measurement)
    assert (event.value, event.error) == (
        None,
        f"{value:g} is no value that a measurement can have",
    )


def test_a_transfer_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    [event] = recorded(tmp_path, SoakFlow(1, "n1", "n2", 1.0, 5.0, 1e18, 3))
    assert isinstance(event, SoakFlow)
    assert (event.goodput_bit_s, event.error) == (
        None,
        "1e+18 is no value that a measurement can have",
    )


def test_a_text_that_is_too_long_is_cut(tmp_path: Path) -> None:
    link = LinkSnapshot(AFTER, HostLink("n1", "eth0", state="up" * 60_000))
    [event] = recorded(tmp_path, link)
    assert isinstance(event, LinkSnapshot)
    assert str(event.link.state).startswith("upup")


def test_an_event_that_cannot_be_read_without_a_value_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    event = LinkEvent("n1", 1, 1.0, LinkEventKind.DROPS, "drops", 10**25)
    sound = LinkEvent("n2", 1, 2.0, LinkEventKind.LOST, "x")
    assert recorded(tmp_path, event, sound) == (sound,)
    assert capsys.readouterr().err.count(": a link") == 1


def test_what_was_recorded_already_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = LinkSnapshot(BEFORE, HostLink("n1", "eth0", mtu_bytes=1500))
    assert recorded(tmp_path, link, link) == (link,)
    assert "the link of n1 before the measurements" in capsys.readouterr().err


def test_what_nodes_answered_does_not_make_a_run_unreadable(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(60):
        deep = [deep]
    environment = {
        "nodes": {"n1": {"eth0": {"mtu_bytes": 10**9, "driver": "igb"}}},
        "links": {"eth0": {"speed_mbit_s": 10**9}},
        "cpus": -1,
        "kernel": "x" * 200_000,
        "half": "\ud800",
        "share": math.inf,
        "k" * 20_000: "x",
        "deep": deep,
    }
    with Recording(tmp_path, a_run(environment=environment)) as recording:
        recording.trial(ok("pi", 1.0, note="n" * 200_000))
        recording.trial(failed("pi", round_=2))
    read = load(recording.path).run.environment
    assert read["nodes"] == {"n1": {"eth0": {"mtu_bytes": None, "driver": "igb"}}}
    assert read["links"] == {"eth0": {"speed_mbit_s": None}}
    assert (read["cpus"], read["share"]) == (None, None)
    assert len(read["kernel"]) == 100_000
    assert len(load(recording.path).trials) == 2


def test_a_run_without_a_name_cannot_be_recorded(tmp_path: Path) -> None:
    with pytest.raises(ClusterliftError, match=r"cannot record the run: .* at `\$\.id`"):
        Recording(tmp_path, replace(a_run(), id=""))


def refused(metric: Metric, **fields: Any) -> str:
    """Return what is wrong with a measurement of a metric; empty if nothing is."""
    line = {"kind": "measurement", **asdict(metric.of("a -> b", 1.0)), **fields}
    mistakes: list[str] = []
    checked(line, lambda mistake: mistakes.append(str(mistake)))
    return "".join(mistakes)


@pytest.mark.parametrize(
    "metric", METRICS.values(), ids=lambda metric: f"{metric.probe} {metric.name}"
)
def test_a_value_is_one_that_its_metric_can_have(metric: Metric) -> None:
    least, most = metric.range.ge, metric.range.le
    assert least is not None
    assert most is not None
    assert refused(metric, value=least) == refused(metric, value=most) == ""
    assert "$.value" in refused(metric, value=least - 1)
    assert "$.value" in refused(metric, value=most * 1.01)
    with pytest.raises(Mistake, match=re.escape(f"Expected {metric.unit!r}, got 'parsecs'")):
        refused(metric, unit="parsecs")


def test_a_metric_of_another_version_has_the_limits_of_its_unit() -> None:
    later = Metric("mesh", "later_percent", "%", "lower")
    assert refused(later, value=100) == ""
    assert "<= 100" in refused(later, value=101)


def nested(levels: int, kind: type = list) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value] if kind is list else {"a": value}
    return value


class TestAQuickLook:
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        )
    )
    def test_reads_what_a_thorough_one_reads(self, value: Any) -> None:
        line = json.dumps(value).encode()
        try:
            limited(json.loads(line), refuse)
        except Mistake:
            with pytest.raises(Mistake):
                _parsed(line)
        else:
            assert repr(_parsed(line)) == repr(json.loads(line))

    @pytest.mark.parametrize(
        "line",
        [
            json.dumps(nested(MAX_NESTING + 1)),
            json.dumps(nested(MAX_NESTING + 1, dict)),
            json.dumps([[], nested(MAX_NESTING)]),
            json.dumps({"a": MAX_INTEGER + 1}),
            json.dumps([-MAX_INTEGER - 1]),
            json.dumps({"a": math.inf}),
            json.dumps([math.nan]),
            json.dumps("x" * (MAX_TEXT + 1)),
            json.dumps({"x" * (MAX_KEY + 1): 1}),
            '{"a": 1e0999}',
        ],
    )
    def test_refuses_what_is_too_large(self, line: str) -> None:
        with pytest.raises(Mistake):
            _parsed(line.encode())

    @pytest.mark.parametrize("value", [nested(10), nested(10, dict), {"a": [1, -2.5, None]}, 1e99])
    def test_is_enough_for_ordinary_values(self, value: Any) -> None:
        assert is_small(json.dumps(value).encode())
