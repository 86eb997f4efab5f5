"""A staging directory: where a driver on the cluster leaves what its submitter fetches.

It is on the cluster's default file system, readable by its owner alone, and contains

- `<number>.<name>`: what the driver delivers, in order;
- `lease.<number>`: the submitter renames it every few seconds, and deletes it to end the driver.
"""

import re
from typing import Any, Self

from pyspark import SparkContext

from harness.model.errors import ClusterliftError

CONSOLE, EXIT_CODE = "console", "exit"
"""The names of what is no file of results: text that the driver printed, and its exit code."""

_LEASE = "lease."
_PART = re.compile(r"\d{6}\.[\w-][\w.-]*")
_PRIVATE = "700"


class Staging:
    """A staging directory that exists. Its methods raise py4j's errors if the file system fails."""

    def __init__(self, hadoop: "Hadoop", uri: str) -> None:
        self.uri = uri
        self._hadoop = hadoop
        self._path = hadoop.package.fs.Path(uri)
        self._fs = self._path.getFileSystem(hadoop.conf)

    @classmethod
    def create(cls, hadoop: "Hadoop", name: str) -> Self:
        """Create the directory, with a lease, where Spark on YARN keeps its own."""
        package, conf = hadoop.package.fs, hadoop.conf
        chosen = hadoop.jvm.System.getProperty("spark.yarn.stagingDir")
        parent = package.Path(chosen) if chosen else package.FileSystem.get(conf).getHomeDirectory()
        path = package.Path(parent, name)
        fs = path.getFileSystem(conf)
        mode = package.permission.FsPermission(_PRIVATE)
        if not fs.mkdirs(path, mode):
            raise ClusterliftError(f"{path.toString()} cannot be created")
        staging = cls(hadoop, str(fs.makeQualified(path).toString()))
        staging._write(f"{_LEASE}0", b"")
        return staging

    def put(self, number: int, name: str, content: bytes) -> None:
        """Leave a part, which appears as a whole or not at all; leaving it again changes nothing.

        Raises OSError if the directory was removed.
        """
        if not self._fs.exists(self._path):  # Hadoop would create it
            raise FileNotFoundError(f"{self.uri} was removed")
        temporary, final = f".{number:06}", f"{number:06}.{name}"
        self._write(temporary, content)
        if not (self._rename(temporary, final) or self._fs.exists(self._child(final))):
            raise OSError(f"{self.uri} refused the file {final}")

    def take(self, part: str) -> bytes:
        """Return the content of a part."""
        stream = self._fs.open(self._child(part))
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def parts(self) -> list[str]:
        """Return the names of all parts, in order."""
        return sorted(name for name in self._names() if _PART.fullmatch(name))

    def lease(self) -> str | None:
        """Return the name of the lease, another one after each renewal; None if there is none."""
        return next((name for name in self._names() if name.startswith(_LEASE)), None)

    def renew(self) -> None:
        """Rename the lease; a directory that was removed has none."""
        if lease := self.lease():
            self._rename(lease, f"{_LEASE}{int(lease.removeprefix(_LEASE)) + 1}")

    def release(self) -> None:
        """Delete the lease: the driver ends."""
        if lease := self.lease():
            self.delete(lease)

    def delete(self, name: str) -> None:
        self._fs.delete(self._child(name), False)  # noqa: FBT003  Java's signature

    def remove(self) -> None:
        """Delete the directory with everything in it, if it exists."""
        self._fs.delete(self._path, True)  # noqa: FBT003  Java's signature

    def _names(self) -> list[str]:
        """Return the names in the directory; none if it was removed."""
        if not self._fs.exists(self._path):
            return []
        return [str(status.getPath().getName()) for status in self._fs.listStatus(self._path)]

    def _write(self, name: str, content: bytes) -> None:
        stream = self._fs.create(self._child(name), True)  # noqa: FBT003  Java's signature
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def _rename(self, name: str, new: str) -> bool:
        return bool(self._fs.rename(self._child(name), self._child(new)))

    def _child(self, name: str) -> Any:
        return self._hadoop.package.fs.Path(self._path, name)


class Hadoop:
    """Hadoop's classes and configuration, as spark-submit set them up; no Spark context is needed."""

    def __init__(self) -> None:
        context: Any = SparkContext
        context._ensure_initialized()  # noqa: SLF001  it connects to the JVM, and starts nothing there
        self.jvm: Any = context._jvm  # noqa: SLF001
        self.package: Any = self.jvm.org.apache.hadoop
        self.conf: Any = self.jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf()
