"""Checksums of the lines of a results file: each covers all bytes of the file before it.

A line that was changed, removed or moved has a wrong checksum, and so has every line after it. The checksums
find accidents. Anybody can compute them, so they do not prove who wrote a file.
"""

from __future__ import annotations

import hashlib

KEY = b', "sha256": "'
"""The last key of a line, before the checksum."""
DIGITS = 16
"""Hexadecimal digits of a checksum: the beginning of the SHA-256."""
FIRST_VERSION_DIGITS = 64
"""Those in files of schema version 1, where the last line alone has a checksum."""

RESTORE = "the file was damaged or edited; restore it, or move it elsewhere"


class Checksums:
    """The checksums of a file whose lines are added one after the other."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def copy(self) -> Checksums:
        """Return the same, to try a line that may not be written."""
        other = Checksums()
        other._digest = self._digest.copy()
        return other

    def sealed(self, line: bytes) -> bytes:
        """Add a line, which is a JSON object, and return it with its checksum and a line feed."""
        content = line[:-1]
        self._digest.update(content)
        rest = KEY + self._digest.hexdigest()[:DIGITS].encode() + b'"}\n'
        self._digest.update(rest)
        return content + rest

    def check(self, line: bytes, digits: int, *, is_needed: bool) -> None:
        """Add a line that was read, without its line feed.

        Raise ValueError if its checksum is wrong, or missing although it is needed.
        """
        rest = line[-len(KEY) - digits - 2 :]
        has_checksum = rest.startswith(KEY) and rest.endswith(b'"}')
        if not has_checksum:
            if is_needed:
                raise ValueError(f"the line lacks its checksum: {RESTORE}")
            rest = b""
        self._digest.update(line[: len(line) - len(rest)])
        checksum = self._digest.hexdigest()[:digits]
        if has_checksum and rest != KEY + checksum.encode() + b'"}':
            raise ValueError(f"the checksum does not match the file up to here: {RESTORE}")
        self._digest.update(rest + b"\n")
