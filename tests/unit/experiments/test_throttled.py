"""A baseline over slower links: by the ratio to the link to buy, and by its square."""

from pathlib import Path

import pytest

from harness.experiments.experiment import Experiment
from harness.experiments.experiment_file import read_experiment
from harness.experiments.throttled import configuration_of, with_throttled
from harness.model.errors import BadInput

GBIT = 10**9
FILE = """
name = "learn"

[datasets.small]
rows = 1_000

[configurations.1g]
dataset = "small"
mtu = 1500
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    file = tmp_path / "learn.toml"
    file.write_text(FILE)
    return read_experiment(file)


def test_it_is_slowed_down_by_the_ratio_and_its_square(experiment: Experiment) -> None:
    baseline = configuration_of(experiment, "1g")
    extended, names = with_throttled(experiment, baseline, GBIT, round(2.5 * GBIT))
    assert names == ("1g at 400mbit", "1g at 160mbit")
    assert [c.rate_bit_s for c in extended.configurations] == [None, 400_000_000, 160_000_000]
    assert {(c.mtu, c.data) for c in extended.configurations} == {(1500, baseline.data)}
    assert extended.id == experiment.id, "the same command goes on with it"


def test_a_rate_that_cannot_be_set_is_left_out(experiment: Experiment) -> None:
    _, names = with_throttled(experiment, configuration_of(experiment, "1g"), 10**7, 10**8)
    assert names == ("1g at 1mbit",)


def test_a_target_that_is_hardly_faster_is_refused(experiment: Experiment) -> None:
    with pytest.raises(BadInput, match=r"1\.05gbit is hardly faster than 1gbit"):
        with_throttled(experiment, configuration_of(experiment, "1g"), GBIT, round(1.05 * GBIT))


def test_an_unknown_baseline_is_refused(experiment: Experiment) -> None:
    with pytest.raises(BadInput, match="the file has no configuration '10g'; it has 1g"):
        configuration_of(experiment, "10g")
