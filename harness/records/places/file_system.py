"""HDFS by WebHDFS, and every other file system that fsspec knows."""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.base.errors import BadInput
from harness.records.places.file import reason_of
from harness.records.places.store import every_fault_as_os_error


class FileSystem:
    """A file system of fsspec by a URL, of which `path` is the part that it knows, with its options."""

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        """Raise BadInput if fsspec, or a package that it needs, is not installed, or knows no such URL."""
        self.denied: list[str] = []
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
        faults: list[OSError] = []
        passes_over = {} if self._system.async_impl else {"on_error": faults.append}
        with every_fault_as_os_error():
            details: Mapping[str, Mapping[str, Any]]
            details = self._system.find(top, detail=True, **passes_over)
            if faults and not details:
                raise faults[0]
        self.denied += [reason_of(fault) for fault in faults]
        for path, detail in details.items():
            yield path, int(detail.get("size") or 0)

    def size(self, path: str) -> int:
        with every_fault_as_os_error():
            return int(self._system.info(path)["size"])

    def part(self, path: str, start: int, stop: int) -> bytes:
        with every_fault_as_os_error():
            if self._system.async_impl:
                return bytes(self._system.cat_file(path, start=start, end=stop))
            with self._system.open(path, "rb", cache_type="none") as file:
                file.seek(start)
                return bytes(file.read(stop - start))
