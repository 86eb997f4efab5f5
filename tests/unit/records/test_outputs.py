"""An output appears whole or not at all, and replaces former outputs of its kind alone."""

import os
from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.records.outputs import OutputKind, write_file


def is_page(path: Path) -> bool:
    return path.read_bytes().startswith(b"page")


PAGE = OutputKind("a page of ours", is_page)


def contents(directory: Path) -> dict[str, str]:
    return {str(file.relative_to(directory)): file.read_text() for file in directory.rglob("*")}


def names(directory: str = ".") -> list[str]:
    return [file.name for file in Path(directory).iterdir()]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, an empty one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestFile:
    @pytest.mark.parametrize("before", [None, "", "page 1"])
    def test_it_takes_a_free_name_or_replaces_a_former_one(
        self, place: Path, before: str | None
    ) -> None:
        if before is not None:
            Path("out").write_text(before)
        write_file(Path("out"), b"page 2", PAGE)
        assert contents(place) == {"out": "page 2"}

    @pytest.mark.parametrize("path", ["/dev/null", "fifo", "directory", "/dev/full"])
    def test_what_is_no_file_is_refused_without_opening_it(self, place: Path, path: str) -> None:
        os.mkfifo("fifo")
        Path("directory").mkdir()
        with pytest.raises(BadInput, match=f"--output: {path} exists and is not a regular file"):
            write_file(Path(path), b"page", PAGE)

    def test_a_link_keeps_pointing_at_its_file(self, place: Path) -> None:
        Path("elsewhere").mkdir()
        Path("link").symlink_to("elsewhere/page")
        for text in (b"page 1", b"page 2"):
            write_file(Path("link"), text, PAGE)
            assert Path("link").is_symlink()
            assert Path("elsewhere/page").read_bytes() == text
        assert names("elsewhere") == ["page"]

    def test_a_link_to_a_foreign_file_is_refused(self, place: Path) -> None:
        Path("link").symlink_to("other")
        Path("other").write_text("measurements")
        with pytest.raises(BadInput, match="--output: link exists and is not a page"):
            write_file(Path("link"), b"page", PAGE)
        assert Path("other").read_text() == "measurements"

    def test_permissions_are_kept(self, place: Path) -> None:
        Path("out").write_text("page 1")
        Path("out").chmod(0o640)
        write_file(Path("out"), b"page 2", PAGE)
        assert Path("out").stat().st_mode & 0o777 == 0o640

    @pytest.mark.parametrize("name", ["absent/out", "x" * 300, "/proc/out"])
    def test_a_place_that_cannot_be_written_is_named(self, place: Path, name: str) -> None:
        with pytest.raises(BadInput, match=f"^--output: cannot write {name}: .*; choose another"):
            write_file(Path(name), b"page", PAGE)
        assert names() == []

    def test_what_cannot_be_put_in_place_leaves_nothing(
        self, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("out").write_text("page 1")
        monkeypatch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_file(Path("out"), b"page 2", PAGE)
        assert contents(place) == {"out": "page 1"}


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt
