"""Predictions of faster disks, calculated by hand, and what shows that disks became so much faster."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.predict.disks import DECLARED, are_as_fast, disk_factors, disk_target
from harness.analysis.predict.prediction import NO_DISK_TIMES, Predictor
from harness.analysis.predict.score import is_outcome
from harness.analysis.predict.waits import BY_BUSY_DISKS, BY_DISK_WAITS, BY_SERVER_WAITS
from harness.base.errors import BadInput
from harness.model.network_metrics import DISK_READ, DISK_WRITE
from harness.model.prediction import PredictedTime, Target
from harness.model.probe import Measurement
from harness.model.profile import Seen, SeenTask, TaskSpan
from harness.model.run import Trial
from tests.unit.analysis.explain.test_profile import CSV
from tests.unit.builders import a_run, ok, recorded
from tests.unit.metrics_builders import profiled
from tests.unit.timeline_builders import a_node, a_timeline, a_trial

DISK = ("Task.run", "org.apache.hadoop.fs.RawLocalFileSystem$LocalFSFileInputStream.read")
SPILL = ("Task.run", "org.apache.spark.util.collection.unsafe.sort.UnsafeSorterSpillReader.load")
DATANODE = ("Task.run", "org.apache.hadoop.hdfs.client.impl.BlockReaderRemote.read")


def configuration(
    *trials: Trial, name: str = "hdd", facts: Mapping[str, str] | None = None, wall_s: float = 10.0
) -> ConfigurationRuns:
    """Return two runs of a sort and of a control; `trials` are further ones of the first."""
    runs = []
    for number in range(2):
        run = a_run(
            name,
            f"{name}-{number}",
            facts=facts or {},
            parameters={"controls": ["pi"]},
            workloads=("sort", "pi"),
            dataset={"uri": "file:/x", "layout": {"observed": "replicated:1"}},
        )
        own = trials if number == 0 else ()
        runs.append(recorded(run, [ok("sort", wall_s), ok("pi", 2.0), *own]))
    return ConfigurationRuns(name, tuple(runs))


def seen_in_one_task(seen: Seen) -> Trial:
    """Return a profile trial of 10 s, all of them in one task."""
    return profiled("sort", 10.0, SeenTask(1, seen, TaskSpan(1, 1, 0, 0, 10_000)))


def busy_for(busy_s: int) -> Trial:
    """Return a trial of 10 s in which a disk is busy for so long."""
    busy = [100] * busy_s + [0] * (10 - busy_s)
    return a_trial("sort", a_timeline(a_node("n1", disk_busy=busy), slices=10), 2)


def predicted(baseline: ConfigurationRuns, factor: float) -> dict[str, PredictedTime]:
    made = Predictor(baseline).predict(Target(disk=factor))
    return {time.workload: time for time in made.times}


WAITING = seen_in_one_task({CSV: (6_000, 0), DISK: (500, 3_000), SPILL: (0, 500)})
READING = seen_in_one_task({CSV: (6_000, 0), DATANODE: (0, 4_000)})
LIMITED = {"disk": "50MB/s", "disk_limited": "by control groups"}


class TestByProfile:
    """Tasks wait for a disk for 35 % of the time: reading, and for what they spilled."""

    def test_the_waits_become_as_much_shorter_as_disks_are_faster(self) -> None:
        sort = predicted(configuration(WAITING), 2)["sort"]
        assert sort.expected_s == pytest.approx(10 - 3.5 / 2)
        assert sort.limit_s == pytest.approx(6.5)
        assert sort.disk_share == pytest.approx(0.35)
        assert sort.network_share is None
        assert sort.basis == BY_DISK_WAITS
        assert sort.interval_95.low_s < sort.interval_80.low_s < sort.expected_s

    def test_links_need_not_be_known(self) -> None:
        made = Predictor(configuration(WAITING)).predict(Target(disk=2.0))
        assert made.baseline_goodput_bit_s is None
        assert str(made.target) == "disks 2x as fast"

    @given(st.floats(0, 1), st.floats(1, 500), st.floats(1, 2))
    def test_disks_that_are_as_fast_change_nothing_and_faster_ones_are_never_slower(
        self, share: float, factor: float, more: float
    ) -> None:
        waits = round(share * 10_000)
        baseline = configuration(seen_in_one_task({CSV: (10_001 - waits, 0), DISK: (0, waits)}))
        times = (predicted(baseline, each)["sort"] for each in (1.0, factor, factor * more))
        same, faster, fastest = (time.expected_s for time in times)
        assert same == pytest.approx(10)
        assert same + 1e-9 >= faster >= fastest - 1e-9
        assert fastest >= predicted(baseline, 1.0)["sort"].limit_s - 1e-9


class TestByServerWaits:
    """Tasks wait for a server of a file system for 40 % of the time, which may wait for its disk."""

    def test_the_interval_goes_from_none_of_it_to_all_of_it(self) -> None:
        sort = predicted(configuration(READING), 2)["sort"]
        assert sort.basis == BY_SERVER_WAITS
        assert sort.expected_s == pytest.approx(10 - 0.5 * 4 / 2)
        assert 10 - 4 / 2 in sort.interval_95
        assert 10 in sort.interval_95

    def test_they_waited_for_no_longer_than_a_disk_was_busy(self) -> None:
        sort = predicted(configuration(READING, busy_for(1)), 2)["sort"]
        assert sort.expected_s == pytest.approx(10 - 0.5 * 1 / 2)
        idle = predicted(configuration(READING, busy_for(0)), 2)["sort"]
        assert idle.expected_s == pytest.approx(10)
        assert idle.basis == BY_DISK_WAITS

    def test_a_control_group_that_holds_requests_back_does_not_make_a_disk_busy(self) -> None:
        sort = predicted(configuration(READING, busy_for(0), facts=LIMITED), 2)["sort"]
        assert sort.expected_s == pytest.approx(10 - 0.5 * 4 / 2)


class TestByBusyDisks:
    def test_the_interval_goes_from_none_of_it_to_all_of_it(self) -> None:
        sort = predicted(configuration(busy_for(8)), 2)["sort"]
        assert sort.basis == BY_BUSY_DISKS
        assert sort.disk_share == pytest.approx(0.8)
        assert sort.expected_s == pytest.approx(10 - 0.5 * 8 / 2)
        assert 10 - 8 / 2 in sort.interval_95
        assert 10 in sort.interval_95

    def test_disks_that_were_never_busy_promise_nothing(self) -> None:
        sort = predicted(configuration(busy_for(0)), 4)["sort"]
        assert sort.expected_s == sort.limit_s == pytest.approx(10)

    @pytest.mark.parametrize(
        "baseline", [configuration(), configuration(busy_for(8), facts=LIMITED)]
    )
    def test_without_anything_known_of_disks_nothing_is_predicted(
        self, baseline: ConfigurationRuns
    ) -> None:
        with pytest.raises(BadInput, match=f"sort: {NO_DISK_TIMES}"):
            predicted(baseline, 2)


@pytest.mark.parametrize("text", ["2", "x", "0.9x", "1001x", "-2x", "nanx", "2xx", "٣x", "1e1x"])
def test_what_is_no_factor_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"--disk .* does not say how many times as fast disks are"):
        disk_target(text)


@pytest.mark.parametrize(("text", "name"), [("2x", "2x"), (" 1.50X", "1.5x"), ("1000x", "1000x")])
def test_a_factor_is_a_target(text: str, name: str) -> None:
    assert disk_target(text).name == name


class TestWhatCame:
    """Whether the disks afterwards are so much faster: as probes measured, or else as facts declare."""

    def factors(
        self,
        monkeypatch: pytest.MonkeyPatch,
        facts: Mapping[str, str],
        probes: Mapping[str, list[Measurement]],
    ) -> dict[str, float]:
        monkeypatch.setattr(
            "harness.analysis.predict.disks.probe_measurements",
            lambda column: probes.get(column.name, []),
        )
        before, after = (
            configuration(name=name, facts={"disk": facts[name]} if name in facts else {})
            for name in ("hdd", "ssd")
        )
        return disk_factors(before, after)

    def measured(self, read_mb_s: float, write_mb_s: float) -> list[Measurement]:
        return [
            metric.of(host, value * 1e6, "/data")
            for host in ("n1", "n2", "n3")
            for metric, value in ((DISK_READ, read_mb_s), (DISK_WRITE, write_mb_s))
        ]

    def test_is_what_probes_of_both_measured(self, monkeypatch: pytest.MonkeyPatch) -> None:
        probes = {"hdd": self.measured(100, 80), "ssd": self.measured(200, 120)}
        facts = {"hdd": "50MB/s", "ssd": "500MB/s"}
        assert self.factors(monkeypatch, facts, probes) == {"reading": 2.0, "writing": 1.5}

    def test_is_what_facts_declare_where_not_both_were_probed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        facts = {"hdd": "50MB/s", "ssd": "0.2GB/s"}
        assert self.factors(monkeypatch, facts, {"hdd": self.measured(1, 1)}) == {DECLARED: 4.0}

    @pytest.mark.parametrize("facts", [{}, {"hdd": "50MB/s"}, {"hdd": "slow", "ssd": "fast"}])
    def test_is_unknown_otherwise(
        self, facts: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert self.factors(monkeypatch, facts, {}) == {}

    @pytest.mark.parametrize(
        ("factors", "verdict"),
        [
            ({}, "unknown"),
            ({DECLARED: 2.0}, "so"),
            ({"reading": 1.9, "writing": 2.15}, "so"),
            ({"reading": 2.0, "writing": 1.2}, "not so"),
        ],
    )
    def test_is_as_predicted_if_all_that_is_known_is(
        self, factors: dict[str, float], verdict: str
    ) -> None:
        assert are_as_fast(factors, 2.0) is (verdict == "so")

    def test_a_prediction_of_disks_is_for_those_disks_and_their_layout(self) -> None:
        slow = configuration(WAITING, facts={"disk": "50MB/s"})
        made = Predictor(slow).predict(Target(disk=2.0))
        faster, same = (
            configuration(name="ssd", facts={"disk": rate}) for rate in ("100MB/s", "50MB/s")
        )
        assert is_outcome(made, slow, faster)
        assert not is_outcome(made, slow, same)
        stored = {"uri": "file:/x", "layout": {"observed": "replicated:2"}}
        runs = [replace(each, run=replace(each.run, dataset=stored)) for each in faster.runs]
        assert not is_outcome(made, slow, replace(faster, runs=tuple(runs)))
