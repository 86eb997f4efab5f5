"""Object stores that Arrow can read: S3, servers that speak its protocol, and Google's."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from harness.base.errors import BadInput
from harness.records.places.store import every_fault_as_os_error

SCHEMES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "gcs": "gs"}
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_CONNECT_S = 10
_ANSWER_S = 60


class ObjectStore:
    """A bucket of S3 or Google, with the credentials that their own tools use."""

    def __init__(self, scheme: str, bucket: str) -> None:
        """Raise BadInput if Arrow is not installed, or lacks this kind of store."""
        self.denied: dict[str, str] = {}
        try:
            from pyarrow import fs  # noqa: PLC0415  an extra

            make = {"s3": _s3, "gs": _google}[SCHEMES[scheme]]
            with every_fault_as_os_error():
                self._system = make(fs, bucket)
        except ImportError as error:
            raise BadInput(
                f"{scheme}:// needs pyarrow: install clusterlift with its extra [logs]"
            ) from error
        self._fs = fs

    def files(self, top: str) -> Iterator[tuple[str, int]]:
        with every_fault_as_os_error():
            itself = self._system.get_file_info(top.rstrip("/"))
            if itself.type is self._fs.FileType.File:
                yield itself.path, itself.size
                return
            selector = self._fs.FileSelector(top.rstrip("/"), recursive=True)
            every = self._system.get_file_info(selector)
        for each in every:
            if each.type is self._fs.FileType.File:
                yield each.path, each.size

    def size(self, path: str) -> int:
        with every_fault_as_os_error():
            info = self._system.get_file_info(path)
        if info.type is not self._fs.FileType.File:
            raise FileNotFoundError(path)
        size: int = info.size
        return size

    def part(self, path: str, start: int, stop: int) -> bytes:
        with every_fault_as_os_error(), self._system.open_input_file(path) as file:
            content: bytes = file.read_at(stop - start, start)
        return content


def _s3(fs: Any, bucket: str) -> Any:
    options: dict[str, Any] = {"connect_timeout": _CONNECT_S, "request_timeout": _ANSWER_S}
    endpoint = _first_of(os.environ, _ENDPOINTS)
    if endpoint:
        options["endpoint_override"] = endpoint
    elif not _first_of(os.environ, ("AWS_REGION", "AWS_DEFAULT_REGION")):
        options["region"] = fs.resolve_s3_region(bucket)
    return fs.S3FileSystem(**options)


def _google(fs: Any, _bucket: str) -> Any:
    from datetime import timedelta  # noqa: PLC0415

    return fs.GcsFileSystem(retry_time_limit=timedelta(seconds=_ANSWER_S))


def _first_of(values: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((values[name] for name in names if values.get(name)), "")
