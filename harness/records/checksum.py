"""Checksums of what is recorded. They find accidents: whoever edits a file can compute them, too."""

import hashlib
import re

CHECKSUM_FORM = ', "checksum": "{}"}}'
"""The end of a line of a results file."""

_WITH_CHECKSUM = re.compile(rb'(.*), "checksum": "([0-9a-f]{16})"\}', re.DOTALL)


def checksum(data: bytes, previous: str = "") -> str:
    """Return 16 hexadecimal digits of the SHA-256 of `data`.

    `previous` is the checksum of the line before. With it, a line that is missing, repeated or moved shows
    in the checksums of the lines after it.
    """
    return hashlib.sha256(previous.encode() + data).hexdigest()[:16]


def split_checksum(line: bytes) -> tuple[bytes, str] | None:
    """Return what the checksum of a line covers, and the checksum; None if the line has no checksum."""
    match = _WITH_CHECKSUM.fullmatch(line)
    return (match[1], match[2].decode()) if match else None
