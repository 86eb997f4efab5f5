"""A TOML file that is taken to pieces; what nobody takes is a mistake."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from harness.model.errors import BadInput

T = TypeVar("T")
REQUIRED = object()
"""In place of a usual value: there is none."""


class TomlTable:
    """A table, and where it stands: every complaint is a BadInput that says so."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values = values
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

    def take(self, name: str, kind: type[T], usual: Any = REQUIRED) -> T:
        """The value, of this kind; a whole number is a float, too. Without one, the usual one."""
        if name not in self._left:
            self.check(name, usual is not REQUIRED, "is missing")
            return cast(T, usual)
        value = self._left.pop(name)
        if kind is float and type(value) is int:
            value = float(value)
        self.check(name, type(value) is kind, f"is not of this kind: {value!r}")
        return cast(T, value)

    def tables(self, name: str, least: int = 1) -> dict[str, TomlTable]:
        """The tables below `name`, at least so many."""
        below = self.take(name, dict)
        self.check(name, len(below) >= least, f"has {least} tables or more: [{name}.NAME]")
        self.check(name, all(isinstance(one, dict) for one in below.values()), "has tables alone")
        return {key: TomlTable(one, f"{self.where}, {name}.{key}") for key, one in below.items()}

    def check(self, name: str, holds: bool, rule: str) -> None:  # noqa: FBT001  the condition is the point
        """Complain of a value, with the rule, unless it holds."""
        if not holds:
            raise BadInput(f"{self.where}: {name} {rule}")

    def end(self) -> None:
        """Complain of what is left."""
        if self._left:
            raise BadInput(f"{self.where}: {', '.join(self._left)}: nothing is known by that name")
