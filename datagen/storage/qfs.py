"""QFS: Reed-Solomon 6+3 by default; what its Hadoop shim can be asked for is little, and misleading.

Through the shim (2.2.8), `fs.qfs.createParams` unset stores rs:6+3:64k whatever `dfs.replication`
says, and set to anything at all it stores 2 copies. Other numbers of copies are made afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from datagen.layout import UNKNOWN, Layout, LayoutKind, coded_layout
from datagen.observed_layout import StoredFiles, StoredFile, replicated_file, striped_file
from datagen.spark.filesystem import Directory
from datagen.storage.metaserver import CHUNK_BYTES, Metaserver
from harness.model.errors import BadInput

PARAMS = "fs.qfs.createParams"
REED_SOLOMON = Layout.parse("rs:6+3:64k")
TWO_COPIES = Layout.parse("replicated:2")
STRIPER_NONE, STRIPER_RS, STRIPER_JERASURE = 1, 2, 3


class Qfs:
    """The attributes come from QFS's Java classes, the chunks' places from the metaserver."""

    name = "qfs"
    scheme = "qfs"
    advice = (
        "name host and port, qfs://host:20000/path, and start Spark with QFS's classes: "
        "`clusterlift qfs conf` prints what goes into spark-submit's --properties-file"
    )

    def check_available(self, directory: Directory) -> None:
        """Without a chunk server, clients try for minutes."""
        if not _servers_up(directory):
            raise BadInput(f"{directory.uri}: no chunk server is connected to the metaserver")

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout | None:
        """The layout, with the shim's cell."""
        if layout is None:
            return None
        if layout.kind is LayoutKind.REPLICATED:
            _check_servers(directory, layout)
            return layout
        if not layout.is_met_by(REED_SOLOMON):
            raise BadInput(
                f"--layout {layout}: through its Hadoop shim QFS stores {REED_SOLOMON} or "
                "replicated:N, and nothing else can be asked for"
            )
        if (params := directory.conf.get(PARAMS)) is not None:
            raise BadInput(
                f"--layout {layout}: {PARAMS} is set, to '{params}', and then QFS's Hadoop shim stores "
                f"{TWO_COPIES}, whatever it is set to; take it out of Spark's and Hadoop's configuration"
            )
        return REED_SOLOMON

    def prepare(self, directory: Directory, layout: Layout | None) -> Mapping[str, str]:
        """The shim reads its key when it is made, so the tasks are to have a shim of their own."""
        if layout is None:
            return {}
        own = {"fs.qfs.impl.disable.cache": "true"}
        return own if layout == REED_SOLOMON else {PARAMS: "2", **own}

    def finish(self, directory: Directory, names: list[str], layout: Layout | None) -> None:
        """Ask for other numbers of copies than two, which the shim always makes."""
        if layout in (None, REED_SOLOMON, TWO_COPIES):
            return
        for name in names:
            with directory.told():
                directory.fs.setReplication(directory.child(name), layout.data)

    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        """Every file with every chunk of it, also of parity, and its servers."""
        attributes = [one for one in _attributes(directory) if one["filename"] in names]
        with _metaserver(directory) as metaserver, _told(directory):
            files = {one["filename"]: _file(one, metaserver) for one in attributes}
            coded = any(file.layout.kind is LayoutKind.REED_SOLOMON for file in files.values())
            return StoredFiles(files, "native" if coded else None, metaserver.buffered_io())

    def why(self, asked: Layout | None, stored: StoredFiles) -> str:
        """The shim's two surprises."""
        if stored.layout == TWO_COPIES != asked:
            return f"QFS's Hadoop shim stores 2 copies if {PARAMS} is set, whatever it is set to"
        if stored.layout == REED_SOLOMON != asked:
            return f"QFS's Hadoop shim stores Reed-Solomon if {PARAMS} is not set, whatever else is"
        return "a chunk server may be down, full or still copying" if stored.missing else ""


