"""Whatever others put beside or into what we write, and wherever we are killed, theirs stays as it is."""

import contextlib
import json
import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datagen import marker as markers
from datagen import removal, written
from datagen.filesystem import Directory
from datagen.manifest import FILE_NAME
from datagen.marker import (
    DATASET,
    DRAFT,
    MARKER,
    Marker,
    attempt_of,
    check_replaceable,
    generating,
)
from datagen.removal import opened, remove
from datagen.written import PURPOSE, SUFFIX, clear_executions, reserved
from harness.base.errors import BadInput, ClusterliftError

from . import fake_hadoop, local_hadoop
from .fake_hadoop import FileSystem, Killed
from .local_hadoop import LocalFileSystem, MortalOs

AnyFileSystem = FileSystem | LocalFileSystem

JOB = "11111111-1111-1111-1111-111111111111"
FOREIGN_JOB = "99999999-9999-9999-9999-999999999999"
PART = f"part-00000-{JOB}-c000.parquet"
FOREIGN_PART = f"part-00000-{FOREIGN_JOB}-c000.parquet"
FOREIGN_TOKEN = "0123456789abcdef"  # noqa: S105  no password
ROWS = "/data/rows"
BESIDE = f"/data/rows{SUFFIX}"
OTHER = "/data/other"
EXECUTION = re.compile(rf"{BESIDE}/[0-9a-f]{{16}}-[12]")


def directory(fs: AnyFileSystem, path: str) -> Directory:
    if isinstance(fs, LocalFileSystem):
        return local_hadoop.directory(fs, path)
    return fake_hadoop.directory(fs, path)


@contextlib.contextmanager
def file_systems(kind: str, place: Path, patch: pytest.MonkeyPatch) -> Iterator[AnyFileSystem]:
    """Provide a file system with two directories of others: a dataset, and one with somebody's work."""
    fs: AnyFileSystem
    if kind == "local":
        fs = LocalFileSystem(place)
        patch.setattr(removal, "os", MortalOs(fs))
    else:
        fs = FileSystem(is_object_store=kind == "object store")
    fs.plant(f"{OTHER}/{FILE_NAME}", json.dumps({"files": {FOREIGN_PART: 1}}))
    fs.plant(f"{OTHER}/{FOREIGN_PART}", "of another dataset")
    fs.plant("/data/work/thesis.tex", "years of work")
    yield fs


