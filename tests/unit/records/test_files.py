"""What lies beside results is opened only if this user made it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.records.directories import locked
from harness.records.files import own_file
from harness.records.outputs import OutputKind, write_file
from harness.records.writer import record_all
from tests.unit.builders import a_run, ok


def test_a_file_is_created_for_this_user_alone_or_opened_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for text in (b"a", b"b"):
        with own_file(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor:
            os.write(descriptor, text)
    assert file.read_bytes() == b"ab"
    assert file.stat().st_mode & 0o777 == 0o600


def give_away(path: Path) -> None:
    path.write_text("precious")
    os.chown(path, 65534, 65534)


PLANTED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link": (lambda path: path.symlink_to("precious"), "Too many levels of symbolic links"),
    "a second name": (
        lambda path: path.hardlink_to(path.parent / "precious"),
        "it is not a file of yours",
    ),
    "a pipe": (os.mkfifo, "it is not a file of yours"),
    "a directory": (os.mkdir, "Is a directory"),
    "another user's": (give_away, "it is not a file of yours"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_nothing_else_is_opened_as_a_file(tmp_path: Path, kind: str) -> None:
    if os.geteuid() and kind == "another user's":
        pytest.skip("only root can give files away")
    plant, reason = PLANTED[kind]
    precious, file = tmp_path / "precious", tmp_path / "lock"
    precious.write_text("precious")
    plant(file)
    with (
        pytest.raises(BadInput, match=f"^the lock cannot be kept in {tmp_path}: {reason}"),
        locked(file, "the lock"),
    ):
        pass
    assert precious.read_text() == "precious"


def test_what_is_written_can_be_changed_by_this_user_alone_whatever_the_umask_is(
    tmp_path: Path,
) -> None:
    def record(directory: Path) -> Path:
        return record_all(directory, a_run(), [ok("pi", 1.5)])

    def output(directory: Path) -> Path:
        page = directory / "page.html"
        write_file(page, b"page", OutputKind("a page", lambda _: True))
        return page

    before = os.umask(0)
    try:
        modes = [write(tmp_path).stat().st_mode & 0o777 for write in (record, output)]
        os.umask(0o077)
        modes.append(record(tmp_path / "hidden").stat().st_mode & 0o777)
    finally:
        os.umask(before)
    assert modes == [0o644, 0o644, 0o600]
