"""A directory on any file system that Spark reaches, through Hadoop's FileSystem and py4j."""

from __future__ import annotations  # for Python 3.8

import re
from contextlib import AbstractContextManager, suppress
from copy import copy
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Callable, TypeVar, cast

from py4j.java_gateway import is_instance_of
from pyspark.sql import SparkSession

from datagen.spark import java_packages, scala_context, spark_errors_as_one_line
from harness.base.errors import BadInput

Method = TypeVar("Method", bound=Callable[..., Any])

UNSAFE = frozenset("*?[]{}\\")
MAX_READ_BYTES = 2**28
"""A manifest of a million files has about 100 MB."""
TEMPORARY_PREFIX = "_incomplete."
_STATUS = re.compile(r"(?:, )?\w+Status\{")
_LAST_READ = re.compile(r"access_time=\d+")


@dataclass(frozen=True)
class FileStatus:
    """A file or a directory. `bytes` is its length, and `changed_ms` when it was changed.

    All is what the file system reports, the time in milliseconds since 1970. `is_link` is of HDFS, whose
    links are not followed. A local link is what it leads to.
    """

    name: str
    bytes: int
    is_directory: bool
    changed_ms: int = 0
    is_link: bool = False

    @classmethod
    def of(cls, status: Any) -> FileStatus:
        """Return what a FileStatus of Hadoop says."""
        return cls(
            name=str(status.getPath().getName()),
            bytes=int(status.getLen()),
            is_directory=bool(status.isDirectory()),
            changed_ms=int(status.getModificationTime()),
            is_link=bool(status.isSymlink()),
        )


def listed(statuses: str) -> list[str]:
    """Return what Hadoop prints of each file of an array, sorted, without when it was last read."""
    texts = _STATUS.split(_LAST_READ.sub("", statuses))[1:]
    return sorted(text.rpartition("}")[0] for text in texts)


def _refused_as_bad_input(method: Method) -> Method:
    """Let a method of Directory raise BadInput, with the URI, where the file system refuses something."""

    @wraps(method)
    def checked(directory: Directory, *arguments: Any, **options: Any) -> Any:
        with directory.errors_as_bad_input():
            return method(directory, *arguments, **options)

    return cast("Method", checked)


