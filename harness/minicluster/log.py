"""The message with which a program ended, from its log.

Standard library only, because docker/Dockerfile copies this file into the image.
"""

from __future__ import annotations

import re
from pathlib import Path

_ERROR = re.compile(r"\b(ERROR|FATAL|\w*(Exception|Error))\b")
_STACK_FRAME = re.compile(r"\s+(at |\.\.\. \d+ more)")


def closing_message(log: Path) -> str:
    """Return the last line of a log that reports an error, or else the last line that is not blank."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return f"cannot read {log}: {error.strerror}"
    lines = [
        line.strip() for line in text.splitlines() if line.strip() and not _STACK_FRAME.match(line)
    ]
    errors = [line for line in lines if _ERROR.search(line)]
    return (errors or lines or ["no message"])[-1]
