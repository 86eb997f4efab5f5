"""What others put beside a dataset, or into it, on a real file system: it stays, and what we left goes."""

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from datagen import written
from datagen.dataset import Dataset, open_dataset, verify_content
from datagen.destination import destination_beside
from datagen.filesystem import Directory
from datagen.marker import DATASET, MARKER, Marker, attempt_of
from datagen.written import PURPOSE, SUFFIX
from harness.base.errors import BadInput

from .conftest import Write

JOB = "99999999-9999-9999-9999-999999999999"
PART = f"part-00000-{JOB}-c000.snappy.parquet"
PLANTED = "0123456789abcdef-1"


def attack(spark: SparkSession, write: Write, layout: str, patch: pytest.MonkeyPatch) -> None:
    """Attack what is beside a new dataset, and the dataset; its processes seem to have ended."""
    patch.setattr(written, "has_ended", lambda _identity: True)
    dataset = write(layout)
    _attack_beside(spark, dataset)
    _attack_into(dataset, lambda: write(layout, overwrite=True))
    verify_content(spark, open_dataset(spark, dataset.uri))


def _attack_beside(spark: SparkSession, dataset: Dataset) -> None:
    beside = Directory(spark, f"{dataset.uri}{SUFFIX}")
    _plant(beside.below(PLANTED), PART)
    for text in ("", "process 1 on far", _text_of_another_marker(beside)):
        beside.create_file(MARKER, text, overwrite=True)
        with (
            pytest.raises(BadInput, match="clusterlift has not made it: move it elsewhere"),
            destination_beside(spark, dataset),
        ):
            pass
        assert beside.read(MARKER) == text
        assert beside.below(PLANTED).read(PART) == "of others"
        open_dataset(spark, dataset.uri)
        assert beside.has(PLANTED)
    beside.below(PLANTED).delete(PART)
    beside.delete(PLANTED)
    beside.delete(MARKER)
    marker = Marker.put(beside, PURPOSE)
    _plant(beside.below(f"{marker.token}-1"), PART)
    with destination_beside(spark, dataset) as destination:
        assert set(beside.entries()) == {MARKER}
        assert destination.marker.token != marker.token
    assert not beside.exists()


def _attack_into(dataset: Dataset, overwrite: Callable[[], Dataset]) -> None:
    directory = dataset.directory
    unfinished = Marker.put(directory, DATASET)
    ours = directory.below("_temporary").below(str(attempt_of(unfinished.token)))
    _plant(ours, PART)
    for foreign, name in (
        (directory, PART),
        (directory, "_incomplete.notes"),
        (directory.below("_temporary").below("0"), PART),
    ):
        _plant(foreign, name)
        before = directory.entries().keys()
        with pytest.raises(BadInput, match="contains something that is not part of a dataset"):
            overwrite()
        assert directory.entries().keys() == before
        assert foreign.read(name) == "of others"
        foreign.delete(name)
        if foreign is not directory:
            foreign.remove_empty()
    overwrite()
    assert not directory.has(MARKER)
    assert not directory.has("_temporary")


def _plant(directory: Directory, name: str) -> None:
    directory.create()
    directory.create_file(name, "of others", overwrite=False)


def _text_of_another_marker(beside: Directory) -> str:
    """Return the text of a whole marker that was written for another directory."""
    elsewhere = beside.below("elsewhere")
    marker = Marker.put(elsewhere, PURPOSE)
    elsewhere.delete(MARKER)
    elsewhere.remove_empty()
    return marker.text
