"""The directory of files that can be made or fetched again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """Return `$XDG_CACHE_HOME/clusterlift` if that path is absolute, else `~/.cache/clusterlift`."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "clusterlift"
