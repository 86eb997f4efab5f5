"""A server behind `s3a:`, which says how it stores objects: S3 itself has no request that asks for it."""

from __future__ import annotations  # for Python 3.8

import json
from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar

from datagen.observed_layout import StoredFiles
from datagen.storage.bucket import Bucket
from harness.base.errors import BadInput
from harness.model.layout import Layout


class S3Server(ABC):
    """The server of one bucket. `name` is the value of `clusterlift.s3a.store`."""

    name: ClassVar[str]
    choice: ClassVar[str]
    """What the user can choose for another layout."""

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket

    @abstractmethod
    def layout_of_new_objects(self) -> Layout:
        """Return the layout that the server is set up to give to new objects of the bucket."""

    @abstractmethod
    def observe(self, names: Collection[str]) -> StoredFiles:
        """Return how each of these objects is stored, as the server reports it."""

    def check_request(self, layout: Layout) -> Layout:
        """Return the layout in full. Raise BadInput if new objects would have another one."""
        stored = self.layout_of_new_objects()
        if not layout.is_met_by(stored):
            raise BadInput(
                f"--layout {layout}: {self.bucket.directory.uri} stores new objects of class "
                f"{self.bucket.storage_class} as {stored}; choose {self.choice}"
            )
        return stored

    @staticmethod
    @abstractmethod
    def explain(stored: StoredFiles) -> str:
        """Return the likely reason why objects are not stored as expected; empty if none is known."""

    def parsed(self, text: str | bytes, source: str) -> Any:
        """Return the JSON in a text. Raise BadInput, with its source, if it is none."""
        try:
            return json.loads(text)
        except ValueError as error:
            raise BadInput(f"{self.bucket.directory.uri}: {source} answers no JSON") from error
