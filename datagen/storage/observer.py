"""What observes how a server behind `s3a:` stores objects: S3 itself has no request that asks for it."""

import json
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from datagen.observed_layout import StoredFiles
from datagen.storage.bucket import Bucket
from harness.model.errors import BadInput
from harness.model.layout import Layout
from harness.words import first_line

PROGRAM_S = 120.0
ERROR = re.compile(r"^(?:> )*error: (.*)$", re.MULTILINE)


class Observer(ABC):
    """The observer of one bucket. Its name is the value of `clusterlift.s3a.store`."""

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

    def finish(self, names: list[str], layout: Layout | None) -> None:  # noqa: B027  most need nothing more
        """Request, for the written objects, what could not be requested while they were written."""

    @staticmethod
    @abstractmethod
    def explain(stored: StoredFiles) -> str:
        """Return the likely reason why objects are not stored as expected; empty if none is known."""

    # How programs of the store are asked.

    def parsed(self, text: str | bytes, source: str) -> Any:
        """Return the JSON in a text. Raise BadInput, with its source, if it is none."""
        try:
            return json.loads(text)
        except ValueError as error:
            raise BadInput(f"{self.bucket.directory.uri}: {source} answers no JSON") from error

    def run(
        self, command: Sequence[str], install: str, typed: str = "", timeout_s: float = PROGRAM_S
    ) -> str:
        """Return what a program prints; `typed` is its standard input, `install` what to do without it.

        Raise BadInput, in one line, if it fails or takes longer than `timeout_s`. A program to which commands
        are typed may go on after one that failed: its standard error says so.
        """
        shown = f"{self.bucket.directory.uri}: `{' '.join(command)}`"
        try:
            done = subprocess.run(  # noqa: S603  the store's own programs
                command,
                input=typed,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
        except FileNotFoundError as error:
            raise BadInput(f"{shown} is not installed on the driver's node: {install}") from error
        except subprocess.TimeoutExpired as error:
            raise BadInput(
                f"{shown} does not answer within {timeout_s:.0f} s: is the store up?"
            ) from error
        failed = ERROR.search(done.stderr) if typed else None
        if failed is not None:
            raise BadInput(f"{shown} fails: {failed[1]}")
        if done.returncode != 0:
            raise BadInput(f"{shown} fails: {first_line(done.stderr, 'no reason given')}")
        return done.stdout