class Directory:
    """A directory, which need not exist yet.

    `uri` is qualified: it is absolute and has a scheme. `path` is the same as a Hadoop Path. `fs` is
    Hadoop's FileSystem, for operations of one kind of it; use it with `errors_as_bad_input`. `conf` is
    the Hadoop configuration that Spark sends to its tasks, `jvm` the packages of the JVM. Every method
    raises BadInput, with the URI in its message, if the file system cannot be reached or refuses the
    operation.
    """

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self.jvm = java_packages(spark)
        self.conf = scala_context(spark).hadoopConfiguration()
        self._hadoop_fs = self.jvm.org.apache.hadoop.fs
        if not uri or not uri.isprintable() or UNSAFE & set(uri):
            raise BadInput(
                f"{uri!r} cannot be the name of a dataset: choose a name without control characters "
                f"and without {' '.join(sorted(UNSAFE))}, which Spark would take for a pattern"
            )
        self.uri = uri
        with self.errors_as_bad_input():
            path = self._hadoop_fs.Path(uri)
            self.fs = path.getFileSystem(self.conf)
            self.path = self.fs.makeQualified(path)
        self.uri = str(self.path.toString())
        gateway = spark.sparkContext._gateway  # noqa: SLF001
        if is_instance_of(gateway, self.fs, "org.apache.hadoop.fs.LocalFileSystem"):
            # It would leave a hidden checksum beside each small file.
            self.fs = self.fs.getRawFileSystem()

    def errors_as_bad_input(self, context: str = "") -> AbstractContextManager[None]:
        """Turn errors of the file system into a BadInput: the URI, `context`, the root cause."""
        named = self.uri
        if context:
            named = f"{self.uri}: {context}"
        return spark_errors_as_one_line(named, BadInput)

    @property
    def scheme(self) -> str:
        """The scheme of the URI, such as `file`."""
        return str(self.path.toUri().getScheme())

    @property
    def local_path(self) -> str | None:
        """The path on the nodes' own file systems; None on any other."""
        if self.scheme != "file":
            return None
        return str(self.path.toUri().getPath())

    @_refused_as_bad_input
    def has(self, name: str) -> bool:
        """Return whether the directory exists and contains something with this name."""
        return bool(self.fs.exists(self.child(name)))

    @_refused_as_bad_input
    def exists(self) -> bool:
        """Return whether there is a file or a directory at the URI."""
        return bool(self.fs.exists(self.path))

    @_refused_as_bad_input
    def entries(self) -> dict[str, FileStatus]:
        """Return what is in the directory, hidden files too, by name. Raise BadInput for a file."""
        if not self.fs.getFileStatus(self.path).isDirectory():
            raise BadInput(f"{self.uri} is a file, not a directory; name a directory")
        found = [FileStatus.of(status) for status in self.fs.listStatus(self.path)]
        return {entry.name: entry for entry in found}

    @_refused_as_bad_input
    def listing(self) -> list[str]:
        """Return what the file system reports of all files, as texts to be compared, in one call.

        They have names, lengths and times of change, but not when a file was last read.
        """
        # Methods of Java for arrays of objects do not take arrays of another type from py4j.
        statuses = self.jvm.scala.runtime.ScalaRunTime.stringOf(self.fs.listStatus(self.path))
        return listed(str(statuses))

    @_refused_as_bad_input
    def entry(self, name: str) -> FileStatus:
        """Return what the file system reports of something in the directory."""
        return FileStatus.of(self.fs.getFileStatus(self.child(name)))

    @_refused_as_bad_input
    def is_own(self, name: str = "") -> bool:
        """Return whether a file in the directory, or the directory itself, belongs to Hadoop's user."""
        path = self.path
        if name:
            path = self.child(name)
        information = self.jvm.org.apache.hadoop.security.UserGroupInformation
        user = information.getCurrentUser().getShortUserName()
        return bool(self.fs.getFileStatus(path).getOwner() == user)

    @_refused_as_bad_input
    def create(self) -> None:
        """Create the directory and its parents, unless they exist."""
        if not self.fs.mkdirs(self.path) and not self.fs.exists(self.path):
            raise BadInput(f"{self.uri}: the file system refused to create it")

    def create_new(self) -> None:
        """Create the directory in an existing one. Raise BadInput if there is something at the URI.

        Only a local file system does both at once; elsewhere, another client may be in between.
        """
        if self.local_path is None:
            if self.exists():
                raise BadInput(
                    f"{self.uri} exists, and clusterlift has not made it: move it elsewhere"
                )
            self.create()
            return
        try:
            Path(self.local_path).mkdir()
        except OSError as error:
            raise BadInput(f"{self.uri}: {error.strerror}") from error

    def read(self, name: str) -> str:
        """Return the text of a regular file in the directory, decoded as UTF-8."""
        if self.local_path and not Path(self.local_path, name).is_file():
            # Hadoop would wait for what comes out of a pipe.
            raise BadInput(f"{self.uri}: {name} is not a regular file")
        try:
            return self._content(name).decode(errors="replace")
        except BadInput as error:
            # Hadoop closes a coded file that it cannot decode, reads it again, and so hides the reason.
            if "this.decoder" not in str(error):
                raise
            raise BadInput(
                f"{self.uri}: {name} cannot be decoded: too many of its stripes are lost or on nodes that "
                "do not answer"
            ) from error

    @_refused_as_bad_input
    def _content(self, name: str) -> bytes:
        length = int(self.fs.getFileStatus(self.child(name)).getLen())
        if length > MAX_READ_BYTES:
            raise BadInput(f"{self.uri}: {name} is too large: {length:,} bytes")
        # Streams of Java 8 have no readAllBytes().
        to_bytes = self.jvm.org.apache.commons.io.IOUtils.toByteArray
        stream = self.fs.open(self.child(name))
        try:
            return bytes(to_bytes(stream))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Create a file that does not exist yet. A reader never sees it half-written."""
        temporary = f"{TEMPORARY_PREFIX}{name}"
        self.create_file(temporary, text, overwrite=True)
        self.rename(temporary, name)

    @_refused_as_bad_input
    def create_file(self, name: str, text: str, *, overwrite: bool) -> None:
        """Create a file in the directory. Raise BadInput if it exists, unless `overwrite`."""
        stream = self.fs.create(self.child(name), overwrite)
        try:
            with self.errors_as_bad_input():
                stream.write(bytearray(text.encode()))
                stream.close()
        except BadInput:  # such as a full disk: what is there has not the whole text
            with suppress(BadInput), self.errors_as_bad_input():
                stream.close()
            with suppress(BadInput):
                self.delete(name)
            raise

    @_refused_as_bad_input
    def rename(self, name: str, new_name: str) -> None:
        """Give a file in the directory another name, which nothing may have."""
        if not self.fs.rename(self.child(name), self.child(new_name)):
            raise BadInput(f"{self.uri}: the file system refused to rename {name} to {new_name}")

    def delete(self, name: str) -> None:
        """Delete a file, or an empty directory, if it exists."""
        self._delete(self.child(name))

    def remove_empty(self) -> None:
        """Delete the directory. Raise BadInput if there is something in it."""
        self._delete(self.path)

    @_refused_as_bad_input
    def _delete(self, path: Any) -> None:
        is_gone = self.fs.delete(path, False)  # noqa: FBT003  never with what is in it
        if not is_gone and self.fs.exists(path):
            raise BadInput(f"{path.toString()}: the file system refused to delete it")

    def child(self, name: str) -> Any:
        """Return the Hadoop Path of a file in the directory."""
        return self._hadoop_fs.Path(self.path, name)

    def below(self, name: str) -> Directory:
        """Return a directory in this one, which need not exist yet."""
        found = copy(self)
        found.path = self.child(name)
        found.uri = str(found.path.toString())
        return found
