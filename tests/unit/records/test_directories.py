"""Whether results can be written is known before a run waits for anything."""

import errno
import os
import tempfile
from pathlib import Path
from typing import IO

import pytest

from harness.base.errors import BadInput
from harness.records.directories import check_writable, not_writable


def test_a_directory_that_takes_results_is_left_as_it_was(tmp_path: Path) -> None:
    check_writable(tmp_path, "1g")
    assert list((tmp_path / "1g").iterdir()) == []


def test_a_full_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def on_a_full_one(**_: object) -> IO[bytes]:
        return Path("/dev/full").open("wb")

    monkeypatch.setattr(tempfile, "TemporaryFile", on_a_full_one)
    with pytest.raises(BadInput, match="No space left on device; make room there, or "):
        check_writable(tmp_path, "1g")


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "make room there"),
        (errno.EDQUOT, "make room there"),
        (errno.EACCES, "a directory that you may write to"),
        (errno.EROFS, "a directory that you may write to"),
    ],
)
def test_the_advice_is_for_the_reason(number: int, advice: str) -> None:
    error = not_writable(Path("results/1g"), OSError(number, os.strerror(number)))
    assert f"cannot write to results/1g: {os.strerror(number)}; " in str(error)
    assert advice in str(error)
