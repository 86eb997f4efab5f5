"""What an unpacked QFS holds: its programs, its libraries, its jars for Hadoop's clients."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from harness.model.errors import BadInput

METASERVER, CHUNKSERVER, PING = "bin/metaserver", "bin/chunkserver", "bin/tools/qfsping"
EXPECTED = (
    "a directory that a binary tarball of QFS was unpacked to, "
    f"with {METASERVER}, {CHUNKSERVER}, {PING}, lib/libqfs_access.so and lib/hadoop-*-qfs-*.jar"
)
JAVA_CLASSES = "com/quantcast/qfs/access/KfsAccess.class"


@dataclass(frozen=True)
class QfsHome:
    """A directory laid out as QFS's binary tarballs are."""

    directory: Path

    @property
    def libraries(self) -> Path:
        """The folder of the native libraries and of the jars."""
        return self.directory / "lib"

    def program(self, name: str) -> Path:
        """One of its programs. Raises BadInput if it cannot be run."""
        path = self.directory / name
        if not os.access(path, os.X_OK):
            raise self._lacks(name)
        return path

    def class_path(self) -> str:
        """The jars that Spark needs: the newest Hadoop's, and QFS's own if that is another."""
        if not (self.libraries / "libqfs_access.so").exists():
            raise self._lacks("lib/libqfs_access.so")
        shims = {_hadoop_version(jar): jar for jar in self.libraries.glob("hadoop-*-qfs-*.jar")}
        if not shims:
            raise self._lacks("lib/hadoop-*-qfs-*.jar")
        shim = shims[max(shims)]
        if _holds_access(shim):
            return str(shim)
        access = sorted(self.libraries.glob("qfs-access-*.jar"))
        if not access:
            raise self._lacks("lib/qfs-access-*.jar")
        return f"{shim}:{access[-1]}"

    def _lacks(self, what: str) -> BadInput:
        return BadInput(f"QFS_HOME is {self.directory}, which lacks {what}; name {EXPECTED}")


def qfs_home() -> QfsHome:
    """What QFS_HOME names. Raises BadInput if it names nothing."""
    if named := os.environ.get("QFS_HOME"):
        return QfsHome(Path(named).absolute())
    raise BadInput(f"QFS_HOME is not set; set it to {EXPECTED}")


def _hadoop_version(jar: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", jar.name.partition("-qfs-")[0])))


def _holds_access(jar: Path) -> bool:
    try:
        with ZipFile(jar) as archive:
            return JAVA_CLASSES in archive.namelist()
    except (OSError, BadZipFile) as error:
        raise BadInput(f"QFS_HOME: cannot read {jar}: {error}; unpack QFS again") from error
