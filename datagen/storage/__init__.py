"""The file systems that datasets live on: one module each, found by the URI's scheme."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Protocol
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from datagen.filesystem import Directory
from datagen.layout import Layout
from datagen.spark_errors import told_in_a_line
from harness.errors import BadInput


class Storage(Protocol):
    """A file system: how to ask it for a layout, and how to observe what lies there."""

    name: str
    scheme: str

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout:
        """The layout that will be asked for; None asks for the file system's own default.

        Raises BadInput if this file system cannot store it.
        """

    def observe(self, directory: Directory) -> Layout:
        """The layout that the files of the directory really have."""


def storages() -> dict[str, Storage]:
    """Every storage by its scheme: the `STORAGE` of each module of this package."""
    modules = (
        importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    )
    return {module.STORAGE.scheme: module.STORAGE for module in modules}


def locate(spark: SparkSession, uri: str) -> tuple[Directory, Storage]:
    """The directory at a URI and the storage it is on. Raises BadInput if no storage is for it."""
    with told_in_a_line(repr(uri), BadInput):
        scheme = urlsplit(uri).scheme
    if scheme:
        _storage_for(scheme, uri)  # before Hadoop is asked: its answer would name Java classes
    directory = Directory(spark, uri)
    return directory, _storage_for(directory.scheme, directory.uri)


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
