"""Which run of an experiment comes next is known without any host or file."""

from pathlib import Path

from harness.experiments.experiment_file import read_experiment
from harness.experiments.schedule import Part, left_over, planned_runs

TEXT = """
name = "upgrade"
nodes = 3
runs = 2
turns = "rounds"
workloads = ["calc-pi-dataframe"]
probe_seconds = 1

[configurations.slow]
rate = "100mbit"

[configurations.fast]
rate = "250mbit"
"""


def test_what_is_complete_is_left_out_and_an_application_is_made_whole(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(TEXT)
    experiment = read_experiment(file)
    first, second = planned_runs(experiment)
    completed = {*first.parts, second.parts[0]}
    one, other = left_over(experiment, completed, set(first.probed_parts))
    assert one.is_measured
    assert not one.to_probe
    assert not other.is_measured
    assert other.on_spark == tuple(second.spark_parts)
    # The configuration of the first turn is probed last, and stays in force.
    assert other.to_probe[-1] == Part(second.configurations[0], 2)
