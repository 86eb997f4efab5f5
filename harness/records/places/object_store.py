"""Object stores that Arrow can read: S3, servers that speak its protocol, and Google's."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, NamedTuple

from harness.base.errors import BadInput
from harness.records.places.google import faults_of_google, google_store
from harness.records.places.store import Part, every_fault_as_os_error

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_CONNECT_S = 10
_ANSWER_S = 60


def s3_store(fs: Any, bucket: str) -> Any:
    """Return the file system of `pyarrow.fs`, with the credentials that AWS's own tools use."""
    options: dict[str, Any] = {"connect_timeout": _CONNECT_S, "request_timeout": _ANSWER_S}
    endpoint = _first_of(os.environ, _ENDPOINTS)
    if endpoint:
        options["endpoint_override"] = endpoint
    elif not _first_of(os.environ, ("AWS_REGION", "AWS_DEFAULT_REGION")):
        options["region"] = fs.resolve_s3_region(bucket)
    return fs.S3FileSystem(**options)


def _first_of(values: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((values[name] for name in names if values.get(name)), "")


class Kind(NamedTuple):
    """What makes the file system of a bucket, and what makes OSErrors of its faults."""

    make: Callable[[Any, str], Any]
    faults: Callable[[], AbstractContextManager[None]]


_S3 = Kind(s3_store, every_fault_as_os_error)
_GOOGLE = Kind(google_store, faults_of_google)
SCHEMES = {"s3": _S3, "s3a": _S3, "s3n": _S3, "gs": _GOOGLE, "gcs": _GOOGLE}


class ObjectStore:
    """A bucket of S3 or Google, with the credentials that their own tools use."""

    def __init__(self, scheme: str, bucket: str) -> None:
        """Raise BadInput if Arrow is not installed, or lacks this kind of store."""
        self.denied: dict[str, str] = {}
        kind = SCHEMES[scheme]
        self._faults = kind.faults
        try:
            from pyarrow import fs  # noqa: PLC0415  an extra

            with self._faults():
                self._system = kind.make(fs, bucket)
        except ImportError as error:
            raise BadInput(
                f"{scheme}:// needs pyarrow ({error}): install clusterlift with its extra [logs]"
            ) from error
        self._fs = fs

    def files(self, top: str) -> Iterator[tuple[str, int]]:
        place = top.rstrip("/")
        with self._faults():
            # Who may read what is in a bucket may not see the properties of the bucket itself.
            itself = self._system.get_file_info(place) if "/" in place else None
            if itself and itself.type is self._fs.FileType.File:
                yield itself.path, itself.size
                return
            every = self._system.get_file_info(self._fs.FileSelector(place, recursive=True))
        for each in every:
            if each.type is self._fs.FileType.File:
                yield each.path, each.size

    def size(self, path: str) -> int:
        with self._faults():
            info = self._system.get_file_info(path)
        if info.type is not self._fs.FileType.File:
            raise FileNotFoundError(path)
        size: int = info.size
        return size

    @contextmanager
    def reading(self, path: str) -> Iterator[Part]:
        with self._faults():
            file = self._system.open_input_file(path)
        with file:
            yield partial(self._part, file)

    def _part(self, file: Any, start: int, stop: int) -> bytes:
        with self._faults():
            content: bytes = file.read_at(stop - start, start)
        return content
