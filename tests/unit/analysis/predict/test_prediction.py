"""Predictions of a configuration whose links are full for half of the time, calculated by hand."""

from dataclasses import replace

import pytest

from harness.analysis.compare.comparison import overview
from harness.analysis.observed.configuration import ConfigurationRuns, model_of
from harness.analysis.predict.prediction import Predictor
from harness.analysis.predict.saturation import EFFECT, log_ratio
from harness.analysis.predict.target import target_of, typical_link
from harness.analysis.predict.waits import BY_FULL_LINKS, BY_PROFILE, network_times
from harness.analysis.ready.readiness import readiness
from harness.base.errors import BadInput
from harness.model.link import goodput_bit_s
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.prediction import PredictedTime, Prediction, Target
from harness.model.profile import SeenTask, TaskSpan
from harness.statistics.run_model import Estimate
from tests.bench.backtest import backtest
from tests.unit.analysis.explain.test_profile import CSV, FETCH
from tests.unit.builders import a_run, ok, recorded
from tests.unit.metrics_builders import profiled
from tests.unit.timeline_builders import a_node, a_timeline, a_trial, mbit

MBIT = 10**6
FULL, IDLE = 94.0, 10.0
"""Mbit/s on a link of 100 Mbit/s, whose goodput is 94.1 Mbit/s."""


def configuration(
    name: str = "100m",
    full_s: int = 5,
    idle_s: int = 5,
    link: str = "100mbit",
    scale: float = 1.0,
    layout: str = "rs:6+3:64k",
) -> ConfigurationRuns:
    """Return three runs of a join whose link is full for this time, and of a control."""
    rates = [FULL * scale] * full_s + [IDLE * scale] * idle_s
    timeline = a_timeline(a_node("n1", mbit(*rates), mbit(*rates)), slices=full_s + idle_s)
    runs = []
    for number in range(3):
        run = a_run(
            name,
            f"{name}-{number}",
            facts={"link": link},
            parameters={"controls": ["pi"]},
            workloads=("join", "pi"),
            dataset={"uri": "hdfs://n/x", "layout": {"observed": layout}},
        )
        runs.append(recorded(run, [a_trial("join", timeline), ok("pi", 2.0)]))
    return ConfigurationRuns(name, tuple(runs))


def without_bytes(baseline: ConfigurationRuns) -> ConfigurationRuns:
    """Return the configuration as if no bytes on its links were recorded."""
    runs = [
        replace(each, trials=tuple(replace(t, timeline=None) for t in each.trials))
        for each in baseline.runs
    ]
    return replace(baseline, runs=tuple(runs))


def predict(baseline: ConfigurationRuns, target: Target) -> Prediction:
    return Predictor(baseline).predict(target)


def target(baseline: ConfigurationRuns, link_bit_s: int) -> Target:
    return target_of(typical_link(baseline), baseline.name, link_bit_s)


def times(prediction: Prediction) -> dict[str, PredictedTime]:
    return {time.workload: time for time in prediction.times}


def test_the_link_is_that_of_the_facts() -> None:
    link = typical_link(configuration())
    assert (link.rate_bit_s, link.mtu) == (100 * MBIT, 1500)
    assert link.goodput_bit_s == goodput_bit_s(100 * MBIT, 1500)


def test_the_mtu_may_be_declared_as_the_rate_may() -> None:
    baseline = configuration()
    runs = [
        replace(found, run=replace(found.run, facts={"link": "100mbit", "mtu": "9000"}))
        for found in baseline.runs
    ]
    assert typical_link(replace(baseline, runs=tuple(runs))).mtu == 9000


def test_the_full_share() -> None:
    assert network_times(configuration())["join"].share.mean == 0.5


def with_a_profile() -> ConfigurationRuns:
    """Return the configuration with a profile of the join, in which tasks wait for 30 % of the time."""
    baseline = configuration()
    seen = SeenTask(1, {CSV: (7_000, 0), FETCH: (0, 3_000)}, TaskSpan(1, 1, 0, 0, 10_000))
    first, *others = baseline.runs
    first = replace(first, trials=(*first.trials, profiled("join", 10.0, seen)))
    return replace(baseline, runs=(first, *others))


def test_of_a_profiled_workload_the_waits_for_the_network_become_shorter() -> None:
    baseline = with_a_profile()
    join = times(predict(baseline, target(baseline, 250 * MBIT)))["join"]
    assert join.expected_s == pytest.approx(10 - 3 * (1 - 0.4))
    assert join.limit_s == pytest.approx(7)
    assert join.network_share == pytest.approx(0.3)
    assert join.basis == BY_PROFILE
    unprofiled = times(predict(configuration(), target(baseline, 250 * MBIT)))["join"]
    assert unprofiled.basis == BY_FULL_LINKS


def test_a_profile_says_it_where_the_bytes_on_the_links_were_not_recorded() -> None:
    baseline = without_bytes(with_a_profile())
    join = times(predict(baseline, target(baseline, 250 * MBIT)))["join"]
    assert join.expected_s == pytest.approx(10 - 3 * (1 - 0.4))


def test_the_time_that_the_model_expects() -> None:
    baseline = configuration()
    join = times(predict(baseline, target(baseline, 250 * MBIT)))["join"]
    assert join.baseline_s == pytest.approx(10)
    assert join.expected_s == pytest.approx(10 - EFFECT.mean * 5 * (1 - 0.4))
    assert join.limit_s == pytest.approx(10 - EFFECT.mean * 5)
    assert join.interval_95.low_s < join.interval_80.low_s < join.expected_s
    assert join.interval_95.high_s > join.interval_80.high_s > join.expected_s


