"""Hadoop's file system in memory, which fails, or is killed with its process, at any of its changes."""

# ruff: noqa: N802  the names of methods are Hadoop's
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

from datagen.filesystem import Directory

COMMONS = SimpleNamespace(
    io=SimpleNamespace(IOUtils=SimpleNamespace(toByteArray=lambda stream: stream.content))
)
"""org.apache.commons. A stream has the methods of Java 8 alone."""


class Killed(BaseException):
    """The process is dead: this is what its next call of the file system raises."""


class Path:
    """org.apache.hadoop.fs.Path: `fake:/a/b`."""

    def __init__(self, base: "Path | str", name: str = "") -> None:
        text = base.text if isinstance(base, Path) else base.removeprefix("fake:")
        self.text: str = str(PurePosixPath(text) / name)

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
    before; it replaces another one at once, and is renamed by a copy and a deletion. `links` are the paths of
    links, with what they lead to. `owners` are those of files that are not of `user`.
    """

    nodes: dict[str, str | None] = field(default_factory=lambda: {"/": None})
    failing_at: int = -1
    after: bool = False
    failure: type[BaseException] = Killed
    is_object_store: bool = False
    changes: int = 0
    dead: bool = False
    links: dict[str, str] = field(default_factory=dict)
    user: str = "me"
    owners: dict[str, str] = field(default_factory=dict)

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

    def resolved(self, path: Path) -> str:
        """Return what a path leads to, behind links."""
        text = path.text
        for link, target in self.links.items():
            if text == link or text.startswith(f"{link}/"):
                return target + text.removeprefix(link)
        return text

    def plant(self, path: str, content: str | None) -> None:
        """Put something there, as another program does; a directory is None."""
        missing = [str(each) for each in PurePosixPath(path).parents if str(each) not in self.nodes]
        self.nodes |= {**dict.fromkeys(missing), path: content}

    def link(self, path: str, target: str) -> None:
        """Put a link there, as another program does."""
        self.plant(str(PurePosixPath(path).parent), None)
        self.links[path] = target

    def snapshot(self) -> dict[str, str | None]:
        """Return all files by their paths; a directory is None, a link begins with `->`."""
        return self.nodes | {path: f"-> {target}" for path, target in self.links.items()}

    # The methods of org.apache.hadoop.fs.FileSystem.

    def exists(self, path: Path) -> bool:
        self.check_alive()
        return self.resolved(path) in self.nodes

    def getFileStatus(self, path: Path) -> Any:
        self.check_alive()
        content = self.nodes[self.resolved(path)]
        return SimpleNamespace(
            getPath=lambda: path,
            getLen=lambda: len(content or ""),
            isDirectory=lambda: content is None,
            getModificationTime=lambda: 0,
            getOwner=lambda: self.owners.get(path.text, self.user),
            isSymlink=lambda: path.text in self.links,
        )

    def listStatus(self, path: Path) -> list[Any]:
        self.check_alive()
        directory = self.resolved(path)
        names = [*self.below(directory.rstrip("/")), *self.links]
        below = [Path(each) for each in names if Path(each).getParent().text == directory]
        return [self.getFileStatus(each) for each in below]

    def mkdirs(self, path: Path) -> bool:
        directory = self.resolved(path)
        parents = PurePosixPath(directory).parents
        missing = [text for text in (directory, *map(str, parents)) if text not in self.nodes]
        if missing:
            self.change(dict.fromkeys(missing))
        return True

    def open(self, path: Path) -> Any:
        self.check_alive()
        text = self.nodes[self.resolved(path)] or ""
        return SimpleNamespace(content=text.encode(), close=lambda: None)

    def create(self, path: Path, overwrite: bool) -> Any:  # noqa: FBT001  Java's signature
        text = self.resolved(path)
        if text in self.nodes and not overwrite:
            raise ValueError(f"{text} exists")
        if self.is_object_store:
            written: list[str] = []
            return SimpleNamespace(
                write=lambda data: written.append(bytes(data).decode()),
                close=lambda: self.change({text: "".join(written)}),
            )
        self.change({text: ""})
        return SimpleNamespace(
            write=lambda data: self.change({text: bytes(data).decode()}),
            close=self.check_alive,
        )

    def delete(self, path: Path, recursive: bool) -> bool:  # noqa: FBT001  Java's signature
        self.check_alive()
        text = self.resolved(path)
        if not recursive and self.below(text):
            raise ValueError(f"{text} is not empty")
        for each in (*reversed(self.below(text)), text):
            if each in self.nodes:
                self.change({}, each)
        return True

    def rename(self, source: Path, target: Path) -> bool:
        self.check_alive()
        if self.resolved(target) in self.nodes:
            return False
        copy = {self.resolved(target): self.nodes[self.resolved(source)]}
        if self.is_object_store:
            self.change(copy)
            copy = {}
        self.change(copy, self.resolved(source))
        return True


def directory(fs: FileSystem, path: str) -> Directory:
    """Return the directory at a path."""
    made = object.__new__(Directory)
    made.fs, made.path, made.uri = fs, Path(path), f"fake:{path}"
    made._hadoop_fs = SimpleNamespace(Path=Path)
    user = SimpleNamespace(getShortUserName=lambda: fs.user)
    information = SimpleNamespace(getCurrentUser=lambda: user)
    security = SimpleNamespace(UserGroupInformation=information)
    apache = SimpleNamespace(hadoop=SimpleNamespace(security=security), commons=COMMONS)
    made.jvm = SimpleNamespace(org=SimpleNamespace(apache=apache))
    return made
