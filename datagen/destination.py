"""Where workloads write: beside the dataset, in its format and layout, and proven as the dataset is."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, islice

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from datagen.dataset import Dataset, data_files, stored_rows
from datagen.filesystem import Directory
from datagen.manifest import Format
from datagen.marker import Marker
from datagen.spark import tasks_have_ended
from datagen.storage import Storage, locate
from datagen.writer import appending_writer, prove_layout
from datagen.written import SUFFIX, clear_executions, reserved
from harness.base.errors import BadInput
from harness.model.layout import UNKNOWN, Layout
from harness.model.task_metrics import WrittenBytes


@dataclass(frozen=True)
class Destination:
    """A directory beside a dataset that one run writes to; a layout of None leaves the choice to the storage.

    Each execution has a directory of its own in it, by its number from 1 in the run: a client of QFS that
    knew a deleted directory of the same name finds nothing in the new one.
    """

    spark: SparkSession
    storage: Storage
    marker: Marker
    format: Format
    layout: Layout | None
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def take(self, executions: int) -> list[int]:
        """Return the numbers of the next executions."""
        return list(islice(self._numbers, executions))

    def new_writer(self, frame: DataFrame, number: int) -> DataFrameWriter:
        """Create the directory of an execution, request its layout, and return a writer of the frame.

        Call the `save` of the writer with `uri(number)`.
        """
        self.marker.check()
        directory = self._directory(number)
        directory.create_new()
        properties = self.storage.prepare(directory, self.layout)
        writer = appending_writer(frame, self.format, properties).format(str(self.format))
        if self.format is Format.CSV:
            writer.options(header=True)
        return writer

    def uri(self, number: int) -> str:
        """Return the URI of the directory of an execution."""
        return self._directory(number).uri

    def prove(self, number: int) -> WrittenBytes:
        """Return what an execution wrote. Raise ClusterliftError unless every file is stored as requested."""
        self.marker.check()
        directory = self._directory(number)
        files = data_files(directory.entries())
        stored = prove_layout(self.storage, directory, files, self.layout)
        layout = ", ".join(map(str, stored.layouts))
        return WrittenBytes(layout, sum(files.values()), stored.stored_bytes)

    def rows(self, number: int) -> DataFrame:
        """Return the rows that an execution wrote, as they are read back."""
        return stored_rows(self.spark, self.uri(number), self.format)

    def clear(self) -> None:
        """Delete what the executions wrote. Raise BadInput if that is not possible."""
        clear_executions(self.marker)

    def _directory(self, number: int) -> Directory:
        return self.marker.directory.below(f"{self.marker.token}-{number}")


@contextmanager
def destination_beside(spark: SparkSession, dataset: Dataset) -> Iterator[Destination]:
    """Provide the directory `<dataset>.written`, which is removed at the end with all that was written.

    Raises BadInput if nothing can be written there in its layout, or if another run writes there.
    """
    if dataset.uri.endswith("/"):
        raise BadInput(f"{dataset.uri} is the root of its file system: nothing can be beside it")
    directory, storage = locate(spark, f"{dataset.uri}{SUFFIX}")
    layout = dataset.manifest.observed_layout
    if layout == UNKNOWN:
        layout = None
    layout = storage.check_request(directory, layout)
    with reserved(directory, lambda: tasks_have_ended(spark)) as marker:
        yield Destination(spark, storage, marker, dataset.manifest.format, layout)
