"""A Spark configuration for a minicluster: the user's own, with more properties set."""

import os
import re
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from harness.local_spark import spark_home
from harness.model.errors import BadInput

DEFAULTS = "spark-defaults.conf"
"""The properties file that spark-submit reads if no --properties-file is named."""
_PATH_LIST = re.compile(r"\.extra(Class|Library)Path$")


def write_spark_configuration(directory: Path, properties: Mapping[str, str]) -> None:
    """Create a copy of the user's own Spark configuration in which these properties are set."""
    own = spark_conf_directory()
    if own is not None and own.is_dir():
        shutil.copytree(own, directory, ignore_dangling_symlinks=True)
        for copy in (directory, *directory.rglob("*")):  # an administrator's may be read-only
            copy.chmod(copy.stat().st_mode | stat.S_IWUSR)
    else:
        directory.mkdir()
    defaults = directory / DEFAULTS
    before = defaults.read_bytes() if defaults.exists() else b""  # a comment may not be UTF-8
    after = with_properties(before.decode(errors="surrogateescape"), properties)
    defaults.write_bytes(after.encode(errors="surrogateescape"))


def with_properties(before: str, properties: Mapping[str, str]) -> str:
    """Append properties to the text of a properties file, in which the last value of a key counts.

    A class path or library path that the file sets already is kept at the end of the new path.
    """
    merged = {key: _merged(before, key, value) for key, value in properties.items()}
    return f"{before.rstrip()}\n{properties_text(merged)}".lstrip()


def properties_text(properties: Mapping[str, str]) -> str:
    """Return one property a line, in the format of `--properties-file`."""
    return "".join(f"{key} {value}\n" for key, value in properties.items())


def value_in(text: str, key: str) -> str | None:
    """Return the value of a property in the text of a properties file, the last one; None if it has none."""
    setting = rf"^[ \t]*{re.escape(key)}(?:[ \t]*[=:][ \t]*|[ \t]+)(.*\S)"
    return next(iter(re.findall(setting, text, re.MULTILINE)[-1:]), None)


def _merged(before: str, key: str, value: str) -> str:
    earlier = value_in(before, key) if _PATH_LIST.search(key) else None
    return f"{value}:{earlier}" if earlier else value


def spark_conf_directory() -> Path | None:
    """Return the directory where Spark looks for its configuration; None if no Spark is found."""
    if named := os.environ.get("SPARK_CONF_DIR"):
        return Path(named)
    with suppress(BadInput):
        return spark_home() / "conf"
    return None