def _servers_up(directory: Directory) -> int:
    with _metaserver(directory) as metaserver, _told(directory):
        return metaserver.servers_up()


def _check_servers(directory: Directory, layout: Layout) -> None:
    """Raise BadInput if the chunk servers are too few to ever hold every copy."""
    up = _servers_up(directory)
    if up < layout.nodes:
        raise BadInput(
            f"--layout {layout} needs {layout.nodes} chunk servers, and {directory.uri} has {up}; "
            "start more of them, or ask for another layout"
        )


def _address(directory: Directory) -> tuple[str, int]:
    uri = directory.path.toUri()
    host, port = uri.getHost(), int(uri.getPort())
    if host is None or port < 0:
        raise BadInput(f"{directory.uri}: name the metaserver and its port, qfs://host:20000/path")
    return str(host), port


def _metaserver(directory: Directory) -> Metaserver:
    with _told(directory):
        return Metaserver(*_address(directory))


@contextmanager
def _told(directory: Directory) -> Iterator[None]:
    """While entered, a metaserver that does not answer is told in a line."""
    try:
        yield
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise BadInput(
            f"{directory.uri}: the metaserver does not tell where chunks are ({said}); a QFS that "
            "wants authentication cannot be observed"
        ) from error


def _attributes(directory: Directory) -> list[dict[str, Any]]:
    """What QFS's Java class KfsFileAttr says of each file, in one text."""
    jvm = directory.jvm
    with directory.told():
        listed = _access(jvm, *_address(directory)).kfs_readdirplus(
            str(directory.path.toUri().getPath())
        )
        if listed is None:
            raise BadInput(f"{directory.uri} cannot be listed")
        text = jvm.com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString(listed)
    listing: list[dict[str, Any]] = json.loads(text)
    return listing


@cache
def _access(jvm: Any, host: str, port: int) -> Any:
    """QFS's client, one for all: each holds threads and files until Java happens to collect it."""
    access = jvm.com.quantcast.qfs.access.KfsAccess(host, port)
    access.kfs_setFileAttributeRevalidateTime(0)
    return access


def _layout(attributes: Mapping[str, Any]) -> Layout:
    copies, striper = attributes["replication"], attributes["striperType"]
    if striper == STRIPER_NONE:
        return Layout(LayoutKind.REPLICATED, copies)
    data, parity = attributes["numStripes"], attributes["numRecoveryStripes"]
    if copies != 1 or striper not in (STRIPER_RS, STRIPER_JERASURE):
        return UNKNOWN  # there is no name for stripes that are copied
    return coded_layout(LayoutKind.REED_SOLOMON, data, parity, attributes["stripeSize"])


def _file(attributes: Mapping[str, Any], metaserver: Metaserver) -> StoredFile:
    layout, size = _layout(attributes), attributes["filesize"]
    if layout == UNKNOWN:
        return StoredFile(UNKNOWN, size)
    holders = metaserver.holders(attributes["fileId"]) if size else {}
    if layout.kind is LayoutKind.REED_SOLOMON:
        return striped_file(layout, size, _groups(layout, size, holders))
    starts = range(0, size, CHUNK_BYTES)
    lengths = (min(CHUNK_BYTES, size - start) for start in starts)
    return replicated_file(
        layout, size, [(length, holders.get(i, [])) for i, length in enumerate(lengths)]
    )


def _groups(
    layout: Layout, size: int, holders: Mapping[int, list[str]]
) -> Iterator[tuple[int, Mapping[int, list[str]]]]:
    """Bytes of data in each group of chunks, and the servers of its stripes."""
    group_bytes = layout.data * CHUNK_BYTES
    for number, start in enumerate(range(0, size, group_bytes)):
        first = number * layout.nodes
        stripes = {i: holders.get(first + i, []) for i in range(layout.nodes)}
        yield min(group_bytes, size - start), stripes


STORAGE = Qfs()
