"""The ledger of predictions: each is kept once, and a change is noticed."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.model.prediction import Bounds, PredictedTime, Prediction, Target
from harness.records.predictions import freeze, frozen_predictions

TIME = PredictedTime(
    workload="join",
    is_control=False,
    baseline_s=10.0,
    expected_s=6.0,
    interval_80=Bounds(5.0, 7.0),
    interval_95=Bounds(4.0, 8.0),
    limit_s=3.0,
    useful_up_to_bit_s=2e9,
    network_share=0.8,
    basis="links",
)
PREDICTION = Prediction(
    "2026-01-01T00:00:00Z",
    "clusterlift",
    "model",
    "1g",
    9e8,
    Target(2500 * 10**6, 1500, 2.3e9),
    (TIME,),
)


def test_what_is_frozen_is_read_and_kept_once(tmp_path: Path) -> None:
    frozen = freeze(PREDICTION, tmp_path)
    again = freeze(replace(PREDICTION, made_at="2026-01-02T00:00:00Z"), tmp_path)
    assert again == frozen
    assert frozen_predictions(tmp_path) == [frozen]
    assert frozen.file.parent == tmp_path / "predictions"


def test_a_change_is_noticed(tmp_path: Path) -> None:
    file = freeze(PREDICTION, tmp_path).file
    file.chmod(0o644)
    file.write_bytes(file.read_bytes().replace(b"6.0", b"5.0"))
    with pytest.raises(BadInput, match="was changed after it was written"):
        frozen_predictions(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"join", b"joi\xe9n", "utf-8"),
        (b"{", b'{"x": ' + b"[" * 10**5 + b"]" * 10**5 + b",", "recursion"),
        (b'"mtu": 1500', b'"mtu": 10000000', r"at `\$\.target\.mtu`"),
        (b'"low_s": 4.0', b'"low_s": 9.0', "an interval is from 9.0 to 8.0 s"),
        (b'"disk": null', b'"disk": 2.0', "a target is either links or disks"),
    ],
)
def test_what_no_prediction_says_is_refused_although_its_digest_is_right(
    old: bytes, new: bytes, message: str, tmp_path: Path
) -> None:
    file = freeze(PREDICTION, tmp_path).file
    data = file.read_bytes().replace(old, new, 1)
    file.unlink()
    file.with_stem(hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    with pytest.raises(BadInput, match=message):
        frozen_predictions(tmp_path)
