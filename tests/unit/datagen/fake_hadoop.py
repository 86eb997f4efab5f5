"""Hadoop's file system in memory, which fails, or is killed with its process, at any of its changes."""

# ruff: noqa: N802  the names of methods are Hadoop's
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

from datagen.filesystem import Directory


class Killed(BaseException):
    """The process is dead: this is what its next call of the file system raises."""


class Path:
    """org.apache.hadoop.fs.Path: `fake:/a/b`."""

    def __init__(self, base: "Path | str", name: str = "") -> None:
        text = base.text if isinstance(base, Path) else base.removeprefix("fake:")
        self.text = str(PurePosixPath(text) / name)

    def toString(self) -> str:
        return f"fake:{self.text}"

    def getName(self) -> str:
        return PurePosixPath(self.text).name

    def getParent(self) -> "Path":
        return Path(str(PurePosixPath(self.text).parent))

    def isRoot(self) -> bool:
        return self.text == "/"

    def toUri(self) -> Any:
        return SimpleNamespace(getScheme=lambda: "fake", getPath=lambda: self.text)


@dataclass
class FileSystem:
    """Files by their paths; a directory is None.

    Change number `failing_at`, counted from 0, raises `failure`: before it has changed anything or, if
    `after`, afterwards. Once the failure is Killed, so is every later call. Deleting a directory is as many
    changes as it has entries, and one more. In an object store, a file is there when it is closed, and not
    before; it replaces another one at once, and is renamed by a copy and a deletion.
    """

    nodes: dict[str, str | None] = field(default_factory=lambda: {"/": None})
    failing_at: int = -1
    after: bool = False
    failure: type[BaseException] = Killed
    is_object_store: bool = False
    changes: int = 0
    dead: bool = False

    def change(self, nodes: dict[str, str | None], *removed: str) -> None:
        self.check_alive()
        failing = self.changes == self.failing_at
        self.changes += 1
        if not failing or self.after:
            for path in removed:
                del self.nodes[path]
            self.nodes |= nodes
        if failing:
            self.dead = self.failure is Killed
            raise self.failure("No space left on device")

    def check_alive(self) -> None:
        if self.dead:
            raise Killed

    def below(self, path: str) -> list[str]:
        return [each for each in self.nodes if each.startswith(f"{path}/")]

    # The methods of org.apache.hadoop.fs.FileSystem.

    def exists(self, path: Path) -> bool:
        self.check_alive()
        return path.text in self.nodes

    def getFileStatus(self, path: Path) -> Any:
        self.check_alive()
        content = self.nodes[path.text]
        return SimpleNamespace(
            getPath=lambda: path,
            getLen=lambda: len(content or ""),
            isDirectory=lambda: content is None,
            getModificationTime=lambda: 0,
        )

    def listStatus(self, path: Path) -> list[Any]:
        self.check_alive()
        below = [Path(each) for each in self.below(path.text.rstrip("/"))]
        return [self.getFileStatus(e) for e in below if e.getParent().text == path.text]

    def mkdirs(self, path: Path) -> bool:
        parents = PurePosixPath(path.text).parents
        missing = [text for text in (path.text, *map(str, parents)) if text not in self.nodes]
        if missing:
            self.change(dict.fromkeys(missing))
        return True

    def open(self, path: Path) -> Any:
        self.check_alive()
        text = self.nodes[path.text] or ""
        return SimpleNamespace(readAllBytes=text.encode, close=lambda: None)

    def create(self, path: Path, overwrite: bool) -> Any:  # noqa: FBT001  Java's signature
        if path.text in self.nodes and not overwrite:
            raise ValueError(f"{path.text} exists")
        if self.is_object_store:
            written: list[str] = []
            return SimpleNamespace(
                write=lambda data: written.append(bytes(data).decode()),
                close=lambda: self.change({path.text: "".join(written)}),
            )
        self.change({path.text: ""})
        return SimpleNamespace(
            write=lambda data: self.change({path.text: bytes(data).decode()}),
            close=self.check_alive,
        )

    def delete(self, path: Path, recursive: bool) -> bool:  # noqa: FBT001  Java's signature
        self.check_alive()
        if not recursive and self.below(path.text):
            raise ValueError(f"{path.text} is not empty")
        for each in (*reversed(self.below(path.text)), path.text):
            if each in self.nodes:
                self.change({}, each)
        return True

    def rename(self, source: Path, target: Path) -> bool:
        self.check_alive()
        if target.text in self.nodes:
            return False
        copy = {target.text: self.nodes[source.text]}
        if self.is_object_store:
            self.change(copy)
            copy = {}
        self.change(copy, source.text)
        return True


def directory(fs: FileSystem, path: str) -> Directory:
    """Return the directory at a path."""
    made = object.__new__(Directory)
    made.fs, made.path, made.uri = fs, Path(path), f"fake:{path}"
    made._hadoop_fs = SimpleNamespace(Path=Path)
    return made
