"""The file systems that datasets live on: one module each, found by the URI's scheme."""

from __future__ import annotations

import importlib
import pkgutil
import socket
from collections.abc import Collection, Mapping
from typing import Protocol
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from datagen.layout import Layout
from datagen.observed_layout import StoredFiles
from datagen.spark.errors import spark_errors_as_one_line
from datagen.spark.filesystem import Directory
from harness.model.errors import BadInput

ANSWER_WITHIN_S = 10.0


class Storage(Protocol):
    """A file system: how to ask it for a layout, and how to observe what lies there.

    A layout of None is what the file system does by itself.
    """

    name: str
    scheme: str
    advice: str
    """What to do if Hadoop does not know the file system; empty if it always does."""

    def check_available(self, directory: Directory) -> None:
        """Raise BadInput if the file system answers and cannot be used all the same."""

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout | None:
        """The layout that the files are to have, in full: with the size of its cells.

        Raises BadInput, before anything is written, if this file system cannot store it.
        """

    def prepare(self, directory: Directory, layout: Layout | None) -> Mapping[str, str]:
        """Make the directory take new files in this layout.

        Returns Hadoop properties that the tasks which write them must have.
        """

    def finish(self, directory: Directory, names: list[str], layout: Layout | None) -> None:
        """Ask for what could not be asked for while the files were written; they lie there now."""

    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        """How each of these files of the directory really lies."""

    def why(self, asked: Layout | None, stored: StoredFiles) -> str:
        """The likely reason why the files are not as they were asked for; empty if none is known."""


def storages() -> dict[str, Storage]:
    """Every storage by its scheme: the `STORAGE` of each module of this package."""
    modules = (
        importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    )
    return {module.STORAGE.scheme: module.STORAGE for module in modules}


def locate(spark: SparkSession, uri: str) -> tuple[Directory, Storage]:
    """The directory at a URI and the storage it is on. Raises BadInput if no storage is for it."""
    with spark_errors_as_one_line(repr(uri), BadInput):
        scheme = urlsplit(uri).scheme
    if not scheme:  # then it is the default file system's
        directory = Directory(spark, uri)
        storage = _storage_for(directory.scheme, directory.uri)
    else:
        # Before Hadoop is asked: its answer would name Java classes.
        storage = _storage_for(scheme, uri)
        _check_answers(uri)
        directory = _directory(spark, uri, storage)
    storage.check_available(directory)
    return directory, storage


def _directory(spark: SparkSession, uri: str, storage: Storage) -> Directory:
    # To Hadoop a scheme in capitals is another one, and no path at all is none.
    uri = storage.scheme + uri[len(storage.scheme) :]
    uri += "" if urlsplit(uri).path else "/"
    try:
        return Directory(spark, uri)
    except BadInput as error:
        raise BadInput(f"{error}{storage.advice and '; '}{storage.advice}") from error


def _check_answers(uri: str) -> None:
    """Raise BadInput at once if nobody listens at the URI's host and port: clients try for minutes."""
    try:
        host, port = urlsplit(uri).hostname, urlsplit(uri).port
    except ValueError as error:
        raise BadInput(f"{uri}: {error}") from error
    if host is None or port is None:
        return  # a name that only the Hadoop configuration knows, or no host at all
    try:
        socket.create_connection((host, port), ANSWER_WITHIN_S).close()
    except OSError as error:
        raise BadInput(
            f"{uri}: nothing answers at {host}, port {port} ({error.strerror or error}); "
            "is the file system up, and is that its port?"
        ) from error


def _storage_for(scheme: str, uri: str) -> Storage:
    known = storages()
    try:
        return known[scheme]
    except KeyError:
        schemes = ", ".join(f"{one.scheme}: ({one.name})" for _, one in sorted(known.items()))
        raise BadInput(
            f"{uri}: no storage is for the scheme '{scheme}:'; there is {schemes}; "
            "add one as a file in datagen/storage/"
        ) from None
