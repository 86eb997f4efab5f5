"""Measurements have a value or an error; repetitions form a sample; links are known by moment."""

import pytest

from harness.model.interface import HostLink
from harness.model.network_metrics import BOTH_WAYS, MESH_GOODPUT
from harness.model.probe import (
    AFTER,
    BEFORE,
    HIGHER,
    LinkSnapshot,
    Measurement,
    ProbeRun,
    RecordedProbes,
    samples,
)


@pytest.mark.parametrize(("value", "error"), [(None, None), (1.0, "and an error")])
def test_a_measurement_has_either_a_finite_value_or_an_error(
    value: float | None, error: str | None
) -> None:
    with pytest.raises(ValueError, match="value"):
        Measurement("mesh", ("a", "b"), "", "goodput_bit_s", "bit/s", HIGHER, value, error)


def test_repetitions_are_one_sample() -> None:
    forward, back, both_ways = samples(
        [
            MESH_GOODPUT.of(("a", "b"), 1.0),
            MESH_GOODPUT.of(("b", "a"), 5.0),
            MESH_GOODPUT.of(("a", "b"), 3.0),
            MESH_GOODPUT.failed(("a", "b"), "no route"),
            MESH_GOODPUT.of(("a", "b"), 9.0, BOTH_WAYS),
        ]
    )
    assert (forward.values, forward.errors) == ((1.0, 3.0), ("no route",))
    assert back.values == (5.0,)
    assert (both_ways.subject, both_ways.case, both_ways.values) == ("a -> b", "both ways", (9.0,))


class TestLinks:
    FIRST, SECOND, LATER = HostLink("n1", "eth0"), HostLink("n2", "eth0"), HostLink("n1", "eth1")
    PROBED = RecordedProbes(
        ProbeRun("1g", ("n1", "n2")),
        (LinkSnapshot(BEFORE, FIRST), LinkSnapshot(BEFORE, SECOND), LinkSnapshot(AFTER, LATER)),
    )

    def test_are_selected_by_moment(self) -> None:
        assert self.PROBED.links(BEFORE) == {"n1": self.FIRST, "n2": self.SECOND}
        assert self.PROBED.links(AFTER) == {"n1": self.LATER}

    def test_without_a_moment_are_those_that_were_seen_last(self) -> None:
        assert self.PROBED.links() == {"n1": self.LATER, "n2": self.SECOND}

    def test_are_none_before_any_event(self) -> None:
        assert RecordedProbes(ProbeRun("1g", ())).links() == {}
