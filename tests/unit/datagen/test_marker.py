"""Wherever generate.py ends, there is a whole dataset or none, and the next one can start."""

import contextlib
import itertools
from collections.abc import Callable, Iterator

import pytest

from datagen.dataset import data_files
from datagen.filesystem import Directory
from datagen.manifest import FILE_NAME
from datagen.marker import MARKER, check_replaceable, generating
from harness.model.errors import BadInput, ClusterliftError

from .fake_hadoop import FileSystem, Killed, directory

ROWS = "/data/rows"
PARTS = [f"part-0000{n}-00000000-0000-0000-0000-000000000000-c000.csv" for n in range(3)]

of_both_kinds = pytest.mark.parametrize("is_object_store", [False, True])


def generate(
    fs: FileSystem,
    content: str,
    *,
    overwrite: bool = True,
    meanwhile: Callable[[Directory], object] = lambda _: None,
) -> None:
    """Write a dataset in which each file has this content."""
    rows = directory(fs, ROWS)
    check_replaceable(rows, overwrite=overwrite, reuse=False)
    with generating(rows, take_over=overwrite) as check_ours:
        for name in PARTS:
            rows.create_file(name, content, overwrite=False)
        meanwhile(rows)
        check_ours()
        rows.write(FILE_NAME, content)


def found(fs: FileSystem) -> str | None:
    """Return the content of the dataset, whole; None if there is none."""
    rows = directory(fs, ROWS)
    if not rows.has(FILE_NAME):
        return None
    assert data_files(rows.entries()).keys() == set(PARTS)
    [content] = {rows.read(name) for name in (*PARTS, FILE_NAME)}
    return content


def with_one_failure(
    before: str | None, failure: type[BaseException], *, is_object_store: bool
) -> Iterator[FileSystem]:
    """Yield a file system for each change while a dataset is written: there it failed."""
    for step in itertools.count():
        number, after = divmod(step, 2)
        fs = FileSystem(is_object_store=is_object_store)
        if before is not None:
            generate(fs, before)
        fs.failing_at, fs.after, fs.failure = fs.changes + number, bool(after), failure
        with contextlib.suppress(Killed, ClusterliftError):
            generate(fs, "new")
        if fs.changes <= fs.failing_at:
            assert number > 8
            return
        fs.dead, fs.failing_at = False, -1
        yield fs


@of_both_kinds
@pytest.mark.parametrize("before", [None, "before"])
@pytest.mark.parametrize("failure", [Killed, ValueError])
def test_a_kill_and_a_failure_at_any_change_leave_a_whole_dataset_or_none(
    failure: type[BaseException], before: str | None, *, is_object_store: bool
) -> None:
    outcomes = []
    for fs in with_one_failure(before, failure, is_object_store=is_object_store):
        outcomes.append(found(fs))
        generate(fs, "next")
        assert found(fs) == "next"
        assert not directory(fs, ROWS).has(MARKER)
    assert set(outcomes) == {before, None, "new"}
    order = [before, None, "new"]
    assert outcomes == sorted(outcomes, key=order.index)


@of_both_kinds
@pytest.mark.parametrize("error", [ClusterliftError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [None, "before"])
def test_an_error_and_an_interrupt_leave_nothing(
    before: str | None, error: BaseException, *, is_object_store: bool
) -> None:
    def fail(_: Directory) -> None:
        raise error

    fs = FileSystem(is_object_store=is_object_store)
    if before is not None:
        generate(fs, before)
    with pytest.raises(type(error)):
        generate(fs, "new", meanwhile=fail)
    assert fs.nodes.keys() == {"/", "/data", *([ROWS] if before else [])}


@of_both_kinds
def test_of_two_at_the_same_time_the_later_one_is_refused(*, is_object_store: bool) -> None:
    fs = FileSystem(is_object_store=is_object_store)

    def start_another(rows: Directory) -> None:
        with pytest.raises(BadInput, match=r"is not finished: process \d+ on .* since .*--over"):
            generate(fs, "other", overwrite=False)
        with pytest.raises(BadInput), generating(rows, take_over=False):  # at the same moment
            pass

    generate(fs, "first", meanwhile=start_another)
    assert found(fs) == "first"


@of_both_kinds
@pytest.mark.parametrize("is_finished", [False, True])
def test_one_that_was_taken_over_stops_and_deletes_nothing(
    *, is_finished: bool, is_object_store: bool
) -> None:
    fs = FileSystem(is_object_store=is_object_store)

    def take_over(rows: Directory) -> None:
        if is_finished:
            generate(fs, "other")
        else:
            rows.create_file(MARKER, "another process", overwrite=True)

    with pytest.raises(ClusterliftError, match="another process took over writing fake:/data/rows"):
        generate(fs, "first", meanwhile=take_over)
    if is_finished:
        assert found(fs) == "other"
    else:
        assert set(directory(fs, ROWS).entries()) == {MARKER, *PARTS}


@pytest.mark.parametrize("name", ["notes.txt", "_dataset-json", "_incomplete-notes", "part-1.csv"])
@pytest.mark.parametrize("before", [None, "before"])
def test_foreign_files_are_never_deleted(before: str | None, name: str) -> None:
    fs = FileSystem()
    if before is not None:
        generate(fs, before)
    rows = directory(fs, ROWS)
    rows.create()
    rows.create_file(name, "years of work", overwrite=False)
    with pytest.raises(BadInput, match=rf"not part of a dataset \(first: {name}\)"):
        generate(fs, "new")
    assert rows.read(name) == "years of work"


def test_a_directory_with_the_name_of_a_file_of_ours_is_foreign() -> None:
    fs = FileSystem()
    generate(fs, "before")
    directory(fs, ROWS).below(PARTS[0].replace("00000", "00009")).create()
    with pytest.raises(BadInput, match=r"not part of a dataset \(first: part-00009"):
        generate(fs, "new")


def test_files_without_our_marker_are_never_deleted() -> None:
    fs = FileSystem()
    rows = directory(fs, ROWS)
    rows.create()
    rows.create_file(PARTS[0], "of another program", overwrite=False)
    with pytest.raises(BadInput, match="neither a manifest nor the marker"):
        generate(fs, "new")
    assert rows.read(PARTS[0]) == "of another program"
