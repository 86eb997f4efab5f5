"""Spark's configuration on this machine: the user's own, and a copy of it with more properties set."""

import os
import re
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from harness.base.errors import BadInput
from harness.submit.local_spark import spark_home

DEFAULTS = "spark-defaults.conf"
"""The properties file that spark-submit reads if no --properties-file is named."""
_PATH_LIST = re.compile(r"\.extra(Class|Library)Path$")
_PROPERTY = re.compile(r"^[ \t]*([^\s#!=:][^\s=:]*)(?:[ \t]*[=:][ \t]*|[ \t]+)(.*\S)", re.MULTILINE)


def write_spark_configuration(directory: Path, properties: Mapping[str, str]) -> None:
    """Create a copy of the user's own Spark configuration in which these properties are set."""
    own = spark_conf_directory()
    if own is not None and own.is_dir():
        shutil.copytree(own, directory, ignore_dangling_symlinks=True)
        for copy in [directory, *directory.rglob("*")]:  # an administrator's may be read-only
            copy.chmod(copy.stat().st_mode | stat.S_IWUSR)
    else:
        directory.mkdir()
    defaults = directory / DEFAULTS
    before = b""  # a comment may not be UTF-8
    if defaults.exists():
        before = defaults.read_bytes()
    after = with_properties(before.decode(errors="surrogateescape"), properties)
    defaults.write_bytes(after.encode(errors="surrogateescape"))


def with_properties(before: str, properties: Mapping[str, str]) -> str:
    """Append properties to the text of a properties file, in which the last value of a key counts.

    A class path or library path that the file sets already is kept at the end of the new path.
    """
    earlier = properties_in(before)
    merged = dict(properties)
    for key in properties.keys() & earlier.keys():
        if _PATH_LIST.search(key):
            merged[key] = f"{properties[key]}:{earlier[key]}"
    return f"{before.rstrip()}\n{properties_text(merged)}".lstrip()


def properties_text(properties: Mapping[str, str]) -> str:
    """Return one property a line, in the format of `--properties-file`."""
    return "".join(f"{key} {value}\n" for key, value in properties.items())


def properties_in(text: str) -> dict[str, str]:
    """Return the properties in the text of a properties file."""
    return dict(_PROPERTY.findall(text))


def spark_conf_directory() -> Path | None:
    """Return the directory where Spark looks for its configuration; None if no Spark is found."""
    named = os.environ.get("SPARK_CONF_DIR")
    if named:
        return Path(named)
    with suppress(BadInput):
        return spark_home() / "conf"
    return None
