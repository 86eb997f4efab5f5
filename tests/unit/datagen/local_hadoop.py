"""Hadoop's local file system as Python has it: it follows links, and is killed at any of its changes."""

# ruff: noqa: N802  the names of methods are Hadoop's
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path as LocalPath
from types import SimpleNamespace
from typing import Any

from datagen.filesystem import Directory

from .fake_hadoop import COMMONS, Killed


class Path:
    """org.apache.hadoop.fs.Path: `file:/a/b`."""

    def __init__(self, base: "Path | str", name: str = "") -> None:
        self.local: LocalPath = LocalPath(base.local if isinstance(base, Path) else base, name)

    def toString(self) -> str:
        return f"file:{self.local}"

    def getName(self) -> str:
        return self.local.name

    def toUri(self) -> Any:
        return SimpleNamespace(getScheme=lambda: "file", getPath=lambda: str(self.local))


@dataclass
class LocalFileSystem:
    """Real files below `root`, which stands for `/`; change number `failing_at` kills the process."""

    root: LocalPath
    failing_at: int = -1
    after: bool = False
    changes: int = 0
    dead: bool = False
    foreign: dict[str, str | None] = field(default_factory=dict)

    def change(self, act: Any) -> Any:
        self.check_alive()
        failing = self.changes == self.failing_at
        self.changes += 1
        done = act() if not failing or self.after else None
        if failing:
            self.dead = True
            raise Killed
        return done

    def check_alive(self) -> None:
        if self.dead:
            raise Killed

    def at(self, path: str) -> LocalPath:
        return self.root / path.lstrip("/")

    def plant(self, path: str, content: str | None) -> None:
        """Put something there, as another program does; a directory is None."""
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            self.at(path).mkdir(exist_ok=True)
        else:
            self.at(path).write_text(content)

    def link(self, path: str, target: str) -> None:
        """Put a link there, as another program does."""
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        self.at(path).symlink_to(self.at(target))

    def snapshot(self) -> dict[str, str | None]:
        """Return all files by their paths; a directory is None, a link begins with `->`."""
        found: dict[str, str | None] = {}
        for directory, directories, files in os.walk(self.root):
            for name in (*directories, *files):
                path = LocalPath(directory, name)
                shown = f"/{path.relative_to(self.root)}"
                if path.is_symlink():
                    found[shown] = f"-> {path.readlink()}"
                else:
                    found[shown] = None if path.is_dir() else path.read_text()
        return found

    # The methods of org.apache.hadoop.fs.FileSystem.

    def exists(self, path: Path) -> bool:
        self.check_alive()
        return path.local.exists()

    def getFileStatus(self, path: Path) -> Any:
        self.check_alive()
        status = path.local.stat()
        return SimpleNamespace(
            getPath=lambda: path,
            getLen=lambda: status.st_size,
            isDirectory=path.local.is_dir,
            getModificationTime=lambda: 0,
            getOwner=lambda: "me",
            isSymlink=lambda: False,
        )

    def listStatus(self, path: Path) -> list[Any]:
        self.check_alive()
        return [
            self.getFileStatus(Path(path, each.name))
            for each in path.local.iterdir()
            if each.exists()
        ]

    def mkdirs(self, path: Path) -> bool:
        if not path.local.is_dir():
            self.change(lambda: path.local.mkdir(parents=True))
        return True

    def open(self, path: Path) -> Any:
        self.check_alive()
        content = path.local.read_bytes()
        return SimpleNamespace(content=content, close=lambda: None)

    def create(self, path: Path, overwrite: bool) -> Any:  # noqa: FBT001  Java's signature
        if path.local.exists() and not overwrite:
            raise ValueError(f"{path.local} exists")
        self.change(lambda: path.local.write_bytes(b""))
        return SimpleNamespace(
            write=lambda data: self.change(lambda: path.local.write_bytes(bytes(data))),
            close=self.check_alive,
        )

    def delete(self, path: Path, recursive: bool) -> bool:  # noqa: FBT001  Java's signature
        if recursive:
            shutil.rmtree(path.local)
        elif path.local.is_dir() and not path.local.is_symlink():
            self.change(path.local.rmdir)
        elif path.local.exists():
            self.change(path.local.unlink)
        return True

    def rename(self, source: Path, target: Path) -> bool:
        self.change(lambda: source.local.rename(target.local))
        return True


class MortalOs:
    """The module `os` of a process that can be killed at each change which it makes."""

    def __init__(self, fs: LocalFileSystem) -> None:
        self._fs = fs

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        if name not in {"rename", "unlink", "rmdir", "mkdir", "link"}:
            return found
        return lambda *given, **named: self._fs.change(lambda: found(*given, **named))


def directory(fs: LocalFileSystem, path: str) -> Directory:
    """Return the directory at a path."""
    made = object.__new__(Directory)
    made.fs = fs
    made.path = Path(str(fs.at(path)))
    made.uri = f"file:{fs.at(path)}"
    made._hadoop_fs = SimpleNamespace(Path=Path)
    apache = SimpleNamespace(commons=COMMONS)
    made.jvm = SimpleNamespace(org=SimpleNamespace(apache=apache))
    return made
