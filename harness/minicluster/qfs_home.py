"""An unpacked QFS distribution: its programs, its libraries, its jars for Hadoop's clients."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from harness.model.errors import BadInput

METASERVER, CHUNKSERVER, PING = "bin/metaserver", "bin/chunkserver", "bin/tools/qfsping"
EXPECTED = (
    "the directory of an unpacked binary tarball of QFS, "
    f"with {METASERVER}, {CHUNKSERVER}, {PING}, lib/libqfs_access.so and lib/hadoop-*-qfs-*.jar"
)
JAVA_API_CLASS = "com/quantcast/qfs/access/KfsAccess.class"


@dataclass(frozen=True)
class QfsHome:
    """A directory with the structure of QFS's binary tarballs."""

    directory: Path

    @property
    def libraries(self) -> Path:
        """The directory of the native libraries and of the jars."""
        return self.directory / "lib"

    def program(self, name: str) -> Path:
        """Return the path of a program. Raises BadInput if it cannot be run."""
        path = self.directory / name
        if not os.access(path, os.X_OK):
            raise self._missing(name)
        return path

    def class_path(self) -> str:
        """Return the jars that Spark needs, separated by colons.

        These are the jar for the newest Hadoop and, unless that jar contains it, QFS's own Java API.
        Raises BadInput if a file is missing.
        """
        if not (self.libraries / "libqfs_access.so").exists():
            raise self._missing("lib/libqfs_access.so")
        shims = {_hadoop_version(jar): jar for jar in self.libraries.glob("hadoop-*-qfs-*.jar")}
        if not shims:
            raise self._missing("lib/hadoop-*-qfs-*.jar")
        shim = shims[max(shims)]
        if _contains_java_api(shim):
            return str(shim)
        access = sorted(self.libraries.glob("qfs-access-*.jar"))
        if not access:
            raise self._missing("lib/qfs-access-*.jar")
        return f"{shim}:{access[-1]}"

    def _missing(self, file: str) -> BadInput:
        return BadInput(f"QFS_HOME is {self.directory}, which has no {file}; set it to {EXPECTED}")


def qfs_home() -> QfsHome:
    """Return the QFS that QFS_HOME names. Raises BadInput if the variable is not set."""
    if named := os.environ.get("QFS_HOME"):
        return QfsHome(Path(named).absolute())
    raise BadInput(f"QFS_HOME is not set; set it to {EXPECTED}")


def _hadoop_version(jar: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", jar.name.partition("-qfs-")[0])))


def _contains_java_api(jar: Path) -> bool:
    try:
        with ZipFile(jar) as archive:
            return JAVA_API_CLASS in archive.namelist()
    except (OSError, BadZipFile) as error:
        raise BadInput(f"QFS_HOME: cannot read {jar}: {error}; unpack QFS again") from error
