"""QFS: Reed-Solomon 6+3 by default. Its Hadoop shim offers few layouts, and its options mislead.

In version 2.2.8 of the shim, `fs.qfs.createParams` alone decides: unset, it stores rs:6+3:64k,
whatever `dfs.replication` is; set to any value at all, it stores 2 copies. Another number of copies
has to be requested after the files are written.
"""

from __future__ import annotations  # for Python 3.8

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from datagen.filesystem import Directory
from datagen.observed_layout import Holders, StoredFile, StoredFiles, stored_file
from datagen.storage import Storage, require_nodes
from datagen.storage.metaserver import CHUNK_BYTES, Metaserver
from harness.base.errors import BadInput
from harness.model.layout import UNKNOWN, Layout, LayoutKind, striped_layout

PARAMS = "fs.qfs.createParams"
REED_SOLOMON = Layout.parse("rs:6+3:64k")
TWO_COPIES = Layout.parse("replicated:2")
STRIPER_NONE, STRIPER_RS, STRIPER_JERASURE = 1, 2, 3


class Qfs(Storage):
    """QFS's Java classes report the attributes of files, the metaserver where their chunks are."""

    name = "qfs"
    scheme = "qfs"
    advice = (
        "name host and port, qfs://host:20000/path, and start Spark with QFS's classes: "
        "`clusterlift local qfs conf` prints what goes into spark-submit's --properties-file"
    )

    def check_available(self, directory: Directory) -> None:
        """Raise BadInput if no chunk server is up: clients would retry for minutes."""
        if not _servers_up(directory):
            raise BadInput(f"{directory.uri}: no chunk server is connected to the metaserver")

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout | None:
        """Return the layout with the cell of the shim."""
        if layout is None:
            return None
        if layout.kind is LayoutKind.REPLICATED:
            require_nodes(directory, layout, _servers_up(directory), "chunk servers")
            return layout
        if not layout.is_met_by(REED_SOLOMON):
            raise BadInput(
                f"--layout {layout}: through its Hadoop shim QFS stores {REED_SOLOMON} or "
                "replicated:N; no other layout can be requested"
            )
        params = directory.conf.get(PARAMS)
        if params is not None:
            raise BadInput(
                f"--layout {layout}: {PARAMS} is set to '{params}'; if it is set to any value, QFS's "
                f"Hadoop shim stores {TWO_COPIES}; remove it from Spark's and Hadoop's configuration"
            )
        return REED_SOLOMON

    def prepare(self, directory: Directory, layout: Layout | None) -> Mapping[str, str]:
        """Make the tasks create their own shim: a shim reads its options when it is created."""
        if layout is None:
            return {}
        properties = {"fs.qfs.impl.disable.cache": "true"}
        if layout != REED_SOLOMON:
            properties[PARAMS] = "2"
        return properties

    def finish(self, directory: Directory, names: list[str], layout: Layout | None) -> None:
        """Request the number of copies, unless it is the shim's own number: two."""
        if layout in (None, REED_SOLOMON, TWO_COPIES):
            return
        for name in names:
            with directory.errors_as_bad_input():
                directory.fs.setReplication(directory.child(name), layout.data)

    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        """Look at every chunk of every file, parity chunks included, and at its servers."""
        files = {}
        coder = None
        with _metaserver(directory) as metaserver:
            for attributes in _list_files(directory):
                name = attributes["filename"]
                if name in names:
                    files[name] = _stored_file(attributes, metaserver)
                    if files[name].layout.parity:
                        coder = "native"
            return StoredFiles(files, coder, metaserver.buffered_io())

    def explain(self, expected: Layout | None, stored: StoredFiles) -> str:
        """Explain the two surprises of the shim, and missing chunks."""
        is_another = stored.layout != expected
        if is_another and stored.layout == TWO_COPIES:
            return f"QFS's Hadoop shim stores 2 copies if {PARAMS} is set, to whatever value"
        if is_another and stored.layout == REED_SOLOMON:
            return (
                f"QFS's Hadoop shim stores Reed-Solomon if {PARAMS} is not set, "
                "whatever other options are set"
            )
        if stored.missing:
            return "a chunk server may be down, full or still copying"
        return ""


def _servers_up(directory: Directory) -> int:
    with _metaserver(directory) as metaserver:
        return metaserver.servers_up()


def _address(directory: Directory) -> tuple[str, int]:
    uri = directory.path.toUri()
    host = uri.getHost()
    port = int(uri.getPort())
    if host is None or port < 0:
        raise BadInput(f"{directory.uri}: name the metaserver and its port, qfs://host:20000/path")
    return str(host), port


@contextmanager
def _metaserver(directory: Directory) -> Iterator[Metaserver]:
    """Connect to the metaserver; turn its errors, and answers that make no sense, into a BadInput."""
    try:
        with Metaserver(*_address(directory)) as metaserver:
            yield metaserver
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise BadInput(
            f"{directory.uri}: the metaserver does not report where chunks are ({cause}); a QFS that "
            "requires authentication cannot be observed"
        ) from error


def _list_files(directory: Directory) -> list[dict[str, Any]]:
    """Return the attributes of each file, as QFS's Java class KfsFileAttr reports them."""
    jvm = directory.jvm
    with directory.errors_as_bad_input():
        listed = _client(jvm, *_address(directory)).kfs_readdirplus(
            str(directory.path.toUri().getPath())
        )
        if listed is None:
            raise BadInput(f"{directory.uri} cannot be listed")
        text = jvm.com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString(listed)
    attributes: list[dict[str, Any]] = json.loads(text)
    return attributes


@lru_cache(maxsize=None)
def _client(jvm: Any, host: str, port: int) -> Any:
    """Return QFS's client, always the same one: each has threads and files until Java collects it."""
    client = jvm.com.quantcast.qfs.access.KfsAccess(host, port)
    # With 0, it would still trust what it read in the same second.
    client.kfs_setFileAttributeRevalidateTime(-1)
    return client


def _layout(attributes: Mapping[str, Any]) -> Layout:
    copies = attributes["replication"]
    striper = attributes["striperType"]
    if striper == STRIPER_NONE:
        return Layout(LayoutKind.REPLICATED, copies)
    if copies != 1 or striper not in (STRIPER_RS, STRIPER_JERASURE):
        return UNKNOWN  # no text form describes copies of stripes
    return striped_layout(
        LayoutKind.REED_SOLOMON,
        attributes["numStripes"],
        attributes["numRecoveryStripes"],
        attributes["stripeSize"],
    )


def _stored_file(attributes: Mapping[str, Any], metaserver: Metaserver) -> StoredFile:
    layout = _layout(attributes)
    size = attributes["filesize"]
    chunks: Holders = {}
    if size and layout != UNKNOWN:
        chunks = metaserver.holders(attributes["fileId"])
    return stored_file(layout, size, _blocks(layout, size, chunks))


def _blocks(layout: Layout, size: int, chunks: Holders) -> Iterator[tuple[int, Holders]]:
    """Yield, for each chunk or group of chunks, its bytes of data and its servers.

    In each group, the parity chunks follow the data chunks.
    """
    data_chunks = 1
    all_chunks = 1
    if layout.kind is not LayoutKind.REPLICATED:
        data_chunks = layout.data
        all_chunks = layout.nodes
    block_bytes = data_chunks * CHUNK_BYTES
    for number, start in enumerate(range(0, size, block_bytes)):
        first = number * all_chunks
        holders = {index: chunks.get(first + index, ()) for index in range(all_chunks)}
        yield min(block_bytes, size - start), holders


STORAGE = Qfs()