@pytest.fixture(params=["local", "hdfs", "object store"])
def fs(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[AnyFileSystem]:
    monkeypatch.setattr(written, "has_ended", lambda _identity: True)
    with file_systems(request.param, tmp_path, monkeypatch) as made:
        yield made


def write_beside(fs: AnyFileSystem, meanwhile: Callable[[Marker], object] = lambda _: None) -> None:
    """Write twice beside the dataset, as two trials do."""
    beside = directory(fs, BESIDE)
    with reserved(beside, lambda: True) as marker:
        for number in (1, 2):
            execution = beside.below(f"{marker.token}-{number}")
            execution.create_new()
            execution.create_file(PART, "rows", overwrite=False)
            meanwhile(marker)
            clear_executions(marker)


def generate(fs: AnyFileSystem, meanwhile: Callable[[Marker], object] = lambda _: None) -> None:
    """Replace the dataset. The names of its files have no token, as with Spark 3."""
    rows = directory(fs, ROWS)
    unfinished = check_replaceable(rows, overwrite=True, reuse=False)
    with generating(rows, taken_over=unfinished, writing_has_ended=lambda: True) as marker:
        uncommitted = rows.below("_temporary").below(str(attempt_of(marker.token)))
        uncommitted.create()
        uncommitted.create_file(f"{PART}", "rows", overwrite=False)
        meanwhile(marker)
        with opened(rows, follow_link=True) as place:
            remove(
                place,
                lambda path, _: path[:2] in {("_temporary",), uncommitted_path(marker)},
                marker.aside,
            )
        rows.create_file(PART, "rows", overwrite=False)
        rows.create_file(DRAFT, json.dumps({"files": {PART: 4}}), overwrite=True)
        marker.check()
        rows.write(FILE_NAME, json.dumps({"files": {PART: 4}}))


def uncommitted_path(marker: Marker) -> tuple[str, str]:
    return "_temporary", str(attempt_of(marker.token))


# What an attacker, or chance, puts there.


def whole_marker(fs: AnyFileSystem, path: str, purpose: str) -> str:
    """Return the text of a marker that was written for this directory and purpose."""
    marker = Marker.put(directory(fs, path), purpose)
    marker.directory.delete(MARKER)
    return marker.text


def left_by_a_killed_run(fs: AnyFileSystem) -> str:
    """Leave what a run that was killed in its first trial leaves. Return the token of its marker."""
    tokens: list[str] = []

    def die(marker: Marker) -> None:
        tokens.append(marker.token)
        fs.dead = True

    with contextlib.suppress(Killed):
        write_beside(fs, die)
    fs.dead = False
    return tokens[0]


@pytest.mark.parametrize(
    "text", ["", "process 1 on far, since 2026", "\0\1\2", "another", "whole "]
)
def test_a_planted_marker_and_a_link_remove_nothing(fs: AnyFileSystem, text: str) -> None:
    fs.plant(f"{BESIDE}/{MARKER}", text)
    fs.link(f"{BESIDE}/{FOREIGN_TOKEN}-1", OTHER)
    before = fs.snapshot()
    with pytest.raises(BadInput, match=r"clusterlift has not made it: move it elsewhere \(first: "):
        write_beside(fs)
    assert fs.snapshot() == before


@pytest.mark.parametrize(
    ("path", "purpose"), [(OTHER, PURPOSE), (BESIDE, DATASET), ("/data/rows2.written", PURPOSE)]
)
def test_a_marker_of_another_directory_or_purpose_removes_nothing(
    fs: AnyFileSystem, path: str, purpose: str
) -> None:
    text = whole_marker(fs, path, purpose)
    token = text.split("\n", maxsplit=1)[0][-16:]
    fs.plant(f"{BESIDE}/{MARKER}", text)
    fs.plant(f"{BESIDE}/{token}-1/{PART}", "rows")
    before = fs.snapshot()
    with pytest.raises(BadInput, match="clusterlift has not made it"):
        write_beside(fs)
    assert fs.snapshot() == before


def test_what_a_killed_run_left_goes_and_a_link_of_its_name_stays(fs: AnyFileSystem) -> None:
    token = left_by_a_killed_run(fs)
    fs.link(f"{BESIDE}/{token}-7", OTHER)
    before = fs.snapshot()
    with pytest.raises(BadInput, match=rf"{token}-7 is not of clusterlift, and stays"):
        write_beside(fs)
    assert fs.snapshot().items() <= before.items()
    assert fs.snapshot().keys() >= {f"{BESIDE}/{token}-7", f"{OTHER}/{FOREIGN_PART}"}
    assert f"{BESIDE}/{token}-1/{PART}" not in fs.snapshot()


@pytest.mark.parametrize("change", [lambda text: text[:-1], lambda text: text[: len(text) // 2]])
def test_a_marker_that_is_cut_removes_nothing(
    fs: AnyFileSystem, change: Callable[[str], str]
) -> None:
    left_by_a_killed_run(fs)
    fs.plant(f"{BESIDE}/{MARKER}", change(str(fs.snapshot()[f"{BESIDE}/{MARKER}"])))
    before = fs.snapshot()
    with pytest.raises(BadInput, match="clusterlift has not made it"):
        write_beside(fs)
    assert fs.snapshot() == before


def test_beside_a_link_nothing_is_written_or_removed(fs: AnyFileSystem) -> None:
    if isinstance(fs, FileSystem):
        pytest.skip("HDFS has links only if it is told to, and object stores have none")
    left_by_a_killed_run(fs)
    fs.at(BESIDE).rename(fs.at("/data/moved"))
    fs.link(BESIDE, "/data/moved")
    before = fs.snapshot()
    with pytest.raises(BadInput, match="is a symbolic link, and nothing is deleted through one"):
        write_beside(fs)
    assert fs.snapshot() == before


def test_a_directory_that_is_exchanged_for_a_link_during_a_run_is_not_followed(
    fs: AnyFileSystem,
) -> None:
    if isinstance(fs, FileSystem):
        pytest.skip("HDFS has links only if it is told to, and object stores have none")
    before: dict[str, str | None] = {}

    def exchange(marker: Marker) -> None:
        fs.plant(f"/data/victim/{marker.token}-1/{FOREIGN_PART}", "years of work")
        fs.plant(f"/data/victim/{MARKER}", marker.text)
        fs.at(BESIDE).rename(fs.at("/data/moved"))
        fs.link(BESIDE, "/data/victim")
        before.update(fs.snapshot())

    with pytest.raises(BadInput, match="is a symbolic link, and nothing is deleted through one"):
        write_beside(fs, exchange)
    assert fs.snapshot() == before


def test_an_empty_directory_is_used_and_stays(fs: AnyFileSystem) -> None:
    fs.plant(BESIDE, None)
    before = fs.snapshot()
    write_beside(fs)
    assert fs.snapshot() == before


def test_a_dataset_that_is_called_like_the_directory_of_a_run_stays(fs: AnyFileSystem) -> None:
    """Also if it is unfinished: its marker is that of a dataset."""
    fs.plant(f"{BESIDE}/{MARKER}", whole_marker(fs, BESIDE, DATASET))
    fs.plant(f"{BESIDE}/{PART}", "rows")
    before = fs.snapshot()
    with pytest.raises(BadInput, match="clusterlift has not made it: move it elsewhere"):
        write_beside(fs)
    assert fs.snapshot() == before


@pytest.mark.parametrize("path", ["", f"/{MARKER}"], ids=["the directory", "the marker"])
def test_what_a_killed_run_of_another_user_left_stays(fs: AnyFileSystem, path: str) -> None:
    left_by_a_killed_run(fs)
    if isinstance(fs, FileSystem):
        fs.owners[f"{BESIDE}{path}"] = "somebody"
    elif os.geteuid():
        pytest.skip("only root can give a file to another user")
    else:
        os.chown(fs.at(f"{BESIDE}{path}"), 12345, -1)
    before = fs.snapshot()
    with pytest.raises(BadInput, match="clusterlift has not made it"):
        write_beside(fs)
    assert fs.snapshot() == before


def test_a_second_name_of_a_marker_is_not_a_marker(fs: AnyFileSystem) -> None:
    if isinstance(fs, FileSystem):
        pytest.skip("only local file systems have hard links")
    left_by_a_killed_run(fs)
    os.link(fs.at(f"{BESIDE}/{MARKER}"), fs.at("/data/work/name"))
    before = fs.snapshot()
    with pytest.raises(BadInput, match="clusterlift has not made it"):
        write_beside(fs)
    assert fs.snapshot() == before


def test_what_is_exchanged_between_the_look_and_the_deletion_is_moved_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a local file system: the file becomes a link and a pipe, the directory a link."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/thesis.tex").write_text("years of work")
    place = tmp_path / "place"
    for name in ("a", "b"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("ours")
    (place / "c").mkdir()
    (place / "c/d").write_text("ours")

    def rename(name: str, new_name: str, **places: int) -> None:
        if (
            (place / name).exists()
            and not (place / name).is_symlink()
            and not (place / name).is_fifo()
        ):
            moved = place / f"{name}.moved"
            (place / name).rename(moved)
            if name == "b":
                os.mkfifo(place / name)
            else:
                (place / name).symlink_to(
                    tmp_path / ("elsewhere/thesis.tex" if name == "a" else "elsewhere")
                )
        real_rename(name, new_name, **places)

    real_rename = os.rename
    attacked = SimpleNamespace(**{name: getattr(os, name) for name in dir(os) if name[0] != "_"})
    attacked.rename = rename
    monkeypatch.setattr(removal, "os", attacked)
    with opened_locally(place) as opened_place:
        stays = remove(opened_place, lambda path, _: not path[0].endswith(".moved"), "_aside")
    assert set(stays) == {"a", "a.moved", "b", "b.moved", "c", "c.moved"}
    assert (place / "a").is_symlink()
    assert (place / "b").is_fifo()
    assert (place / "c").is_symlink()
    assert (place / "c.moved/d").read_text() == "ours"
    assert (tmp_path / "elsewhere/thesis.tex").read_text() == "years of work"
    assert not (place / "_aside").exists()


def test_an_exchanged_directory_below_is_not_entered(tmp_path: Path) -> None:
    """A link that takes the place of a directory after it was listed cannot be opened."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "place").mkdir()
    (tmp_path / "place/link").symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(BadInput, match="file:place/link: Not a directory"),
        opened_locally(tmp_path / "place") as place,
        place.below("link"),
    ):
        pass


def opened_locally(place: Path) -> contextlib.AbstractContextManager[removal.Place]:
    asked: Any = SimpleNamespace(uri="file:place", local_path=str(place))
    return opened(asked, follow_link=False)


@pytest.mark.parametrize("mode", [0o777, 0o755, 0o701])
def test_nothing_is_moved_into_a_directory_that_others_can_enter(tmp_path: Path, mode: int) -> None:
    """They could exchange what is there between the look and the deletion."""
    (tmp_path / "rows").write_text("ours")
    (tmp_path / "_aside").mkdir()
    (tmp_path / "_aside").chmod(mode)
    with (
        pytest.raises(BadInput, match="it is not a directory of yours alone"),
        opened_locally(tmp_path) as place,
    ):
        remove(place, lambda *_: True, "_aside")
    assert (tmp_path / "rows").read_text() == "ours"


def test_nothing_is_moved_into_a_directory_of_another_user(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a directory to another user")
    (tmp_path / "rows").write_text("ours")
    (tmp_path / "_aside").mkdir(0o700)
    os.chown(tmp_path / "_aside", 12345, -1)
    with (
        pytest.raises(BadInput, match="it is not a directory of yours alone"),
        opened_locally(tmp_path) as place,
    ):
        remove(place, lambda *_: True, "_aside")
    assert (tmp_path / "rows").read_text() == "ours"


def test_what_comes_out_of_a_pipe_is_no_marker(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / MARKER)
    writer = os.open(tmp_path / MARKER, os.O_RDWR)
    try:
        os.write(writer, b"a whole marker\n")
        os.set_blocking(writer, False)
        with opened_locally(tmp_path) as place:
            assert place.text(MARKER) is None
    finally:
        os.close(writer)


def test_a_process_whose_marker_was_replaced_clears_nothing_and_withdraws_no_other(
    fs: AnyFileSystem,
) -> None:
    rows = directory(fs, ROWS)
    fs.plant(f"{ROWS}/{FILE_NAME}", json.dumps({"files": {PART: 4}}))
    fs.plant(f"{ROWS}/{PART}", "rows")
    own = Marker.put(rows, DATASET)
    Marker.put(rows, DATASET, taken_over=own)
    with pytest.raises(ClusterliftError, match="another process took over writing"):
        markers._clear(own)
    with opened(rows, follow_link=True) as place:
        own.withdraw(place)
    assert fs.snapshot().keys() >= {f"{ROWS}/{MARKER}", f"{ROWS}/{PART}"}


# The directory of a dataset.


@pytest.mark.parametrize(
    "path",
    [
        FOREIGN_PART,
        f"_temporary/0/_temporary/attempt_202611281200_0001_m_000000_1/{FOREIGN_PART}",
        "_temporary/0/task_202611281200_0001_m_000000/x",
        "_incomplete.notes",
        "_incomplete.part-1.parquet",
        DRAFT + "x",
        f"part-{FOREIGN_TOKEN}-00000-{FOREIGN_JOB}-c000.parquet",
        f".{FOREIGN_PART}.crc",
        "_day=1/x.parquet",
    ],
)
@pytest.mark.parametrize("was_killed", [False, True])
def test_what_others_put_into_a_dataset_is_named_and_stays(
    fs: AnyFileSystem, path: str, *, was_killed: bool
) -> None:
    """Such as part files that the user's own Spark appended, or the uncommitted files of another program."""

    def die(_marker: Marker) -> None:
        fs.dead = True

    generate(fs)
    if was_killed:
        with contextlib.suppress(Killed):
            generate(fs, die)
        fs.dead = False
    fs.plant(f"{ROWS}/{path}", "of others")
    before = fs.snapshot()
    first = path.split("/", maxsplit=1)[0]
    with pytest.raises(
        BadInput, match=rf"not part of a dataset \(first: {first}.*move it elsewhere"
    ):
        generate(fs)
    assert fs.snapshot() == before


def test_what_others_put_into_a_dataset_while_it_is_replaced_stays(fs: AnyFileSystem) -> None:
    def append(_marker: Marker) -> None:
        fs.plant(f"{ROWS}/{FOREIGN_PART}", "of others")
        raise ClusterliftError("the disk is full")

    generate(fs)
    with pytest.raises(ClusterliftError, match="the disk is full"):
        generate(fs, append)
    assert fs.snapshot()[f"{ROWS}/{FOREIGN_PART}"] == "of others"


# Histories.


class History:
    """A random sequence of commands, some killed, and of what others do meanwhile."""

    def __init__(self, fs: AnyFileSystem, chance: random.Random) -> None:
        self.fs = fs
        self.chance = chance
        self.foreign = fs.snapshot()

    def plant(self, *_: object) -> None:
        """Put something into one of our places, as another program or an attacker does."""
        places = [f"{ROWS}", BESIDE, f"{BESIDE}/{FOREIGN_TOKEN}-1", f"{ROWS}/_temporary/0"]
        places += [path for path in self.fs.snapshot() if EXECUTION.fullmatch(path)]
        names = [FOREIGN_PART, "thesis.tex", "_incomplete.x", f"{FOREIGN_TOKEN}-2", "-1"]
        place = self.chance.choice(places)
        # In a directory that a run has just made for itself, a file of this name is Spark's.
        path = f"{place}/{self.chance.choice(names if place in places[:4] else names[1:])}"
        if path in self.fs.snapshot() or self._is_below_a_link(path):
            return
        before = self.fs.snapshot()
        if self.chance.random() < 0.3:
            self.fs.link(path, self.chance.choice([OTHER, "/data/work"]))
        else:
            self.fs.plant(path, self.chance.choice(["of others", None]))
        new = self.fs.snapshot()
        self.foreign |= {each: new[each] for each in new.keys() - before.keys()}

    def _is_below_a_link(self, path: str) -> bool:
        snapshot = self.fs.snapshot()
        links = [each for each, content in snapshot.items() if (content or "").startswith("->")]
        files = [each for each, content in snapshot.items() if content is not None]
        return any(path.startswith(f"{each}/") for each in (*links, *files))

    def command(self) -> None:
        """Run a command, which may be killed at any of its changes, and beside which others work."""
        self.fs.changes = 0
        self.fs.failing_at = self.chance.choice([-1, self.chance.randrange(40)])
        self.fs.after = self.chance.random() < 0.5
        meanwhile = self.chance.choice([lambda _: None, self.plant])
        act = self.chance.choice([write_beside, generate])
        with contextlib.suppress(Killed, BadInput, ClusterliftError):
            act(self.fs, meanwhile)
        self.fs.dead = False
        self.fs.failing_at = -1

    def check(self) -> None:
        found = self.fs.snapshot()
        # A directory that others made in an empty one of ours is foreign, one that was there is not.
        wrong = {
            path for path, content in self.foreign.items() if found.get(path, "gone") != content
        }
        assert not wrong


@pytest.mark.parametrize("kind", ["local", "hdfs", "object store"])
@given(seed=st.integers(0, 2**32))
def test_no_history_touches_what_is_foreign(kind: str, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  of tests
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  disks take most of the time
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(dir=memory) as name,
    ):
        place = Path(name)
        ended: Any = chance.choice([True, True, None])
        patch.setattr(written, "has_ended", lambda _identity: ended)
        with file_systems(kind, place, patch) as fs:
            history = History(fs, chance)
            for _ in range(chance.randrange(2, 8)):
                chance.choice([history.plant, history.command, history.command])()
                history.check()
