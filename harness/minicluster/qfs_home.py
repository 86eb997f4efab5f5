"""An unpacked QFS distribution, and the properties with which Spark can use it."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import BadInput

METASERVER = "bin/metaserver"
CHUNKSERVER = "bin/chunkserver"
PING = "bin/tools/qfsping"
EXPECTED = (
    "the directory of an unpacked binary tarball of QFS, "
    f"with {METASERVER}, {CHUNKSERVER}, {PING}, lib/libqfs_access.so and lib/hadoop-*-qfs-*.jar"
)


@dataclass(frozen=True)
class QfsHome:
    """A directory with the structure of QFS's binary tarballs."""

    directory: Path

    @property
    def libraries(self) -> Path:
        """The directory of the native libraries and of the jars."""
        return self.directory / "lib"

    def program(self, name: str) -> Path:
        """Return the path of a program. Raise BadInput if it cannot be run."""
        path = self.directory / name
        if not os.access(path, os.X_OK):
            raise self._missing(name)
        return path

    def jars(self) -> list[Path]:
        """Return the jars that Spark needs. Raise BadInput without any.

        These are the jar for the newest Hadoop and, unless that contains it, QFS's own Java API.
        """
        self._newest("libqfs_access.so")
        jars = [self._newest("hadoop-*-qfs-*.jar")]
        if any(self.libraries.glob("qfs-access-*.jar")):
            jars.append(self._newest("qfs-access-*.jar"))
        return jars

    def spark_properties(self) -> dict[str, str]:
        """Return the properties with which Spark can use `qfs://` URIs. Raise BadInput without jars."""
        classes = ":".join(str(jar) for jar in self.jars())
        libraries = str(self.libraries)
        return {
            "spark.driver.extraClassPath": classes,
            "spark.executor.extraClassPath": classes,
            "spark.driver.extraLibraryPath": libraries,
            "spark.executor.extraLibraryPath": libraries,
            "spark.hadoop.fs.qfs.impl": "com.quantcast.qfs.hadoop.QuantcastFileSystem2",
            "spark.hadoop.fs.AbstractFileSystem.qfs.impl": "com.quantcast.qfs.hadoop.Qfs",
        }

    def _newest(self, pattern: str) -> Path:
        """Return the file in lib/ with the greatest version in its name. Raise BadInput without any."""
        files = list(self.libraries.glob(pattern))
        if not files:
            raise self._missing(f"lib/{pattern}")
        return max(files, key=_version)

    def _missing(self, file: str) -> BadInput:
        return BadInput(f"QFS_HOME is {self.directory}, which has no {file}; set it to {EXPECTED}")


def qfs_home() -> QfsHome:
    """Return the QFS that QFS_HOME names. Raise BadInput if the variable is not set."""
    named = os.environ.get("QFS_HOME")
    if not named:
        raise BadInput(f"QFS_HOME is not set; set it to {EXPECTED}")
    return QfsHome(Path(named).absolute())


def _version(file: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", file.name)]
