"""An unpacked QFS distribution, and the Spark configuration with which Spark can use it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from harness.local_spark import spark_home
from harness.model.errors import BadInput

METASERVER, CHUNKSERVER, PING = "bin/metaserver", "bin/chunkserver", "bin/tools/qfsping"
EXPECTED = (
    "the directory of an unpacked binary tarball of QFS, "
    f"with {METASERVER}, {CHUNKSERVER}, {PING}, lib/libqfs_access.so and lib/hadoop-*-qfs-*.jar"
)
JAVA_API_CLASS = "com/quantcast/qfs/access/KfsAccess.class"
_PATH_LIST = re.compile(r"\.extra(Class|Library)Path$")


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
        self._newest("libqfs_access.so")
        shim = self._newest("hadoop-*-qfs-*.jar")
        return (
            str(shim) if _contains_java_api(shim) else f"{shim}:{self._newest('qfs-access-*.jar')}"
        )

    def spark_properties(self) -> dict[str, str]:
        """Return the properties with which Spark can use `qfs://` URIs. Raises BadInput without jars."""
        classes, libraries = self.class_path(), str(self.libraries)
        return {
            "spark.driver.extraClassPath": classes,
            "spark.executor.extraClassPath": classes,
            "spark.driver.extraLibraryPath": libraries,
            "spark.executor.extraLibraryPath": libraries,
            "spark.hadoop.fs.qfs.impl": "com.quantcast.qfs.hadoop.QuantcastFileSystem2",
            "spark.hadoop.fs.AbstractFileSystem.qfs.impl": "com.quantcast.qfs.hadoop.Qfs",
        }

    def _newest(self, pattern: str) -> Path:
        """Return the file in lib/ with the greatest version in its name. Raises BadInput without any."""
        if files := list(self.libraries.glob(pattern)):
            return max(files, key=lambda file: [int(n) for n in re.findall(r"\d+", file.name)])
        raise self._missing(f"lib/{pattern}")

    def _missing(self, file: str) -> BadInput:
        return BadInput(f"QFS_HOME is {self.directory}, which has no {file}; set it to {EXPECTED}")


def qfs_home() -> QfsHome:
    """Return the QFS that QFS_HOME names. Raises BadInput if the variable is not set."""
    if named := os.environ.get("QFS_HOME"):
        return QfsHome(Path(named).absolute())
    raise BadInput(f"QFS_HOME is not set; set it to {EXPECTED}")


def write_spark_configuration(directory: Path, home: QfsHome) -> None:
    """Create a copy of the user's own Spark configuration in which QFS's properties are set.

    Spark has to know QFS's classes when it starts.
    """
    own = _spark_conf_directory()
    if own is not None and own.is_dir():
        shutil.copytree(own, directory, ignore_dangling_symlinks=True)
    else:
        directory.mkdir()
    defaults = directory / "spark-defaults.conf"
    before = defaults.read_text(encoding="utf-8") if defaults.exists() else ""
    defaults.write_text(with_properties(before, home.spark_properties()), encoding="utf-8")


def with_properties(before: str, properties: Mapping[str, str]) -> str:
    """Append properties to the text of a properties file, in which the last value of a key counts.

    A class path or library path that the file sets already is kept at the end of the new path.
    """
    merged = {key: _merged(before, key, value) for key, value in properties.items()}
    return f"{before.rstrip()}\n{properties_text(merged)}".lstrip()


def properties_text(properties: Mapping[str, str]) -> str:
    """Return one property a line, in the format of `--properties-file`."""
    return "".join(f"{key} {value}\n" for key, value in properties.items())


def _merged(before: str, key: str, value: str) -> str:
    setting = rf"^[ \t]*{re.escape(key)}(?:[ \t]*[=:][ \t]*|[ \t]+)(.*\S)"
    earlier = re.findall(setting, before, re.MULTILINE)
    return f"{value}:{earlier[-1]}" if earlier and _PATH_LIST.search(key) else value


def _spark_conf_directory() -> Path | None:
    """Return the directory where Spark looks for its configuration; None if no Spark is found."""
    if named := os.environ.get("SPARK_CONF_DIR"):
        return Path(named)
    with suppress(BadInput):
        return spark_home() / "conf"
    return None


def _contains_java_api(jar: Path) -> bool:
    try:
        with ZipFile(jar) as archive:
            return JAVA_API_CLASS in archive.namelist()
    except (OSError, BadZipFile) as error:
        raise BadInput(f"QFS_HOME: cannot read {jar}: {error}; unpack QFS again") from error
