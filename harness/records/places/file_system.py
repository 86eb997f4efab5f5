"""HDFS by WebHDFS, and every other file system that fsspec knows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from harness.base.errors import BadInput
from harness.records.places.file import reason_of
from harness.records.places.store import Part, every_fault_as_os_error


class FileSystem:
    """A file system of fsspec by a URL, with options. `path` is the part of the URL that it understands."""

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        """Raise BadInput if fsspec, or a package that it needs, is not installed, or knows no such URL."""
        self.denied: dict[str, str] = {}
        scheme = url.partition("://")[0]
        try:
            from fsspec.core import url_to_fs  # noqa: PLC0415  an extra

            with every_fault_as_os_error():
                self._system, self.path = url_to_fs(url, **options)
        except ImportError as error:
            raise BadInput(
                f"{scheme}:// cannot be read ({error}): install clusterlift with its extra [logs], and "
                "what is named here"
            ) from error
        except OSError as error:
            raise BadInput(f"{scheme}:// cannot be read: {reason_of(error)}") from error

    def files(self, top: str) -> Iterator[tuple[str, int]]:
        with every_fault_as_os_error():
            if self._system.async_impl:
                found = self._system.find(top, detail=True).values()
            else:
                found = self._walked(top)
        for entry in found:
            yield entry["name"], int(entry.get("size") or 0)

    def _walked(self, top: str) -> Iterator[Mapping[str, Any]]:
        """Yield the files at any depth. fsspec itself would pass over directories that are denied."""
        with every_fault_as_os_error():
            itself = self._system.info(top)
        if itself["type"] != "directory":
            yield itself
            return
        directories = [top]
        while directories:
            directory = directories.pop()
            for entry in self._entries(directory, top):
                if entry["type"] == "directory":
                    directories.append(entry["name"])
                else:
                    yield entry

    def _entries(self, directory: str, top: str) -> Sequence[Mapping[str, Any]]:
        try:
            with every_fault_as_os_error():
                entries: Sequence[Mapping[str, Any]] = self._system.ls(directory, detail=True)
        except OSError as error:
            if directory == top:
                raise
            self.denied[directory] = reason_of(error)
            return []
        return entries

    def size(self, path: str) -> int:
        with every_fault_as_os_error():
            return int(self._system.info(path)["size"])

    @contextmanager
    def reading(self, path: str) -> Iterator[Part]:
        yield partial(self._part, path)

    def _part(self, path: str, start: int, stop: int) -> bytes:
        with every_fault_as_os_error():
            if self._system.async_impl:
                return bytes(self._system.cat_file(path, start=start, end=stop))
            with self._system.open(path, "rb", cache_type="none") as file:
                file.seek(start)
                return bytes(file.read(stop - start))
