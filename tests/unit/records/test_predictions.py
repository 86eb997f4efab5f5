"""The ledger of predictions refuses what no prediction says, although its digest is right."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.model.errors import BadInput
from harness.records.predictions import freeze, frozen_predictions
from tests.unit.builders import GOLDEN

[FILE] = (GOLDEN / "predictions").iterdir()
Edit = Callable[[bytes], bytes]


def saved(directory: Path, edit: Edit) -> Path:
    """Save the golden prediction, edited, in the ledger of a baseline."""
    data = edit(FILE.read_bytes())
    file = directory / "predictions" / f"{hashlib.sha256(data).hexdigest()[:16]}.json"
    file.parent.mkdir()
    file.write_bytes(data)
    return file


def edited(change: Callable[[dict[str, Any]], object]) -> Edit:
    """Return the function that changes the values of a prediction."""

    def edit(data: bytes) -> bytes:
        values = json.loads(data)
        change(values)
        return json.dumps(values).encode()

    return edit


def of_prediction(**values: object) -> Edit:
    return edited(lambda prediction: prediction.update(values))


def of_target(**values: object) -> Edit:
    return edited(lambda prediction: prediction["target"].update(values))


def of_time(**values: object) -> Edit:
    return edited(lambda prediction: prediction["times"][0].update(values))


def test_what_is_unchanged_is_read(tmp_path: Path) -> None:
    file = saved(tmp_path, lambda data: data)
    assert [frozen.file for frozen in frozen_predictions(tmp_path)] == [file]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        pytest.param(lambda data: data.replace(b"effect", b"effe\xe9t"), "utf-8", id="no UTF-8"),
        pytest.param(
            lambda data: data.replace(b"{", b'{"x": ' + b"[" * 10**5 + b"]" * 10**5 + b",", 1),
            "recursion",
            id="deep",
        ),
        (of_prediction(baseline_goodput_bit_s=-1), "`float` >= 1 - at `$.baseline_goodput_bit_s`"),
        (of_prediction(made_at=""), "made_at is '', not a time such as"),
        (of_prediction(made_at="1"), "made_at is '1'"),
        (of_prediction(made_at="2026-13-01T00:00:00Z"), "made_at is '2026-13-01T00:00:00Z'"),
        (of_prediction(made_at="2026-12-01T00:00:00+01:00"), "made_at is '2026-12-01T00:00:00+01"),
        (of_prediction(times=[]), "`array` of length >= 1 - at `$.times`"),
        (of_target(goodput_bit_s=0), "`float` >= 1 - at `$.target.goodput_bit_s`"),
        (of_target(link_bit_s=0), "`int` >= 1 - at `$.target.link_bit_s`"),
        (of_target(mtu=10**7), "`int` <= 1000000 - at `$.target.mtu`"),
        (of_time(baseline_s=0), "`float` >= 1e-40 - at `$.times[0].baseline_s`"),
        (of_time(expected_s=-1), "`float` >= 1e-40 - at `$.times[0].expected_s`"),
        (of_time(expected_s=1e300), "`float` <= 1e+18 - at `$.times[0].expected_s`"),
        (of_time(limit_s=0), "`float` >= 1e-40 - at `$.times[0].limit_s`"),
        (of_time(full_share=1.5), "`float` <= 1 - at `$.times[0].full_share`"),
        (of_time(useful_up_to_bit_s=-1), "`float` >= 1 - at `$.times[0].useful_up_to_bit_s`"),
        (
            of_time(interval_80={"low_s": 5, "high_s": 1}),
            "an interval is from 5.0 to 1.0 s - at `$.times[0].interval_80`",
        ),
        (
            of_time(interval_95={"low_s": 0, "high_s": 1}),
            "`float` >= 1e-40 - at `$.times[0].interval_95.low_s`",
        ),
        (
            edited(lambda prediction: prediction["times"].append(prediction["times"][0])),
            "group-by is predicted twice",
        ),
    ],
)
def test_what_no_prediction_says_is_refused(edit: Edit, message: str, tmp_path: Path) -> None:
    file = saved(tmp_path, edit)
    with pytest.raises(BadInput) as caught:
        frozen_predictions(tmp_path)
    assert f"{file} is no prediction of this version of clusterlift: " in str(caught.value)
    assert message in str(caught.value)


def test_what_cannot_be_read_again_is_not_saved(tmp_path: Path) -> None:
    saved(tmp_path, lambda data: data)
    [frozen] = frozen_predictions(tmp_path)
    target = replace(frozen.prediction.target, mtu=10**9)
    with pytest.raises(BadInput, match=r"cannot be saved: .*at `\$\.target\.mtu`"):
        freeze(replace(frozen.prediction, target=target), tmp_path)
    assert frozen_predictions(tmp_path) == [frozen]
