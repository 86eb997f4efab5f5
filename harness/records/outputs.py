"""Writes files that a user names: whole or not at all, and only over an earlier output of the same kind."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import BadInput
from harness.records.files import readable_by_others, sync


@dataclass(frozen=True)
class OutputKind:
    """A kind of output: `name`, such as `a report of clusterlift`, and how to recognise a former one.

    `option` is the one by which a user chooses the path.
    """

    name: str
    is_former: Callable[[Path], bool]
    option: str = "--output"


def write_file(output: Path, data: bytes, kind: OutputKind) -> None:
    """Write a file, or replace a former one of its kind. A symbolic link keeps pointing at it.

    Raise BadInput, which names the option, if the file cannot be written, or if something else exists there.
    """
    try:
        if output.exists():
            _check_replaceable(output, kind)
        target = Path(os.path.realpath(output))
        new = target.with_name(f".clusterlift-{secrets.token_hex(8)}")
        try:
            with open(new, "xb", opener=readable_by_others) as file:
                file.write(data)
            sync(new)
            if target.exists():
                shutil.copymode(target, new)
            new.replace(target)
            sync(target.parent)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(
            f"{kind.option}: cannot write {output}: {error.strerror or error}; choose another path"
        ) from error


def _check_replaceable(output: Path, kind: OutputKind) -> None:
    if not output.is_file():
        raise BadInput(
            f"{kind.option}: {output} exists and is not a regular file; choose another name"
        )
    if output.stat().st_size and not kind.is_former(output):
        raise BadInput(
            f"{kind.option}: {output} exists and is not {kind.name}; choose another name, or move it "
            "elsewhere"
        )
