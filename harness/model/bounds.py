"""Bounds of the values in records: annotations of types, which msgspec checks when it reads a value.

Code under `spark-submit` writes records and reads none, so it does not need msgspec.
"""

from __future__ import annotations  # for Python 3.8

__all__ = ["Annotated", "Meta"]

try:
    from typing import Annotated  # novm  Python 3.8 has the class below

    from msgspec import Meta
except ImportError:  # nothing is read

    class Meta:  # type: ignore[no-redef]
        """Bounds that nothing checks."""

        def __init__(self, **bounds: object) -> None:
            """Take any bounds."""

    class Annotated:  # type: ignore[no-redef]
        """A type without its bounds."""

        def __class_getitem__(cls, type_and_bounds: tuple[type, object]) -> type:
            """Return the type."""
            return type_and_bounds[0]


MAX_INTEGER = 2**63 - 1
MAX_QUANTITY = 1e15
"""A measured value is at most this: bits, bytes or packets in a second, of all machines of the world."""
MAX_SECONDS = 1e9
"""30 years: nothing that is recorded lasted longer."""
MIN_MTU_BYTES = 68
MAX_MTU_BYTES = 10**6
"""RFC 791: what every link carries. Interfaces of today have up to 65,536."""

Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
Number = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]
"""Of a round, or of an execution."""
Quantity = Annotated[float, Meta(ge=0, le=MAX_QUANTITY)]
Share = Annotated[float, Meta(ge=0, le=1)]
