"""Checksums of what is recorded: they find damage and edits, not forgery."""

from __future__ import annotations

import hashlib

DIGITS = 16


def checksum(data: bytes, previous: str = "") -> str:
    """Return 16 hexadecimal digits of the SHA-256 of `data`.

    `previous` is the checksum of the line before. With it, a line that is missing, repeated or moved shows
    in the checksums of the lines after it.
    """
    return hashlib.sha256(previous.encode() + data).hexdigest()[:DIGITS]
