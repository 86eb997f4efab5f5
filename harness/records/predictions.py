"""The ledger of predictions: `results/1g/predictions/<id>.json`, one file for each, never changed.

The id is the beginning of the SHA-256 of the file, so that a change shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from harness.base.errors import BadInput
from harness.model.prediction import Prediction
from harness.records.directories import PREDICTIONS, not_writable, results_files
from harness.records.document import checksum, decoded
from harness.records.files import content_of, readable_by_others

SUFFIX = ".json"
MAX_BYTES = 10**6


@dataclass(frozen=True)
class FrozenPrediction:
    """A prediction of the ledger, its id, and its file."""

    id: str
    prediction: Prediction
    file: Path


def freeze(prediction: Prediction, baseline_directory: Path) -> FrozenPrediction:
    """Write a prediction to the ledger of its baseline.

    If the ledger already has a prediction that says the same, return the earlier one. Raises BadInput if the
    directory cannot be written, or if a prediction in it was changed.
    """
    for earlier in frozen_predictions(baseline_directory):
        if replace(earlier.prediction, made_at="") == replace(prediction, made_at=""):
            return earlier
    data = msgspec.json.format(msgspec.json.encode(prediction), indent=2) + b"\n"
    directory = baseline_directory / PREDICTIONS
    file = directory / f"{checksum(data)}{SUFFIX}"
    new = file.with_suffix(".new")
    try:
        directory.mkdir(exist_ok=True)
        with open(new, "wb", opener=readable_by_others) as written:
            written.write(data)
        new.chmod(0o444)
        new.rename(file)
    except OSError as error:
        raise not_writable(directory, error) from error
    return FrozenPrediction(file.stem, prediction, file)


def frozen_predictions(baseline_directory: Path) -> Sequence[FrozenPrediction]:
    """Return the ledger of a baseline, the earliest prediction first. It may be empty.

    Raises BadInput if a file is not a prediction, or if it was changed after it was written.
    """
    files = results_files(baseline_directory / PREDICTIONS, SUFFIX)
    found = [_read(file) for file in files]
    return sorted(found, key=lambda frozen: (frozen.prediction.made_at, frozen.id))


def _read(file: Path) -> FrozenPrediction:
    data = content_of(file, MAX_BYTES)
    if file.stem != checksum(data):
        raise BadInput(
            f"{file} was changed after it was written: a prediction is named by the digest of what it says; "
            "restore it, or move it away"
        )
    try:
        return FrozenPrediction(file.stem, decoded(data, Prediction), file)
    except ValueError as error:
        raise BadInput(
            f"{file} is no prediction of this version of clusterlift: {error}"
        ) from error
