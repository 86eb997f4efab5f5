"""An output appears whole or not at all, and replaces former outputs of its kind alone."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.model.errors import BadInput
from harness.records import outputs
from harness.records.outputs import OutputKind, write_directory, write_file
from tests.waiting import eventually

ROOT = Path(__file__).parents[3]


def is_page(path: Path) -> bool:
    return path.read_bytes().startswith(b"page")


def has_pages_alone(directory: Path) -> bool:
    return all(map(is_page, directory.iterdir()))


PAGE = OutputKind("a page of ours", is_page)
PAGES = OutputKind("a directory of ours", has_pages_alone)


def pages(text: str = "page", count: int = 3) -> Callable[[Path], None]:
    """Return a function that writes so many pages into a directory."""

    def write(directory: Path) -> None:
        for number in range(count):
            (directory / str(number)).write_text(text)

    return write


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

    def test_anything_else_is_kept(self, place: Path) -> None:
        Path("out").write_text("measurements")
        with pytest.raises(
            BadInput,
            match=r"^--output: out exists and is not a page of ours; choose another name, or move",
        ):
            write_file(Path("out"), b"page 2", PAGE)
        assert contents(place) == {"out": "measurements"}

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

    def test_a_link_to_a_foreign_file_or_to_itself_is_refused(self, place: Path) -> None:
        Path("loop").symlink_to("loop")
        Path("link").symlink_to("other")
        Path("other").write_text("measurements")
        for name in ("loop", "link"):
            with pytest.raises(BadInput, match=f"--output: .*{name}"):
                write_file(Path(name), b"page", PAGE)
        assert Path("other").read_text() == "measurements"

    def test_permissions_are_kept(self, place: Path) -> None:
        Path("out").write_text("page 1")
        Path("out").chmod(0o640)
        write_file(Path("out"), b"page 2", PAGE)
        assert Path("out").stat().st_mode & 0o777 == 0o640

    @pytest.mark.parametrize("name", ["\udcff", "ü" * 127, "a\nb"])
    def test_any_name_will_do(self, place: Path, name: str) -> None:
        write_file(Path(name), b"page", PAGE)
        assert names() == [name]

    @pytest.mark.parametrize("name", ["absent/out", "x" * 300, "/proc/out"])
    def test_a_place_that_cannot_be_written_is_named(self, place: Path, name: str) -> None:
        with pytest.raises(BadInput, match=f"^--output: cannot write {name}: .*; choose another"):
            write_file(Path(name), b"page", PAGE)
        assert names() == []


class TestDirectory:
    @pytest.mark.parametrize("before", [None, 0, 1, 4])
    @pytest.mark.parametrize("exchange", [outputs._exchange, lambda *_: False])
    def test_it_takes_a_free_name_or_replaces_a_former_one_as_a_whole(
        self, place: Path, monkeypatch: pytest.MonkeyPatch, before: int | None, exchange: object
    ) -> None:
        monkeypatch.setattr(outputs, "_exchange", exchange)
        if before is not None:
            Path("out").mkdir()
            pages("page 1", before)(Path("out"))
        write_directory(Path("out"), pages("page 2"), PAGES)
        assert contents(Path("out")) == {str(number): "page 2" for number in range(3)}
        assert names() == ["out"]

    def test_a_foreign_file_protects_the_directory(self, place: Path) -> None:
        write_directory(Path("out"), pages(), PAGES)
        Path("out/notes").write_text("mine")
        before = contents(place / "out")
        with pytest.raises(BadInput, match="out exists and is not a directory of ours; choose"):
            write_directory(Path("out"), pages("page 2"), PAGES)
        assert contents(place / "out") == before

    @pytest.mark.parametrize("name", [".", "..", "inner/.."])
    def test_the_current_directory_stays(self, place: Path, name: str) -> None:
        Path("inner").mkdir()
        os.chdir("inner")
        Path("inner").mkdir()
        with pytest.raises(BadInput, match="--output: "):
            write_directory(Path(name), pages(), OutputKind("", lambda _: True))

    @pytest.mark.parametrize("before", [["above"], []])
    def test_an_error_leaves_what_was_there(self, place: Path, before: list[str]) -> None:
        def fail(directory: Path) -> None:
            pages("page 2", 2)(directory)
            raise OSError(28, "No space left on device")

        if before:
            write_directory(Path("above/out"), pages(), PAGES)
        with pytest.raises(BadInput, match=r"cannot write above/out: No space left on device"):
            write_directory(Path("above/out"), fail, PAGES)
        assert Path("above/out/2").exists() == bool(before)
        assert names() == before

    def test_other_threads_can_write_too(self, place: Path) -> None:
        thread = threading.Thread(target=write_directory, args=(Path("out"), pages(), PAGES))
        thread.start()
        thread.join()
        assert names("out")


PROGRAM = """
import os, sys, time
from pathlib import Path
from harness.records import outputs

