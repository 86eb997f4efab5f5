"""Spark's configuration for a file system whose classes must be there when Spark starts."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from harness.local_spark import spark_home
from harness.model.errors import BadInput

DEFAULTS = "spark-defaults.conf"
_PATH_LIST = re.compile(r"\.extra(Class|Library)Path$")


def rendered(properties: Mapping[str, str]) -> str:
    """One property a line, as `--properties-file` reads them."""
    return "".join(f"{key} {value}\n" for key, value in properties.items())


def write_conf_directory(place: Path, properties: Mapping[str, str]) -> None:
    """A copy of the user's own configuration with these properties over it."""
    own = _own_directory()
    if own is not None and own.is_dir():
        shutil.copytree(own, place, ignore_dangling_symlinks=True)
    else:
        place.mkdir()
    defaults = place / DEFAULTS
    before = defaults.read_text(encoding="utf-8") if defaults.exists() else ""
    defaults.write_text(overlaid(before, properties), encoding="utf-8")


def overlaid(before: str, properties: Mapping[str, str]) -> str:
    """A properties file with more at its end: the last of a key counts; path lists are joined."""
    joined = {key: _joined(before, key, value) for key, value in properties.items()}
    return f"{before.rstrip()}\n{rendered(joined)}".lstrip()


def _joined(before: str, key: str, value: str) -> str:
    setting = rf"^[ \t]*{re.escape(key)}(?:[ \t]*[=:][ \t]*|[ \t]+)(.*\S)"
    there = re.findall(setting, before, re.MULTILINE)
    return f"{value}:{there[-1]}" if there and _PATH_LIST.search(key) else value


def _own_directory() -> Path | None:
    """Where Spark would look by itself."""
    if named := os.environ.get("SPARK_CONF_DIR"):
        return Path(named)
    with suppress(BadInput):  # without a Spark here there is nothing to keep
        return spark_home() / "conf"
    return None
