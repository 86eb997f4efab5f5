"""The file systems of datasets: one module each, found by the scheme of the URI.

A module of this package is a storage if it has an attribute `STORAGE`. Other modules may be placed
beside the storages that use them.
"""

from __future__ import annotations  # for Python 3.8

import importlib
import pkgutil
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from datagen.filesystem import Directory
from datagen.observed_layout import StoredFile, StoredFiles
from datagen.spark import java_packages, scala_context, spark_errors_as_one_line
from harness.base.errors import BadInput
from harness.model.layout import UNKNOWN, Layout
from harness.node.page_cache import drop_everything

CONNECT_TIMEOUT_S = 10.0


class Storage(ABC):
    """A file system: how to request a layout, and how to observe how files are stored.

    A requested layout of None leaves the choice to the file system.
    """

    name: ClassVar[str]
    scheme: ClassVar[str]
    advice: ClassVar[str] = ""
    """What to do if Hadoop does not know the file system; empty if Hadoop always knows it."""
    cold_properties: ClassVar[Mapping[str, str]] = {}
    """The properties of Hadoop with which reading leaves less in the page cache of the storing nodes."""

    def address(self, conf: Any, uri: str) -> tuple[str, int] | None:
        """Return host and port that answer for a URI; None if they are not known.

        `conf` is Hadoop's configuration. Raises ValueError if the URI has no valid port.
        """
        parts = urlsplit(uri)
        if parts.hostname is None or parts.port is None:
            return None
        return parts.hostname, parts.port

    def set_defaults(self, conf: Any, uri: str) -> None:  # noqa: B027  most need none
        """Set what a benchmark needs in Hadoop's configuration, unless the user has set it."""

    def check_available(self, directory: Directory) -> None:  # noqa: B027  there may be nothing to check
        """Raise BadInput if the file system answers but cannot be used."""

    @abstractmethod
    def check_request(self, directory: Directory, layout: Layout | None) -> Layout | None:
        """Return the requested layout in full, with the size of its cells.

        Raises BadInput, before anything is written, if the file system cannot store it.
        """

    def prepare(self, directory: Directory, layout: Layout | None) -> Mapping[str, str]:
        """Set up the directory for new files with this layout.

        Returns the Hadoop properties that the writing tasks need.
        """
        return {}

    def finish(  # noqa: B027  most file systems need nothing more
        self, directory: Directory, names: list[str], layout: Layout | None
    ) -> None:
        """Request, for the written files, what could not be requested while they were written."""

    @abstractmethod
    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        """Return how each of these files of the directory is stored."""

    def drop_cached(self, directory: Directory, names: Collection[str]) -> Callable[[], str] | None:
        """Return what each node has to run so that the next read of these files reaches the disks.

        It returns why it could not, an empty text if it did. None if nodes have nothing to do. By default a
        node drops everything, which takes root. Raises BadInput if the storage itself cannot do its part.
        """
        return drop_everything

    def explain(self, expected: Layout | None, stored: StoredFiles) -> str:
        """Return the likely reason why files are not stored as expected; empty if none is known."""
        return ""


def storages() -> dict[str, Storage]:
    """Return every storage by its scheme: the attribute `STORAGE` of each module that has one."""
    found: dict[str, Storage] = {}
    for entry in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{entry.name}")
        if hasattr(module, "STORAGE"):
            found[module.STORAGE.scheme] = module.STORAGE
    return found


def unknown_files(directory: Directory, names: Collection[str]) -> dict[str, StoredFile]:
    """Return these files of a directory with the layout `unknown`, if nothing reports another one."""
    return {
        entry.name: StoredFile(UNKNOWN, entry.bytes)
        for entry in directory.entries().values()
        if entry.name in names
    }


def require_nodes(directory: Directory, layout: Layout, available: int, kind: str) -> None:
    """Raise BadInput if there are too few nodes, of this kind, for every copy or stripe."""
    if available < layout.nodes:
        raise BadInput(
            f"--layout {layout} needs {layout.nodes} {kind}, and {directory.uri} has {available}; "
            f"start more {kind}, or choose another layout"
        )


def locate(spark: SparkSession, uri: str) -> tuple[Directory, Storage]:
    """Return the directory at a URI and its storage. Raise BadInput if there is no such storage.

    Without a scheme, it is in Hadoop's default file system.
    """
    conf = scala_context(spark).hadoopConfiguration()
    with spark_errors_as_one_line(repr(uri), BadInput):
        root = uri
        if not urlsplit(uri).scheme:
            file_system = java_packages(spark).org.apache.hadoop.fs.FileSystem
            root = str(file_system.getDefaultUri(conf).toString())
        scheme = urlsplit(root).scheme
    known = storages()
    if scheme not in known:  # Hadoop's own error message would name Java classes
        schemes = ", ".join(f"{each}: ({known[each].name})" for each in sorted(known))
        raise BadInput(
            f"{root}: there is no storage for the scheme '{scheme}:'; the known ones are {schemes}; "
            "to add a storage, write a module in datagen/storage/"
        )
    storage = known[scheme]
    _check_answers(storage, conf, root)
    storage.set_defaults(conf, root)
    if urlsplit(uri).scheme:
        # Hadoop takes a scheme in capitals for another scheme, and does not accept an empty path.
        uri = f"{scheme}:{uri.partition(':')[2]}"
        if not urlsplit(uri).path:
            uri += "/"
    try:
        directory = Directory(spark, uri)
    except BadInput as error:
        if not storage.advice:
            raise
        raise BadInput(f"{error}; {storage.advice}") from error
    storage.check_available(directory)
    return directory, storage


def _check_answers(storage: Storage, conf: Any, uri: str) -> None:
    """Raise BadInput if nothing listens at the host and port: clients would retry for minutes."""
    try:
        address = storage.address(conf, uri)
    except ValueError as error:
        raise BadInput(f"{uri}: {error}") from error
    if address is None:
        return
    host, port = address
    try:
        socket.create_connection((host, port), CONNECT_TIMEOUT_S).close()
    except (OSError, UnicodeError) as error:  # no name has two dots in a row
        reason = getattr(error, "strerror", None) or error
        raise BadInput(
            f"{uri}: nothing answers at {host}, port {port} ({reason}); "
            "is the file system up, and is that its port?"
        ) from error
