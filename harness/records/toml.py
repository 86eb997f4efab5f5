"""Reads TOML files strictly: every value has its type, and what nobody reads is a mistake."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import msgspec

from harness.model.errors import BadInput

T = TypeVar("T")
REQUIRED = object()
"""In place of a default: there is none."""
MAX_NUMBER = 2**63


class TomlTable:
    """A table of a TOML file, from which values are taken one by one until `end`.

    `values` are all values; `where` names the file and the table. Every mistake is a BadInput that names
    file, table and key.
    """

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values = values
        self._remaining = dict(values)
        self.where = where

    @classmethod
    def read(cls, file: Path) -> Self:
        """Return the table of the whole file."""
        try:
            return cls(tomllib.loads(file.read_text(encoding="utf-8")), str(file))
        except OSError as error:
            raise BadInput(f"{file}: {error.strerror}") from error
        except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or beyond all bounds
            raise BadInput(f"{file}: {error}") from error

    def __contains__(self, name: str) -> bool:
        return name in self._remaining

    def take(self, name: str, type_: type[T], default: Any = REQUIRED) -> T:
        """Return the value of a key, or the default if the key is absent.

        The type is one that msgspec can convert to, such as `list[str]`.
        """
        if name not in self._remaining:
            self.check(name, default is not REQUIRED, "is missing")
            return cast(T, default)
        value = self._remaining.pop(name)
        if isinstance(value, int | float):
            # Not a number is not in the range either.
            self.check(name, abs(value) <= MAX_NUMBER, f"has to be a number up to {MAX_NUMBER}")
        try:
            return msgspec.convert(value, type_)
        except msgspec.ValidationError as error:
            raise BadInput(f"{self.where}: {name}: {error}") from error

    def tables(self, name: str, minimum: int = 1) -> dict[str, TomlTable]:
        """Return the tables below `name`, by their names. There have to be at least `minimum`."""
        below = self.take(name, dict[str, dict[str, Any]])
        self.check(
            name, len(below) >= minimum, f"has to have {minimum} tables or more: [{name}.NAME]"
        )
        return {key: TomlTable(each, f"{self.where}, {name}.{key}") for key, each in below.items()}

    def check(self, name: str, condition: bool, rule: str) -> None:  # noqa: FBT001  the condition is the point
        """Raise BadInput with the rule for the value of a key unless the condition is true."""
        if not condition:
            raise BadInput(f"{self.where}: {name} {rule}")

    def end(self) -> None:
        """Raise BadInput if there are values that were not taken."""
        if self._remaining:
            raise BadInput(f"{self.where}: unknown key {', '.join(self._remaining)}")