def test_the_interval_has_the_noise_of_both_sides_and_the_error_of_the_change() -> None:
    several = [configuration(f"100m{idle_s}", idle_s=idle_s).runs[0] for idle_s in (4, 5, 7)]
    baseline = ConfigurationRuns("100m", tuple(several))
    wanted = target(baseline, 250 * MBIT)
    present = model_of([baseline]).time(0, "join")
    slowness = wanted.slowness(typical_link(baseline).goodput_bit_s)
    change = log_ratio(network_times(baseline)["join"].share, slowness)
    noise, error = 2 * present.variance, change.variance
    assert noise > 0
    df = (noise + error) ** 2 / (noise**2 / present.df)
    low_s, high_s = Estimate(present.log + change.mean, noise + error, df).interval_at(0.95)
    bounds = times(predict(baseline, wanted))["join"].interval_95
    assert (bounds.low_s, bounds.high_s) == pytest.approx((low_s, high_s))


def test_a_control_stays_as_it_is() -> None:
    baseline = configuration()
    pi = times(predict(baseline, target(baseline, 250 * MBIT)))["pi"]
    assert pi.is_control
    assert pi.expected_s == pi.limit_s == pytest.approx(2)


@pytest.mark.parametrize(
    ("carried_mbit_s", "text"),
    [
        (60, "carry 60.0 Mbit/s, 64 % of what 100mbit allows: find out why before you buy"),
        (230, "carry 230.0 Mbit/s, which is more than 100mbit allows"),
    ],
)
def test_links_that_carry_something_else_than_their_rate_have_a_note(
    carried_mbit_s: float, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = [MESH_GOODPUT.of(pair, carried_mbit_s * MBIT) for pair in (("a", "b"), ("b", "a"))]
    for module in ("target", "waits"):
        monkeypatch.setattr(
            f"harness.analysis.predict.{module}.probe_measurements", lambda _: measured
        )
    baseline = configuration()
    prediction = predict(baseline, target(baseline, 500 * MBIT))
    assert any(text in note for note in prediction.notes), prediction.notes


def test_nodes_whose_bytes_were_not_recorded_have_a_note() -> None:
    timeline = a_timeline(a_node("n1", mbit(FULL), mbit(FULL)), a_node("n2", None, None), slices=1)
    baseline = configuration()
    first, *others = baseline.runs
    runs = (replace(first, trials=(*first.trials, a_trial("join", timeline))), *others)
    prediction = predict(replace(baseline, runs=runs), target(baseline, 250 * MBIT))
    assert any(
        "the bytes on the links of n2 were not recorded" in each for each in prediction.notes
    )


def test_a_prediction_counts_and_says_what_a_table_does() -> None:
    """A workload that was disturbed throughout, and a run that ended before its first trial."""
    baseline = configuration()
    runs = [
        replace(run, disturbed_throughout={"pi": "n1: it swapped (3)"}) for run in baseline.runs
    ]
    baseline = replace(baseline, runs=(*runs, recorded(a_run("100m", "cut"), ending=None)))
    table = overview(baseline)
    line, notes = "and so they count: pi (n1: it swapped)", table.notes[0]
    prediction = predict(baseline, target(baseline, 250 * MBIT))
    for said in (notes, prediction.notes, [readiness(baseline).checks["disturbances"].text]):
        assert [each for each in said if each.endswith(line)]
    assert {row.cells[0].sample.times_s for row in table.rows} == {(10.0,) * 3, (2.0,) * 3}
    assert {found.runs for found in readiness(baseline).detectable} == {3}
    assert baseline.counted_runs == 3


class TestWhatCannotBePredicted:
    def test_a_slower_link(self) -> None:
        with pytest.raises(BadInput, match=r"links of 50mbit, MTU 1500, would carry 47\.1 Mbit/s"):
            target(configuration(), 50 * MBIT)

    def test_links_of_unknown_rate(self) -> None:
        unknown = configuration("cluster", link="")
        with pytest.raises(BadInput, match="'cluster' has no probes, and the rate of its links"):
            typical_link(unknown)

    def test_trials_without_bytes(self) -> None:
        silent = without_bytes(configuration())
        with pytest.raises(BadInput, match="join: the bytes on the nodes' links were not recorded"):
            predict(silent, target(silent, 250 * MBIT))


class TestABacktest:
    def family(self) -> list[ConfigurationRuns]:
        return [
            configuration("40m", full_s=11, link="40mbit", scale=0.4),
            configuration("100m"),
            configuration("250m", full_s=2, link="250mbit", scale=2.5),
        ]

    def test_predicts_each_from_each_slower_one(self) -> None:
        found = [
            (backcast.score.prediction.baseline, backcast.score.after.name)
            for backcast in backtest(self.family()[::-1])
        ]
        assert found == [("40m", "100m"), ("40m", "250m"), ("100m", "250m")]

    def test_stays_within_a_layout_and_a_storage(self) -> None:
        in_copies = configuration("2x", link="250mbit", layout="replicated:2")
        assert list(backtest([configuration(), in_copies])) == []
        other = configuration("250m", link="250mbit")
        on_qfs = [
            replace(
                each,
                run=replace(each.run, dataset={**(each.run.dataset or {}), "uri": "qfs://n/x"}),
            )
            for each in other.runs
        ]
        assert list(backtest([configuration(), replace(other, runs=tuple(on_qfs))])) == []
