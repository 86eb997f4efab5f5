"""Checksums of what is recorded. They find accidents: whoever edits a file can compute them, too."""

import hashlib

FILE_CHECKSUM = b', "sha256": "%s"}'
"""The end of the last line of a results file: the checksum of all bytes before it."""


def checksum(data: bytes) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()[:16]
