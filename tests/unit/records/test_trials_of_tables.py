"""What is read for tables of times is what the file says, without what only explanations need."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from harness.model.run import Trial
from harness.records.reader import load
from tests.tracked import name_in_repository, tracked

FILES = [path for path in tracked("results/*.jsonl") if path.parent.name != "probes"]


def without_explanations(trial: Trial) -> dict[str, Any]:
    values = asdict(trial)
    del values["timeline"], values["profile"]
    if values["tasks"]:
        del values["tasks"]["time"], values["tasks"]["stragglers"]
    if values["wire"]:
        del values["wire"]["nodes"]
    return values


@pytest.mark.parametrize("path", FILES[::12], ids=name_in_repository)
def test_tables_get_the_same_trials_without_what_explains_them(path: Path) -> None:
    whole = load(path)
    read = load(path, samples=False)
    assert list(map(asdict, read.trials)) == list(map(without_explanations, whole.trials))
    assert read.run == whole.run
    assert read.disturbed_throughout == whole.disturbed_throughout
    assert not any(trial.timeline or trial.profile for trial in read.trials)