def stop(*_):
    Path(sys.argv[2]).touch()
    time.sleep(600)

def write(directory):
    for number in range(3):
        (directory / str(number)).write_text("page 2")
    if sys.argv[1] == "writing":
        stop()

if sys.argv[1] == "renaming":
    outputs._exchange = lambda *_: False
    rename = Path.rename

    def rename_once(path, target):
        Path.rename = rename
        rename(path, target)
        stop()

    Path.rename = rename_once
if sys.argv[1] == "exchanged":
    outputs._remove = stop
kind = outputs.OutputKind("", lambda _: True)
outputs.write_directory(Path("out"), write, kind)
"""


@pytest.fixture
def stopped(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """A function that stops a process, which replaces an output, at a moment, by a signal."""
    marks = tmp_path_factory.mktemp("marks")

    def stop(moment: str, number: signal.Signals) -> None:
        mark = marks / moment
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, moment, mark],
            env={"PYTHONPATH": str(ROOT)},
            stderr=subprocess.DEVNULL,
        ) as process:
            eventually(mark.exists, f"the process is {moment}")
            process.send_signal(number)

    write_directory(place / "out", pages("page 1"), PAGES)
    return stop


class TestKilled:
    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    def test_while_writing_the_former_output_stays(
        self, stopped: Callable[..., None], number: signal.Signals
    ) -> None:
        stopped("writing", number)
        assert set(contents(Path("out")).values()) == {"page 1"}
        assert (len(names()) == 1) == (number != signal.SIGKILL)
        self.assert_the_next_call_leaves_nothing_else()

    def test_after_the_exchange_the_new_output_is_there(self, stopped: Callable[..., None]) -> None:
        stopped("exchanged", signal.SIGKILL)
        assert set(contents(Path("out")).values()) == {"page 2"}
        self.assert_the_next_call_leaves_nothing_else()

    def test_between_two_renames_the_next_call_restores_the_former_output(
        self, stopped: Callable[..., None]
    ) -> None:
        stopped("renaming", signal.SIGKILL)
        assert not Path("out").exists()
        write_file(Path("other"), b"page", PAGE)
        assert set(contents(Path("out")).values()) == {"page 1"}
        Path("other").unlink()
        self.assert_the_next_call_leaves_nothing_else()

    def test_between_two_renames_an_interrupt_restores_it_at_once(
        self, stopped: Callable[..., None]
    ) -> None:
        stopped("renaming", signal.SIGTERM)
        assert set(contents(Path("out")).values()) == {"page 1"}
        assert names() == ["out"]

    def assert_the_next_call_leaves_nothing_else(self) -> None:
        write_directory(Path("out"), pages("page 3"), PAGES)
        assert set(contents(Path("out")).values()) == {"page 3"}
        assert names() == ["out"]


@pytest.mark.usefixtures("place")
def test_what_another_process_is_writing_is_not_removed() -> None:
    def write(directory: Path) -> None:
        write_file(Path("other"), b"page", PAGE)
        pages()(directory)

    write_directory(Path("out"), write, PAGES)
    assert len(contents(Path("out"))) == 3


class TestPlanted:
    """Archives, and others who may write beside an output, can leave a hidden directory there."""

    @pytest.fixture
    def planted(self, place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """A foreign directory, and beside the output a hidden directory that leads there."""
        home = tmp_path_factory.mktemp("home")
        (home / "thesis").write_text("page")
        hidden = place / f"{outputs.PREFIX}x{outputs.SUFFIX}"
        hidden.mkdir()
        (hidden / outputs.FORMER).symlink_to(home)
        return home

    def test_what_is_behind_a_link_stays_there(self, planted: Path) -> None:
        write_file(Path("out"), b"page", PAGE)
        write_directory(Path("outs"), pages(), PAGES)
        assert contents(planted) == {"thesis": "page"}
        assert sorted(names()) == ["out", "outs"]

    def test_nothing_is_left_where_what_one_makes_belongs_to_another_user(
        self, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Some file systems of a network map users."""
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(BadInput, match="cannot write out: it belongs to another user"):
            write_file(Path("out"), b"page", PAGE)
        assert names() == []

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_the_hidden_directory_of_another_user_is_left_alone(self, place: Path) -> None:
        hidden = place / f"{outputs.PREFIX}x{outputs.SUFFIX}"
        (hidden / outputs.FORMER).mkdir(parents=True)
        (hidden / outputs.FORMER / "out").write_text("page")
        os.chown(hidden, 65534, 65534)
        write_file(Path("other"), b"page", PAGE)
        assert sorted(names()) == [hidden.name, "other"]
