"""A TOML file that is taken to pieces; what nobody takes is a mistake."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from harness.errors import BadInput

T = TypeVar("T")


class TomlTable:
    """A table, and where it stands: every complaint is a BadInput that says so."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._left = dict(values)
        self.where = where

    @classmethod
    def read(cls, file: Path) -> Self:
        """The whole file."""
        try:
            return cls(tomllib.loads(file.read_text(encoding="utf-8")), str(file))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise BadInput(f"{file}: {getattr(error, 'strerror', None) or error}") from error

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(self, name: str, kind: type[T]) -> T:
        """The value, of this kind; a whole number is a float, too."""
        if name not in self._left:
            raise BadInput(f"{self.where}: {name} is missing")
        value = self._left.pop(name)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise BadInput(f"{self.where}: {name} is not of this kind: {value!r}")
        return value

    def tables(self, name: str) -> dict[str, TomlTable]:
        """The tables below `name`, one or more."""
        below = self.take(name, dict)
        if not below or not all(isinstance(one, dict) for one in below.values()):
            raise BadInput(f"{self.where}: {name} has to have tables: [{name}.NAME]")
        return {key: TomlTable(one, f"{self.where}, {name}.{key}") for key, one in below.items()}

    def end(self) -> None:
        """Complain of what is left."""
        if self._left:
            raise BadInput(f"{self.where}: {', '.join(self._left)}: nothing is known by that name")
