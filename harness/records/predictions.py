"""The ledger of predictions: `results/1g/predictions/<id>.json`, one file for each, never changed.

The id is the beginning of the SHA-256 of the file. Whoever has noted the id can check that nobody has
changed the file since.
"""

import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import msgspec

from harness.model.errors import BadInput
from harness.model.prediction import Prediction
from harness.records.directories import not_writable, sync
from harness.records.regular_file import regular_file
from harness.terminal import shorten

PREDICTIONS = "predictions"
SUFFIX = ".json"
MAX_BYTES = 10**6
MAX_REASON = 300
"""Characters of an error message, which may quote a text."""
_ID_DIGITS = 16

_Bounds = tuple[float, float]
_SECONDS: _Bounds = (1e-40, 1e40)
"""The shortest time of a unit of work, and the end of the widest interval, with room to spare."""
_RATES: _Bounds = (1, 1e18)
_MTUS: _Bounds = (1, 1e6)
_OF_A_TIME = {
    **dict.fromkeys(("baseline_s", "expected_s", "limit_s"), (_SECONDS[0], 1e18)),
    "useful_up_to_bit_s": _RATES,
    "full_share": (0, 1),
}


@dataclass(frozen=True)
class FrozenPrediction:
    """A prediction of the ledger, its id, and its file."""

    id: str
    prediction: Prediction
    file: Path


def freeze(prediction: Prediction, baseline_directory: Path) -> FrozenPrediction:
    """Write a prediction to the ledger of its baseline.

    If the ledger has one already that says the same, return that: it is the earlier one. Raises BadInput
    if the directory cannot be written, or if a prediction in it was changed.
    """
    for earlier in frozen_predictions(baseline_directory):
        if replace(earlier.prediction, made_at="") == replace(prediction, made_at=""):
            return earlier
    data = msgspec.json.format(msgspec.json.encode(prediction), indent=2) + b"\n"
    try:
        _decoded(data)
    except ValueError as error:
        raise BadInput(f"the prediction cannot be saved: {error}") from error
    directory = baseline_directory / PREDICTIONS
    file = directory / f"{_id_of(data)}{SUFFIX}"
    try:
        directory.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=directory) as temporary:
            new = Path(temporary) / file.name
            new.write_bytes(data)
            sync(new)
            new.chmod(0o444)
            new.rename(file)
        sync(directory)
    except OSError as error:
        raise not_writable(directory, error) from error
    return FrozenPrediction(file.stem, prediction, file)


def frozen_predictions(baseline_directory: Path) -> Sequence[FrozenPrediction]:
    """Return the ledger of a baseline, the earliest prediction first; it may be empty.

    Raises BadInput if a file is not a prediction, or if it was changed after it was written.
    """
    try:
        files = list((baseline_directory / PREDICTIONS).iterdir())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise BadInput(
            f"cannot read {baseline_directory / PREDICTIONS}: {error.strerror}; correct its permissions"
        ) from error
    visible = (file for file in files if file.suffix == SUFFIX and not file.name.startswith("."))
    return sorted(
        map(_read, sorted(visible)), key=lambda frozen: (frozen.prediction.made_at, frozen.id)
    )


def _read(file: Path) -> FrozenPrediction:
    with regular_file(file) as stream:
        data = stream.read(MAX_BYTES + 1)
    if file.stem != _id_of(data):
        raise BadInput(
            f"{file} was changed after it was written: a prediction is named by the digest of what it says; "
            "restore it, or move it away"
        )
    try:
        return FrozenPrediction(file.stem, _decoded(data), file)
    except ValueError as error:
        raise BadInput(
            f"{file} is no prediction of this version of clusterlift: {shorten(str(error), MAX_REASON)}"
        ) from error


def _decoded(data: bytes) -> Prediction:
    """Return what a file says. Raise ValueError unless each value is one that a prediction can have."""
    try:
        prediction = msgspec.json.decode(data, type=Prediction)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if not _is_timestamp(prediction.made_at):
        raise ValueError(
            f"made_at is {prediction.made_at!r}, not a time such as 2026-11-21T13:42:13Z"
        )
    for name, value, (low, high) in _numbers(prediction):
        if value is not None and not low <= value <= high:
            raise ValueError(f"{name} is {value!r}, not from {low:g} to {high:g}")
    if not prediction.times:
        raise ValueError("times is empty: nothing is predicted")
    seen: set[str] = set()
    for time in prediction.times:
        if time.workload in seen:
            raise ValueError(f"{time.workload} is predicted twice")
        seen.add(time.workload)
        for name in ("interval_80", "interval_95"):
            low_s, high_s = getattr(time, name).low_s, getattr(time, name).high_s
            if not _SECONDS[0] <= low_s <= high_s <= _SECONDS[1]:
                raise ValueError(
                    f"{name} is from {low_s!r} to {high_s!r} s: these are no bounds of a time"
                )
    return prediction


def _numbers(prediction: Prediction) -> Iterator[tuple[str, float | None, _Bounds]]:
    """Yield the name of each number, the number, and the bounds that it has to keep."""
    target = prediction.target
    yield "baseline_goodput_bit_s", prediction.baseline_goodput_bit_s, _RATES
    yield "target.link_bit_s", target.link_bit_s, _RATES
    yield "target.goodput_bit_s", target.goodput_bit_s, _RATES
    yield "target.mtu", target.mtu, _MTUS
    for time in prediction.times:
        for name, bounds in _OF_A_TIME.items():
            yield f"{name} of {time.workload}", getattr(time, name), bounds


def _is_timestamp(text: str) -> bool:
    """Whether the text is a time in UTC in the form of `model.run.timestamp`, which sorts as text."""
    with suppress(ValueError):
        return bool(re.match(r"\d{4}-\d\d-\d\dT.*Z\Z", text) and datetime.fromisoformat(text))
    return False


def _id_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_ID_DIGITS]
