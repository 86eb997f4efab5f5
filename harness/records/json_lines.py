"""Files of JSON Lines that survive being cut off at any byte: what a run and a probe leave behind."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from io import RawIOBase
from pathlib import Path
from typing import Any

from harness.model.errors import BadInput, ClusterliftError


def append_line(file: RawIOBase, path: Path, line: Mapping[str, Any]) -> None:
    """Append a line to an unbuffered file; it is on the disk when this returns.

    Raises ClusterliftError, naming the path, where that cannot be.
    """
    text = json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
    # What has no UTF-8 form, half of a surrogate pair, becomes the JSON escape that means it.
    data = memoryview(text.encode(errors="backslashreplace"))
    try:
        while data:
            data = data[file.write(data) or 0 :]
        os.fsync(file.fileno())
    except OSError as error:
        raise ClusterliftError(
            f"cannot go on writing {path}: {error.strerror}; it holds what came before"
        ) from error


def whole_lines(path: Path) -> tuple[list[str], tuple[str, ...]]:
    """The lines that have their end, and a warning if the last one has none and was skipped.

    Raises BadInput where the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    *whole, rest = text.split("\n")
    cut_off = f"{path}:{len(whole) + 1}: the last line is cut off and was skipped"
    return whole, (cut_off,) if rest else ()
